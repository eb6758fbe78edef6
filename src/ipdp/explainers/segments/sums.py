"""Smoothed answers of the model for each group, all groups side by side.

What is summed is that of `core/smoothing.py`, with a row of its own for each group. An observation
changes the row of its group only; the others age when they are looked at. So the cost does not
depend on the number of groups, and their weighted mean is that of all observations. What a group
has in other columns than those of the observation ages by one number, its scale.

Each slot keeps its column as long as the means of all observations know it, also while it is
dormant: points that come and go cost the groups nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from ipdp.core import kernels
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.points import Layout, Slot
from ipdp.grid.base import Key

_ARRAYS = ("mean", "spread", "weight", "squares", "scale", "t", "n")


Batch = list[tuple[int, FloatArray, FloatArray, Array, float, float]]
"""Observations: the row of the group, positions, outputs, columns, weight and time."""


_group_of = itemgetter(0)


class GroupSums:
    """Weights, means and spreads of positions and outputs, of all slots and groups.

    Attributes
    ----------
    mean, spread
        Shape (n_groups, n_rows, n_columns), with some room to grow in groups and columns.
    weight, squares
        Shape (n_groups, n_columns).
    scale
        What weights and spreads of a group are to be multiplied by, and squares twice, to have them
        at its time `t`; 0 for a group with nothing in it.
    n
        Number of observations of each group and target.
    """

    def __init__(self, n_rows: int, n_targets: int, *, alpha: float | None) -> None:
        self.alpha = alpha
        self.decay = 1.0 if alpha is None else 1.0 - alpha
        self._columns: dict[int, dict[Key, int]] = {}  # by target and key
        self.layout = Layout()
        self._uncounted: Counter[int] = Counter()  # by row, which are not in `n` yet
        self.at: Array = np.zeros(0, dtype=np.intp)  # columns of the slots of the layout
        self._at: dict[int, Array] = {}  # the same by target
        self._free: list[int] = []
        self._gone: list[int] = []  # as soon as the observations before are folded in
        self.mean: FloatArray = np.zeros((0, n_rows, 0))
        self.spread: FloatArray = np.zeros((0, n_rows, 0))
        self.weight: FloatArray = np.zeros((0, 0))
        self.squares: FloatArray = np.zeros((0, 0))
        self.scale: FloatArray = np.zeros(0)
        self.t: FloatArray = np.zeros(0)
        self.n: Array = np.zeros((0, n_targets), dtype=np.int64)

    # Room.

    def have_room(self, n_groups: int, most: int | None = None) -> None:
        """Have a row for so many groups; there will be at most so many."""
        more = n_groups - len(self.t)
        if more > 0:
            grown = n_groups if most is None else min(max(n_groups, 2 * len(self.t)), most)
            more = max(more, grown - len(self.t))
            for name in _ARRAYS:
                array = getattr(self, name)
                setattr(self, name, _larger(array, (len(array) + more, *array.shape[1:])))

    @property
    def columns(self) -> dict[Slot, int]:
        """The column of each slot, also of those that are dormant."""
        return {(k, key): c for k, own in self._columns.items() for key, c in own.items()}

    def arrange(self, layout: Layout, dormant: Sequence[Slot], n_rows: int) -> None:
        """Have the slots and rows that the means of all observations have by now."""
        old = self.layout
        # Most targets stay as they are, and so do their dormant slots.
        changed = [
            k
            for k in {*old.targets, *layout.targets}
            if layout.keys_of(k) is not old.keys_of(k) or k not in self._columns
        ]
        new = []
        for k in changed:
            own = self._columns.setdefault(k, {})
            new += [(k, key) for key in layout.keys_of(k) if key not in own]
        known = sum(map(len, self._columns.values())) + len(new)
        if known != layout.n_points + len(dormant):
            new += self._without_gone({*layout.slots, *dormant}, new)
        self._grow(len(new) - len(self._free), n_rows)
        for k, key in new:
            self._columns[k][key] = self._free.pop()
        for k in changed:
            own = self._columns[k]
            self._at[k] = np.array([own[key] for key in layout.keys_of(k)], dtype=np.intp)
        self.layout = layout
        self.at = np.concatenate([np.zeros(0, np.intp), *(self._at[k] for k in layout.targets)])

    def _without_gone(self, alive: set[Slot], new: Sequence[Slot]) -> list[Slot]:
        """Give up the columns of slots that have gone; those that are neither known nor new."""
        for k, own in self._columns.items():
            gone = [key for key in own if (k, key) not in alive]
            self._gone += [own.pop(key) for key in gone]
        missing = alive - {*self.columns, *new}
        for k, _ in missing:
            self._columns.setdefault(k, {})
        return sorted(missing, key=str)

    def _grow(self, n_columns: int, n_rows: int) -> None:
        """Have so many columns more, and so many rows."""
        known = self.weight.shape[1]
        if n_columns > 0:
            n_columns = max(n_columns, known // 2)
            self._free += range(known, known + n_columns)
            known += n_columns
        if n_columns > 0 or n_rows > self.mean.shape[1]:
            n_groups = len(self.t)
            self.mean = _larger(self.mean, (n_groups, n_rows, known))
            self.spread = _larger(self.spread, (n_groups, n_rows, known))
            self.weight = _larger(self.weight, (n_groups, known))
            self.squares = _larger(self.squares, (n_groups, known))

    # Observations.

    def fold(self, batch: Batch) -> None:
        """Take all observations since the last time; the same as one by one, to rounding.

        Their targets are those of the layout. The list is sorted.
        """
        # What a group has is fetched from memory once; those of one group stay in their order.
        batch.sort(key=_group_of)
        self._uncounted.update(map(_group_of, batch))
        kernels.current.fold_groups(self, batch, self.decay)
        for array in (self.mean, self.spread, self.weight, self.squares):
            for column in self._gone:
                array[..., column] = 0.0
        self._free += self._gone
        self._gone = []

    def count(self) -> None:
        """Count the last observations, all with the slots of the layout."""
        if self._uncounted:
            rows, counts = map(list, zip(*self._uncounted.items(), strict=True))
            self.n[np.ix_(rows, list(self.layout.targets))] += np.array(counts)[:, None]
            self._uncounted.clear()

    # Reading.

    def smoothing(self, groups: Sequence[int], slots: Sequence[Slot]) -> Smoothing:
        """The smoothing of some groups together, of some slots."""
        place = self.columns
        columns = [place[slot] for slot in slots]
        known = [g for g in groups if self.scale[g] > 0]
        both = Smoothing(alpha=self.alpha, n_rows=self.mean.shape[1], n_columns=len(columns))
        if not known:
            return both
        times = self.t[known]
        both.n, both.t = int(self.n[known].max(axis=1).sum()), float(times.max())
        left = self.scale[known] * self.decay ** (both.t - times)
        mean, spread, weight, squares = (
            array[known][..., columns]
            for array in (self.mean, self.spread, self.weight, self.squares)
        )
        together = joined(weight * left[:, None], mean, spread * left[:, None, None])
        both._weight, both.mean, both.spread = together
        both._squares = (squares * (left * left)[:, None]).sum(axis=0)
        return both

    def move(self, group: int, to: int) -> None:
        """Add what is in the row of one group to that of another, and empty it."""
        left = self._aged([to, group])
        weight, more = self.weight[to] * left[0], self.weight[group] * left[1]
        total = weight + more
        # 0 / 0 where neither has a value: then the share does not matter.
        share = more / np.where(total > 0, total, 1.0)
        delta = self.mean[group] - self.mean[to]
        self.mean[to] += share * delta
        self.spread[to] *= left[0]
        self.spread[to] += left[1] * self.spread[group] + weight * share * delta**2
        self.squares[to] *= left[0] ** 2
        self.squares[to] += left[1] ** 2 * self.squares[group]
        self.weight[to] = total
        self.n[to] += self.n[group]
        self._uncounted[to] += self._uncounted.pop(group, 0)
        for name in _ARRAYS:
            getattr(self, name)[group] = 0

    def _aged(self, rows: Sequence[int]) -> list[float]:
        """What is left of the sums of some groups at the latest of their times, that of the first.

        Its own are expressed at that time from now on.
        """
        known = [row for row in rows if self.scale[row] > 0]
        t = max((float(self.t[row]) for row in known), default=0.0)
        left = [0.0] * len(rows)
        for k, row in enumerate(rows):
            if row in known:
                left[k] = float(self.scale[row] * self.decay ** (t - self.t[row]))
        self.t[rows[0]], self.scale[rows[0]] = t, 1.0 if known else 0.0
        return left

    def put(self, group: int, smoothing: Smoothing, columns: Sequence[int]) -> None:
        """Write down what a group is, in some columns."""
        self.mean[group][:, columns], self.spread[group][:, columns] = (
            smoothing.mean,
            smoothing.spread,
        )
        self.weight[group, columns] = smoothing.weight
        self.squares[group, columns] = smoothing.squares
        self.scale[group], self.t[group] = 0.0, 0.0
        if smoothing.t is not None:
            self.scale[group], self.t[group] = 1.0, smoothing.t

    def clear(self) -> None:
        """Forget all observations, not where they belong."""
        for name in _ARRAYS:
            getattr(self, name)[:] = 0

    def copy(self) -> GroupSums:
        """An independent copy."""
        twin = object.__new__(GroupSums)
        vars(twin).update(vars(self))
        for name in _ARRAYS:
            setattr(twin, name, getattr(self, name).copy())
        twin._columns = {k: dict(own) for k, own in self._columns.items()}
        twin._uncounted = self._uncounted.copy()
        twin._free, twin._gone = list(self._free), list(self._gone)
        twin._at = dict(self._at)
        return twin


def joined(
    weight: FloatArray, mean: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, mean and spread of several groups at the same time, which are the first axis."""
    total = weight.sum(axis=0)
    # Counted from that of the largest group, so that what is the same for all stays what it is.
    first = np.take_along_axis(mean, weight.argmax(axis=0)[None, None], axis=0)[0]
    share = weight / np.where(total > 0, total, 1.0)
    moved = first + (share[:, None] * (mean - first)).sum(axis=0)
    within = spread.sum(axis=0) + (weight[:, None] * (mean - moved) ** 2).sum(axis=0)
    return total, moved, within


def _larger(array: Array, shape: tuple[int, ...]) -> Array:
    """The same with room for more; what is not used yet takes no memory."""
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger
