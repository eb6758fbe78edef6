"""Those of an observation's own points that are nearest to the knots of each feature.

The model was evaluated there, so that its earlier answer is known exactly. Every observation has as
many of them as there are knots: the model can be asked about several observations at once,
whatever points they had, and about no more points than are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.models.base import Probe
from ipdp.monitor.features import Layout, Record

# A range may end earlier by this share of it, and still be read at all knots.
_EDGE = 0.05
# Axes are laid out one after the other: knots from 0 to 1, points from -1 to 2, this far apart.
_APART = 4.0


class _Axes(NamedTuple):
    """The points of a layout's numbers, one feature after the other."""

    rows: list[int]  # of the features
    at: Array  # (n,) columns of the points
    firsts: Array  # (n_features,) places of each feature's first and last among them
    lasts: Array
    low: FloatArray  # (n,) where the knots of its feature begin, how far they reach,
    span: FloatArray
    start: FloatArray  # and where they are laid out


class Nearest:
    """Finds the points nearest to some knots.

    `numbers` and `names` are those of the features; their knots are `places`, numbers or
    categories, None for a feature without any. All knots stand side by side in `n_columns` columns;
    by feature there are at most `width`.
    """

    def __init__(
        self,
        numbers: Sequence[int],
        names: Sequence[FeatureName],
        places: Sequence[Array | None],
    ) -> None:
        self._rows = {number: row for row, number in enumerate(numbers)}
        self._names, self._places = list(names), list(places)
        sizes = [0 if own is None else len(own) for own in places]
        stops = np.cumsum(sizes)
        self._slices = [slice(b - n, b) for n, b in zip(sizes, stops.tolist(), strict=True)]
        self.n_columns, self.width = int(stops[-1]), max(sizes)
        # Where the knots of each feature are, and of what they are to be scaled by.
        is_number = [own is not None and own.dtype != object for own in places]
        self._low, self._span = np.zeros(len(sizes)), np.ones(len(sizes))
        self._laid = np.full(self.n_columns, np.inf)
        for row in np.flatnonzero(is_number).tolist():
            axis = np.asarray(places[row], dtype=float)
            self._low[row], self._span[row] = axis[0], (axis[-1] - axis[0]) or 1.0
            scaled = (axis - self._low[row]) / self._span[row]
            self._laid[self._slices[row]] = scaled + _APART * row
        self._is_number = is_number
        self._probes: dict[tuple[bool, ...], tuple[Probe, ...]] = {}
        # By the identity of their layout, of which many records have the same.
        self._axes: dict[int, tuple[Layout, _Axes | None]] = {}
        self._cells = np.concatenate(
            [row * self.width + np.arange(n) for row, n in enumerate(sizes)]
        ).astype(int)

    def whole(self, layout: Layout) -> tuple[bool, ...]:
        """For each feature, whether it was asked about with whole numbers.

        Observations with the same answer can be asked about together.
        """
        whole = [False] * len(self._names)
        for number, own in zip(layout.targets, layout.whole, strict=True):
            if number in self._rows:
                row = self._rows[number]
                whole[row] = self._is_number[row] and bool(own[0])
        return tuple(whole)

    def probes(self, whole: tuple[bool, ...]) -> tuple[Probe, ...]:
        """How the model is asked about such observations; always the same object for the same."""
        if whole not in self._probes:
            categories = [None if p is None or p.dtype != object else p for p in self._places]
            parts = zip(self._names, self._slices, whole, categories, strict=True)
            self._probes[whole] = tuple(
                Probe((name,), own.start, own.stop, (is_whole,), (known,))
                for name, own, is_whole, known in parts
                if own.stop > own.start
            )
        return self._probes[whole]

    def find(self, records: Sequence[Record]) -> tuple[Array, FloatArray, Array]:
        """Columns and positions of the nearest points, and who has all its knots in the range.

        Columns and positions are of shape (n_records, n_columns), the rest of shape (n_records,
        n_features). Where a knot has no point, the column is the first, and nobody is in range.
        """
        columns = np.zeros((len(records), self.n_columns), dtype=int)
        positions = np.zeros((len(records), self.n_columns))
        within = np.zeros((len(records), len(self._names)), dtype=bool)
        for k, record in enumerate(records):
            self._find_numbers(record, columns[k], within[k])
            self._find_categories(record, columns[k], within[k])
            positions[k] = record.positions[0, columns[k]]
        return columns, positions, within

    def _find_numbers(self, record: Record, columns: Array, within: Array) -> None:
        axes = self._axes_of(record.layout)
        if axes is None:
            return
        scaled = (record.positions[0, axes.at] - axes.low) / axes.span
        laid = np.minimum(np.maximum(scaled, -1.0), 2.0) + axes.start
        at = axes.at
        if (laid[1:] < laid[:-1]).any():  # features, or points, in another order
            order = np.argsort(laid, kind="stable")
            laid, at = laid[order], at[order]
        right = np.minimum(np.maximum(laid.searchsorted(self._laid), 1), len(laid) - 1)
        near = right - (self._laid - laid[right - 1] < laid[right] - self._laid)
        columns[:] = at[near]
        low, high = scaled[axes.firsts], scaled[axes.lasts]
        slack = _EDGE * (high - low)
        within[axes.rows] = (low - slack <= 0.0) & (high + slack >= 1.0)

    def _axes_of(self, layout: Layout) -> _Axes | None:
        """The points of numbers in a layout; None if there are none."""
        if id(layout) not in self._axes:
            self._axes[id(layout)] = layout, self._axes_in(layout)
        return self._axes[id(layout)][1]

    def _axes_in(self, layout: Layout) -> _Axes | None:
        rows, starts, stops = [], [], []
        for number, probe in zip(layout.targets, layout.probes, strict=True):
            row = self._rows.get(number)
            stop = probe.stop - probe.missing
            if row is None or not self._is_number[row] or stop - probe.start < 2:
                continue
            if probe.categories[0] is None:
                rows.append(row)
                starts.append(probe.start)
                stops.append(stop)
        if not rows:
            return None
        sizes = np.subtract(stops, starts)
        own = np.repeat(rows, sizes)
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        at = np.arange(ends[-1]) + np.repeat(np.subtract(starts, firsts), sizes)
        return _Axes(rows, at, firsts, ends - 1, self._low[own], self._span[own], _APART * own)

    def _find_categories(self, record: Record, columns: Array, within: Array) -> None:
        for number, probe in zip(record.layout.targets, record.layout.probes, strict=True):
            row = self._rows.get(number)
            categories = probe.categories[0]
            if row is None or self._is_number[row] or categories is None:
                continue
            places = self._places[row]
            if places is None:
                continue
            known = categories.tolist()[: probe.stop - probe.missing - probe.start]
            place = {category: probe.start + k for k, category in enumerate(known)}
            if all(category in place for category in places.tolist()):
                columns[self._slices[row]] = [place[category] for category in places.tolist()]
                within[row] = True

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Values (n, n_outputs, n_columns) as (n, n_outputs, n_features, width), with zeros."""
        n, n_outputs, _ = values.shape
        spread = np.zeros((n, n_outputs, len(self._names) * self.width))
        spread[:, :, self._cells] = values
        return spread.reshape(n, n_outputs, len(self._names), self.width)
