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
    """One build.

    Attributes
    ----------
    build
        "compiled" or "pure".
    Walker
        Finds the leaves that an observation and its points reach, see `walk.py`.
    has_only_numbers
        Whether all values of an observation are numbers.
    in_order
        Whether columns are numbers, ascending, and whole, as far as expected.
    vote
        The votes of the leaves of classifiers, see `voting.py` (loops) and `array.py`.
    combine
        The weighted votes of several trees as shares of the classes.
    aggregate
        The shares of the classes in Mondrian trees, see `aggregation.py`.
    """

    build: str
    Walker: Any
    has_only_numbers: Any
    in_order: Any
    vote: Any
    combine: Any
    aggregate: Any


def loops(build: str, walk: Any, voting: Any, aggregation: Any) -> Kernels:
    """The build that is made of loops over numbers, from its modules, compiled or not."""
    return Kernels(
        build,
        walk.Walker,
        walk.has_only_numbers,
        walk.in_order,
        voting.vote,
        voting.combine,
        aggregation.aggregate,
    )


PURE = Kernels(
    "pure",
    walk.Walker,
    walk.has_only_numbers,
    array.in_order,
    array.vote,
    array.combine,
    aggregation.aggregate,
)
"""Python for the walk; operations on arrays, which are faster than Python's loops, for the rest."""


def compiled() -> Kernels:
    """The compiled build; raises ImportError where there is none."""
    names = ("_walk", "_voting", "_aggregation")
    return loops("compiled", *[importlib.import_module(f"{__name__}.{name}") for name in names])


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
