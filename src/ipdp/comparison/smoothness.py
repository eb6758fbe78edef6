"""How fast the curves of a log forget, and what their means are worth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Smoothness(NamedTuple):
    """How fast curves forget: `alpha` for each observation, every k-th of which is explained."""

    alpha: float | None
    every: int = 1

    @property
    def own(self) -> float:
        """The weight of the newest explained observation."""
        return 0.0 if self.alpha is None else 1 - (1 - self.alpha) ** self.every

    def left(self, elapsed: float) -> float:
        """What is left of a weight."""
        return 1.0 if self.alpha is None else float((1 - self.alpha) ** elapsed)

    def weight(self, n: Any) -> Any:
        """The sum of the weights behind a mean that is worth n observations."""
        if self.alpha is None:
            return n
        return (1 - self._forgotten(n)) / self.own

    def squares(self, n: Any) -> Any:
        """The sum of the squares of these weights."""
        if self.alpha is None:
            return n
        return (1 - self._forgotten(n) ** 2) / (1 - (1 - self.own) ** 2)

    def n_effective(self, n: float) -> float:
        """What the mean of the n newest observations is worth."""
        if self.alpha is None:
            return n
        left = (1 - self.own) ** n
        return float((2 - self.own) / self.own * (1 - left) / (1 + left))

    def _forgotten(self, n: Any) -> Any:
        # The number of n newest weights is (1 - q) / (1 + q) times that of all, q = (1 - own)^n.
        most = (2 - self.own) / self.own
        n = np.minimum(n, most)
        return (most - n) / (most + n)

    def shares(self, n_earlier: float, n_later: float, elapsed: float) -> tuple[float, float]:
        """What of two variances, earlier and later, is that of the difference of two means."""
        left = self.left(elapsed)
        weight = self.weight(n_later) - left * self.weight(n_earlier)
        squares = self.squares(n_later) - left**2 * self.squares(n_earlier)
        since = weight / self.weight(n_later)
        if not (since > 0 and squares > 0):
            return 0.0, 0.0
        return since**2, since**2 * n_later * squares / weight**2
