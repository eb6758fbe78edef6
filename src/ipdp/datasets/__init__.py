"""The streams of the paper, with river's dataset interface, and by name for `ipdp run --data`."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from river.datasets import base

from ipdp.core.validation import unknown
from ipdp.datasets.agrawal import AgrawalDrift
from ipdp.datasets.hyperplane import Hyperplane, Plane
from ipdp.datasets.real import california, elec2

__all__ = [
    "DATASETS",
    "TARGETS",
    "AgrawalDrift",
    "Hyperplane",
    "Plane",
    "california",
    "elec2",
    "load",
]

# Generated streams end where the paper's do, unless another `n_samples` is given.
DATASETS: dict[str, Callable[..., base.Dataset]] = {
    "agrawal": partial(AgrawalDrift, n_samples=30_000),
    "california": california,
    "elec2": elec2,
    "hyperplane": partial(Hyperplane, n_samples=40_000),
}
"""What makes each data set, by name."""

TARGETS = {"agrawal": "granted", "california": "house_value", "elec2": "price_up"}
"""What the label of a data set is called, where it has a meaning."""


def load(name: str, **settings: Any) -> base.Dataset:
    """The data set of this name.

    Parameters
    ----------
    name
        "agrawal", "california", "elec2" or "hyperplane".
    **settings
        What `AgrawalDrift`, `california`, `elec2` or `Hyperplane` takes.

    Examples
    --------
    >>> from ipdp import datasets
    >>> stream = datasets.load("hyperplane", position=500, n_samples=1_000, seed=42)
    >>> sum(y for _, y in stream)
    607
    """
    if name not in DATASETS:
        raise ValueError(unknown("data set", name, list(DATASETS)))
    make = DATASETS[name]
    known = inspect.signature(make).parameters
    for setting in settings:
        if setting not in known:
            raise ValueError(f"{name}: {unknown('setting', setting, list(known))}")
    return make(**settings)
