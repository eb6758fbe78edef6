"""What a transformer makes of copies of an observation, and pipelines of transformers.

The transformers are found by the identity of river's own `transform_one`; one that is not known is
called for each copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ipdp.core.typing import FeatureName
from ipdp.models.river.copies import Asked, Block, Copies, Row
from ipdp.models.trees.kinds import ABSENT, find

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
    return by_calls(step, asked) if transform is None else transform(step, asked)


def by_calls(step: Any, asked: Asked) -> Copies:
    """The same by one call for each copy."""
    copies = Copies.of(asked)
    x = step.transform_one(dict(copies.x))
    blocks = []
    for lo, hi, names, _ in copies.blocks:
        made = [step.transform_one(copies.at(column)) for column in range(lo, hi) if names]
        blocks.append(_block(lo, hi, x, made))
    return Copies(copies.columns, x, blocks)


def _block(lo: int, hi: int, x: dict[Any, Any], made: list[dict[Any, Any]]) -> Block:
    """A block of what was made of each copy, given what was made of the observation."""
    names = [
        name
        for name in dict.fromkeys([*x, *[name for each in made for name in each]])
        if any(_differ(each.get(name, ABSENT), x.get(name, ABSENT)) for each in made)
    ]
    rows: list[Row] = [[each.get(name, ABSENT) for each in made] for name in names]
    return Block(lo, hi, tuple(names), rows)


def _differ(one: Any, other: Any) -> bool:
    return one is not other and (type(one) is not type(other) or bool(one != other))


# Pipelines and unions.


def is_pipeline(model: Any) -> bool:
    """Whether it is a pipeline of river's that answers as river's do."""
    if _PIPELINE is None or not isinstance(model, _PIPELINE):
        return False
    cls: Any = type(model)
    untouched = all(getattr(cls, name, 0) is getattr(_PIPELINE, name, 1) for name in _METHODS)
    steps = model.steps.values()
    filters = _FILTER is not None and any(isinstance(step, _FILTER) for step in steps)
    return untouched and hasattr(model, _LEARNS_WHILE_PREDICTING) and not filters


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
    made = [Copies.of(transformed(step, asked)) for step in model.transformers.values()]
    made.reverse()
    x: dict[FeatureName, Any] = {}
    for part in made:
        x.update(part.x)
    blocks = []
    for same in zip(*[part.blocks for part in made], strict=True):
        rows: dict[FeatureName, Row] = {}
        for part, block in zip(made, same, strict=True):
            for name in part.x.keys() & rows.keys():
                del rows[name]  # in all copies it has what this one makes of x
            rows.update(zip(block.names, block.rows, strict=True))
        blocks.append(Block(same[0].lo, same[0].hi, tuple(rows), list(rows.values())))
    return Copies(made[0].columns, x, blocks)


register(find("compose", "Pipeline", "transform_one"), _pipeline)
register(find("compose", "TransformerUnion", "transform_one"), _union)
