"""Two curves, explainers, times of a log, runs or a baseline: are they alike, and where not."""

from ipdp.comparison.baseline import Against, Baseline
from ipdp.comparison.between import compare
from ipdp.comparison.difference import Difference
from ipdp.comparison.paired import challenge, paired
from ipdp.comparison.result import Comparison

__all__ = ["Against", "Baseline", "Comparison", "Difference", "challenge", "compare", "paired"]
