"""Explainers: what a model is asked along a stream, and what is kept of its answers."""

from ipdp.explainers.ale.batch import accumulated_local_effects
from ipdp.explainers.ale.explainer import IncrementalALE
from ipdp.explainers.base import Explainer
from ipdp.explainers.batch import partial_dependence
from ipdp.explainers.memory import Memory
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.pfi import IncrementalPFI

__all__ = [
    "Explainer",
    "IncrementalALE",
    "IncrementalPDP",
    "IncrementalPFI",
    "Memory",
    "accumulated_local_effects",
    "partial_dependence",
]
