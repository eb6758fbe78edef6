"""What the walk computes for every observation, in two builds with the same names.

Whatever needs a kernel looks it up in `current`, so that the other build can be put in its place.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, NamedTuple

from ipdp.core.kernels.build import build, is_of_its_source
from ipdp.models.trees.kernels import aggregation, array, compact, leaves, voting, walk


class Kernels(NamedTuple):
    """One build, "compiled" or "pure": see `walk`, `compact`, `voting` and `aggregation`."""

    build: str
    Walker: Any
    has_only_numbers: Any
    in_order: Any
    vote: Any
    combine: Any
    aggregate: Any
    CompactTrees: Any

    @classmethod
    def of(cls, build: str, *modules: Any) -> Kernels:
        """A build, from its modules; what several of them have is taken from the last."""
        found = {name: value for module in modules for name, value in vars(module).items()}
        return cls(build, *[found[name] for name in cls._fields[1:]])


PURE = Kernels.of("pure", walk, aggregation, array)
"""Python for the walk; operations on arrays, which are faster than Python's loops, for the rest."""


def compiled() -> Kernels:
    """The compiled build; raises ImportError where there is none."""
    names = ("_walk", "_voting", "_aggregation", "_compact")
    return Kernels.of("compiled", *[importlib.import_module(f"{__name__}.{k}") for k in names])


def _installed() -> Kernels:
    if build() == "pure":
        return PURE
    try:
        for source in (walk, leaves, voting, aggregation, compact):
            name = source.__name__.rpartition(".")[2]
            if not is_of_its_source(importlib.import_module(f"{__name__}._{name}"), source):
                return PURE
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
