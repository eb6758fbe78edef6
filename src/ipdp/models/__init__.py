"""From a model to its ICE curves: `engine(model)` is the one door."""

from ipdp.core.kernels.build import build
from ipdp.models.base import Engine, Outputs, Probe
from ipdp.models.detect import engine

__all__ = ["Engine", "Outputs", "Probe", "build", "engine"]
