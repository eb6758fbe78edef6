"""Which columns of a layout are one curve."""

from __future__ import annotations

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import MISSING


class Groups:
    """The columns of a layout that are one curve each; a point for missing values is alone.

    `starts` are the first columns, `sizes` their numbers, `owner` the group of each column.
    """

    def __init__(self, layout: Layout) -> None:
        starts, rows = [], []
        for probe, keys in zip(layout.probes, layout.keys, strict=True):
            starts.append(probe.start)
            # Points of a pair with the same first feature stand side by side.
            pair = len(probe.names) == 2
            rows.append(sum(key[0] == keys[0][0] for key in keys) if pair else 0)  # type: ignore[index]
            if keys[-1] is MISSING and len(keys) > 1:
                starts.append(probe.stop - 1)
                rows.append(0)
        self.starts: Array = np.array(starts, dtype=int)
        self.sizes: Array = np.diff([*starts, layout.n_points])
        self.owner: Array = np.repeat(np.arange(len(starts)), self.sizes)
        self._rows: Array = np.array(rows, dtype=int)

    def total(self, values: Array) -> FloatArray:
        """Sums over the columns, which are the last axis, of each group."""
        return np.add.reduceat(values, self.starts, axis=-1, dtype=float)

    def mean(self, values: FloatArray, where: Array) -> FloatArray:
        """Means over those columns of each group that are to count; 0 where there are none."""
        n = self.total(where)
        return self.total(np.where(where, values, 0.0)) / np.maximum(n, 1.0)

    def neighbours(self, axis: int) -> tuple[Array, Array]:
        """For each column the one before and the one after it on an axis; itself at the ends."""
        columns = np.arange(len(self.owner))
        row = self._rows[self.owner]
        step = np.where((row > 0) & (axis == 0), row, 1)
        within = columns - self.starts[self.owner]
        # The second feature of a pair starts anew in each row.
        line = np.where((row > 0) & (axis == 1), row, np.maximum(self.sizes[self.owner], 1))
        place = np.where(step > 1, within, within % line)
        size = np.where(step > 1, self.sizes[self.owner], line)
        before = np.where(place >= step, columns - step, columns)
        after = np.where(place + step < size, columns + step, columns)
        return before, after
