"""What is being followed: a feature, or a pair of features, with its grid points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ipdp.core.typing import Array, Feature, FeatureName
from ipdp.grid.auto import Auto
from ipdp.grid.base import Grid, Key
from ipdp.grid.ranges import RangeGrid

# The key of the point for a missing value. A storage never holds one, so no other point has it.
MISSING: Key = None


@dataclass(eq=False)
class Effect:
    """One curve in the making: whose it is, and which columns of the smoothing belong to it.

    Attributes
    ----------
    feature
        What the curve is about, as the user wrote it.
    names
        The features involved, one or two.
    grids
        The grid of each of them, shared with the other effects of the same feature.
    keys
        What the points that are being followed are remembered by.
    start
        Number of the first column of these points.
    n
        Number of ICE curves folded in.
    """

    feature: Feature
    names: tuple[FeatureName, ...]
    grids: tuple[Grid, ...]
    keys: tuple[Key, ...] = ()
    start: int = 0
    n: int = 0
    _axis_keys: tuple[Any, ...] = field(default=(), repr=False)
    _keys: tuple[Key, ...] = field(default=(), repr=False)

    @property
    def ready(self) -> bool:
        """Whether every grid has points to give."""
        return all(grid.ready for grid in self.grids)

    @property
    def is_pair(self) -> bool:
        """Whether the effect is that of two features."""
        return len(self.names) == 2

    @property
    def is_plain(self) -> bool:
        """Whether it is one range of equidistant numbers, always the same number of them."""
        if self.is_pair:
            return False
        grid = _chosen(self.grids[0])
        return (
            isinstance(grid, RangeGrid) and grid.equidistant and not grid.whole and not grid.missing
        )

    @property
    def range_grid(self) -> RangeGrid:
        """The grid of a plain effect."""
        grid = _chosen(self.grids[0])
        assert isinstance(grid, RangeGrid)
        return grid

    @property
    def whole(self) -> tuple[bool, ...]:
        """For each feature, whether its points are whole numbers now."""
        return tuple([grid.whole for grid in self.grids])

    def current_keys(self) -> tuple[Key, ...]:
        """The keys of the points to evaluate now; the same tuple as long as they are the same."""
        if len(self.grids) == 1 and not self.grids[0].missing:
            return self.grids[0].keys
        axis_keys = tuple(grid.keys for grid in self.grids)
        if not _same(axis_keys, self._axis_keys):
            self._axis_keys = axis_keys
            self._keys = tuple(product(*axis_keys)) if self.is_pair else (*axis_keys[0], MISSING)
        return self._keys

    def fill(self, positions: Array, start: int, stop: int) -> None:
        """Write where the points are now into the columns of (n_axes, n_points) that are theirs."""
        axes = [grid.points for grid in self.grids]
        if self.is_pair:
            first, second = axes
            axes = [np.repeat(first, len(second)), np.tile(second, len(first))]
        elif self.grids[0].missing:
            stop -= 1
        for axis, points in enumerate(axes):
            if points.dtype != object:
                positions[axis, start:stop] = points


def _chosen(grid: Grid) -> Grid:
    return grid.chosen if isinstance(grid, Auto) else grid


def _same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


def as_features(features: Any) -> list[Feature]:
    """The features as the user may write them, as a list of names and of pairs.

    Examples
    --------
    >>> as_features("age"), as_features(["age", ["age", "salary"]])
    (['age'], ['age', ('age', 'salary')])
    """
    if isinstance(features, (str, bytes)) or not isinstance(features, Iterable):
        features = [features]
    listed = [tuple(f) if isinstance(f, list) else f for f in features]
    if not listed:
        raise ValueError("features is empty; give at least one, or None for all of them")
    for feature in listed:
        if isinstance(feature, tuple) and (len(feature) != 2 or feature[0] == feature[1]):
            raise ValueError(f"a feature is a name or a pair of different names, got {feature!r}")
    if len(set(listed)) < len(listed):
        twice = next(f for f in listed if listed.count(f) > 1)
        raise ValueError(f"the feature {twice!r} is given twice")
    return listed


def names_of(feature: Feature) -> tuple[FeatureName, ...]:
    """The names that a feature is made of."""
    return feature if isinstance(feature, tuple) else (feature,)
