"""From a model to its ICE curves: `engine(model)` gives what computes them."""

from ipdp.core.kernels.build import build
from ipdp.models.base import Engine, Outputs, Probe, SlowPathWarning
from ipdp.models.batched import ArrayEngine, BatchedEngine, FrameEngine
from ipdp.models.detect import engine, register
from ipdp.models.per_row import RowEngine
from ipdp.models.splits import thresholds

__all__ = [
    "ArrayEngine",
    "BatchedEngine",
    "Engine",
    "FrameEngine",
    "Outputs",
    "Probe",
    "RowEngine",
    "SlowPathWarning",
    "build",
    "engine",
    "register",
    "thresholds",
]
