"""`spread.py` by operations on arrays, for where it is not compiled."""

from __future__ import annotations

import numpy as np

from ipdp.core.kernels import spread
from ipdp.core.kernels.spread import Groups
from ipdp.core.typing import Array, FloatArray

__all__ = ["Groups", "SpreadStep"]


class SpreadStep(spread.SpreadStep):
    """See `spread.SpreadStep`."""

    def _prepare(self) -> None:
        super()._prepare()
        groups, n_columns = self.groups, self.mean.shape[1]
        sizes = groups.stops - groups.starts
        columns = np.arange(n_columns)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._numbers = groups.numbers[self._owner]
        first, last = groups.starts[self._owner], groups.inners[self._owner]
        self._sizes = (groups.inners - groups.starts).astype(float)
        # The columns of each curve in a row of their own, with that of a zero where it has no more.
        steps = groups.starts[:, None] + np.arange(sizes.max(initial=0))
        self._rows: Array = np.where(steps < groups.inners[:, None], steps, n_columns)
        self._shifts = (groups.moving[self._owner] > 0) & (columns < last) & (last - first > 1)
        self._before = np.where(
            columns > first, columns - 1, np.minimum(columns + 1, n_columns - 1)
        )
        self._after = np.where(columns + 1 < last, columns + 1, np.maximum(columns - 1, 0))

    def strayed(self, positions: FloatArray) -> bool:
        return not np.array_equal(positions, self.reference) and super().strayed(positions)

    def move(self, values: FloatArray, positions: FloatArray) -> None:
        if values.shape != self.mean.shape:
            raise ValueError("the rows have another shape than those before")
        moved = values
        away = self.reference - positions
        shifts = self._shifts & (away != 0)
        if shifts.any():
            other = np.where(away > 0, self._after, self._before)
            run = positions[other] - positions
            shifts &= run != 0
            run = np.where(shifts, run, 1.0)
            moved = np.where(shifts, values + (values[:, other] - values) / run * away, values)
        padded = np.hstack([moved, np.zeros((len(moved), 1))])
        total = np.zeros((len(moved), len(self._sizes)))
        for column in self._rows.T:  # one after the other, as the compiled loop adds them up
            total += padded[:, column]
        centre = total / self._sizes
        self.moved[:] = (moved - centre[:, self._owner]) + self.frame[:, self._numbers]

    def fold_curves(self, decay: float, w: float) -> None:
        weight = self.weight
        weight *= decay
        delta = self.moved - self.mean
        step = delta * (w / (weight + w))
        self.mean += step
        self.spread *= decay
        self.spread += step * delta * weight
        weight += w
        self.squares[:] = decay * decay * self.squares + w * w
