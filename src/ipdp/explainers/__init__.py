"""Explainers: what a model is asked along a stream, and what is kept of its answers."""

from ipdp.core.observations import arranged
from ipdp.explainers.ale.batch import accumulated_local_effects
from ipdp.explainers.ale.explainer import IncrementalALE
from ipdp.explainers.base import Explainer
from ipdp.explainers.batch import partial_dependence
from ipdp.explainers.memory import Memory
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.pfi import IncrementalPFI
from ipdp.explainers.regions.explainer import IncrementalRegions
from ipdp.explainers.regions.split import Split

__all__ = [
    "Explainer",
    "IncrementalALE",
    "IncrementalPDP",
    "IncrementalPFI",
    "IncrementalRegions",
    "Memory",
    "Split",
    "accumulated_local_effects",
    "arranged",
    "partial_dependence",
]
