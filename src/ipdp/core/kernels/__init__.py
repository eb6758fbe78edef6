"""The steps that every observation goes through, in two builds with the same names.

`loop` goes number by number, and runs where it was compiled; `array` does the same by numpy. Both
give the same answers: to the last bit, but several observations at once to rounding. Whoever needs
a step looks it up in `current`, so that a test can put the other build in its place.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from ipdp.core.kernels import (
    array,
    bins,
    differences,
    differences_array,
    loop,
    moves,
    moves_array,
    nearest,
    news,
    news_array,
    spread,
    spread_array,
    storages,
    sums,
)
from ipdp.core.kernels.build import build, is_of_its_source


def installed() -> Any:
    """The build to run: the compiled one where it is there and wanted, else `array`."""
    if build() == "pure":
        return array
    try:
        compiled = importlib.import_module("ipdp.core.kernels._loop")
    except ImportError:
        return array
    parts = {"_loop": loop, "_sums": sums, "_bins": bins, "_storages": storages}
    made = {name: importlib.import_module(f"ipdp.core.kernels.{name}") for name in parts}
    is_new = all(is_of_its_source(made[name], source) for name, source in parts.items())
    return compiled if is_new else array


current: Any = installed()
"""The build that runs."""


def spread_kernel() -> Any:
    """The step of spreads, in the build that runs."""
    return spread_array if current is array else _compiled("_spread", spread, spread_array)


def differences_kernel() -> Any:
    """How answers of a model are compared with its earlier ones, in the build that runs."""
    uncompiled = differences_array
    return uncompiled if current is array else _compiled("_differences", differences, uncompiled)


def moves_kernel() -> Any:
    """How moves of the data are measured, in the build that runs."""
    return moves_array if current is array else _compiled("_moves", moves, moves_array)


def nearest_kernel() -> Any:
    """How nearest points are found, in the build that runs."""
    return nearest if current is array else _compiled("_nearest", nearest, nearest)


def news_kernel() -> Any:
    """How what is news is told from what is usual, in the build that runs."""
    return news_array if current is array else _compiled("_news", news, news_array)


@cache
def _compiled(name: str, source: ModuleType, uncompiled: ModuleType) -> Any:
    """A kernel, or what stands for it where it was compiled of another source."""
    compiled = importlib.import_module(f"ipdp.core.kernels.{name}")
    return compiled if is_of_its_source(compiled, source) else uncompiled
