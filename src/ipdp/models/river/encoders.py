"""Encoders of categories, imputers, and other transformers of single values."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.base import Probe
from ipdp.models.river.copies import (
    Asked,
    Block,
    Copies,
    Group,
    Groups,
    Row,
    arranged,
    as_list,
    as_table,
)
from ipdp.models.river.selectors import may_lack
from ipdp.models.river.transform import by_calls, register
from ipdp.models.trees.kinds import ABSENT, find
from ipdp.models.trees.points import Columns, Points


def value_by_value(step: Any, asked: Asked) -> Asked:
    """What a transformer makes that treats each feature on its own.

    No feature depends on another, so that the k-th values of all of them are transformed in one
    call.
    """
    copies = Copies.of(asked)
    rows = [(name, row) for block in copies.blocks for name, row in _pairs(block)]
    if len({name for name, _ in rows}) < len(rows):
        return by_calls(step, asked)
    names = [name for name, _ in rows]
    made: dict[FeatureName, list[Any]] = {name: [] for name in names}
    for values in zip_longest(*[as_list(row) for _, row in rows], fillvalue=_NOTHING):
        given = zip(names, values, strict=True)
        replaced = {name: value for name, value in given if value is not _NOTHING}
        point = {**copies.x, **replaced}
        for name in [name for name, value in replaced.items() if value is ABSENT]:
            del point[name]
        found = step.transform_one(point)
        for name in replaced:
            made[name].append(found.get(name, ABSENT))
    blocks = [Block(lo, hi, own, [made[name] for name in own]) for lo, hi, own, _ in copies.blocks]
    return _simplest(Copies(copies.columns, step.transform_one(dict(copies.x)), blocks))


_NOTHING = object()
_ENCODE_VALUE = find("preprocessing", "OrdinalEncoder", "_encode_value")
# Tables of categories that are kept, so that they are not made for each observation.
_MOST_TABLES = 500


def _pairs(block: Block) -> list[tuple[FeatureName, Row]]:
    return list(zip(block.names, block.rows, strict=True))


def _simplest(copies: Copies) -> Asked:
    """As points, where no copy differs in more than one feature."""
    points = copies.as_points()
    return copies if points is None else points


def _as_they_are(step: Any, asked: Asked) -> Asked:
    """An imputer: what is there stays as it is."""
    if may_lack(asked, getattr(step, "stats", ())) or None in asked.x.values():
        return value_by_value(step, asked)
    if isinstance(asked, Points):
        return asked if None not in asked.values else value_by_value(step, asked)
    return value_by_value(step, asked)


def _one_hot(step: Any, asked: Asked) -> Asked:
    """Zeros for all categories that are known, and a one for that of each copy."""
    groups = _one_hot_groups(step, asked) if isinstance(asked, Points) else None
    if groups is not None:
        return groups
    copies = Copies.of(asked)
    if any(isinstance(value, (list, set)) for value in copies.x.values()):
        return by_calls(step, asked)
    zeros = _zeros(step)
    blocks = []
    for lo, hi, names, rows in copies.blocks:
        table: dict[FeatureName, Row] = {}
        for name, row in zip(names, rows, strict=True):
            table |= _encoded(step, copies, (lo, name, len(zeros)), as_list(row), zeros)
        if step.drop_first:
            if not all(category in zeros for category in table):
                return by_calls(step, asked)  # which one is the first depends on the copy
            table.pop(min(zeros), None)
        blocks.append(Block(lo, hi, tuple(table), list(table.values())))
    return Copies(copies.columns, step.transform_one(copies.x), blocks)


def _one_hot_groups(step: Any, points: Points) -> Groups | None:
    """The copies of a feature differ in one category from what is made of x without the feature.

    None where a category may be left out, or stands for two values.
    """
    own = {name: f"{name}_{value}" for name, value in points.x.items()}
    is_limited = _categories(step) is not None or step.drop_first
    if is_limited or len(set(own.values())) < len(own):
        return None
    if any(isinstance(value, (list, set)) for value in points.x.values()):
        return None
    x, zeros, groups = step.transform_one(points.x), _zeros(step), []
    for name, lo, hi in points.columns.places:
        ones = _columns_of(points, name, lo, hi)
        if ones is None:
            return None
        without = x.copy()
        if name in own:
            if own[name] in zeros:
                without[own[name]] = 0
            else:
                del without[own[name]]
        groups.append(Group(lo, hi, Points(ones[0], without, ones[1])))
    columns = points.columns.renamed((None,) * len(points.columns.names))
    return Groups(Points(columns, x, points.numbers, made=True), groups)


def _columns_of(
    points: Points, name: FeatureName, lo: int, hi: int
) -> tuple[Columns, FloatArray] | None:
    """A column for each category of a feature, with a one; None if two values have the same one.

    Those of the latest observations are kept.
    """
    memory, values = points.columns.memory, points.values[lo:hi]
    known = memory.get(("one-hot", lo, name))
    # Equal values may be different text: 1 and True.
    kinds = list(map(type, values))
    if known is not None and known[0] == values and known[1] == kinds:
        kept: tuple[Columns, FloatArray] = known[2]
        return kept
    names = [None if value is ABSENT else f"{name}_{value}" for value in values]
    there = [category for category in names if category is not None]
    if len(set(there)) < len(there):
        return None
    probes = tuple(Probe((k,), k, k + 1, (True,), (None,)) for k in range(hi - lo))
    columns = Columns(probes).renamed(tuple(names))
    made = columns, np.ones(hi - lo)
    memory["one-hot", lo, name] = values, kinds, made
    return made


def _encoded(
    step: Any, copies: Copies, place: tuple[int, FeatureName, int], values: list[Any], zeros: Any
) -> dict[FeatureName, Row]:
    """The rows of one feature's categories; those of the latest observations are kept."""
    name, memory = place[1], copies.columns.memory
    before = copies.x.get(name, ABSENT)
    key = ("one-hot", *place, before)
    known = memory.get(key)
    if known is not None and known[0] == values:
        return dict(known[1])
    own = [_category(step, name, value) for value in values]
    table: dict[FeatureName, Row] = {}
    for category in dict.fromkeys([*own, _category(step, name, before)]):
        if category in zeros:
            table[category] = np.array([float(mine == category) for mine in own])
        elif category is not None:
            table[category] = [1 if mine == category else ABSENT for mine in own]
    if len(memory) >= _MOST_TABLES:
        memory.clear()
    memory[key] = (values, table)
    return dict(table)


def _category(step: Any, name: FeatureName, value: Any) -> str | None:
    """The name of a category, None for one that is left out."""
    if value is ABSENT:
        return None
    categories = _categories(step)
    if categories is not None and value not in categories[name]:
        return None
    return f"{name}_{value}"


def _categories(step: Any) -> Any:
    """The categories that an encoder was given; river 0.22 cannot be given any."""
    return getattr(step, "categories", None)


def _zeros(step: Any) -> Any:
    """The categories that are there without being that of a copy."""
    if step.drop_zeros:
        return ()
    known = getattr(step, "_zero_dict", None)
    if known is None:  # before river 0.24
        known = {f"{name}_{value}" for name, own in step.values.items() for value in own}
    return known


def _ordinal(step: Any, asked: Asked) -> Asked:
    """The code of each value, in the codes of its feature."""
    own = getattr(type(step), "_encode_value", None)
    if not isinstance(asked, Points) or own is None or own is not _ENCODE_VALUE:
        return value_by_value(step, asked)
    if None in asked.x.values() or None in asked.values:
        return value_by_value(step, asked)
    values, unknown = asked.values, step.unknown_value
    codes: list[Any] = [0] * len(values)
    for name, lo, hi in asked.columns.places:
        known = step.values.get(name, {})  # which adds nothing to a dict with defaults
        codes[lo:hi] = [known.get(value, unknown) for value in values[lo:hi]]
    for column in asked.columns.absent:
        codes[column] = ABSENT
    x = {name: step.values.get(name, {}).get(value, unknown) for name, value in asked.x.items()}
    return arranged(asked.columns, x, codes)


def _aggregate(step: Any, asked: Asked) -> Asked:
    """The statistic of the group of each copy."""
    by = step.by or ()
    if may_lack(asked, by):
        return by_calls(step, asked)
    feature = step._feature_name
    if isinstance(asked, Points):
        names = tuple(feature if name in by else None for name in asked.columns.names)
        if names.count(feature) == 1:
            return _by_one_feature(step, asked, names)
    copies = Copies.of(asked)
    blocks = []
    for lo, hi, names, _ in copies.blocks:
        if set(names).isdisjoint(by):
            blocks.append(Block(lo, hi, (), []))
        else:
            made = [_group(step, copies.at(column)) for column in range(lo, hi)]
            blocks.append(Block(lo, hi, (feature,), [made]))
    return _simplest(Copies(copies.columns, {feature: _group(step, copies.x)}, blocks))


def _by_one_feature(step: Any, points: Points, names: tuple[FeatureName | None, ...]) -> Points:
    """The statistics of groups of which only one feature is replaced."""
    columns = points.columns.renamed(names)
    ((feature, lo, hi),) = columns.places
    x, replaced = dict(points.x), points.columns.name_of[lo]
    made: list[Any] = [0.0] * columns.n
    for column, value in enumerate(points.values[lo:hi], start=lo):
        x[replaced] = value
        made[column] = _group(step, x)
    return arranged(columns, {feature: _group(step, points.x)}, made)


def _group(step: Any, x: dict[FeatureName, Any]) -> Any:
    """The statistic of one group; river would add an empty one for a group that it has not met."""
    return step._groups.get(step._make_key(x), step.how).get()


def _hash(step: Any, asked: Asked) -> Asked:
    """Each feature adds a number to one bucket, whatever the others are."""
    copies = Copies.of(asked)
    parts = {name: step.transform_one({name: value}) for name, value in copies.x.items()}
    blocks = []
    for lo, hi, names, rows in copies.blocks:
        there: dict[Any, Any] = {}  # what the other features add
        for name, part in parts.items():
            if name not in names:
                for bucket, number in part.items():
                    there[bucket] = there.get(bucket, 0) + number
        made = []
        for values in zip(*map(as_list, rows), strict=True):
            point = zip(names, values, strict=True)
            given = {name: value for name, value in point if value is not ABSENT}
            made.append(step.transform_one(given))
        touched = dict.fromkeys(
            bucket for part in [*made, *[parts.get(name, {}) for name in names]] for bucket in part
        )
        table: list[Row] = [
            [
                there.get(bucket, 0) + part.get(bucket, 0)
                if bucket in there or bucket in part
                else ABSENT
                for part in made
            ]
            for bucket in touched
        ]
        blocks.append(Block(lo, hi, tuple(touched), table))
    return Copies(copies.columns, step.transform_one(copies.x), blocks)


def _normalize(step: Any, asked: Asked) -> Asked:
    """One feature changes the norm, by which all are divided."""
    copies = Copies.of(asked)
    x, order = copies.x, step.order
    powers = {name: abs(value) ** order for name, value in x.items()}
    blocks = []
    for lo, hi, names, rows in copies.blocks:
        if not names or any(isinstance(row, list) and ABSENT in row for row in rows):
            return by_calls(step, asked)
        table = as_table(rows)
        rest = sum(power for name, power in powers.items() if name not in names)
        norms = (rest + (np.abs(table) ** order).sum(axis=0)) ** (1 / order)
        made: dict[FeatureName, Row] = {name: value / norms for name, value in x.items()}
        made |= dict(zip(names, table / norms, strict=True))
        blocks.append(Block(lo, hi, tuple(made), list(made.values())))
    return Copies(copies.columns, step.transform_one(x), blocks)


for _module, _name, _transform in (
    ("preprocessing", "FeatureHasher", _hash),
    ("preprocessing", "Normalizer", _normalize),
    ("preprocessing", "OneHotEncoder", _one_hot),
    ("preprocessing", "OrdinalEncoder", _ordinal),
    ("preprocessing", "Binarizer", value_by_value),
    ("preprocessing", "StatImputer", _as_they_are),
    ("preprocessing", "PreviousImputer", _as_they_are),
    ("feature_extraction", "Agg", _aggregate),
    ("feature_extraction", "TargetAgg", _aggregate),
):
    register(find(_module, _name, "transform_one"), _transform)
