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
    """The best cut of each series.

    Attributes
    ----------
    ratio
        The difference of the means against what chance allows; above 1 it is a change.
    at
        Number of buckets on the older side.
    """

    ratio: FloatArray
    at: Array


class Side(NamedTuple):
    """What is known of one side of a cut, of shape (n_series,) each."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray


class Scan:
    """Changes of the means of many series.

    Parameters
    ----------
    n_series
        Number of series.
    delta
        The smaller, the fewer false alarms; the chance of one at a given check, to be precise.
    clock
        Number of steps between checks, and in the narrowest bucket.
    normal
        Which series are treated as normal, of shape (n_series,); None: none of them.

    Examples
    --------
    >>> import numpy as np
    >>> scan = Scan(2, clock=32)
    >>> rng = np.random.default_rng(42)
    >>> for step in range(0, 640, 32):
    ...     ready = scan.update(rng.normal(size=(32, 2)) + [0, 2 * (step >= 320)], t=step)
    >>> cuts = scan.check()
    >>> (cuts.ratio > 1).tolist(), scan.steps_since(cuts.at).tolist()[1]
    ([False, True], 320.0)
    """

    def __init__(
        self,
        n_series: int,
        *,
        delta: float = 1e-3,
        clock: int = 32,
        normal: Array | None = None,
    ) -> None:
        self.n_series = n_series
        self.delta = delta
        self.clock = clock
        self._tails = 1.0 if normal is None else np.where(normal, 0.0, 1.0)
        self._levels: list[int] = []
        self._ends: list[float] = []  # times of the last steps of the buckets
        self._buckets: FloatArray = np.empty((0, 5, n_series))
        self._steps = 0
        self._open = _empty(n_series)

    def update(self, values: FloatArray, known: Array | None = None, *, t: float = 0.0) -> bool:
        """Take some steps of all series, up to the next check; True when it is time for that.

        Parameters
        ----------
        values
            Shape (n_steps, n_series).
        known
            Which of them count; None: all.
        t
            Time of the last step.
        """
        if self._steps + len(values) > self.clock:
            raise ValueError(f"a check is due in {self.clock - self._steps} steps")
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
        self._steps += len(values)
        if self._steps < self.clock:
            return False
        self._close(t)
        return True

    def _close(self, t: float) -> None:
        self._levels.append(0)
        self._ends.append(t)
        self._buckets = np.concatenate([self._buckets, self._open[None]])
        self._open, self._steps = _empty(self.n_series), 0
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
        older = self._buckets[:, :3].cumsum(axis=0)
        total = older[-1]
        older = older[:-1]
        newer = total - older
        n_0, n_1 = older[:, _N], newer[:, _N]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_0, mean_1 = older[:, _SUM] / n_0, newer[:, _SUM] / n_1
            within = total[_SQUARES] - n_0 * mean_0**2 - n_1 * mean_1**2
            variance = np.maximum(within, 0.0) / np.maximum(total[_N] - 2, 1)
            h = 1 / n_0 + 1 / n_1
            log = np.log(2 * self.n_series * np.log(np.maximum(total[_N], 3)) / self.delta)
            third = self._tails * self._largest_deviation(total) * log * h / 3
            allowed = third + np.sqrt(third**2 + 2 * variance * log * h)
            # A constant series differs from itself by rounding.
            allowed += 1e-9 * (np.abs(mean_0) + np.abs(mean_1)) + 1e-12
            ratio = np.abs(mean_1 - mean_0) / allowed
        ratio[(n_0 < self.clock / 2) | (n_1 < self.clock / 2)] = 0.0
        best = ratio.argmax(axis=0)
        return Cuts(ratio[best, np.arange(self.n_series)], best + 1)

    def _largest_deviation(self, total: FloatArray) -> FloatArray:
        mean = total[_SUM] / total[_N]
        low, high = self._buckets[:, _LOW].min(axis=0), self._buckets[:, _HIGH].max(axis=0)
        return np.asarray(np.maximum(high - mean, mean - low))

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

    @property
    def steps(self) -> int:
        """Number of steps since the last check."""
        return self._steps

    def forget(self, series: Array, before: int | None = None) -> None:
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
            "steps": self._steps,
            "buckets": pack_floats(self._buckets),
            "open": pack_floats(self._open),
        }

    @state.setter
    def state(self, state: State) -> None:
        self._levels, self._ends = list(state["levels"]), list(state["ends"])
        self._steps = state["steps"]
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
