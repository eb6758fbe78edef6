"""The steps that every observation goes through, number by number: fast when compiled.

This file is compiled as it is, into `_loop`, with the types in `_loop.pxd`, and so are `sums.py`,
`bins.py` and `watch.py`, whose names it has too. Where they are not, `array.py` does the same by
operations on arrays under the same names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if cython.compiled:
    from ipdp.core.kernels import _bins as bins  # type: ignore[attr-defined]
    from ipdp.core.kernels import _sums as sums  # type: ignore[attr-defined]
    from ipdp.core.kernels import _watch as watch  # type: ignore[attr-defined]
else:
    from bisect import bisect_left, bisect_right

    from ipdp.core.kernels import bins, sums, watch

Locator = bins.Locator
CountWatch, Versions, Watch = watch.CountWatch, watch.Versions, watch.Watch
count_in = watch.count_in
are_below = sums.are_below
close_block, close_stratum, join_strata = sums.close_block, sums.close_stratum, sums.join_strata
fold_at, fold_in, fold_many = sums.fold_at, sums.fold_in, sums.fold_many
fold_groups = sums.fold_groups


# Points.


class EvenPoints:
    """Equidistant points in several ranges, side by side in one row.

    A range has `ends()`, and a `version` that changes when these do; `columns` are, for each range,
    its first column and the one after its last.
    """

    def __init__(self, spans: list[Any], columns: list[tuple[int, int]]) -> None:
        self.spans = spans
        self.columns = columns
        self.versions = [-1] * len(spans)
        self.lows = [0.0] * len(spans)
        self.highs = [0.0] * len(spans)

    def moved(self) -> bool:
        """Whether any range may have moved since this was last asked."""
        versions, moved = self.versions, False
        for k in range(len(self.spans)):
            span = self.spans[k]
            version = span.version
            if version != versions[k]:
                versions[k] = version
                self.lows[k], self.highs[k] = span.ends()
                moved = True
        return moved

    def write(self, row: FloatArray) -> None:
        """Write the points into their columns."""
        # x_min + (k - 1) / (m - 1) (x_max - x_min), the paper's model evaluation point.
        for number in range(len(self.columns)):
            first, stop = self.columns[number]
            low, high = self.lows[number], self.highs[number]
            if first < 0 or stop > row.shape[0]:
                raise ValueError("the points do not fit into the row")
            steps = stop - first - 1
            for k in range(stop - first):
                row[first + k] = (high - low) * (k / steps) + low


# Storages.


def numbers_of(x: Mapping[Any, Any], names: Sequence[Any], limit: float) -> list[Any] | None:
    """The values of some features; None unless all are floats or ints of a size below the limit."""
    values = []
    for name in names:
        value = x.get(name)
        if type(value) is float or type(value) is int:
            if not -limit < value < limit:  # NaN is not, either
                return None
        else:
            return None
        values.append(value)
    return values


def take_in(values: Sequence[Any], storages: Sequence[Any], updates: Sequence[Any]) -> None:
    """Let every storage have its value, unless that is None.

    Where there is no storage that takes the value as it is, the update does.
    """
    for k in range(len(values)):
        value, storage = values[k], storages[k]
        if value is None:
            continue
        if storage is None:
            updates[k](value)
        else:
            storage.offer(value)


def is_whole(x: Any) -> bool:
    """Whether a value is a whole number, and one that floats can hold.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(10**20)
    (True, False, False)
    """
    return type(x) is int and -(2**53) <= x <= 2**53


class Extremes:
    """The smallest and the largest of the last values: Algorithm 2.

    `version` changes whenever one of them does, or `whole`: whether every value has been a whole
    number. `smallest` and `largest` hold pairs (number of the value, value), the extreme in front;
    `recent`, a deque if it is given, gets every value.
    """

    __slots__ = ("largest", "n", "recent", "smallest", "version", "whole", "window")

    def __init__(self, window: int) -> None:
        self.window = window
        self.n = 0
        self.version = 0
        self.whole = True
        self.smallest: Any = deque()
        self.largest: Any = deque()
        self.recent: Any = None

    def offer(self, x: float) -> None:
        """Add the newest value and let the one that left the window go."""
        smallest, largest = self.smallest, self.largest
        self.n = n = self.n + 1
        if self.whole and not is_whole(x):
            self.whole = False
            self.version += 1
        before = (smallest[0][1], largest[0][1]) if smallest else None
        # What is older and no more extreme can never be the extreme again.
        while smallest:
            last = smallest.pop()
            if last[1] < x:
                smallest.append(last)
                break
        smallest.append((n, x))
        while largest:
            last = largest.pop()
            if last[1] > x:
                largest.append(last)
                break
        largest.append((n, x))
        oldest = n - self.window
        if smallest[0][0] <= oldest:
            smallest.popleft()
        if largest[0][0] <= oldest:
            largest.popleft()
        if (smallest[0][1], largest[0][1]) != before:
            self.version += 1
        if self.recent is not None:
            self.recent.append(x)

    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        if not self.smallest:
            raise NotEnoughSamples("no value yet: call update first")
        return self.smallest[0][1], self.largest[0][1]

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build.
        from ipdp.core.extremes import restored

        names = ("largest", "n", "recent", "smallest", "version", "whole", "window")
        return restored, ({name: getattr(self, name) for name in names},)


class Sample:
    """The values of a `Reservoir`: Algorithm 3.

    `circle` has the values in the order in which they came, from `oldest` on, `ordered` in
    ascending order; `n` were offered. `version` changes whenever the values do, or `whole`: whether
    every value has been a whole number.
    """

    __slots__ = (
        "circle",
        "n",
        "oldest",
        "ordered",
        "probability",
        "select",
        "size",
        "uniforms",
        "version",
        "whole",
    )

    def __init__(self, size: int, probability: float, select: str, uniforms: Any) -> None:
        self.size = size
        self.probability = probability
        self.select = select
        self.uniforms = uniforms
        self.n = 0
        self.version = 0
        self.whole = True
        self.fill([])

    def fill(self, by_age: list[float]) -> None:
        """Put values in place of those that are there, the oldest first."""
        self.circle = by_age
        self.oldest = 0
        self.ordered = sorted(by_age)

    @property
    def by_age(self) -> list[float]:
        """The values, the oldest first, as a new list."""
        return self.circle[self.oldest :] + self.circle[: self.oldest]

    def offer(self, x: float) -> None:
        """Offer a value."""
        self.n += 1
        if self.whole and not is_whole(x):
            self.whole = False
            self.version += 1
        ordered = self.ordered
        if len(ordered) < self.size:
            self.circle.append(x)
        elif self.probability < 1 and draw(self.uniforms) > self.probability:
            return
        else:
            del ordered[bisect_left(ordered, self._exchange(x))]
        ordered.insert(bisect_right(ordered, x), x)
        self.version += 1

    def _exchange(self, x: float) -> float:
        """Put a value in place of another one, which is returned."""
        circle, at = self.circle, self.oldest
        if self.select == "oldest":
            leaving, circle[at] = circle[at], x
            self.oldest = at + 1 if at + 1 < self.size else 0
            return leaving
        at = int(draw(self.uniforms) * self.size)
        if self.select == "age":  # the older of two
            at = min(at, int(draw(self.uniforms) * self.size))
        leaving = circle.pop(at)
        circle.append(x)
        return leaving

    def interval(self, lower: float, upper: float) -> tuple[float, float]:
        """Two quantiles, linear between values."""
        ordered, last = self.ordered, len(self.ordered) - 1
        if last < 0:
            raise NotEnoughSamples("no value yet: call update first")
        if not (0 <= lower <= 1 and 0 <= upper <= 1):
            raise ValueError(f"a quantile is in [0, 1], got {lower} and {upper}")
        # The value below the quantile, and which share of the step to the next one is missing.
        rank, rank_high = lower * last, upper * last
        below, below_high = int(rank), int(rank_high)
        low, high = ordered[below], ordered[below_high]
        if rank > below:
            low += (rank - below) * (ordered[below + 1] - low)
        if rank_high > below_high:
            high += (rank_high - below_high) * (ordered[below_high + 1] - high)
        return low, high

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build.
        from ipdp.core.reservoir import sample

        settings = self.size, self.probability, self.select, self.uniforms
        changing = ("circle", "n", "oldest", "ordered", "version", "whole")
        return sample, settings, (None, {name: getattr(self, name) for name in changing})


class QuantileSpan:
    """The range between two quantiles of a `Sample`."""

    def __init__(self, sample: Any, lower: float, upper: float) -> None:
        self.sample = sample
        self.lower = lower
        self.upper = upper

    @property
    def version(self) -> int:
        """Changes whenever the range may have."""
        version: int = self.sample.version
        return version

    def ends(self) -> tuple[float, float]:
        """The two quantiles."""
        ends: tuple[float, float] = self.sample.interval(self.lower, self.upper)
        return ends


def draw(uniforms: Any) -> float:
    """The next of some `Uniforms`."""
    used = uniforms._used
    if not 0 <= used < len(uniforms._block):
        uniforms._refill()
        used = 0
    uniforms._used = used + 1
    number: float = uniforms._block[used]
    return number
