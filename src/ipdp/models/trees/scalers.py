"""Pipelines of scalers that treat each feature on its own, with a tree at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ipdp.models.trees.base import Answer, Member, Walk
from ipdp.models.trees.kinds import ABSENT, Unsupported, find
from ipdp.models.trees.points import Points

_SCALERS = ("AdaptiveStandard", "MaxAbs", "MinMax", "Robust", "Standard")
_FEATURE_WISE = {find("preprocessing", f"{name}Scaler", "transform_one") for name in _SCALERS} - {
    None
}
_STANDARD = find("preprocessing", "StandardScaler", "transform_one")
_PIPELINE = find("compose", "Pipeline")
_METHODS = ("predict_one", "predict_proba_one", "_transform_one")
_LEARNS_WHILE_PREDICTING = "_LEARN_UNSUPERVISED_DURING_PREDICT"


def _is_scaler(step: Any) -> bool:
    return getattr(type(step), "transform_one", None) in _FEATURE_WISE


class ScaledWalk(Walk):
    """The walk of the last step of a pipeline, behind scalers: the points are scaled first."""

    def __init__(self, model: Any, walk: Walk) -> None:
        super().__init__(model)
        self.walk = walk

    @staticmethod
    def serves(model: Any) -> bool:
        if _PIPELINE is None or not isinstance(model, _PIPELINE):
            return False
        cls: Any = type(model)
        untouched = all(getattr(cls, name, 0) is getattr(_PIPELINE, name, 1) for name in _METHODS)
        scalers = list(model.steps.values())[:-1]
        return (
            untouched and hasattr(model, _LEARNS_WHILE_PREDICTING) and all(map(_is_scaler, scalers))
        )

    def ice(self, points: Points) -> Answer | None:
        if getattr(self.model, _LEARNS_WHILE_PREDICTING):
            return None
        *scalers, last = self.model.steps.values()
        if last is not self.walk.model or not all(map(_is_scaler, scalers)):
            raise Unsupported("other steps of the pipeline than there were at first")
        answer = self.walk.ice(scaled(points, scalers))
        self.leaves = self.walk.leaves
        return answer

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        return self.walk.member(choose)


def scaled(points: Points, scalers: Sequence[Any]) -> Points:
    """The points as the last step of a pipeline sees them."""
    for scaler in scalers:
        points = _standardized(points, scaler) or _one_by_one(points, scaler)
    return points


def _standardized(points: Points, scaler: Any) -> Points | None:
    """All points at once, if they are numbers and the scaler is the common one; else None."""
    if points.unordered or points.non_numeric or not _is_standard(scaler):
        return None
    columns = points.columns
    variances = [scaler.vars.get(name) for name in columns.names]
    # One more, for columns that replace no feature.
    means = [*[scaler.means.get(name, 0.0) for name in columns.names], 0.0]
    # A constant becomes 0, as in river.
    deviations = [*[variance**0.5 if variance else math.inf for variance in variances], 1.0]
    # To the last bit what river computes; a larger number stays a larger one.
    numbers = points.numbers - np.array(means).take(columns.number_of)
    numbers /= np.array(deviations).take(columns.number_of)
    return Points(columns, scaler.transform_one(points.x), numbers, values=numbers.tolist())


def _is_standard(scaler: Any) -> bool:
    """Whether it subtracts means and divides by deviations, of all that it has seen."""
    return (
        type(scaler).transform_one is _STANDARD
        and scaler.with_std
        and getattr(scaler, "window_size", None) is None
    )


def _one_by_one(points: Points, scaler: Any) -> Points:
    """The points as any scaler of single features makes them.

    No feature's scale depends on another, so that the k-th points of all features are scaled
    together, in one call.
    """
    columns, values = points.columns, list(points.values)
    spans = [range(*span) for span in columns.spans.values()]
    for row in zip_longest(*spans):
        at = {name: k for name, k in zip(columns.names, row, strict=True) if k is not None}
        known = {name: values[k] for name, k in at.items() if values[k] is not ABSENT}
        for name, value in scaler.transform_one(known).items():
            values[at[name]] = value
    numbers = np.array([math.nan if value is ABSENT else value for value in values], dtype=float)
    return columns.arrange(scaler.transform_one(points.x), values, numbers)
