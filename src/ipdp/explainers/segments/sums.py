"""Smoothed answers of the model for each group, all groups side by side.

What is summed is that of `core/smoothing.py`, with a row of its own for each group. An observation
changes the row of its group only; the others age when they are looked at. So the cost does not
depend on the number of groups, and their weighted mean is that of all observations.

Each slot keeps its column as long as the means of all observations know it, also while it is
dormant: points that come and go cost the groups nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ipdp.core import kernels
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.points import Layout, Slot
from ipdp.grid.base import Key

_ARRAYS = ("mean", "spread", "weight", "squares")


Batch = list[tuple[int, FloatArray, FloatArray, float, float]]
"""Observations: the row of the group, positions, outputs, weight and time."""


class GroupSums:
    """Weights, means and spreads of positions and outputs, of all slots and groups.

    Attributes
    ----------
    mean, spread
        Shape (n_groups, n_rows, n_columns), with some room to grow in groups and columns.
    weight, squares
        Shape (n_groups, n_columns), at the time `t` of each group.
    n
        Number of observations of each group and target.
    """

    def __init__(self, n_rows: int, n_targets: int, *, alpha: float | None) -> None:
        self.alpha = alpha
        self.decay = 1.0 if alpha is None else 1.0 - alpha
        self._columns: dict[int, dict[Key, int]] = {}  # by target and key
        self.layout = Layout()
        self._uncounted: dict[int, int] = {}  # observations by row, which are not in `n` yet
        self.at: Array = np.zeros(0, dtype=np.intp)  # columns of the slots of the layout
        self._at: dict[int, Array] = {}  # the same by target
        self._free: list[int] = []
        self.mean: FloatArray = np.zeros((0, n_rows, 0))
        self.spread: FloatArray = np.zeros((0, n_rows, 0))
        self.weight: FloatArray = np.zeros((0, 0))
        self.squares: FloatArray = np.zeros((0, 0))
        self.t: FloatArray = np.zeros(0)
        self.n: Array = np.zeros((0, n_targets), dtype=np.int64)

    # Room.

    def have_room(self, n_groups: int, most: int | None = None) -> None:
        """Have a row for so many groups; there will be at most so many."""
        more = n_groups - len(self.t)
        if more > 0:
            grown = n_groups if most is None else min(max(n_groups, 2 * len(self.t)), most)
            more = max(more, grown - len(self.t))
            for name in (*_ARRAYS, "t", "n"):
                array = getattr(self, name)
                new = np.zeros((more, *array.shape[1:]), dtype=array.dtype)
                setattr(self, name, np.concatenate([array, new]))

    @property
    def columns(self) -> dict[Slot, int]:
        """The column of each slot, also of those that are dormant."""
        return {(k, key): c for k, own in self._columns.items() for key, c in own.items()}

    def arrange(self, layout: Layout, dormant: Sequence[Slot], n_rows: int) -> None:
        """Have the slots and rows that the means of all observations have by now."""
        old = self.layout
        if layout.targets != old.targets:
            self.count()
        # Most targets stay as they are, and so do their dormant slots.
        numbers = {*old.targets, *layout.targets, *(k for k, _ in dormant)}
        changed = {k for k in numbers if layout.keys_of(k) != old.keys_of(k)}
        changed |= numbers.difference(self._columns)
        alive: dict[int, list[Key]] = {k: list(layout.keys_of(k)) for k in changed}
        for k, key in dormant:
            if k in changed:
                alive[k].append(key)
        new = [(k, key) for k in changed for key in self._without_gone(k, alive[k])]
        self._grow(len(new) - len(self._free), n_rows)
        for k, key in new:
            self._columns[k][key] = self._free.pop()
        for k in changed:
            own = self._columns[k]
            self._at[k] = np.array([own[key] for key in layout.keys_of(k)], dtype=np.intp)
        self.layout = layout
        self.at = np.concatenate([np.zeros(0, np.intp), *(self._at[k] for k in layout.targets)])

    def _without_gone(self, number: int, alive: Sequence[Key]) -> list[Key]:
        """Free the columns of slots of a target that have gone; those that are new."""
        own = self._columns.setdefault(number, {})
        gone = own.keys() - set(alive)
        if gone:
            freed = [own.pop(key) for key in gone]
            for array in (self.mean, self.spread, self.weight, self.squares):
                array[..., freed] = 0.0
            self._free += freed
        return [key for key in alive if key not in own]

    def _grow(self, n_columns: int, n_rows: int) -> None:
        """Have so many columns more, and so many rows."""
        known = self.weight.shape[1]
        if n_columns > 0:
            n_columns = max(n_columns, known // 4)
            self._free += range(known, known + n_columns)
        more = max(n_columns, 0), n_rows - self.mean.shape[1]
        if any(more):
            for name in ("mean", "spread"):
                array = getattr(self, name)
                setattr(self, name, np.pad(array, ((0, 0), (0, more[1]), (0, more[0]))))
            for name in ("weight", "squares"):
                setattr(self, name, np.pad(getattr(self, name), ((0, 0), (0, more[0]))))

    # Observations.

    def fold(self, batch: Batch) -> None:
        """Take observations with the slots of the layout; the same as one by one, to rounding."""
        uncounted = self._uncounted
        for each in batch:
            row = each[0]
            if row in uncounted:
                uncounted[row] += 1
            else:
                uncounted[row] = 1
                if not self.weight[row, 0] and not self.weight[row].any():
                    self.t[row] = each[-1]  # there is nothing in it that could have aged
        kernels.current.fold_groups(self, batch, self.at, self.decay)

    def count(self) -> None:
        """Count the last observations, all with the slots of the layout."""
        if self._uncounted:
            rows, counts = list(self._uncounted), list(self._uncounted.values())
            self.n[np.ix_(rows, self.layout.targets)] += np.array(counts)[:, None]
            self._uncounted.clear()

    def _age(self, groups: Array, t: FloatArray) -> dict[str, FloatArray]:
        """The sums of some groups as they are at times that are not in their past."""
        some = self.weight[groups]
        gaps = np.where(self.n[groups].any(axis=1), t - self.t[groups], 0.0)
        left = self.decay**gaps
        return {
            "mean": self.mean[groups],
            "spread": self.spread[groups] * left[:, None, None],
            "weight": some * left[:, None],
            "squares": self.squares[groups] * (left * left)[:, None],
        }

    # Reading.

    def smoothing(self, groups: Sequence[int], slots: Sequence[Slot]) -> Smoothing:
        """The smoothing of some groups together, of some slots."""
        place = self.columns
        columns = [place[slot] for slot in slots]
        known = [g for g in groups if self.n[g].any()]
        t = max((float(self.t[g]) for g in known), default=None)
        n_rows = self.mean.shape[1]
        both = Smoothing(alpha=self.alpha, n_rows=n_rows, n_columns=len(columns))
        if t is None:
            return both
        parts = self._age(np.array(known), np.full(len(known), t))
        parts = {name: array[..., columns] for name, array in parts.items()}
        together = joined(parts["weight"], parts["mean"], parts["spread"])
        both.n, both.t = int(self.n[known].max(axis=1).sum()), t
        both._weight, both.mean, both.spread = together
        both._squares = parts["squares"].sum(axis=0)
        return both

    def move(self, group: int, to: int) -> None:
        """Add what is in the row of one group to that of another, and empty it."""
        if self.n[group].any():
            place = self.columns
            both = self.smoothing([group, to], list(place))
            self.put(to, both, list(place.values()))
            self.n[to] += self.n[group]
        for name in (*_ARRAYS, "t", "n"):
            getattr(self, name)[group] = 0

    def put(self, group: int, smoothing: Smoothing, columns: Sequence[int]) -> None:
        """Write down what a group is, in some columns."""
        self.mean[group][:, columns], self.spread[group][:, columns] = (
            smoothing.mean,
            smoothing.spread,
        )
        self.weight[group, columns] = smoothing.weight
        self.squares[group, columns] = smoothing.squares
        self.t[group] = 0.0 if smoothing.t is None else smoothing.t

    def copy(self) -> GroupSums:
        """An independent copy."""
        twin = object.__new__(GroupSums)
        vars(twin).update(vars(self))
        for name in (*_ARRAYS, "t", "n"):
            setattr(twin, name, getattr(self, name).copy())
        twin._columns = {k: dict(own) for k, own in self._columns.items()}
        twin._uncounted, twin._free = dict(self._uncounted), list(self._free)
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
