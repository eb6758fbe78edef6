"""The result of an explainer of regions: a split, and the curve on each side of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.typing import FeatureName
from ipdp.core.words import few_digits, percent


@dataclass(frozen=True, eq=False)
class Split:
    """A split of the observations that explains why the effect of a feature differs between them.

    Attributes
    ----------
    feature
        The feature whose effect differs.
    by
        The feature that tells the observations apart.
    conditions
        Those of both sides: ("hour <= 6", "hour > 6").
    gain
        The share of the variance of the centred ICE curves that is between both sides.
    bound
        By how much the gain may be off, given how many independent observations there are.
    share
        The share of the observations on the first side.
    whole
        The curve of all observations.
    curves
        Those of both sides.

    Examples
    --------
    >>> import random, ipdp
    >>> regions = ipdp.IncrementalRegions(lambda x: x["a"] if x["b"] == "up" else -x["a"])
    >>> draws = random.Random(1)
    >>> for _ in range(500):
    ...     regions.explain_one({"a": draws.gauss(0, 1), "b": draws.choice(["up", "down"])})
    >>> regions.splits["a"].sentence
    'The effect of a differs by b: b = down and b = up tell 100 % of the differences.'
    """

    feature: FeatureName
    by: FeatureName
    conditions: tuple[str, str]
    gain: float
    bound: float
    share: float
    whole: Curve
    curves: tuple[Curve, Curve]

    @property
    def sentence(self) -> str:
        """The same in words."""
        one, other = self.conditions
        return (
            f"The effect of {self.feature} differs by {self.by}: {one} and {other} tell "
            f"{percent(self.gain)} of the differences."
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curves of both sides and of all; see `ipdp.plot.RegionsDisplay.plot`."""
        from ipdp.plot import RegionsDisplay

        return RegionsDisplay([self]).plot(ax=ax, **style)

    def __repr__(self) -> str:
        return (
            f"Split(feature={self.feature!r}, by={self.by!r}, conditions={self.conditions!r}, "
            f"gain={few_digits(self.gain)})"
        )
