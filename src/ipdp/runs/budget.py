"""How often to explain, so that it takes no more than a share of the time."""

from __future__ import annotations

import math
from typing import Any

# Times are means over about so many observations.
_MEMORY = 200
# The pace is looked at anew after so many explained observations.
_LOOK = 8
_SLOWEST = 10_000


class Budget:
    """Chooses k, of "every k-th observation is explained", from measured times.

    With c the time of explaining one observation, s that of passing one by, and r that of all the
    rest, explaining takes the share (s + (c - s) / k) / (s + (c - s) / k + r) of the time. The
    smallest k is chosen for which that is no more than `share`, in (0, 1); it is `every`.
    """

    def __init__(self, share: float) -> None:
        if not 0 < share < 1:
            raise ValueError(f"budget must be in (0, 1), the share of the time, got {share}")
        self.share = share
        self.every = 1
        self._since = self._looks = 0
        self._wanted = False
        self._explain, self._pass, self._rest = _Mean(_LOOK), _Mean(_MEMORY), _Mean(_MEMORY)

    def wants(self) -> bool:
        """Whether the next observation is to be explained."""
        self._since += 1
        self._wanted = self._since >= self.every
        return self._wanted

    def update(self, seconds: float, rest: float) -> bool:
        """Learn how long the explainer and the rest of an observation took; whether k changed."""
        self._rest.update(rest)
        if not self._wanted:
            self._pass.update(seconds)
            return False
        self._since = 0
        self._explain.update(seconds)
        self._looks += 1
        if self._looks % _LOOK:
            return False
        before, self.every = self.every, self._pace()
        return self.every != before

    def _pace(self) -> int:
        passing = self._pass.value if self._pass.weight else 0.0
        room = self.share / (1 - self.share) * self._rest.value - passing
        more = max(self._explain.value - passing, 0.0)
        pace = _SLOWEST if room * _SLOWEST <= more else math.ceil(more / room - 1e-9)
        # One slow moment of the machine is not to send it far.
        return min(max(pace, 1), 2 * self.every, _SLOWEST)

    @property
    def state(self) -> dict[str, Any]:
        """The pace and the times that it rests on, JSON-safe."""
        means = [[mean.sum, mean.weight] for mean in (self._explain, self._pass, self._rest)]
        return {"every": self.every, "since": self._since, "looks": self._looks, "means": means}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.every, self._since = int(state["every"]), int(state["since"])
        self._looks = int(state["looks"])
        means = self._explain, self._pass, self._rest
        for mean, (total, weight) in zip(means, state["means"], strict=True):
            mean.sum, mean.weight = float(total), float(weight)


class _Mean:
    """Exponentially smoothed with the weights so far."""

    def __init__(self, memory: int) -> None:
        self.alpha = 1 / memory
        self.sum = self.weight = 0.0

    def update(self, value: float) -> None:
        self.sum += self.alpha * (value - self.sum)
        self.weight += self.alpha * (1 - self.weight)

    @property
    def value(self) -> float:
        return self.sum / self.weight
