"""Two curves, explainers, times of a log, runs or a baseline: are they alike, and where not.

And why the mean prediction moved from the one to the other.
"""

from ipdp.comparison.baseline import Against, Baseline
from ipdp.comparison.between import compare
from ipdp.comparison.difference import Difference
from ipdp.comparison.paired import challenge, paired
from ipdp.comparison.result import Comparison
from ipdp.comparison.score import score_move
from ipdp.comparison.score_result import ScoreMove, ScorePart

__all__ = [
    "Against",
    "Baseline",
    "Comparison",
    "Difference",
    "ScoreMove",
    "ScorePart",
    "challenge",
    "compare",
    "paired",
    "score_move",
]
