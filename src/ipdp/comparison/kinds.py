"""Whether it is the model that made two curves different, or the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ipdp.comparison.difference import Difference, Kind, verdict_of
from ipdp.comparison.sides import Side, is_one_model
from ipdp.core.curve import Curve
from ipdp.core.typing import Feature, FloatArray
from ipdp.core.words import ends_text, few_digits, percent
from ipdp.explainers import IncrementalPDP, partial_dependence
from ipdp.grid import Fixed

# Kolmogorov and Smirnov's distance has this quantile at 0.01, times the root of 1 / n.
_SURE = 1.63
# Of the margin, what a part of the difference must be larger than to be one of its causes.
_PART = 0.5
# So many standard errors is what the model says otherwise of the same observations.
_ERRORS = 3.0


def moved_features(
    a: Mapping[Feature, Curve], b: Mapping[Feature, Curve], *, independent: bool = False
) -> dict[Feature, str]:
    """Features whose recent values are others than before, and how, in a few words.

    The values have as many independent ones among them as the curves say of their observations;
    or, if they are to be taken for independent, all of them are.
    """
    found = {}
    worth = [1.0 if independent else 1 / max(_inflation(curves), 1.0) for curves in (a, b)]
    for feature in a:
        if feature in b and len(a[feature].rug) == len(b[feature].rug) == 1:
            text = _moved(a[feature], b[feature], worth)
            if text:
                found[feature] = text
    return found


def _inflation(curves: Mapping[Feature, Curve]) -> float:
    known = [np.median(c.inflation) for c in curves.values() if c.inflation is not None]
    return float(np.median(known)) if known else 1.0


def _moved(a: Curve, b: Curve, worth: list[float]) -> str:
    sizes = [len(curve.rug[0]) for curve in (a, b)]
    if min(sizes) < 20 or a.categorical != b.categorical:
        return ""
    n = [size * share for size, share in zip(sizes, worth, strict=True)]
    least = _SURE * float(np.sqrt(1 / n[0] + 1 / n[1]))
    if a.categorical[0]:
        return _other_shares(a, b, least)
    one, other = (np.sort(np.asarray(curve.rug[0], dtype=float)) for curve in (a, b))
    both = np.concatenate([one, other])
    far = np.searchsorted(one, both, "right") / sizes[0]
    near = np.searchsorted(other, both, "right") / sizes[1]
    if np.abs(far - near).max() <= least:
        return ""
    middle = [float(np.median(values)) for values in (one, other)]
    ends = [np.quantile(values, (0.05, 0.95)) for values in (one, other)]
    ranges = " to ".join("..".join(ends_text(*map(float, pair))) for pair in ends)
    wide = float(np.ptp(ends))
    then, now = (few_digits(value, wide) for value in middle)
    return f"median {then} to {now}, 5 to 95 % from {ranges}"


def _other_shares(a: Curve, b: Curve, least: float) -> str:
    values = [curve.rug[0].tolist() for curve in (a, b)]
    names = dict.fromkeys(values[0] + values[1])
    share = {name: tuple(v.count(name) / len(v) for v in values) for name in names}
    name, (before, after) = max(share.items(), key=lambda item: abs(item[1][1] - item[1][0]))
    if abs(after - before) <= least:
        return ""
    return f"share of {name} from {percent(before)} to {percent(after)}"


def with_kinds(
    differences: list[Difference], a: Side, b: Side, moved: Mapping[Feature, str]
) -> list[Difference]:
    """The differences, each with what made it where that can be told."""
    if not any(each.is_different for each in differences):
        return differences
    askable = all(
        isinstance(side.explainer, IncrementalPDP) and side.explainer.n_past for side in (a, b)
    )
    if askable and a.explainer is not b.explainer:
        return [_asked(each, a.explainer, b.explainer) for each in differences]
    kind: Kind | None = None
    if is_one_model(a, b) or _are_segments(a.explainer, b.explainer):
        kind = "data"
    elif not moved and _are_of_same_data(a, b):
        kind = "model"
    return [_named(each, kind, kind) for each in differences]


def _are_of_same_data(a: Side, b: Side) -> bool:
    """Whether no value moved, nor seems to have: few independent ones would hide much."""
    if a.curves.keys() != b.curves.keys() or not (_has_values(a) and _has_values(b)):
        return False
    return not moved_features(a.curves, b.curves, independent=True)


def _are_segments(a: Any, b: Any) -> bool:
    """Whether both are groups of the observations of one model."""
    both = [getattr(each, "where", None) is not None for each in (a, b)]
    return all(both) and a.model is b.model


def _has_values(side: Side) -> bool:
    """Whether the curves say where the data are, all of them."""
    curves = side.curves.values()
    return all(c.follows_all and c.rug and len(c.rug[0]) >= 20 for c in curves)


def _named(each: Difference, kind: Kind | None, level_kind: Kind | None) -> Difference:
    return replace(
        each,
        kind=kind if each.verdict == "different" else None,
        level_kind=level_kind if each.level_verdict == "different" else None,
    )


def _asked(each: Difference, a: Any, b: Any) -> Difference:
    """What both models say of the past observations of both explainers."""
    if not each.is_different or len(each.places) > 1:
        return each
    by_model, errors = [], []
    for owner in (a, b):
        with owner.turns.reading():
            said = [_rows(asked.engine, owner, each) for asked in (a, b)]
            weights = owner.memory.pool.weights(owner.t or 0.0)
        weights = weights / weights.sum()
        apart = said[1] - said[0]  # (n_rows, n_places)
        by_model.append(weights @ apart)
        errors.append(np.sqrt(weights**2 @ (apart - weights @ apart) ** 2))
    model, error = np.mean(by_model, axis=0), np.mean(errors, axis=0)
    level = float(model.mean())
    data = each.shape + each.level - model
    shape_kind = _cause(model - level, data - data.mean(), _ERRORS * error, each.half, each.margin)
    level_kind = _cause(
        np.array([level]),
        np.array([each.level - level]),
        np.array([_ERRORS * error.mean()]),
        np.array([each.level_half]),
        each.margin,
    )
    return _named(each, shape_kind, level_kind)


def _cause(
    model: FloatArray, data: FloatArray, sure: FloatArray, half: FloatArray, margin: float
) -> Kind:
    """Which of two parts of a difference is large enough to be a cause of it."""
    is_model = verdict_of(model, sure, _PART * margin) == "different"
    is_data = verdict_of(data, half, _PART * margin) == "different"
    if is_model == is_data:
        if is_model:
            return "both"
        return "model" if np.abs(model).max() >= np.abs(data).max() else "data"
    return "model" if is_model else "data"


def _rows(engine: Any, owner: Any, each: Difference) -> FloatArray:
    """What a model says of an explainer's past observations, of shape (n_rows, n_places)."""
    rows = [dict(kept.record.x) for kept in owner.memory.pool.kept]
    grid = {each.feature: Fixed(each.places[0].tolist())}
    (curve,) = partial_dependence(engine, rows, [each.feature], grid=grid)
    assert curve.ice is not None
    return np.asarray(curve.ice[curve.outputs.index(each.output)])
