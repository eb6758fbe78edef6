"""Validate features and grids, and build an empty state."""

from __future__ import annotations

from collections.abc import Mapping

from ipdp.core.random import seed_for
from ipdp.core.typing import Feature, FeatureName, Observation
from ipdp.core.validation import unknown
from ipdp.explainers.state.means import Fold
from ipdp.explainers.state.targets import Effect, names_of
from ipdp.grid import Auto, Grid
from ipdp.grid.lattice import Lattice


def build(
    x: Observation,
    features: list[Feature] | None,
    grid: Grid | dict[FeatureName, Grid],
    *,
    alpha: float | None,
    regrid: bool,
    n_ice: int,
    seed: int | None,
) -> Fold:
    """A new fold, its features checked against the first observation."""
    listed = list(x) if features is None else features
    if not listed:
        raise ValueError("the first observation has no features")
    names = list(dict.fromkeys(name for feature in listed for name in names_of(feature)))
    for name in names:
        if name not in x:
            raise ValueError(unknown("feature", name, list(x)))
    if isinstance(grid, dict):
        for name in grid:
            if name not in names:
                raise ValueError(unknown("feature", name, names))
    grids = {}
    for name in names:
        pattern = grid.get(name, Auto()) if isinstance(grid, dict) else grid
        own = pattern.fresh(seed_for(seed, name))
        grids[name] = Lattice(own) if regrid else own
    effects = [
        Effect(feature, names_of(feature), tuple(grids[n] for n in names_of(feature)))
        for feature in listed
    ]
    fold = Fold(effects, grids, alpha=alpha, n_ice=n_ice)
    fold.columns = tuple(x)
    return fold


def checked_grids(
    grid: Grid | Mapping[FeatureName, Grid] | None, features: list[Feature] | None
) -> Grid | dict[FeatureName, Grid]:
    """The grid, or the grids by feature, that the user gave; an error if they are none."""
    if grid is None:
        return Auto()
    if isinstance(grid, Grid):
        return grid
    if not isinstance(grid, Mapping):
        raise TypeError(
            "grid must be one of ipdp.grid, or a dict of them by feature, "
            f"got {type(grid).__name__}"
        )
    names = None if features is None else [n for feature in features for n in names_of(feature)]
    for name, pattern in grid.items():
        if not isinstance(pattern, Grid):
            raise TypeError(f"the grid of {name!r} must be one of ipdp.grid, got {pattern!r}")
        if names is not None and name not in names:
            raise ValueError(unknown("feature", name, names))
    return dict(grid)
