"""Which grid points are evaluated together, in which columns, and where they are."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from ipdp.core import kernels
from ipdp.core.kernels import loop
from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.explainers.state.targets import MISSING, Effect
from ipdp.grid.base import Key
from ipdp.grid.ranges import RangeGrid, quantile_sample_of
from ipdp.models.base import Probe

Slot = tuple[int, Key]
"""A grid point: number of its effect, and its key."""


@dataclass(frozen=True)
class Layout:
    """The slots that are evaluated together, in the order of their columns.

    Attributes
    ----------
    effects
        Numbers of the effects that take part.
    keys
        For each of them, the keys of its points.
    whole
        For each of them and each of its features, whether the points are whole numbers.
    probes
        The same, as the engine is asked.
    n_points
        Number of columns.
    """

    effects: tuple[int, ...] = ()
    keys: tuple[tuple[Key, ...], ...] = ()
    whole: tuple[tuple[bool, ...], ...] = ()
    probes: tuple[Probe, ...] = field(default=(), compare=False, repr=False)
    n_points: int = field(default=0, compare=False)

    @classmethod
    def of(
        cls,
        effects: Sequence[Effect],
        numbers: Sequence[int],
        keys: Sequence[tuple[Key, ...]],
        whole: Sequence[tuple[bool, ...]],
    ) -> Layout:
        """The layout of some effects, given by their numbers."""
        starts = [0, *accumulate(len(k) for k in keys)]
        probes = tuple(
            _probe(effects[number].names, start, k, w)
            for number, start, k, w in zip(numbers, starts, keys, whole, strict=False)
        )
        return cls(tuple(numbers), tuple(keys), tuple(whole), probes, starts[-1])

    @property
    def slots(self) -> list[Slot]:
        """All of them, in the order of the columns."""
        return [(k, key) for k, keys in zip(self.effects, self.keys, strict=True) for key in keys]


def _probe(
    names: tuple[FeatureName, ...], start: int, keys: tuple[Key, ...], whole: tuple[bool, ...]
) -> Probe:
    missing = keys[-1] is MISSING
    by_axis: list[Any] = [keys] if len(names) == 1 else list(zip(*keys, strict=True))
    categories = tuple(_categories(axis_keys) for axis_keys in by_axis)
    return Probe(names, start, start + len(keys), whole, categories, missing)


def _categories(keys: Sequence[Any]) -> Array | None:
    """The categories that the keys stand for; a missing one is None, as in np.empty."""
    if not isinstance(keys[0], tuple):
        return None
    categories = np.empty(len(keys), dtype=object)
    for k, key in enumerate(keys):
        if key is not MISSING:
            categories[k] = key[0]
    return categories


class Positions:
    """Where the slots of a layout are, from one observation to the next.

    Ranges of equidistant numbers, the common case, are spread out all at once: one numpy call
    costs as much for eighty numbers as for ten.
    """

    def __init__(self, layout: Layout, effects: Sequence[Effect], n_axes: int) -> None:
        self.layout = layout
        parts = list(zip((effects[k] for k in layout.effects), layout.probes, strict=True))
        plain = [(effect.range_grid, probe) for effect, probe in parts if effect.is_plain]
        self._ranges = _Ranges(plain) if plain else None
        self._others = [
            _Other(effect, probe, keys)
            for (effect, probe), keys in zip(parts, layout.keys, strict=True)
            if not effect.is_plain
        ]
        self._moved = self._others
        self._latest: FloatArray = np.zeros((n_axes, layout.n_points))

    def is_stale(self) -> bool:
        """Whether a point came or went since the layout was made; plain ranges keep theirs.

        To be asked before `now`, which goes by what was seen here.
        """
        self._moved = [other for other in self._others if other.moved]
        return any(other.stale for other in self._moved)

    def now(self) -> FloatArray:
        """The positions, of shape (n_axes, n_points), 0 for categories; not changed afterwards."""
        ranges = self._ranges
        if ranges is not None and not ranges.moved():
            ranges = None
        if ranges is None and not self._moved:
            return self._latest
        positions = self._latest.copy()
        if ranges is not None:
            ranges.spread_into(positions[0])
        for other in self._moved:
            other.fill(positions)
        self._moved = []
        self._latest = positions
        return positions


class _Other:
    """An effect that is no plain range: its points may jump, come and go."""

    def __init__(self, effect: Effect, probe: Probe, keys: tuple[Key, ...]) -> None:
        self.effect = effect
        self.probe = probe
        self.keys = keys
        self._axes: list[Array] = []

    @property
    def stale(self) -> bool:
        """Whether a point came or went, or whole numbers ceased to be whole."""
        if any(self.probe.whole) and self.effect.whole != self.probe.whole:
            return True
        keys = self.effect.current_keys()
        return keys is not self.keys and keys != self.keys

    @property
    def moved(self) -> bool:
        """Whether a point has moved since the last time; grids keep the array until one does."""
        points = [grid.points for grid in self.effect.grids]
        return not self._axes or not all(map(operator.is_, points, self._axes))

    def fill(self, positions: FloatArray) -> None:
        """Write down where its points are now."""
        self._axes = [grid.points for grid in self.effect.grids]
        self.effect.fill(positions, self.probe.start, self.probe.stop)


class _Ranges:
    """The plain ranges of a layout."""

    def __init__(self, parts: Sequence[tuple[RangeGrid, Probe]]) -> None:
        self._grids = [grid for grid, _ in parts]
        self._samples = [quantile_sample_of(grid) for grid in self._grids]
        self._versions = [-1] * len(parts)
        self._ends: FloatArray = np.zeros((len(parts), 2))
        self._spans = [(probe.start, probe.stop) for _, probe in parts]
        sizes = [stop - start for start, stop in self._spans]
        self._columns = np.concatenate([np.arange(start, stop) for start, stop in self._spans])
        # For each column: whose range it is in, and which share of the range lies below it.
        self._owner = np.repeat(np.arange(len(parts)), sizes)
        self._fractions = np.concatenate([np.arange(size) / (size - 1) for size in sizes])

    def moved(self) -> bool:
        """Whether any of them may have moved since the last time."""
        read = (kernels.current or loop).read_ranges
        return bool(read(self._grids, self._samples, self._versions, self._ends))

    def spread_into(self, row: FloatArray) -> None:
        """Write the points of all of them into their columns."""
        # x_min + (k - 1) / (m - 1) (x_max - x_min), the paper's model evaluation point.
        if kernels.current is not None:
            kernels.current.spread_out(row, self._spans, self._ends)
            return
        low, high = self._ends.T
        points = (high - low)[self._owner]
        points *= self._fractions
        points += low[self._owner]
        row[self._columns] = points
