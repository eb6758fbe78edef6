"""Transformers that keep, drop or rename features, and leave their values as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ipdp.core.typing import FeatureName
from ipdp.models.river.copies import Asked, Block, Copies, Row, as_list
from ipdp.models.river.transform import by_calls, register
from ipdp.models.trees.kinds import ABSENT, find
from ipdp.models.trees.points import Points

Name = Callable[[FeatureName], FeatureName | None]
"""Gives the new name of a feature, None for one that is dropped."""


def renamed(asked: Asked, name: Name) -> Asked:
    """Copies with other names, and without some features."""
    x = {new: value for old, value in asked.x.items() if (new := name(old)) is not None}
    if isinstance(asked, Points):
        return asked.renamed(tuple(map(name, asked.columns.names)), x)
    blocks = []
    for lo, hi, names, rows in asked.blocks:
        kept = [
            (new, row)
            for old, row in zip(names, rows, strict=True)
            if (new := name(old)) is not None
        ]
        blocks.append(Block(lo, hi, tuple(new for new, _ in kept), [row for _, row in kept]))
    return Copies(asked.columns, x, blocks)


def replaced(asked: Asked) -> set[FeatureName]:
    """The features that differ in some copy."""
    if isinstance(asked, Points):
        return set(asked.columns.names)
    return {name for block in asked.blocks for name in block.names}


def may_lack(asked: Asked, names: Iterable[FeatureName]) -> bool:
    """Whether some copy may be without one of the features."""
    if any(name not in asked.x for name in names):
        return True
    if isinstance(asked, Points):
        return bool(asked.columns.absent)
    return any(
        isinstance(row, list) and ABSENT in row for block in asked.blocks for row in block.rows
    )


def _kept_if(choose: Callable[[Any], Callable[[FeatureName], bool]]) -> Any:
    def transform(step: Any, asked: Asked) -> Asked:
        keeps = choose(step)
        return renamed(asked, lambda name: name if keeps(name) else None)

    return transform


def _select(step: Any, asked: Asked) -> Asked:
    keys = step.keys
    if may_lack(asked, keys):
        return by_calls(step, asked)  # river raises where one is missing
    return renamed(asked, lambda name: name if name in keys else None)


def _discard(step: Any, asked: Asked) -> Asked:
    keys = step.keys
    if not isinstance(asked, Points):
        return renamed(asked, lambda name: None if name in keys else name)
    # The same without a call for each name.
    x = {name: value for name, value in asked.x.items() if name not in keys}
    names = [None if name in keys else name for name in asked.columns.names]
    return asked.renamed(tuple(names), x)


def _best(step: Any) -> Callable[[FeatureName], bool]:
    if not step.leaderboard:
        return lambda _: True
    best = {name for name, _ in step.leaderboard.most_common(step.k)}
    return best.__contains__


def _of_type(step: Any, asked: Asked) -> Asked:
    """By the type of each value, which may differ from copy to copy."""
    types = step.types
    x = {name: value for name, value in asked.x.items() if isinstance(value, types)}
    if isinstance(asked, Points):
        kept = _kept_points(asked, types)
        if kept is not None:
            return asked.renamed(kept, x)
    copies = Copies.of(asked)
    blocks = []
    for lo, hi, names, rows in copies.blocks:
        made: dict[FeatureName, Row] = {}
        for name, row in zip(names, rows, strict=True):
            own = [value if isinstance(value, types) else ABSENT for value in as_list(row)]
            if name in x or any(value is not ABSENT for value in own):
                made[name] = own
        blocks.append(Block(lo, hi, tuple(made), list(made.values())))
    return Copies(copies.columns, x, blocks)


def _kept_points(points: Points, types: tuple[type, ...]) -> tuple[FeatureName | None, ...] | None:
    """The name of each feature that is kept, None for others; None if copies differ in that."""
    if points.are_given:
        # What is asked about has the same types each time; what x has may change.
        memory = points.columns.memory
        key = ("kept", types, tuple(map(type, map(points.x.get, points.columns.names))))
        if key not in memory:
            memory[key] = _kept(points, types)
        return memory[key]  # type: ignore[no-any-return]
    return _kept(points, types)


def _kept(points: Points, types: tuple[type, ...]) -> tuple[FeatureName | None, ...] | None:
    names: list[FeatureName | None] = []
    for (name, _, _), kinds in zip(points.columns.places, points.kinds, strict=True):
        own = {issubclass(kind, types) for kind in kinds}
        if len(own) > 1:
            return None
        is_kept = True in own
        if not is_kept and isinstance(points.x.get(name), types):
            return None  # x keeps what its copies lose
        names.append(name if is_kept else None)
    return tuple(names)


def _prefix(step: Any, asked: Asked) -> Asked:
    return renamed(asked, lambda name: f"{step.prefix}{name}")


def _suffix(step: Any, asked: Asked) -> Asked:
    return renamed(asked, lambda name: f"{name}{step.suffix}")


def _rename(step: Any, asked: Asked) -> Asked:
    mapping = step.mapping
    there = {*asked.x, *replaced(asked)}
    new = list(mapping.values())
    if len(set(new)) < len(new) or not there.isdisjoint(new) or not mapping.keys().isdisjoint(new):
        return by_calls(step, asked)  # one takes the place of another
    return renamed(asked, lambda name: mapping.get(name, name))


for _module, _name, _transform in (
    ("compose", "Select", _select),
    ("compose", "Discard", _discard),
    ("compose", "SelectType", _of_type),
    ("compose", "Prefixer", _prefix),
    ("compose", "Suffixer", _suffix),
    ("compose", "Renamer", _rename),
    ("feature_selection", "VarianceThreshold", _kept_if(lambda step: step.check_feature)),
    ("feature_selection", "SelectKBest", _kept_if(_best)),
):
    register(find(_module, _name, "transform_one"), _transform)
