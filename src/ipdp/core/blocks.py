"""Means of consecutive stretches of time, from which the memory of a series can be read.

How far a smoothed mean may be from the truth depends on how long the series remembers. That is read
from the means of *blocks*: the stretches [k size, (k + 1) size) of the clock. They need no work for
each observation, because they follow from what a `Smoothing` is at both ends of a block: with W and
M its weight and mean at the end, W' and M' those at the start, aged until the end, the mean of the
values in between is

    M' + (M - M') W / (W - W')

At most `N_BLOCKS` are kept. When there would be more, two become one, until a block is so long that
all together reach ten times as far back as the smoothing; from then on the oldest is dropped.
Boundaries are those of the clock and never of the segment, so that the blocks of two segments of a
stream are, put together, those of the whole stream.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.smoothing import Smoothing, pick
from ipdp.core.typing import Array, FloatArray, State

N_BLOCKS = 64
"""As many blocks are kept at most."""

# The first blocks have this length; how far back all of them reach, against the smoothing.
_SHORTEST, _REACH = 8, 10

# What the numbers of a state stay below. A mean of a block is a difference of two others, divided
# by that of their weights, which is no smaller than rounding.
_MOST = {
    "weight": schema.LARGEST_WEIGHT,
    "mean": 1e15 * schema.LARGEST_MEAN,
    "start_weight": schema.LARGEST_WEIGHT,
    "start_mean": schema.LARGEST_MEAN,
}


class Blocks:
    """Means of the last blocks of many series, which are those of a `Smoothing`.

    Parameters
    ----------
    alpha
        That of the smoothing.
    n_rows, n_columns
        Shape of the values.
    kept
        Whether there are any: nothing is known of a series' memory without them.

    Attributes
    ----------
    size
        Length of a block on the clock.
    numbers
        Which blocks are kept, in ascending order: number k is from k size to (k + 1) size.
    weight
        Sum of the weights of each block at its end, of shape (n_blocks, n_columns); 0 where a
        column was not there.
    mean
        Shape (n_blocks, n_rows, n_columns).
    until
        An observation of this time or later is of another block: `advance` comes first.

    Examples
    --------
    >>> smoothing, blocks = Smoothing(alpha=0.01), Blocks(alpha=0.01)
    >>> for t, value in enumerate([1.0] * 8 + [3.0] * 9):
    ...     if t >= blocks.until:
    ...         blocks.advance(smoothing, t)
    ...     smoothing.update(value, t=t)
    >>> blocks.mean.ravel().round(6)
    array([1., 3.])
    """

    def __init__(
        self, *, alpha: float | None, n_rows: int = 1, n_columns: int = 1, kept: bool = True
    ) -> None:
        self.alpha = alpha
        self.kept = kept
        self.decay = 1.0 if alpha is None else 1.0 - alpha
        self._longest = math.inf
        if alpha is not None:
            self._longest = _power_of_two(max(_REACH / (N_BLOCKS * alpha), _SHORTEST))
        self.size = _SHORTEST
        # The last blocks are a part of larger arrays, so that most of them are added without a
        # copy of the others; copies of this object share the arrays until one of them changes.
        self._store: tuple[Any, Any, Any] = (
            np.empty(0),
            np.empty((0, n_columns)),
            np.empty((0, n_rows, n_columns)),
        )
        self._first, self._stop, self._shared = 0, 0, False
        self.until = -math.inf if kept else math.inf
        # The smoothing when the last block was closed: its time, weights and means.
        self._t: float | None = None
        self._start_weight: FloatArray = np.zeros(n_columns)
        self._start_mean: FloatArray = np.zeros((n_rows, n_columns))

    @property
    def last(self) -> float | None:
        """When the last block was closed."""
        return self._t

    @property
    def n_columns(self) -> int:
        """Number of series."""
        return len(self._start_weight)

    @property
    def numbers(self) -> Array:
        return np.asarray(self._store[0][self._first : self._stop])

    @property
    def weight(self) -> FloatArray:
        return np.asarray(self._store[1][self._first : self._stop])

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self._store[2][self._first : self._stop])

    def put(self, numbers: Array, weight: FloatArray, mean: FloatArray) -> None:
        """Take other blocks, in arrays that nobody else has."""
        self._store, self._first, self._stop = (numbers, weight, mean), 0, len(numbers)
        self._shared = False

    def _have_room(self) -> None:
        """Have arrays that nobody else changes, with room for a block more."""
        if self._shared or len(self._store[0]) == self._stop:
            n = self._stop - self._first
            store = [np.empty((n + N_BLOCKS // 2, *part.shape[1:])) for part in self._store]
            for new, old in zip(store, (self.numbers, self.weight, self.mean), strict=True):
                new[:n] = old
            self.put(store[0], store[1], store[2])
            self._stop = n

    def advance(self, smoothing: Smoothing, t: float) -> None:
        """Close the block that there is, before an observation of a later one is folded in."""
        self.close(smoothing)
        self._shorten(N_BLOCKS)
        self.until = (math.floor(t / self.size) + 1) * self.size

    def close(self, smoothing: Smoothing) -> None:
        """Put the values since the last time into their block, which may have some already."""
        if not self.kept or smoothing.t is None or smoothing.t == self._t:
            return
        number = math.floor(smoothing.t / self.size)
        aged = self._until(self._t, smoothing.t)
        left = self._until(smoothing.t, (number + 1) * self.size)
        now, start = (smoothing.weight, smoothing.mean), (self._start_weight, self._start_mean)
        goes_on = self._stop > self._first and self._store[0][self._stop - 1] == number
        self._have_room()
        block = self._store[1][self._stop], self._store[2][self._stop]
        kernels.current.close_block(now, start, block, aged, left)
        self._t, self._start_weight, self._start_mean = smoothing.t, now[0], now[1].copy()
        if goes_on:
            self._add_to_last(*block)
        else:
            self._store[0][self._stop] = number
            self._stop += 1
            self._shorten(N_BLOCKS + 1)

    def _add_to_last(self, weight: FloatArray, mean: FloatArray) -> None:
        first, total = self.mean[-1], self.weight[-1] + weight
        # From the first of them, so that a constant stays what it is to the last bit.
        self.mean[-1] = first + weight * (mean - first) / np.where(total > 0, total, 1.0)
        self.weight[-1] = total

    def restart(self, smoothing: Smoothing) -> None:
        """Take the smoothing, whose columns may be others than before, as the start of a block."""
        self._t = smoothing.t
        self._start_weight = smoothing.weight
        self._start_mean = smoothing.mean.copy()

    def _until(self, earlier: float | None, later: float) -> float:
        # Times beyond 2^53 are rounded, and none is before another one then.
        return 1.0 if earlier is None else float(self.decay ** max(later - earlier, 0))

    def _shorten(self, most: int) -> None:
        """Not too many of them: one more while the last goes on."""
        while self._span > most and self.size < self._longest:
            self._coarsen()
        if self._span > most:
            numbers = self.numbers
            # Not the last, which may be so large that less is the same.
            self._first += int(np.searchsorted(numbers[:-1], numbers[-1] - most, "right"))
        if self._stop > self._first:
            self.until = max(self.until, float(self._store[0][self._stop - 1] + 1) * self.size)

    @property
    def _span(self) -> int:
        if self._stop == self._first:
            return 0
        return int(self._store[0][self._stop - 1] - self._store[0][self._first] + 1)

    def _coarsen(self) -> None:
        """Make one block of two, so that each is twice as long."""
        # An odd one ends with the new block; an even one is older by its own length.
        older = np.where(self.numbers % 2 == 0, self._until(0.0, self.size), 1.0)
        self.put(np.floor(self.numbers / 2), self.weight * older[:, None], self.mean.copy())
        self.size *= 2
        self._join_alike()

    def _join_alike(self) -> None:
        """Weighted means of the entries with the same number, which stand side by side."""
        numbers, weight, mean = self.numbers, self.weight, self.mean
        if (np.diff(numbers) > 0).all():
            return
        starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        first = mean[starts]  # from which they are counted, as in `_put`
        owner = np.cumsum(np.diff(numbers, prepend=numbers[0]) > 0)
        total = np.add.reduceat(weight, starts)
        moved = np.add.reduceat(weight[:, None] * (mean - first[owner]), starts)
        mean = first + moved / np.where(total > 0, total, 1.0)[:, None]
        self.put(numbers[starts], total, mean)

    def closed(self, t: float) -> Blocks:
        """Those that are over at a time; the mean of one that goes on is that of fewer values."""
        n = int(np.searchsorted(self.numbers, math.floor(t / self.size)))
        over = self.copy()
        over._stop = over._first + n
        return over

    def merge(self, other: Blocks) -> Blocks:
        """The blocks of two segments of a stream; both have been closed."""
        joined, later = self.copy(), other.copy()
        for part, size in ((joined, other.size), (later, self.size)):
            while part.size < size:
                part._coarsen()
        order = np.argsort(np.concatenate([joined.numbers, later.numbers]), kind="stable")
        joined.put(
            np.concatenate([joined.numbers, later.numbers])[order],
            np.concatenate([joined.weight, later.weight])[order],
            np.concatenate([joined.mean, later.mean])[order],
        )
        joined._join_alike()
        joined._shorten(N_BLOCKS + 1)
        return joined

    def take(self, columns: Sequence[int] | Array, *, rows: Sequence[int] | None = None) -> Blocks:
        """The same with some columns, and rows, picked; -1 stands for a new one, as in `Smoothing`.

        `restart` is to follow.
        """
        columns = np.asarray(columns, dtype=int)
        if rows is not None or not self.n_columns:
            mean = pick(self.mean, columns, axis=2)
            if rows is not None:
                mean = pick(mean, rows, axis=1)
            return self.with_values(pick(self.weight, columns, axis=1), mean)
        # With room, or all would be copied once more when the next block is closed.
        n, alike, new = self._stop - self._first, self.copy(), columns < 0
        n_room, n_columns = n + N_BLOCKS // 2, len(columns)
        store = np.empty(n_room), np.empty((n_room, n_columns))
        mean = np.empty((n_room, self._store[2].shape[1], n_columns))
        store[0][:n] = self.numbers
        for own, part in zip((store[1], mean), (self.weight, self.mean), strict=True):
            part.take(columns, axis=-1, out=own[:n], mode="clip")
            if new.any():
                own[:n, ..., new] = 0.0
        alike.put(*store, mean)
        alike._stop = n
        return alike

    def with_values(self, weight: FloatArray, mean: FloatArray) -> Blocks:
        """Blocks of the same times with other weights and means."""
        alike = self.copy()
        alike.put(self.numbers.copy(), weight, mean)
        return alike

    def copy(self) -> Blocks:
        """An independent copy."""
        self._shared = True
        twin = object.__new__(Blocks)
        vars(twin).update(vars(self))
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
        if not self.kept:
            return {}
        return {
            "size": self.size,
            "until": None if self.until == -math.inf else self.until,
            "numbers": self.numbers.tolist(),
            "weight": self.weight.tolist(),
            "mean": self.mean.tolist(),
            "t": self._t,
            "start_weight": self._start_weight.tolist(),
            "start_mean": self._start_mean.tolist(),
        }

    def restore(self, state: State) -> None:
        """Take what `state` gave; the shape has to be that of this one."""
        if not self.kept:
            return
        may = schema.maybe
        # The rows of a table have no order, and its block never ends.
        until = schema.end if self.alpha is None else schema.number
        schema.check(state, size=schema.power, until=may(until), t=may(schema.number))
        schema.check(state, numbers=schema.each(schema.number))
        n_rows, n_columns = self._start_mean.shape
        n = len(state["numbers"])
        shapes: dict[str, tuple[int, ...]] = {
            "weight": (n, n_columns),
            "mean": (n, n_rows, n_columns),
            "start_weight": (n_columns,),
            "start_mean": (n_rows, n_columns),
        }
        arrays = {name: _array(state, name, shape) for name, shape in shapes.items()}
        numbers, t = state["numbers"], state["t"]
        ascend = not any(a >= b or a % 1 for a, b in pairwise([*numbers, math.inf]))
        # None is later than that in which the last one was closed.
        if not ascend or (
            numbers and t is not None and numbers[-1] > math.floor(t / state["size"])
        ):
            raise ValueError("the state is damaged: the numbers of its blocks do not ascend")
        self.size, self._t = int(state["size"]), state["t"]
        self.until = -math.inf if state["until"] is None else state["until"]
        self.put(np.array(state["numbers"], dtype=float), arrays["weight"], arrays["mean"])
        self._start_weight, self._start_mean = arrays["start_weight"], arrays["start_mean"]


def _array(state: State, name: str, shape: tuple[int, ...]) -> FloatArray:
    values: Any = np.array(state[name], dtype=float)
    if values.size != math.prod(shape) or not (np.abs(values) < _MOST[name]).all():
        raise ValueError(
            f"the state of the blocks is damaged: {name} does not have {shape} numbers"
        )
    return np.array(values.reshape(shape))


def _power_of_two(least: float) -> float:
    """The smallest power of two that is not below a number."""
    return float(2 ** math.ceil(math.log2(least)))
