"""Incremental partial dependence plots: see how a model on a stream changes its mind."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ipdp import _moved, grid, models, monitor
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
from ipdp.monitor import Change, Monitor

if TYPE_CHECKING:
    from ipdp import checks, comparison, datasets, plot, spark
    from ipdp.comparison import Comparison, ScoreMove, compare, score_move
    from ipdp.log import Log, LogReader
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

# Rooms that a notebook may never enter are opened when they are asked for.
_LATER = {
    "Comparison": "ipdp.comparison",
    "compare": "ipdp.comparison",
    "ScoreMove": "ipdp.comparison",
    "score_move": "ipdp.comparison",
    "Log": "ipdp.log",
    "LogReader": "ipdp.log",
    "Run": "ipdp.runs",
    "run": "ipdp.runs",
    "checks": "ipdp",
    "datasets": "ipdp",
    "comparison": "ipdp",
    "plot": "ipdp",
    "spark": "ipdp",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ipdp' has no attribute {name!r}")
    room = _LATER[name]
    return import_module(f"ipdp.{name}") if room == "ipdp" else getattr(import_module(room), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_moved.install()
