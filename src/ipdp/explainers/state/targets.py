"""What is being followed: a feature, or a pair of features, with its grids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ipdp.core.curve import feature_text
from ipdp.core.notices import ColumnWarning, notice
from ipdp.core.random import seed_for
from ipdp.core.typing import Array, Feature, FeatureName, Observation
from ipdp.core.validation import is_name, unknown
from ipdp.core.words import quoted, shown
from ipdp.grid import Auto, Grid
from ipdp.grid.base import LARGEST, Key, Span
from ipdp.grid.doubt import Looks
from ipdp.grid.lattice import Lattice
from ipdp.models import Engine

# The key of the point for a missing value. A storage never holds one, so no other point has it.
MISSING: Key = None
_NUMBERS = frozenset((float, int))


@dataclass(eq=False)
class Target:
    """One feature, or pair, that a curve is made of."""

    feature: Feature  # as the user wrote it
    names: tuple[FeatureName, ...]  # one or two
    grids: tuple[Grid, ...]  # shared with the other targets of the same feature
    n: int = 0  # number of ICE curves folded in
    _axis_keys: tuple[Any, ...] = field(default=(), repr=False)
    _keys: tuple[Key, ...] = field(default=(), repr=False)
    is_told: bool = field(default=False, repr=False)  # that it is left out

    @property
    def ready(self) -> bool:
        """Whether every grid has points to give."""
        return all(grid.ready for grid in self.grids)

    @property
    def n_values(self) -> int:
        """How many values its grids have, that with fewest."""
        return min(grid.n_values for grid in self.grids)

    @property
    def why_no_curve(self) -> str:
        """What a curve is waiting for, in words."""
        if self.ready:
            return "nothing was explained since its warm-up"
        if self.looks_like is not None:
            return f"{feature_text(self.feature)!r} {_LOOKS[self.looks_like]}; {_ASK}"
        slowest = min(self.grids, key=lambda grid: grid.n_values - grid.warm_up)
        return (
            f"{feature_text(self.feature)!r} is still warming up, with {slowest.n_values:,} of "
            f"{slowest.warm_up:,} values"
        )

    @property
    def looks_like(self) -> Looks | None:
        """What a feature looks like that is therefore left out."""
        return next((grid.looks_like for grid in self.grids if grid.looks_like), None)

    @property
    def is_sure(self) -> bool:
        """Whether it looked so for long enough to say it."""
        return any(grid.is_sure_of_looks for grid in self.grids)

    @property
    def times(self) -> tuple[bool, ...]:
        """For each feature whether its numbers stand for times; empty if none do."""
        times = tuple(grid.time is not None for grid in self.grids)
        return times if any(times) else ()

    @property
    def is_pair(self) -> bool:
        """Whether the target is two features."""
        return len(self.names) == 2

    @property
    def span(self) -> Span | None:
        """The range that its points divide evenly; None for points of any other kind."""
        return None if self.is_pair else self.grids[0].span

    @property
    def whole(self) -> tuple[bool, ...]:
        """For each feature, whether its points are whole numbers now."""
        return tuple([grid.whole and grid.points.dtype.kind in "iu" for grid in self.grids])

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


def tell_of_left_out(targets: Sequence[Target]) -> None:
    """Name, once, the features that are left out; follow them if there are no others."""
    left_out = [target for target in targets if target.looks_like is not None]
    if len(left_out) == len(targets):
        for target in left_out:
            for grid in target.grids:
                grid.trust()
        return
    news = [target for target in left_out if target.is_sure and not target.is_told]
    if not news:
        return
    notice(LeftOutWarning({target.feature: target.looks_like for target in news}))
    for target in news:
        target.is_told = True


class LeftOutWarning(ColumnWarning):
    """Features that are left out, by what they look like."""

    def __init__(self, looks: Mapping[Feature, Looks | None]) -> None:
        self.looks = dict(looks)
        parts = []
        for kind, one in _LOOKS.items():
            names = [name for name, look in looks.items() if look == kind]
            parts += [f"{quoted(names)} {one if len(names) == 1 else _LOOK[kind]}"] if names else []
        super().__init__(f"{', and '.join(parts)}: left out as long as that is so; {_ASK}")


_LOOKS: dict[Looks, str] = {
    "id": "looks like an id (text that is always another one)",
    "clock": "looks like a clock or a counter (it only grows)",
}
_LOOK: dict[Looks, str] = {
    "id": "look like ids (text that is always another one)",
    "clock": "look like clocks or counters (they only grow)",
}
_ASK = "features=[...] asks for it all the same"


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
    # A scalar of numpy compares itself with the names of a pair one by one.
    given = [f.item() if isinstance(f, np.generic) else f for f in features]
    listed = [tuple(f) if isinstance(f, list) else f for f in given]
    if not listed:
        raise ValueError("features is empty; give at least one, or None for all of them")
    for feature in listed:
        if not is_name(feature):
            raise TypeError(f"a feature is a name, or a pair of names, got {shown(feature)}")
        if isinstance(feature, tuple) and (len(feature) != 2 or feature[0] == feature[1]):
            raise ValueError(
                f"a feature is a name or a pair of different names, got {shown(feature)}"
            )
    if len(set(listed)) < len(listed):
        twice = next(f for f in listed if listed.count(f) > 1)
        raise ValueError(f"the feature {twice!r} is given twice")
    return listed


def names_of(feature: Feature) -> tuple[FeatureName, ...]:
    """The names that a feature is made of."""
    return feature if isinstance(feature, tuple) else (feature,)


def check_columns(x: Observation, features: list[Feature] | None, engine: Engine) -> None:
    """Refuse a first observation without a column of the model; name those that are left out."""
    engine.check_columns(tuple(x))
    followed(x, features, engine)
    surplus = _surplus(x, engine)
    if surplus and features is None:
        kind = type(engine.model).__name__
        was, them = ("was", "it") if len(surplus) == 1 else ("were", "them")
        notice(
            f"{quoted(surplus)} {was} not among the columns that {kind} was fitted on; the model "
            f"does not get {them}, and there is no curve",
            ColumnWarning,
        )


def _surplus(x: Observation, engine: Engine) -> list[FeatureName]:
    fitted = engine.feature_names
    return [] if fitted is None else [name for name in x if name not in set(fitted)]


def followed(
    x: Observation, features: list[Feature] | None, engine: Engine | None = None
) -> list[Feature]:
    """The features to follow, by default all of the first observation; an error if one is absent.

    What the model was not fitted on is followed only if it is asked for.

    Examples
    --------
    >>> followed({"age": 40, "salary": 1.5}, None)
    ['age', 'salary']
    """
    names = list(x) if features is None else list(features)
    if not names:
        raise ValueError("the first observation has no features")
    if features is None and engine is not None:
        surplus = set(_surplus(x, engine))
        names = [name for name in names if name not in surplus]
    for name in (name for feature in names for name in names_of(feature)):
        if name not in x:
            raise ValueError(unknown("feature", name, list(x)))
    return names


def admitted(
    grids: Mapping[FeatureName, Grid], x: Observation, numeric: Set[FeatureName] = frozenset()
) -> list[Any]:
    """The values of an observation that grids will take, in their order, or an error.

    The grids of `numeric` features admit numbers as they are.
    """
    values = []
    for name, grid in grids.items():
        value: Any = x.get(name)
        if type(value) in _NUMBERS and -LARGEST < value < LARGEST and name in numeric:
            values.append(value)
            continue
        try:
            values.append(grid.admit(value))
        except TypeError as error:
            raise TypeError(f"feature {name!r}: {error}") from None
    return values


def make_targets(
    features: Sequence[Feature],
    grid: Grid | Mapping[FeatureName, Grid],
    *,
    regrid: bool,
    seed: int | None,
    orders: Mapping[FeatureName, Sequence[Any]] | None = None,
    wary: bool = False,
) -> list[Target]:
    """The targets of some features, with fresh grids; one grid for each name.

    `orders` are the categories of some features, in order. With `wary`, features that look like
    an id or a clock are left out, unless they have a grid of their own.
    """
    names = list(dict.fromkeys(name for feature in features for name in names_of(feature)))
    if isinstance(grid, Mapping):
        for name in grid:
            if name not in names:
                raise ValueError(unknown("feature", name, names))
    grids = {}
    for name in names:
        pattern = grid.get(name, Auto()) if isinstance(grid, Mapping) else grid
        own = pattern.fresh(seed_for(seed, name))
        if orders and name in orders:
            own.arrange(orders[name])
        elif wary and not (isinstance(grid, Mapping) and name in grid):
            own.be_wary()
        grids[name] = Lattice(own) if regrid else own
    return [
        Target(feature, names_of(feature), tuple(grids[name] for name in names_of(feature)))
        for feature in features
    ]


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
            raise TypeError(
                f"the grid of {shown(name)} must be one of ipdp.grid, got {shown(pattern)}"
            )
        if names is not None and name not in names:
            raise ValueError(unknown("feature", name, names))
    return dict(grid)


def over_all(
    grid: Grid | Mapping[FeatureName, Grid], features: Sequence[Feature], n: int
) -> Grid | dict[FeatureName, Grid]:
    """The grids with a window that holds a whole table of n rows."""
    if isinstance(grid, Grid):
        return grid.spanning(n)
    names = {name: None for feature in features for name in names_of(feature)}
    # Those of features that are not there come along, to be refused.
    return {name: grid.get(name, Auto()).spanning(n) for name in {**names, **grid}}
