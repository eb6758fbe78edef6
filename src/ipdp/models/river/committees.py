"""Committees: members that vote, are averaged, or are asked in place of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FeatureName, FloatArray, Labels
from ipdp.models.river.copies import Asked, Block, Copies, Row
from ipdp.models.river.parts import (
    NUMBER,
    PROBABILITIES,
    Maker,
    Part,
    Parts,
    PlainPart,
    joined,
    part_of,
    register,
)
from ipdp.models.trees.base import Answer, Member
from ipdp.models.trees.classification import bole_weights, boosting_weights
from ipdp.models.trees.kinds import find

Weights = Callable[[Any], Sequence[float]]


class CommitteePart(Part):
    """Members whose shares are added up, each by its weight."""

    leaves = "by its members"

    def __init__(self, model: Any, weights: Weights) -> None:
        super().__init__(model)
        self._weights = weights
        self._parts = Parts(PROBABILITIES)

    def ice(self, points: Asked) -> Answer | None:
        weights = self._weights(self.model)
        answers = [
            (answer, weight)
            for part, weight in zip(self._parts.of(self.model.data), weights, strict=True)
            if (answer := part.ice(points)) is not None and weight
        ]
        labels = tuple(dict.fromkeys(label for (own, _), _ in answers for label in own))
        if not labels:
            return None
        total = np.zeros((len(labels), points.columns.n))
        for answer, weight in answers:
            total += joined(labels, answer) * weight
        return labels, shares(total)


def shares(votes: FloatArray) -> FloatArray:
    """Votes as shares; they stay as they are where there are none."""
    whole = votes.sum(axis=0)
    return votes / np.where(whole > 0, whole, 1.0)


class MeanPart(Part):
    """Members whose predictions are added up, each by its weight."""

    leaves = "by its members"

    def __init__(self, model: Any, weights: Weights) -> None:
        super().__init__(model)
        self._weights = weights
        self._parts = Parts(NUMBER)

    def ice(self, points: Asked) -> Answer | None:
        total = np.zeros((1, points.columns.n))
        weights = self._weights(self.model)
        for part, weight in zip(self._parts.of(self.model.data), weights, strict=True):
            answer = part.ice(points)
            if answer is None:
                return None
            total += answer[1] * weight
        return PREDICTION, total


class OneVsRestPart(Part):
    """A model of each class against all others."""

    leaves = "by its members"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._parts = Parts(PROBABILITIES)

    def ice(self, points: Asked) -> Answer | None:
        labels: Labels = tuple(self.model.classifiers)
        if not labels:
            return None
        rows = []
        for part in self._parts.of(list(self.model.classifiers.values())):
            answer = part.ice(points)
            if answer is None or True not in answer[0]:
                return None
            rows.append(answer[1][answer[0].index(True)])
        votes = np.stack(rows)
        whole = votes.sum(axis=0)
        return labels, np.where(whole != 0, votes / np.where(whole, whole, 1.0), 1 / len(labels))


class StackingPart(Part):
    """A model of what others say."""

    leaves = "by its members"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._parts = Parts(PROBABILITIES)
        self._last = part_of(model.meta_classifier, PROBABILITIES)

    def ice(self, points: Asked) -> Answer | None:
        model = self.model
        if self._last.model is not model.meta_classifier:
            self._last = part_of(model.meta_classifier, PROBABILITIES)
        rows: dict[FeatureName, FloatArray] = {}
        for number, part in enumerate(self._parts.of(list(model))):
            answer = part.ice(points)
            if answer is None:
                return None
            rows |= {f"oof_{number}_{k}": row for k, row in zip(*answer, strict=True)}
        copies = Copies.of(points)
        if model.include_features and not rows.keys().isdisjoint(copies.x):
            return None
        return self._last.ice(_with_shares(copies, rows, keep=model.include_features))


def _with_shares(copies: Copies, rows: dict[FeatureName, FloatArray], *, keep: bool) -> Copies:
    """Copies of what the members say, together with the features if they are kept.

    What they say of the observation itself is of no effect, as all copies have something else.
    """
    blocks = []
    for lo, hi, names, own in copies.blocks:
        shares_there: list[Row] = [row[lo:hi] for row in rows.values()]
        blocks.append(
            Block(lo, hi, (*rows, *names), [*shares_there, *own])
            if keep
            else Block(lo, hi, tuple(rows), shares_there)
        )
    said = dict.fromkeys(rows, 0.0)
    return Copies(copies.columns, {**said, **copies.x} if keep else said, blocks)


class InsteadPart(Part):
    """A wrapper whose prediction is that of the model inside."""

    def __init__(self, model: Any, name: str, method: str) -> None:
        super().__init__(model)
        self._name = name
        self._method = method
        self._part: Part = part_of(getattr(model, name), method)

    @property
    def leaves(self) -> str:  # type: ignore[override]
        """How the model inside answers."""
        return self._part.leaves

    def ice(self, points: Asked) -> Answer | None:
        inside = getattr(self.model, self._name)
        if self._part.model is not inside:
            self._part = part_of(inside, self._method)
        return self._part.ice(points)

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        return self._part.member(choose)

    def simplify(self) -> bool:
        return self._part.simplify()


def _ones(model: Any) -> list[float]:
    return [1.0] * len(model.data)


def _equal(model: Any) -> list[float]:
    return [1.0 / len(model.data)] * len(model.data)


def _learned_weights(model: Any) -> Sequence[float]:
    weights: Sequence[float] = model.weights
    return weights


def _if_known(make: Maker, members: Callable[[Any], Sequence[Any]], method: str) -> Maker:
    """Makes nothing of a committee of which no member is known."""

    def maker(model: Any) -> Part | None:
        inside = list(members(model))
        if all(isinstance(part_of(member, method), PlainPart) for member in inside):
            return None
        return make(model)

    return maker


def _committee(name: str, weights: Weights) -> None:
    own = find("ensemble", name, PROBABILITIES)
    make = _if_known(lambda model: CommitteePart(model, weights), lambda m: m.data, PROBABILITIES)
    register(PROBABILITIES, own, make)


def _mean(name: str, weights: Weights) -> None:
    own = find("ensemble", name, NUMBER)
    make = _if_known(lambda model: MeanPart(model, weights), lambda m: m.data, NUMBER)
    register(NUMBER, own, make)


def _instead(module: str, wrapper: str, name: str, method: str) -> None:
    own = find(module, wrapper, method)
    make = _if_known(
        lambda model: InsteadPart(model, name, method), lambda m: [getattr(m, name)], method
    )
    register(method, own, make)


_committee("BaggingClassifier", _ones)
_committee("AdaBoostClassifier", boosting_weights)
_committee("BOLEClassifier", bole_weights)
_mean("BaggingRegressor", _equal)
_mean("EWARegressor", _learned_weights)
_instead("drift", "DriftRetrainingClassifier", "model", PROBABILITIES)
_instead("imblearn.random", "ClassificationSampler", "classifier", PROBABILITIES)
register(
    PROBABILITIES,
    find("multiclass", "OneVsRestClassifier", PROBABILITIES),
    _if_known(OneVsRestPart, lambda m: [m.classifier, *m.classifiers.values()], PROBABILITIES),
)
register(
    PROBABILITIES,
    find("ensemble", "StackingClassifier", PROBABILITIES),
    _if_known(StackingPart, list, PROBABILITIES),
)
