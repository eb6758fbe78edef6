"""What the walk is asked about: rows and points as the trees compare them, by column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.observations import Block
from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.models.base import Probe
from ipdp.models.batched import list_of_columns, table_of
from ipdp.models.forests.flat import Codes, Flat

_NUMBERS = {float, int, bool, type(None)}


class NotWalked(Exception):
    """Something is asked that the walk does not do; it is asked of the library."""


@dataclass(eq=False)
class Axes:
    """The features whose points are asked about together, each with its columns.

    Attributes
    ----------
    axis_of
        For each feature of the trees its axis; -1 if it has none.
    start, stop
        The columns of each axis.
    pair_at
        For two axes the first cell of their pair; -1 if it is not asked about.
    n_cells
        Number of points of all pairs.
    """

    axis_of: Array
    start: Array
    stop: Array
    pair_at: Array
    n_cells: int


class Pair(NamedTuple):
    """A pair of features: its probe, its two axes, and its cells."""

    probe: Probe
    axes: tuple[int, int]
    cells: slice


class Request:
    """The probes of a layout, as the walk is asked about them.

    Parameters
    ----------
    probes
        Together they fill all columns.
    columns
        Names of the table's columns.
    forest
        The trees.
    """

    def __init__(
        self, probes: Sequence[Probe], columns: Sequence[FeatureName], forest: Flat
    ) -> None:
        self.probes = probes
        self.columns = tuple(columns)
        self.forest = forest
        numbers = range(len(columns)) if forest.columns is None else forest.columns.tolist()
        if forest.n_features > len(numbers):  # the walk checks no index
            raise NotWalked(f"a split is on column {forest.n_features - 1:,} of {len(numbers):,}")
        self._feature_of = {columns[column]: f for f, column in enumerate(numbers)}
        self._codes = {columns[column]: codes for column, codes in forest.codes.items()}
        self.singles = [probe for probe in probes if len(probe.names) == 1]
        # Those whose points are not just the numbers that are given.
        self._special = [
            probe
            for probe in self.singles
            if probe.missing or probe.categories[0] is not None or probe.names[0] in self._codes
        ]
        self._n_second: dict[tuple[FeatureName, ...], int] = {}
        self.pairs: list[Pair] = []
        self.axes: Axes | None = None
        self._names = list(
            dict.fromkeys(
                [
                    *[probe.names[0] for probe in self.singles],
                    *[name for probe in probes for name in probe.names],
                ]
            )
        )
        if len({probe.names[0] for probe in self.singles}) < len(self.singles):
            raise NotWalked("a feature is asked about twice")

    # The rows.

    def rows(self, observations: Sequence[Observation]) -> FloatArray:
        """The observations, of shape (n_rows, n_features), in the order of the trees' features."""
        forest, columns = self.forest, self.columns
        if by_column := isinstance(observations, Block):
            table = list_of_columns(observations, columns)
        else:
            table = [[x.get(name) for name in columns] for x in observations]
        if not self._codes and all(_NUMBERS.issuperset(map(type, own)) for own in table):
            numbers = np.array(table, dtype=float)
            X = self._rounded(numbers.T if by_column else numbers)
        else:
            arrays = table_of(observations, columns)
            X = np.column_stack(
                [self._encoded(name, a) for name, a in zip(columns, arrays, strict=True)]
            )
        return np.ascontiguousarray(X if forest.columns is None else X[:, forest.columns])

    def _encoded(self, name: FeatureName, values: Array) -> FloatArray:
        """Values as the trees compare them."""
        codes = self._codes.get(name)
        if codes is not None:
            return _as_codes(values, codes)
        if values.dtype == object:
            if not all(isinstance(v, (float, int, type(None))) for v in values.flat):
                raise NotWalked("there is a category where the trees compare numbers")
            values = values.astype(float)
        return self._rounded(values.astype(float, copy=False))

    def _rounded(self, values: FloatArray) -> FloatArray:
        if not self.forest.single_precision:
            return values
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(float)

    # The points.

    def points(self, positions: FloatArray) -> FloatArray:
        """The points of all axes, of shape (n_rows, n_columns); `axes` says where they are."""
        if len(self.singles) == len(self.probes):
            if self.axes is None:
                self._lay_out([probe.stop - probe.start for probe in self.probes])
            return self._of_singles(positions)
        parts = dict(self._axes_of_pairs(positions))
        for probe in self.singles:
            parts[probe.names[0]] = self._column(probe, positions, 0)
        ordered = [parts[name] for name in self._names]
        if self.axes is None:
            self._lay_out([part.shape[1] for part in ordered])
        n = len(positions)
        return np.concatenate([np.broadcast_to(p, (n, p.shape[1])) for p in ordered], axis=1)

    def _of_singles(self, positions: FloatArray) -> FloatArray:
        points = self._rounded(positions[:, 0])
        if self._special and not self.forest.single_precision:
            points = points.copy()  # it is the caller's
        for probe in self._special:
            points[:, probe.start : probe.stop] = self._column(probe, positions, 0)
        return np.ascontiguousarray(points)

    def _column(self, probe: Probe, positions: FloatArray, axis: int) -> FloatArray:
        return self._encoded(probe.names[axis], probe.column(positions, axis))

    def _axes_of_pairs(self, positions: FloatArray) -> Iterator[tuple[FeatureName, FloatArray]]:
        """The points of features that are in pairs; those of a feature are always the same."""
        known = {p.names[0]: self._column(p, positions, 0) for p in self.singles}
        for probe in self.probes:
            if len(probe.names) == 1:
                continue
            for name, points in zip(probe.names, self._sides(probe, positions), strict=True):
                if name in known and not _same(known[name], points):
                    raise NotWalked("a feature has several grids")
                known[name] = points
                yield name, points

    def _sides(self, probe: Probe, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The points of a pair's two features, which the pair's are all combinations of."""
        first, second = (self._column(probe, positions, axis) for axis in (0, 1))
        size = probe.stop - probe.start
        known = self._n_second.get(probe.names, size)
        for n in (known, *(n for n in range(1, size) if size % n == 0)):
            one, other = (side.reshape(len(side), size // n, n) for side in (first, second))
            if _same(one, one[:, :, :1]) and _same(other, other[:, :1]):
                self._n_second[probe.names] = n
                return one[:, :, 0], other[:, 0]
        raise NotWalked("a pair is no lattice")

    def _lay_out(self, lengths: Sequence[int]) -> None:
        """Give each axis its columns, and each pair its cells."""
        n_axes = len(self._names)
        number = {name: k for k, name in enumerate(self._names)}
        ends = np.cumsum([0, *lengths], dtype=np.int32)
        axis_of = np.full(len(self._feature_of), -1, dtype=np.int32)
        for name, k in number.items():
            axis_of[self._feature_of[name]] = k
        has_pairs = len(self.singles) < len(self.probes)
        pair_at = np.full((n_axes, n_axes) if has_pairs else (1, 1), -1, dtype=np.int32)
        at = 0
        for probe in self.probes:
            if len(probe.names) == 2:
                a, b = number[probe.names[0]], number[probe.names[1]]
                if pair_at[a, b] >= 0 or pair_at[b, a] >= 0:
                    raise NotWalked("a pair is asked about twice")
                pair_at[a, b] = at
                self.pairs.append(Pair(probe, (a, b), slice(at, at + lengths[a] * lengths[b])))
                at += lengths[a] * lengths[b]
        self.axes = Axes(axis_of, ends[:-1].copy(), ends[1:].copy(), pair_at, at)

    # The answer.

    def assembled(self, single: FloatArray, pair: FloatArray, n_points: int) -> FloatArray:
        """What the points differ from their rows, in the columns of the probes."""
        if not self.pairs:
            return single
        axes = self.axes
        assert axes is not None
        answer = np.empty((*single.shape[:2], n_points))
        columns = [
            slice(a, b) for a, b in zip(axes.start.tolist(), axes.stop.tolist(), strict=True)
        ]
        for probe, span in zip(self.singles, columns, strict=False):
            answer[:, :, probe.start : probe.stop] = single[:, :, span]
        for probe, (a, b), cells in self.pairs:
            both = single[:, :, columns[a], None] + single[:, :, None, columns[b]]
            both = both.reshape(*single.shape[:2], -1)
            np.add(both, pair[:, :, cells], out=answer[:, :, probe.start : probe.stop])
        return answer


def _as_codes(values: Array, codes: Codes) -> FloatArray:
    """Categories as the trees know them; those that they do not know are missing values."""
    try:
        found = [codes.get(value, math.nan) for value in values.ravel().tolist()]
    except TypeError as error:
        raise NotWalked("a category cannot be looked up") from error
    return np.array(found, dtype=float).reshape(values.shape)


def _same(a: Any, b: Any) -> bool:
    if a.shape[-1] != b.shape[-1] and 1 not in (a.shape[-1], b.shape[-1]):
        return False
    same = a == b
    return bool(same.all() or (same | (np.isnan(a) & np.isnan(b))).all())
