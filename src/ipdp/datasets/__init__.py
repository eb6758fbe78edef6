"""The streams of the paper, with river's dataset interface."""

from ipdp.datasets.agrawal import AgrawalDrift
from ipdp.datasets.california import california
from ipdp.datasets.elec2 import elec2
from ipdp.datasets.hyperplane import Hyperplane, Plane
from ipdp.datasets.registry import DATASETS, load

__all__ = ["DATASETS", "AgrawalDrift", "Hyperplane", "Plane", "california", "elec2", "load"]
