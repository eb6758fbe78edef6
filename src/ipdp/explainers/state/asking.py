"""About whom of a pool the model is asked again when curves are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.random import Uniforms
from ipdp.core.typing import Array, FloatArray, State

# Who is chosen does not depend on a user's seed: any start is as good.
_SEED = 1
# How many are asked about for each observation that was explained: at most, on average; and while
# the model changes little. At least so many are asked about each time.
_RATE, _USUAL, _FEWEST = 0.9, 0.5, 8
# Where more than so many came since the last time, not all of them count: a reading does not need
# so much more because there are fewer readings.
_OFTEN = 100
# What is not used is saved up for when the model changes: for so many readings of the whole pool.
_SAVED_UP = 4
# A model that goes on changing is not known by a few: so many are asked about also when nothing is
# left, until as many are owed as the pool has.
_ENOUGH = 48
# Those who were last asked about so many readings ago, or more, are asked about as often.
_OLDEST = 4
_NEGLIGIBLE = 1e-300


class Asked(NamedTuple):
    """Groups of the pool, and the one of each about whom the model is asked.

    The groups are consecutive parts of `order`, by when they were last asked about, then by time.
    """

    order: list[int]  # numbers of all that are kept
    starts: list[int]  # where each group begins in it
    chosen: list[int]  # one of each group


class Asking:
    """Chooses some of a pool of at most `size`, and remembers whom.

    Attributes
    ----------
    reading
        How often the model was asked.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.reading = 0
        self._asked_at: int | None = None  # after how many observations that was at last
        self._last = Asked([], [], [])
        self._credit = 0.0  # how many could have been asked about and were not, or are owed
        self._choosing = Uniforms(seed=_SEED)

    def is_due(self, n_explained: int, n_kept: int) -> bool:
        """Whether anything came since the last time, of which so many are kept now."""
        return n_explained != self._asked_at or len(self._last.order) != n_kept

    @property
    def last(self) -> Asked:
        """Who was chosen at last."""
        return self._last

    def choose(
        self,
        n_explained: int,
        readings: Sequence[float],
        weights: FloatArray,
        wanted: Callable[[list[int]], float],
    ) -> Asked:
        """One out of each group, by weight; `wanted` is called with a few, and says how many.

        `readings` are those at which each was last asked about.
        """
        since = self._counted(n_explained)
        self.reading += 1
        asked_at = np.array(readings)
        first = self._one_of_each(_FEWEST, asked_at, weights)
        n = wanted(first.chosen)
        self._last = self._one_of_each(self._granted(n, since), asked_at, weights) if n else first
        self._asked_at = n_explained
        saved = self._credit + _RATE * since - len(self._last.chosen)
        self._credit = min(max(saved, -float(self.size)), float(_SAVED_UP * self.size))
        return self._last

    def _counted(self, n_explained: int) -> float:
        """How many observations allow for questions; all of them at the first reading."""
        if self._asked_at is None:
            return n_explained
        since = n_explained - self._asked_at
        return since if since <= _OFTEN else math.sqrt(_OFTEN * since)

    def _granted(self, wanted: float, since: float) -> int:
        """How many may be asked about: what was saved up is for a model that has just changed."""
        usual = max(_FEWEST, round(_USUAL * since))
        if wanted < self.size:
            return round(min(max(wanted, usual / 2), usual))
        left = self._credit + _RATE * since
        return max(usual, round(left), _ENOUGH if left - _ENOUGH >= -self.size else 0)

    def _one_of_each(self, n: int, readings: FloatArray, weights: FloatArray) -> Asked:
        order, starts = self._groups(n, readings, weights)
        sums = np.cumsum(weights[order])
        stops = np.append(starts[1:], len(order))
        below, above = np.append(0.0, sums)[starts], sums[stops - 1]
        draws = np.array([self._choosing.draw() for _ in starts])
        at = np.searchsorted(sums, below + draws * (above - below), side="right")
        chosen = order[np.clip(at, starts, stops - 1)]
        return Asked(order.tolist(), starts.tolist(), chosen.tolist())

    def _groups(self, n: int, readings: FloatArray, weights: FloatArray) -> tuple[Array, Array]:
        """Consecutive parts, about n, of all by when they were last asked about.

        What the model says of those who were asked about at the same time has changed by as much.
        Parts have less weight the longer ago that was, so that nobody is left out for long.
        """
        order = np.argsort(readings, kind="stable")
        if n >= len(order):
            return order, np.arange(len(order))
        ages = self.reading - readings[order]
        sizes = weights[order] * np.minimum(ages, _OLDEST)
        middles = (np.cumsum(sizes) - sizes / 2) / max(sizes.sum(), _NEGLIGIBLE)
        begins = np.diff(np.floor(n * middles), prepend=-1.0) > 0
        # The model may have changed between those who came since the last reading.
        begins |= np.diff(ages < 1, prepend=True)
        return order, np.flatnonzero(begins)

    # Segments of a stream, copies, state.

    def merge(self, later: Asking) -> Asking:
        """That of the pool of both, who were not asked about together yet."""
        both = Asking(self.size)
        both.reading = max(self.reading, later.reading)
        both._credit = min(self._credit + later._credit, float(_SAVED_UP * self.size))
        return both

    def copy(self) -> Asking:
        """An independent copy."""
        twin = Asking(self.size)
        vars(twin).update(vars(self))
        twin._choosing = Uniforms(seed=_SEED)
        twin._choosing.state = self._choosing.state
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe, but for its random numbers."""
        order, starts, chosen = self._last
        return {
            "_asked_at": self._asked_at,
            "_reading": self.reading,
            "_order": order,
            "_starts": starts,
            "_chosen": chosen,
            "_credit": self._credit,
        }

    @state.setter
    def state(self, state: State) -> None:
        state = {"_credit": 0.0, **state}
        schema.check(state, _asked_at=schema.maybe(schema.count), _reading=schema.count)
        schema.check(state, _credit=schema.number, _order=schema.parts)
        order, below = state["_order"], schema.below(len(state["_order"]))
        schema.check(state, _order=schema.each(below), _starts=schema.each(below))
        starts = state["_starts"]
        schema.check(state, _chosen=schema.each(below, len(starts)))
        is_whole = len({*order}) == len(order) and starts == sorted({*starts})
        if not is_whole or (order and starts[:1] != [0]):
            raise ValueError("the state is damaged: its groups of observations are none")
        self._asked_at, self.reading = state["_asked_at"], state["_reading"]
        self._last, self._credit = Asked(order, starts, state["_chosen"]), state["_credit"]

    @property
    def random(self) -> State:
        """The state of its random numbers."""
        return self._choosing.state

    @random.setter
    def random(self, state: State) -> None:
        self._choosing.state = state
