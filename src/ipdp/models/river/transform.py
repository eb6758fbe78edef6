"""What a transformer makes of copies of an observation, and pipelines of transformers.

The transformers are found by the identity of river's own `transform_one`; one that is not known is
called for each copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName
from ipdp.models.river.copies import Asked, Block, Copies, Group, Groups, Row, as_list, block_of
from ipdp.models.trees.kinds import ABSENT, find
from ipdp.models.trees.points import Points

Transform = Callable[[Any, Asked], Asked]
"""What one transformer makes of copies."""

_KNOWN: dict[Any, Transform] = {}
_PIPELINE = find("compose", "Pipeline")
_UNION = find("compose", "TransformerUnion")
_FILTER = find("base", "AnomalyFilter")
_METHODS = ("predict_one", "predict_proba_one", "transform_one", "_transform_one")
_LEARNS_WHILE_PREDICTING = "_LEARN_UNSUPERVISED_DURING_PREDICT"


def register(own: Any, transform: Transform) -> None:
    """Let transformers be known by their `transform_one`; a name that this river lacks is None."""
    if own is not None:
        _KNOWN[own] = transform


def is_known(step: Any) -> bool:
    """Whether what a transformer does is known, to its last part."""
    parts = getattr(step, "steps", None) or getattr(step, "transformers", None) or {}
    own = getattr(type(step), "transform_one", None)
    return own in _KNOWN and all(map(is_known, parts.values()))


def transformed(step: Any, asked: Asked) -> Asked:
    """What a transformer makes of copies."""
    transform = _KNOWN.get(getattr(type(step), "transform_one", None))
    if transform is None:
        return by_calls(step, asked)
    groups = None
    if isinstance(asked, Groups):
        groups = asked.each(lambda points: transform(step, points))
    return transform(step, asked) if groups is None else groups


def by_calls(step: Any, asked: Asked) -> Copies:
    """The same by one call for each copy."""
    copies = Copies.of(asked)
    x = step.transform_one(dict(copies.x))
    blocks = []
    for lo, hi, names, _ in copies.blocks:
        made = [step.transform_one(copies.at(column)) for column in range(lo, hi) if names]
        blocks.append(block_of(lo, hi, x, made))
    return Copies(copies.columns, x, blocks)


# Pipelines and unions.


def is_pipeline(model: Any) -> bool:
    """Whether it is a pipeline of river's that answers as river's do."""
    if _PIPELINE is None or not isinstance(model, _PIPELINE):
        return False
    filters = any(_is_filter(step.__class__) for step in model.steps.values())
    return not filters and _answers_as_river(model.__class__)


@cache
def _is_filter(cls: Any) -> bool:
    return _FILTER is not None and issubclass(cls, _FILTER)


@cache
def _answers_as_river(cls: Any) -> bool:
    untouched = all(getattr(cls, name, 0) is getattr(_PIPELINE, name, 1) for name in _METHODS)
    return untouched and hasattr(cls, _LEARNS_WHILE_PREDICTING)


def learns_while_predicting() -> bool:
    """Whether pipelines learn while they predict, which is a setting of river's."""
    return bool(getattr(_PIPELINE, _LEARNS_WHILE_PREDICTING))


def through(steps: Iterable[Any], asked: Asked) -> Asked:
    """What several transformers make of copies, one after the other."""
    for step in steps:
        asked = transformed(step, asked)
    return asked


def _pipeline(model: Any, asked: Asked) -> Asked:
    if not is_pipeline(model):
        return by_calls(model, asked)
    return through(model.steps.values(), asked)


def _union(model: Any, asked: Asked) -> Asked:
    """All that its transformers make, the first of those that make the same feature."""
    parts = [transformed(step, asked) for step in model.transformers.values()]
    parts.reverse()
    x: dict[FeatureName, Any] = {}
    for part in parts:
        x.update(part.x)
    together = _together(parts, x)
    if together is not None:
        return together
    made = list(map(Copies.of, parts))
    blocks = [
        _merged(same, [part.x for part in made])
        for same in zip(*[part.blocks for part in made], strict=True)
    ]
    return Copies(made[0].columns, x, blocks)


def _together(parts: Sequence[Asked], x: dict[FeatureName, Any]) -> Asked | None:
    """Points and groups of several transformers as one; None if some make the same feature."""
    if len(x) < sum(len(part.x) for part in parts):
        return None
    points: list[Points] = []
    for part in parts:
        own = part.points if isinstance(part, Groups) else part
        if not isinstance(own, Points):
            return None
        points.append(own)
    joint = _joint(points, x)
    if joint is None or not any(isinstance(part, Groups) for part in parts):
        return joint
    others = []
    taken = {lo for _, lo, _ in joint.columns.places}
    for number, part in enumerate(parts):
        for lo, hi, own in part.others if isinstance(part, Groups) else ():
            around: dict[FeatureName, Any] = {}
            for k, each in enumerate(points):
                around.update(own.x if k == number else each.x)
                if k != number and not each.x.keys().isdisjoint(own.columns.names):
                    return None
            if lo in taken:
                return None  # two transformers make something of one feature
            taken.add(lo)
            others.append(Group(lo, hi, own.around(around, joint.non_numeric)))
    return Groups(joint, others)


def _joint(parts: Sequence[Points], x: dict[FeatureName, Any]) -> Points | None:
    """Points of several transformers as one; None if two of them make the same feature."""
    root = parts[0].columns.root
    names: list[FeatureName | None] = [None] * len(root.walked)
    numbers = np.zeros(root.n)
    values: list[Any] | None = None if all(part.made for part in parts) else [0.0] * root.n
    for part in parts:
        for name, lo, hi in part.columns.places:
            if names[root.place_of[lo]] is not None or name in names:
                return None
            names[root.place_of[lo]] = name
            numbers[lo:hi] = part.numbers[lo:hi]
            if values is not None:
                values[lo:hi] = part.values[lo:hi]
    return Points(
        root.renamed(tuple(names)),
        x,
        numbers,
        frozenset().union(*[part.non_numeric for part in parts]),
        values=values,
        unordered=frozenset().union(*[part.unordered for part in parts]),
        made=values is None,
    )


def _are_apart(same: Sequence[Block], xs: Sequence[dict[FeatureName, Any]]) -> bool:
    """Whether no feature of one block is one of another transformer."""
    for number, block in enumerate(same):
        for other, x in enumerate(xs):
            if other != number and not (
                x.keys().isdisjoint(block.names) and set(same[other].names).isdisjoint(block.names)
            ):
                return False
    return True


def _merged(same: Sequence[Block], xs: Sequence[dict[FeatureName, Any]]) -> Block:
    """One block of what several transformers make of the same copies; the last one wins."""
    lo, hi, _, _ = same[0]
    if _are_apart(same, xs):
        names = tuple(name for block in same for name in block.names)
        return Block(lo, hi, names, [row for block in same for row in block.rows])
    rows: dict[FeatureName, Row] = {}
    before: dict[FeatureName, Any] = {}
    for block, x in zip(same, xs, strict=True):
        own = dict(zip(block.names, block.rows, strict=True))
        for name in rows.keys() & x.keys() - own.keys():
            del rows[name]  # all copies have what this one makes of x
        for name, row in own.items():
            if name in rows or name in before:
                under = as_list(rows.get(name, [before.get(name)] * (hi - lo)))
                pairs = zip(as_list(row), under, strict=True)
                rows[name] = [below if value is ABSENT else value for value, below in pairs]
            else:
                rows[name] = row
        before.update(x)
    return Block(lo, hi, tuple(rows), list(rows.values()))


register(find("compose", "Pipeline", "transform_one"), _pipeline)
register(find("compose", "TransformerUnion", "transform_one"), _union)
