"""What is seen of a model along the elec2 stream."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Feature
from ipdp.paper.following import Recording

FEATURE = "vicprice"
PAPER_CHANGES = (22_293, 35_893, 43_957)
"""When the paper draws its three curves."""

# An alarm of the paper's detector remains if ours reports one so close to it.
NEAR = 1_000
# ADWIN looks every 32 observations, after a grace period of 2,000.
_SOONEST = 2_000 + 32


@dataclass
class Watched:
    """A model that was followed along the stream.

    Attributes
    ----------
    recording
        Curves of class True and accuracy.
    paper
        By feature: when the paper's detector found a change.
    own
        By feature: when our own found one, and of which kind.
    sentences
        What our own says of its changes.
    at_change
        The curve of vicprice when the paper's detector found a change of it.
    """

    recording: Recording = field(default_factory=Recording)
    paper: dict[Feature, list[int]] = field(default_factory=dict)
    own: dict[Feature, list[tuple[int, str]]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    at_change: dict[int, Curve] = field(default_factory=dict)

    def curve(self, t: int) -> Curve:
        """The curve of vicprice for True at one of the moments."""
        return self.recording.curves["iPDP"][t][FEATURE].select(True)

    def rise(self, t: int) -> float:
        """The last point of the curve of vicprice minus its first."""
        values = self.curve(t).average[0]
        return float(values[-1] - values[0])

    def dip(self, t: int) -> float:
        """How far the curve of vicprice falls below both of its ends: the depth of a U."""
        values = self.curve(t).average[0]
        return float(min(values[0], values[-1]) - values.min())

    def importance_until(self, t: int) -> float:
        """Largest importance of vicprice up to one of the moments."""
        trace = self.recording.importance["iPDP"][FEATURE]
        times = self.recording.t[-len(trace) :]
        seen = [value for at, value in zip(times, trace, strict=True) if at <= t]
        return float(np.max([*seen, self.curve(t).equal_importance[0]]))

    def remaining(self) -> Counter[str]:
        """What our own detector found near the alarms of the paper's: effect, range, nothing."""
        return Counter(map(self._near, self.paper.get(FEATURE, [])))

    def by_chance(self) -> list[bool]:
        """Whether a change of the effect is near, for all times since the paper's first alarm."""
        first = min(self.paper.get(FEATURE, [self.recording.n]))
        return [self._near(t) == "effect" for t in self.recording.t if t >= first]

    def _near(self, t: int) -> str:
        """What our own detector found near a time."""
        kinds = {kind for at, kind in self.own.get(FEATURE, []) if abs(t - at) <= NEAR}
        return "effect" if kinds & {"real", "both"} else "range" if kinds else "nothing"

    def at_once(self) -> int:
        """Number of alarms of the paper's detector at the first moment that it may raise one."""
        times = self.paper.get(FEATURE, [])
        return sum(later - earlier <= _SOONEST for earlier, later in pairwise(times))


@dataclass(frozen=True)
class Run:
    """What a run has seen of the two models.

    Attributes
    ----------
    seed
        Of models and explainers.
    forest
        The paper's adaptive random forest, all features.
    bagging
        The bagging of Hoeffding adaptive trees of the authors' script, vicprice only; None if it
        was left out.
    """

    seed: int
    forest: Watched
    bagging: Watched | None

    @property
    def models(self) -> dict[str, Watched]:
        """Both, by name."""
        both = {"ARF": self.forest, "bagging": self.bagging}
        return {name: watched for name, watched in both.items() if watched is not None}
