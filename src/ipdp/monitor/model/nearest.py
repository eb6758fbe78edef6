"""Those of an observation's own points that are nearest to the knots of each feature.

The model was evaluated there, so that its earlier answer is known exactly. Every observation has as
many of them as there are knots: the model can be asked about several observations at once,
whatever points they had, and about no more points than are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ipdp.core import kernels
from ipdp.core.kernels.nearest import Span
from ipdp.core.typing import Array, FeatureName
from ipdp.models.base import Probe
from ipdp.monitor.features import Layout, Record

# A range may end earlier by this share of it, and still be read at all knots.
_EDGE = 0.05


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
        self._is_number = [own is not None and own.dtype != object for own in places]
        self._has_categories = any(own is not None and own.dtype == object for own in places)
        knots = [
            np.asarray(own, dtype=float) if is_number else np.zeros(n)
            for own, is_number, n in zip(places, self._is_number, sizes, strict=True)
        ]
        self._points = kernels.nearest_kernel().NearestPoints(knots, _EDGE)
        self._probes: dict[tuple[bool, ...], tuple[Probe, ...]] = {}
        # By the identity of their layout, of which many records have the same.
        self._asked: dict[int, tuple[Layout, tuple[bool, ...], list[Span]]] = {}
        # Of n_features x width, which is which column's.
        self.cells = np.concatenate(
            [row * self.width + np.arange(n) for row, n in enumerate(sizes)]
        ).astype(np.intp)

    def whole(self, layout: Layout) -> tuple[bool, ...]:
        """For each feature, whether it was asked about with whole numbers.

        Observations with the same answer can be asked about together.
        """
        return self._of(layout)[1]

    def _of(self, layout: Layout) -> tuple[Layout, tuple[bool, ...], list[Span]]:
        """Which numbers were whole in a layout, and where their points are."""
        known = self._asked.get(id(layout))
        if known is not None:
            return known
        whole, spans = [False] * len(self._names), []
        for number, own, probe in zip(layout.targets, layout.whole, layout.probes, strict=True):
            row = self._rows.get(number)
            if row is None or not self._is_number[row]:
                continue
            whole[row] = bool(own[0])
            stop = probe.stop - probe.missing
            if probe.categories[0] is None and stop - probe.start >= 2:
                spans.append((row, probe.start, stop))
        self._asked[id(layout)] = layout, tuple(whole), spans
        return self._asked[id(layout)]

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

    def find(self, records: Sequence[Record]) -> tuple[Array, Array]:
        """Columns of the nearest points, and who has all its knots in the range.

        The columns are of shape (n_records, n_columns), the rest of shape (n_records, n_features).
        Where a knot has no point, the column is the first, and nobody is in range.
        """
        columns = np.zeros((len(records), self.n_columns), dtype=np.intp)
        within = np.zeros((len(records), len(self._names)), dtype=np.uint8)
        spans = [self._of(record.layout)[2] for record in records]
        self._points.find([record.positions for record in records], spans, columns, within)
        if self._has_categories:
            for record, own, is_within in zip(records, columns, within, strict=True):
                self._find_categories(record, own, is_within)
        return columns, within

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
