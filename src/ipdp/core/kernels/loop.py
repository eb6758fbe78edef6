"""The steps that every observation goes through, number by number: fast when compiled.

This file is compiled as it is, into `_loop`, with the types in `_loop.pxd`. Where it is not,
`array.py` does the same by operations on arrays, to the last bit, under the same names.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from bisect import bisect_left, bisect_right


# Smoothing.


def fold_in(smoothing: Any, parts: Sequence[FloatArray], decay: float, w: float) -> None:
    """Multiply a `Smoothing`'s past by `decay`, and fold in rows of shape (n, n_columns) each."""
    fold_many(smoothing, [parts], [decay], [w])


def fold_many(
    smoothing: Any, parts: Sequence[Sequence[FloatArray]], decays: list[float], w: list[float]
) -> None:
    """Do so with several observations, one after the other."""
    mean, spread = smoothing.mean, smoothing.spread
    # One number for all columns, or one for each.
    weights, squares = smoothing._weight, smoothing._squares
    n_columns, n_weights = mean.shape[1], weights.shape[0]
    fits = spread.shape[0] == mean.shape[0] and spread.shape[1] == n_columns
    if not fits or squares.shape[0] != n_weights or n_weights not in (1, n_columns):
        raise ValueError("the smoothing is damaged: its arrays differ in shape")
    for rows in parts:
        first = 0
        for values in rows:
            first += values.shape[0]
            if values.shape[1] != n_columns:
                raise ValueError("the rows have another shape than those before")
        if first != mean.shape[0]:
            raise ValueError("the rows have another shape than those before")
    shares = array("d", bytes(8 * max(n_columns, 1)))
    for k in range(len(parts)):
        _share_out(weights, squares, shares, decays[k], w[k])
        first = 0
        for values in parts[k]:
            _fold_rows(mean, spread, weights, shares, values, first, decays[k])
            first += values.shape[0]
        for column in range(n_weights):
            weights[column] += w[k]


def _share_out(weights: Any, squares: Any, shares: Any, decay: float, w: float) -> None:
    """Let weights age before an observation of weight w; its shares of all columns."""
    for k in range(weights.shape[0]):
        weights[k] *= decay
        squares[k] = decay * decay * squares[k] + w * w
        shares[k] = w / (weights[k] + w) if w else 0.0
    if weights.shape[0] == 1:
        for k in range(1, len(shares)):
            shares[k] = shares[0]


def _fold_rows(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
    mean: Any, spread: Any, weights: Any, shares: Any, values: Any, first: int, decay: float
) -> None:
    """Fold rows in, the first of which is that number of the smoothing's."""
    n_weights = weights.shape[0]
    weight = weights[0] if n_weights else 0.0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            if n_weights > 1:
                weight = weights[column]
            delta = values[row, column] - mean[first + row, column]
            step = delta * shares[column]
            mean[first + row, column] += step
            spread[first + row, column] = (
                spread[first + row, column] * decay + step * delta * weight
            )


def fold_at(smoothing: Any, values: FloatArray, columns: list[int], decay: float, w: float) -> None:
    """The same with values, of shape (n_rows, n), of some columns; -1 stands for no column.

    The values of columns after the n-th are 0.
    """
    mean, spread = smoothing.mean, smoothing.spread
    weights, squares = smoothing._weight, smoothing._squares
    n_rows, n_columns, n_values = mean.shape[0], mean.shape[1], values.shape[1]
    n = len(columns)
    fits = spread.shape[0] == n_rows and spread.shape[1] == n_columns
    if not fits or weights.shape[0] != n_columns or squares.shape[0] != n_columns:
        raise ValueError("the smoothing is damaged: its arrays differ in shape")
    if values.shape[0] != n_rows or n_values > n:
        raise ValueError("the rows have another shape than those before")
    for k in range(n_columns):
        weights[k] *= decay
        squares[k] *= decay * decay
    for row in range(n_rows):
        for k in range(n_columns):
            spread[row, k] *= decay
    for k in range(n):
        column = columns[k]
        if column >= n_columns:
            raise ValueError("the rows have another shape than those before")
        if column < 0:
            continue
        weight, share = weights[column], w / (weights[column] + w)
        for row in range(n_rows):
            delta = (values[row, k] if k < n_values else 0.0) - mean[row, column]
            step = delta * share
            mean[row, column] += step
            spread[row, column] += step * delta * weight
        weights[column] += w
        squares[column] += w * w


def close_block(
    now: tuple[FloatArray, FloatArray],
    start: tuple[FloatArray, FloatArray],
    block: tuple[FloatArray, FloatArray],
    aged: float,
    left: float,
) -> None:
    """Work out the weights and means of a block from those at its start and now.

    Each is a pair of weights, (n_columns,), and means, (n_rows, n_columns). `aged` is what is left
    now of a weight at the start, `left` what will be left at the end of the block of a weight now.
    """
    weight, mean = now
    start_weight, start_mean = start
    block_weight, block_mean = block
    n_rows, n_columns = mean.shape[0], mean.shape[1]
    fits = weight.shape[0] == start_weight.shape[0] == block_weight.shape[0] == n_columns
    for one in (start_mean, block_mean):
        fits = fits and one.shape[0] == n_rows and one.shape[1] == n_columns
    if not fits:
        raise ValueError("the blocks have another shape than the smoothing")
    for column in range(n_columns):
        gained = weight[column] - start_weight[column] * aged
        some = gained > 1e-12 * weight[column]
        share = weight[column] / gained if some else 0.0
        block_weight[column] = gained * left if some else 0.0
        for row in range(n_rows):
            before = start_mean[row, column]
            block_mean[row, column] = before + (mean[row, column] - before) * share


def are_below(values: FloatArray, limit: float) -> bool:
    """Whether all values, of three dimensions, are numbers of a size below the limit."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for k in range(values.shape[2]):
                if not -limit < values[i, j, k] < limit:  # NaN is not, either
                    return False
    return True


# Strata of the past.


def close_stratum(
    weights: FloatArray, n: int, factors: tuple[float, float], last: tuple[float, float]
) -> tuple[int, float]:
    """Let n strata age and put another one, the last, behind them.

    `weights` has a column for each stratum, and two rows, with a factor each.

    Returns
    -------
    The number of the first of the two neighbours that weigh least together, and the sum of all;
    both by the second row.
    """
    factor, other_factor = factors
    for k in range(n):
        weights[0, k] *= factor
        weights[1, k] *= other_factor
    weights[0, n], weights[1, n] = last
    at, least, total = 0, math.inf, weights[1, 0]
    for k in range(n):
        total += weights[1, k + 1]
        both = weights[1, k] + weights[1, k + 1]
        if both < least:
            at, least = k, both
    return at, total


def join_strata(weights: FloatArray, n: int, at: int) -> None:
    """Make one of two neighbours, the first of which is that number, among n strata."""
    for row in range(2):
        weights[row, at] += weights[row, at + 1]
        for k in range(at + 1, n - 1):
            weights[row, k] = weights[row, k + 1]


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


class Watch:
    """A storage that says when an end of its range leaves the bounds within which it is expected.

    Its `owner` is asked to `refresh` then, and when whole numbers cease to be whole; it says by
    `expect` what holds from then on. `version` is the owner's.
    """

    def __init__(self, storage: Any, span: Any, owner: Any) -> None:
        self.storage = storage
        self.span = span
        self.owner = owner
        self.version = 0
        self.expect(None, (0.0, 0.0, 0.0, 0.0))

    def expect(self, whole: bool | None, bounds: tuple[float, float, float, float]) -> None:
        """Between which numbers the lower and the upper end of the range are to stay."""
        self.whole = whole
        self.low_from, self.low_to, self.high_from, self.high_to = bounds

    def offer(self, x: float) -> None:
        """Offer a value, and look at the range: always at first, then with every eighth value."""
        storage = self.storage
        storage.offer(x)
        n = storage.n
        if n > 64 and n % 8 and storage.whole is self.whole:
            return
        low, high = self.span.ends()
        stays = self.low_from <= low <= self.low_to and self.high_from <= high <= self.high_to
        if not stays or storage.whole is not self.whole:
            self.owner.refresh()

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle is not about the build; the owner makes a new one.
        return getattr, (self.owner, "watch")


class Versions:
    """Things with a `version`, and what it was when they were last looked at."""

    def __init__(self, watched: list[Any]) -> None:
        self.watched = watched
        self.versions = [-1] * len(watched)

    def changed(self) -> bool:
        """Whether one of them has another version than at the last time."""
        versions, changed = self.versions, False
        for k in range(len(self.watched)):
            version = self.watched[k].version
            if version != versions[k]:
                versions[k] = version
                changed = True
        return changed


def draw(uniforms: Any) -> float:
    """The next of some `Uniforms`."""
    used = uniforms._used
    if not 0 <= used < len(uniforms._block):
        uniforms._refill()
        used = 0
    uniforms._used = used + 1
    number: float = uniforms._block[used]
    return number
