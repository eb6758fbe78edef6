"""What the walk computes for every observation, in two builds with the same names.

Whatever needs a kernel looks it up in `current`, so that the other build can be put in its place.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, NamedTuple

from ipdp.core.kernels.build import build
from ipdp.models.trees.kernels import aggregation, array, walk


class Kernels(NamedTuple):
    """One build, "compiled" or "pure": see `walk.py`, `voting.py`, `aggregation.py`."""

    build: str
    Walker: Any
    has_only_numbers: Any
    in_order: Any
    vote: Any
    combine: Any
    aggregate: Any


def kernels_of(build: str, walk: Any, voting: Any, aggregation: Any) -> Kernels:
    """A build, from its modules."""
    checks = walk.has_only_numbers, walk.in_order
    return Kernels(build, walk.Walker, *checks, voting.vote, voting.combine, aggregation.aggregate)


PURE = kernels_of("pure", walk, array, aggregation)._replace(in_order=array.in_order)
"""Python for the walk; operations on arrays, which are faster than Python's loops, for the rest."""


def compiled() -> Kernels:
    """The compiled build; raises ImportError where there is none."""
    names = ("_walk", "_voting", "_aggregation")
    return kernels_of(
        "compiled", *[importlib.import_module(f"{__name__}.{name}") for name in names]
    )


def _installed() -> Kernels:
    if build() == "pure":
        return PURE
    try:
        return compiled()
    except ImportError as error:
        warnings.warn(
            f"the compiled tree walk cannot be loaded, the slower one runs: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return PURE


current = _installed()
"""The build that runs."""
