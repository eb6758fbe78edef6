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
from typing import Any

import numpy as np

from ipdp.core.smoothing import Smoothing, pick
from ipdp.core.typing import Array, FloatArray, State

N_BLOCKS = 64
"""As many blocks are kept at most."""

# The first blocks have this length; how far back all of them reach, against the smoothing.
_SHORTEST, _REACH = 8, 10


class Blocks:
    """Means of the last blocks of many series, which are those of a `Smoothing`.

    Parameters
    ----------
    alpha
        That of the smoothing.
    n_rows, n_columns
        Shape of the values.

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

    def __init__(self, *, alpha: float | None, n_rows: int = 1, n_columns: int = 1) -> None:
        self.alpha = alpha
        self.decay = 1.0 if alpha is None else 1.0 - alpha
        self._longest = math.inf
        if alpha is not None:
            self._longest = _power_of_two(max(_REACH / (N_BLOCKS * alpha), _SHORTEST))
        self.size = _SHORTEST
        self.numbers: Array = np.empty(0)
        self.weight: FloatArray = np.empty((0, n_columns))
        self.mean: FloatArray = np.empty((0, n_rows, n_columns))
        self.until = -math.inf
        # The smoothing when the last block was closed: its time, weights and means.
        self._t: float | None = None
        self._start_weight: FloatArray = np.zeros(n_columns)
        self._start_mean: FloatArray = np.zeros((n_rows, n_columns))

    def advance(self, smoothing: Smoothing, t: float) -> None:
        """Close the block that there is, before an observation of a later one is folded in."""
        self.close(smoothing)
        self._shorten(N_BLOCKS)
        self.until = (math.floor(t / self.size) + 1) * self.size

    def close(self, smoothing: Smoothing) -> None:
        """Put the values since the last time into their block, which may have some already."""
        if smoothing.t is None or smoothing.t == self._t:
            return
        weight, mean = smoothing.weight, smoothing.mean
        aged = self._start_weight * self._until(self._t, smoothing.t)
        gained = weight - aged
        some = gained > 1e-12 * weight
        share = np.where(some, weight / np.where(some, gained, 1.0), 0.0)
        number = math.floor(smoothing.t / self.size)
        at_end = self._until(smoothing.t, (number + 1) * self.size)
        self._put(
            number,
            np.where(some, gained, 0.0) * at_end,
            self._start_mean + (mean - self._start_mean) * share,
        )
        self._t, self._start_weight, self._start_mean = smoothing.t, weight, mean.copy()

    def restart(self, smoothing: Smoothing) -> None:
        """Take the smoothing, whose columns may be others than before, as the start of a block."""
        self._t = smoothing.t
        self._start_weight = smoothing.weight
        self._start_mean = smoothing.mean.copy()

    def _until(self, earlier: float | None, later: float) -> float:
        return 1.0 if earlier is None else float(self.decay ** (later - earlier))

    def _put(self, number: int, weight: FloatArray, mean: FloatArray) -> None:
        if len(self.numbers) and self.numbers[-1] == number:
            first, total = self.mean[-1], self.weight[-1] + weight
            # From the first of them, so that a constant stays what it is to the last bit.
            mean = first + weight * (mean - first) / np.where(total > 0, total, 1.0)
            self.weight, self.mean = self.weight.copy(), self.mean.copy()
            self.weight[-1], self.mean[-1] = total, mean
            return
        self.numbers = np.append(self.numbers, number)
        self.weight = np.concatenate([self.weight, weight[None]])
        self.mean = np.concatenate([self.mean, mean[None]])
        self._shorten(N_BLOCKS + 1)

    def _shorten(self, most: int) -> None:
        """Not too many of them: one more while the last goes on."""
        while self._span > most and self.size < self._longest:
            self._coarsen()
        if self._span > most:
            self._keep(self.numbers > self.numbers[-1] - most)
        if len(self.numbers):
            self.until = max(self.until, float(self.numbers[-1] + 1) * self.size)

    @property
    def _span(self) -> int:
        return int(self.numbers[-1] - self.numbers[0] + 1) if len(self.numbers) else 0

    def _keep(self, kept: Array | slice) -> None:
        self.numbers, self.weight = self.numbers[kept], self.weight[kept]
        self.mean = self.mean[kept]

    def _coarsen(self) -> None:
        """Make one block of two, so that each is twice as long."""
        # An odd one ends with the new block; an even one is older by its own length.
        older = np.where(self.numbers % 2 == 0, self._until(0.0, self.size), 1.0)
        self.weight = self.weight * older[:, None]
        self.numbers = np.floor(self.numbers / 2)
        self.size *= 2
        self._join_alike()

    def _join_alike(self) -> None:
        """Weighted means of the entries with the same number, which stand side by side."""
        if (np.diff(self.numbers) > 0).all():
            return
        starts = np.flatnonzero(np.diff(self.numbers, prepend=self.numbers[0] - 1))
        first = self.mean[starts]  # from which they are counted, as in `_put`
        owner = np.cumsum(np.diff(self.numbers, prepend=self.numbers[0]) > 0)
        total = np.add.reduceat(self.weight, starts)
        moved = np.add.reduceat(self.weight[:, None] * (self.mean - first[owner]), starts)
        self.mean = first + moved / np.where(total > 0, total, 1.0)[:, None]
        self.weight, self.numbers = total, self.numbers[starts]

    def closed(self, t: float) -> Blocks:
        """Those that are over at a time; the mean of one that goes on is that of fewer values."""
        n = int(np.searchsorted(self.numbers, math.floor(t / self.size)))
        over = self.copy()
        over._keep(slice(n))
        return over

    def merge(self, other: Blocks) -> Blocks:
        """The blocks of two segments of a stream; both have been closed."""
        joined, later = self.copy(), other.copy()
        for part, size in ((joined, other.size), (later, self.size)):
            while part.size < size:
                part._coarsen()
        order = np.argsort(np.concatenate([joined.numbers, later.numbers]), kind="stable")
        joined.numbers = np.concatenate([joined.numbers, later.numbers])[order]
        joined.weight = np.concatenate([joined.weight, later.weight])[order]
        joined.mean = np.concatenate([joined.mean, later.mean])[order]
        joined._join_alike()
        joined._shorten(N_BLOCKS + 1)
        return joined

    def take(self, columns: Sequence[int] | Array, *, rows: Sequence[int] | None = None) -> Blocks:
        """The same with some columns, and rows, picked; -1 stands for a new one, as in `Smoothing`.

        `restart` is to follow.
        """
        taken = self.copy()
        taken.weight = pick(self.weight, columns, axis=1)
        taken.mean = pick(self.mean, columns, axis=2)
        if rows is not None:
            taken.mean = pick(taken.mean, rows, axis=1)
        return taken

    def copy(self) -> Blocks:
        """An independent copy."""
        twin = object.__new__(Blocks)
        # No array is ever changed in place.
        vars(twin).update(vars(self))
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
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
        n_rows, n_columns = self._start_mean.shape
        n = len(state["numbers"])
        shapes: dict[str, tuple[int, ...]] = {
            "weight": (n, n_columns),
            "mean": (n, n_rows, n_columns),
            "start_weight": (n_columns,),
            "start_mean": (n_rows, n_columns),
        }
        arrays = {name: _array(state, name, shape) for name, shape in shapes.items()}
        self.size, self._t = int(state["size"]), state["t"]
        self.until = -math.inf if state["until"] is None else state["until"]
        self.numbers = np.array(state["numbers"], dtype=float)
        self.weight, self.mean = arrays["weight"], arrays["mean"]
        self._start_weight, self._start_mean = arrays["start_weight"], arrays["start_mean"]


def _array(state: State, name: str, shape: tuple[int, ...]) -> FloatArray:
    values: Any = np.array(state[name], dtype=float)
    if values.size != math.prod(shape) or not np.isfinite(values).all():
        raise ValueError(
            f"the state of the blocks is damaged: {name} does not have {shape} numbers"
        )
    return np.array(values.reshape(shape))


def _power_of_two(least: float) -> float:
    """The smallest power of two that is not below a number."""
    return float(2 ** math.ceil(math.log2(least)))
