"""Change points of the means of many series: all cuts of an adaptive window, in one pass.

The idea of ADWIN (Bifet and Gavalda 2007) for many series at once. The recent past is kept in
buckets, older ones wider, so that memory grows with the logarithm of the window. Every `clock`
steps, for each series and each cut between two buckets, the means on both sides are compared:

    |mean_1 - mean_0| > R L h / 3 + sqrt((R L h / 3)^2 + 2 V L h),    h = 1 / n_0 + 1 / n_1

with V the variance within the two sides, R the largest deviation from the mean and
L = log(2 S log(n) / delta) for S series: Bernstein's inequality solved for the difference. It holds
for independent values of any distribution; the moving averages that the paper feeds into ADWIN
are not independent, which is why they raise alarms when nothing changes. For series whose
candidates are checked by other means R may be left out: then the bound is that of normal values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ipdp.core.jsonable import pack_floats, unpack_floats
from ipdp.core.typing import Array, FloatArray, State

# Number of buckets of one width before the two oldest become one.
_PER_LEVEL = 5
# Buckets wider than clock * 2^7 are forgotten: a window of some 40,000 steps.
_LEVELS = 7

_N, _SUM, _SQUARES, _LOW, _HIGH = range(5)


class Cuts(NamedTuple):
    """The best cut of each series."""

    ratio: FloatArray  # the difference of the means against what chance allows: above 1, a change
    at: Array  # number of buckets on the older side


class Side(NamedTuple):
    """What is known of one side of a cut, of shape (n_series,) each."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray

    def of(self, series: slice) -> Side:
        """The same of some series only."""
        return Side(self.n[series], self.mean[series], self.variance[series])


class Scan:
    """Changes of the means of many series.

    There are `clock` steps between checks, and in the narrowest bucket; `delta` is the chance of a
    false alarm at a given check. `normal`, of shape (n_series,), says for which series R is left
    out; None: for none of them.
    """

    def __init__(
        self, n_series: int, *, delta: float = 1e-3, clock: int = 32, normal: Array | None = None
    ) -> None:
        self.n_series = n_series
        self.delta = delta
        self.clock = clock
        self._tails = 1.0 if normal is None else np.where(normal, 0.0, 1.0)
        self._levels: list[int] = []
        self._ends: list[float] = []  # times of the last steps of the buckets
        self._buckets: FloatArray = np.empty((0, 5, n_series))
        self.steps = 0  # since the last check
        self._open = _empty(n_series)

    def update(self, values: FloatArray, known: Array | None = None, *, t: float = 0.0) -> bool:
        """Take some steps of all series, up to the next check; True when it is time for that.

        Values are of shape (n_steps, n_series); those count that are known, None: all. `t` is the
        time of the last step.
        """
        if self.steps + len(values) > self.clock:
            raise ValueError(f"a check is due in {self.clock - self.steps} steps")
        bucket = self._open
        if known is None:
            bucket[_N] += len(values)
            counted = low = high = values
        else:
            bucket[_N] += known.sum(axis=0)
            counted = np.where(known, values, 0.0)
            low, high = np.where(known, values, np.inf), np.where(known, values, -np.inf)
        bucket[_SUM] += counted.sum(axis=0)
        bucket[_SQUARES] += (counted * counted).sum(axis=0)
        np.minimum(bucket[_LOW], low.min(axis=0), out=bucket[_LOW])
        np.maximum(bucket[_HIGH], high.max(axis=0), out=bucket[_HIGH])
        self.steps += len(values)
        if self.steps < self.clock:
            return False
        self._close(t)
        return True

    def _close(self, t: float) -> None:
        self._levels.append(0)
        self._ends.append(t)
        self._buckets = np.concatenate([self._buckets, self._open[None]])
        self._open, self.steps = _empty(self.n_series), 0
        level = 0
        while self._levels.count(level) > _PER_LEVEL:
            first = self._levels.index(level)
            if level == _LEVELS:
                del self._levels[0], self._ends[0]
                self._buckets = self._buckets[1:]
                return
            self._buckets[first] = _join(self._buckets[first], self._buckets[first + 1])
            self._buckets = np.delete(self._buckets, first + 1, axis=0)
            self._levels[first] = level + 1
            del self._levels[first + 1], self._ends[first]
            level += 1

    def check(self) -> Cuts:
        """The best cut of each series."""
        if len(self._buckets) < 2:
            return Cuts(np.zeros(self.n_series), np.zeros(self.n_series, dtype=int))
        sums = self._buckets[:, :3].cumsum(axis=0)
        total = sums[-1]
        older, newer = sums[:-1], total - sums[:-1]
        n_0, n_1 = older[:, _N], newer[:, _N]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_0, mean_1 = older[:, _SUM] / n_0, newer[:, _SUM] / n_1
            within = total[_SQUARES] - n_0 * mean_0**2 - n_1 * mean_1**2
            variance = np.maximum(within, 0.0) / np.maximum(total[_N] - 2, 1)
            h = 1 / n_0 + 1 / n_1
            log = np.log(2 * self.n_series * np.log(np.maximum(total[_N], 3)) / self.delta)
            mean = total[_SUM] / total[_N]
            low, high = self._buckets[:, _LOW].min(axis=0), self._buckets[:, _HIGH].max(axis=0)
            third = self._tails * np.maximum(high - mean, mean - low) * log * h / 3
            allowed = third + np.sqrt(third**2 + 2 * variance * log * h)
            # A constant series differs from itself by rounding.
            allowed += 1e-9 * (np.abs(mean_0) + np.abs(mean_1)) + 1e-12
            ratio = np.abs(mean_1 - mean_0) / allowed
        ratio[(n_0 < self.clock / 2) | (n_1 < self.clock / 2)] = 0.0
        best = ratio.argmax(axis=0)
        return Cuts(ratio[best, np.arange(self.n_series)], best + 1)

    def sides(self, at: int) -> tuple[Side, Side]:
        """What is known of the older and of the newer side of a cut, for all series."""
        return _side(self._buckets[:at, :3].sum(axis=0)), _side(self._buckets[at:, :3].sum(axis=0))

    def steps_since(self, at: Array | int) -> FloatArray:
        """Number of steps, counted or not, on the newer side of a cut."""
        widths = self.clock * 2.0 ** np.array(self._levels)
        newer = np.append(widths[::-1].cumsum()[::-1], 0.0)
        return np.asarray(newer[at])

    def time_of(self, at: int) -> float:
        """Time of the last step on the older side of a cut."""
        return self._ends[at - 1]

    def forget(self, series: Array | slice, before: int | None = None) -> None:
        """Drop some series' past: all of it, or what is older than a cut."""
        index = np.arange(self.n_series)[series]
        self._buckets[:before, :, index] = _empty(len(index))
        if before is None:
            self._open[:, index] = _empty(len(index))

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "levels": list(self._levels),
            "ends": list(self._ends),
            "steps": self.steps,
            "buckets": pack_floats(self._buckets),
            "open": pack_floats(self._open),
        }

    @state.setter
    def state(self, state: State) -> None:
        self._levels, self._ends = list(state["levels"]), list(state["ends"])
        self.steps = state["steps"]
        self._buckets, self._open = unpack_floats(state["buckets"]), unpack_floats(state["open"])


def _empty(n_series: int) -> FloatArray:
    bucket = np.zeros((5, n_series))
    bucket[_LOW], bucket[_HIGH] = np.inf, -np.inf
    return bucket


def _join(first: FloatArray, second: FloatArray) -> FloatArray:
    joined = first + second
    joined[_LOW] = np.minimum(first[_LOW], second[_LOW])
    joined[_HIGH] = np.maximum(first[_HIGH], second[_HIGH])
    return joined


def _side(sums: FloatArray) -> Side:
    n = sums[_N]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[_SUM] / n
        variance = np.maximum(sums[_SQUARES] - n * mean**2, 0.0) / np.maximum(n - 1, 1)
    return Side(n, mean, variance)
