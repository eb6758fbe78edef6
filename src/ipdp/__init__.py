"""Incremental partial dependence plots: see how a model on a stream changes its mind."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ipdp import _moved

if TYPE_CHECKING:
    from ipdp import checks, comparison, datasets, grid, models, monitor, plot, spark
    from ipdp.comparison import Comparison, ScoreMove, compare, score_move
    from ipdp.core.curve import Curve
    from ipdp.core.errors import NotEnoughSamples
    from ipdp.core.extremes import WindowedExtremes
    from ipdp.core.importance import Importance
    from ipdp.core.notices import ColumnWarning
    from ipdp.core.reservoir import Reservoir
    from ipdp.core.smoothing import Smoothing
    from ipdp.explainers import (
        Explainer,
        IncrementalALE,
        IncrementalPDP,
        IncrementalPFI,
        IncrementalRegions,
        accumulated_local_effects,
        partial_dependence,
    )
    from ipdp.log import Log, LogReader
    from ipdp.monitor import Change, Monitor
    from ipdp.runs import Run, run

__version__ = "0.1.0"

__all__ = [
    "Change",
    "ColumnWarning",
    "Comparison",
    "Curve",
    "Explainer",
    "Importance",
    "IncrementalALE",
    "IncrementalPDP",
    "IncrementalPFI",
    "IncrementalRegions",
    "Log",
    "LogReader",
    "Monitor",
    "NotEnoughSamples",
    "Reservoir",
    "Run",
    "ScoreMove",
    "Smoothing",
    "WindowedExtremes",
    "accumulated_local_effects",
    "checks",
    "compare",
    "comparison",
    "datasets",
    "grid",
    "models",
    "monitor",
    "partial_dependence",
    "plot",
    "run",
    "score_move",
    "spark",
]

# Where each name is, and the names that are modules. All are imported when they are first asked
# for, so that a command that only prints its help loads none of them.
_HOMES = {
    "ipdp.comparison": ("Comparison", "ScoreMove", "compare", "score_move"),
    "ipdp.core.curve": ("Curve",),
    "ipdp.core.errors": ("NotEnoughSamples",),
    "ipdp.core.extremes": ("WindowedExtremes",),
    "ipdp.core.importance": ("Importance",),
    "ipdp.core.notices": ("ColumnWarning",),
    "ipdp.core.reservoir": ("Reservoir",),
    "ipdp.core.smoothing": ("Smoothing",),
    "ipdp.explainers": (
        "Explainer",
        "IncrementalALE",
        "IncrementalPDP",
        "IncrementalPFI",
        "IncrementalRegions",
        "accumulated_local_effects",
        "partial_dependence",
    ),
    "ipdp.log": ("Log", "LogReader"),
    "ipdp.monitor": ("Change", "Monitor"),
    "ipdp.runs": ("Run", "run"),
}
_MODULES = ("checks", "comparison", "datasets", "grid", "models", "monitor", "plot", "spark")
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ipdp.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ipdp' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_moved.install()
