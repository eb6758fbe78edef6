"""Incremental partial dependence plots: see how a model on a stream changes its mind."""

from ipdp import grid, models, monitor
from ipdp.batch import partial_dependence
from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.extremes import WindowedExtremes
from ipdp.core.reservoir import Reservoir
from ipdp.core.smoothing import Smoothing
from ipdp.explainer import IncrementalPDP
from ipdp.monitor import Change, Monitor
from ipdp.pfi import IncrementalPFI

__version__ = "0.1.0"

__all__ = [
    "Change",
    "Curve",
    "IncrementalPDP",
    "IncrementalPFI",
    "Monitor",
    "NotEnoughSamples",
    "Reservoir",
    "Smoothing",
    "WindowedExtremes",
    "grid",
    "models",
    "monitor",
    "partial_dependence",
]
