"""Loops that every observation goes through, fast when compiled.

This file is compiled as it is, into `_loop`, with the types in `_loop.pxd`. Where it is not,
operations on arrays do the same as loops over numbers, to the last bit: see `kernels/__init__.py`.
"""

from __future__ import annotations

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
    from math import isfinite


# Numbers.


def fold_in(smoothing: Any, parts: Sequence[FloatArray], decay: float, w: float) -> None:
    """Fold an observation into a smoothing.

    Parameters
    ----------
    smoothing
        A `Smoothing`.
    parts
        The rows of the observation, of shape (n, n_columns) each.
    decay
        By what the past is multiplied.
    w
        Weight of the observation.
    """
    mean, spread = smoothing.mean, smoothing.spread
    # One number for all columns, or one for each.
    weights, squares = smoothing._weight, smoothing._squares
    n_rows, n_columns, is_even = 0, mean.shape[1], weights.shape[0] == 1
    for values in parts:
        n_rows += values.shape[0]
        if values.shape[1] != n_columns:
            raise ValueError("the rows have another shape than those before")
    if n_rows != mean.shape[0]:
        raise ValueError("the rows have another shape than those before")
    for k in range(weights.shape[0]):
        weights[k] *= decay
    first = 0
    for values in parts:
        for row in range(values.shape[0]):
            weight, share = weights[0], w / (weights[0] + w)
            for column in range(n_columns):
                if not is_even:
                    weight, share = weights[column], w / (weights[column] + w)
                delta = values[row, column] - mean[first + row, column]
                step = delta * share
                mean[first + row, column] += step
                spread[first + row, column] = (
                    spread[first + row, column] * decay + step * delta * weight
                )
        first += values.shape[0]
    for k in range(weights.shape[0]):
        weights[k] += w
    for k in range(squares.shape[0]):
        squares[k] = decay * decay * squares[k] + w * w


def is_finite(values: FloatArray) -> bool:
    """Whether there is neither NaN nor infinity among the values, of three dimensions."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for k in range(values.shape[2]):
                if not isfinite(values[i, j, k]):
                    return False
    return True


def spread_out(points: FloatArray, spans: Sequence[tuple[int, int]], ends: FloatArray) -> None:
    """Write equidistant points into the columns of each range.

    Parameters
    ----------
    points
        Takes them, one a column.
    spans
        The columns of each range: the first, and the one after the last.
    ends
        The two ends of each range, of shape (n_ranges, 2).
    """
    for number in range(len(spans)):
        first, stop = spans[number]
        low, high = ends[number, 0], ends[number, 1]
        steps = stop - first - 1
        for k in range(stop - first):
            points[first + k] = (high - low) * (k / steps) + low


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


def take_in(
    values: Sequence[Any], grids: Sequence[Any], samples: Sequence[Any], updates: Sequence[Any]
) -> None:
    """Let every grid have its value, unless that is missing.

    Parameters
    ----------
    values
        The values, None for those that are missing.
    grids
        The grids.
    samples
        The samples of those grids that do no more than offer them their values, unless these cease
        to be whole numbers; None for all others.
    updates
        The grids' own methods.
    """
    for k in range(len(values)):
        value, sample = values[k], samples[k]
        if value is None:
            continue
        if sample is None or (grids[k]._only_integers and not is_whole(value)):
            updates[k](value)
        else:
            sample.offer(value)


def is_whole(x: Any) -> bool:
    """Whether a value is a whole number, and one that floats can hold.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(10**20)
    (True, False, False)
    """
    return type(x) is int and -(2**53) <= x <= 2**53


def read_ranges(
    grids: Sequence[Any], samples: Sequence[Any], versions: list[int], ends: FloatArray
) -> bool:
    """Read the ranges of those grids whose storages have changed; whether there were any.

    Parameters
    ----------
    grids
        The grids.
    samples
        The samples of those grids whose range lies between their `lower` and `upper` quantile; None
        for all others.
    versions
        The versions of the storages when they were read.
    ends
        Takes the ranges, of shape (n_grids, 2).
    """
    moved = False
    for k in range(len(grids)):
        grid, sample = grids[k], samples[k]
        version = grid.storage.version if sample is None else sample.version
        if version == versions[k]:
            continue
        versions[k] = version
        low, high = grid.range if sample is None else sample.interval(grid.lower, grid.upper)
        ends[k, 0] = low
        ends[k, 1] = high
        moved = True
    return moved


class Sample:
    """The values of a `Reservoir`: Algorithm 3.

    Parameters
    ----------
    size, probability, select
        As in `Reservoir`.
    uniforms
        Its random numbers.

    Attributes
    ----------
    n
        How many values have been offered.
    version
        Changes whenever the values do.
    ordered
        The values in ascending order.
    circle
        The values in the order in which they came.
    oldest
        Where the circle begins.
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
    )

    def __init__(self, size: int, probability: float, select: str, uniforms: Any) -> None:
        self.size = size
        self.probability = probability
        self.select = select
        self.uniforms = uniforms
        self.n = 0
        self.version = 0
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
        changing = ("circle", "n", "oldest", "ordered", "version")
        return sample, settings, (None, {name: getattr(self, name) for name in changing})


def draw(uniforms: Any) -> float:
    """The next of some `Uniforms`."""
    used = uniforms._used
    if not 0 <= used < len(uniforms._block):
        uniforms._refill()
        used = 0
    uniforms._used = used + 1
    number: float = uniforms._block[used]
    return number
