"""Curves of a part of the observations (a segment, a region) beside those of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ipdp.core.typing import Feature

if TYPE_CHECKING:
    from ipdp.core.curve import Curve

_WHERE = ", where "


def feature_where(feature: Feature, where: str) -> Feature:
    """The name of the curve of a part of the observations; that of a pair stays a pair.

    Examples
    --------
    >>> feature_where("age", "country = AT"), feature_where(("age", "salary"), "country = AT")
    ('age, where country = AT', ('age', 'salary, where country = AT'))
    """
    if isinstance(feature, tuple):
        return (*feature[:-1], feature_where(feature[-1], where))
    return f"{feature}{_WHERE}{where}"


def parts_among(features: Iterable[Feature]) -> set[Feature]:
    """The names of curves of a part where there is one of all observations as well.

    Of a feature that was split into regions there are parts only, which stand for the whole.

    Examples
    --------
    >>> parts_among(["age", "age, where country = AT", "hour, where workingday = yes"])
    {'age, where country = AT'}
    """
    return set(wholes_among(features))


def wholes_among(features: Iterable[Feature]) -> dict[Feature, Feature]:
    """The names of curves of a part, each with that of the curve of all observations.

    Examples
    --------
    >>> wholes_among(["age", "age, where country = AT", "hour, where workingday = yes"])
    {'age, where country = AT': 'age'}
    """
    known = list(features)
    # Names need not be texts; only those that are can have been given by `feature_where`.
    whole = {tuple(map(str, _names(feature))): feature for feature in known}
    found = {}
    for feature in known:
        for name in _wholes(feature):
            if name in whole:
                found[feature] = whole[name]
    return found


def n_features(features: Iterable[Feature]) -> int:
    """How many features there are curves of, alone or in pairs, of all observations or of parts.

    Examples
    --------
    >>> n_features(["age", "age, where country = AT", "hour, where workingday = yes"])
    2
    >>> n_features(["age", ("age", "salary")])
    2
    """
    return len({str(name).split(_WHERE)[0] for each in features for name in _names(each)})


def without_parts(curves: Iterable[Curve]) -> list[Curve]:
    """The curves without those of a part where there is one of all observations as well."""
    listed = list(curves)
    of_parts = parts_among(curve.feature for curve in listed)
    return [c for c in listed if c.where is None or c.feature not in of_parts]


def parts_of(curves: Iterable[Curve], whole: Curve) -> list[Curve]:
    """The curves of the parts of a feature; none if the curve is that of a part itself."""
    if whole.where is not None:
        return []
    return [
        curve
        for curve in curves
        if curve.where is not None and curve.feature == feature_where(whole.feature, curve.where)
    ]


def _names(feature: Feature) -> tuple[Feature, ...]:
    return feature if isinstance(feature, tuple) else (feature,)


def _wholes(feature: Feature) -> list[tuple[str, ...]]:
    """What this may be a part of: the text before any of its ", where "."""
    *others, last = map(str, _names(feature))
    pieces = last.split(_WHERE)
    return [(*others, _WHERE.join(pieces[:k])) for k in range(1, len(pieces))]
