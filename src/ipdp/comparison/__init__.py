"""Two curves, explainers, times of a log, runs or a baseline: are they alike, and where not."""

from ipdp.comparison.between import compare
from ipdp.comparison.difference import Difference
from ipdp.comparison.result import Comparison

__all__ = ["Comparison", "Difference", "compare"]
