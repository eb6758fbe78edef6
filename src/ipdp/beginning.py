"""From what the user asked for to a fold without data, or to one clear sentence."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ipdp.core.uniforms import seed_for
from ipdp.effects import Effect, names_of
from ipdp.fold import Fold
from ipdp.grid import Auto, Grid
from ipdp.grid.lattice import Lattice
from ipdp.typing import Feature, FeatureName, Observation


def begin(
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


def checked_weight(w: float) -> float:
    """A sample weight, or an error."""
    if not (w >= 0 and math.isfinite(w)):
        raise ValueError(f"a sample weight must be a number of at least 0, got {w}")
    return float(w)


def checked_time(t: float | None, last: float | None) -> float:
    """The time of the next observation, or an error."""
    if t is None:
        return 1 if last is None else last + 1
    if isinstance(t, np.generic):
        t = t.item()  # a Python number, which can be saved
    if not math.isfinite(t) or (last is not None and t < last):
        raise ValueError(f"time must not go back: got t = {t} after {last}")
    return t


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


def unknown(what: str, name: object, known: Sequence[object]) -> str:
    """A sentence about a name that is not there, with the one that may have been meant."""
    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    listed = ", ".join(repr(k) for k in list(known)[:20]) + (", ..." if len(known) > 20 else "")
    return f"there is no {what} {name!r}{hint}; there are: {listed}"
