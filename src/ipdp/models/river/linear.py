"""Linear models: the sum of all features but one, and of that one's points.

What is added up is what river adds up, in the order of the observation; the sums before and behind
the feature that is replaced are shared by all of its points, so that the last bits may differ from
those of a plain call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FeatureName, FloatArray, Labels
from ipdp.models.river import kernels
from ipdp.models.river.copies import Asked, Copies, Groups, as_table
from ipdp.models.river.kernels.linear import Order, Scale
from ipdp.models.river.parts import NUMBER, PROBABILITIES, Part, register
from ipdp.models.river.steps import Steps
from ipdp.models.trees.base import Answer
from ipdp.models.trees.kinds import find
from ipdp.models.trees.points import Points

BOTH: Labels = (False, True)

Weights = Mapping[FeatureName, float]
"""Of the features that the model has met: a dict, or river's vector, which has `get` as well."""

_NO_SCALES: list[Scale] = []


class Sums:
    """Weighted sums of features at the points of an observation."""

    def __init__(self) -> None:
        self._steps = Steps(_make_step)

    def of(
        self, asked: Asked, weights: Weights, intercept: float, scales: Sequence[Scale] = _NO_SCALES
    ) -> FloatArray:
        """The sum at each point, after some scales, which only points may have."""
        if isinstance(asked, Groups):
            sums = self.of(asked.points, weights, intercept)
            for lo, hi, own in asked.others:
                sums[lo:hi] = self.of(own, weights, intercept)
            return sums
        if isinstance(asked, Copies):
            return of_copies(asked, weights, intercept)
        numbers = _numbers(asked)
        _, step = self._steps.of(asked)
        summed: FloatArray = step.sums(asked.x, weights, intercept, numbers, scales)
        return summed

    def shares(
        self, asked: Asked, weights: Weights, intercept: float, scales: Sequence[Scale] = _NO_SCALES
    ) -> FloatArray:
        """The shares of both classes that river's sigmoid makes of the sums, (2, n_points)."""
        if isinstance(asked, Copies):
            return np.asarray(kernels.current.logistic(self.of(asked, weights, intercept)))
        numbers = _numbers(asked)
        _, step = self._steps.of(asked)
        shares: FloatArray = step.shares(asked.x, weights, intercept, numbers, scales)
        return shares


def _make_step(order: Order, n_columns: int) -> Any:
    return kernels.current.LinearStep(order, n_columns)


def _numbers(points: Points) -> FloatArray:
    """The numbers at points."""
    if points.non_numeric:
        raise TypeError("a linear model takes numbers only")
    numbers = points.numbers
    if points.columns.absent:
        numbers = numbers.copy()
        numbers[points.columns.absent] = 0.0
    return numbers


def of_copies(copies: Copies, weights: Weights, intercept: float) -> FloatArray:
    """The sum at each copy, whose blocks may differ in several features."""
    x, blocks = dict(copies.x), copies.blocks
    names = tuple(dict.fromkeys([*x, *[name for block in blocks for name in block.names]]))
    at = {name: place for place, name in enumerate(names)}
    own = np.array([weights.get(name, 0.0) for name in names], dtype=float)
    numbers = np.zeros(copies.columns.n)
    places, several = [], []
    for lo, hi, changed, rows in blocks:
        if len(changed) == 1:
            numbers[lo:hi] = as_table(rows)[0]
            places.append((at[changed[0]], lo, hi))
        elif changed:
            several.append((lo, hi, [at[name] for name in changed], rows))
    step = kernels.current.LinearStep((names, sorted(places)), len(numbers))
    sums: FloatArray = step.sums(x, weights, intercept, numbers, _NO_SCALES)
    if several:
        terms = own * np.array([x.get(name, 0.0) for name in names], dtype=float)
        kept = np.ones(len(names), dtype=bool)
        for lo, hi, replaced, rows in several:
            kept[replaced] = False
            sums[lo:hi] = terms.sum(where=kept) + intercept + own[replaced] @ as_table(rows)
            kept[replaced] = True
    return sums


class LinearPart(Part):
    """A model of weighted sums."""

    cheap = True
    checked_every = 64  # river's own call takes half as long as explaining an observation


class GeneralizedPart(LinearPart):
    """Logistic and linear regression, and what else predicts by a mean function of the sum."""

    def __init__(self, model: Any, *, is_classifier: bool) -> None:
        super().__init__(model)
        self.is_classifier = is_classifier
        self._sums = Sums()

    takes_scales = True

    def ice(self, points: Asked, scales: Sequence[Scale] = _NO_SCALES) -> Answer | None:
        model = self.model
        asked = points, model._weights, model.intercept, scales
        own = type(model.loss).mean_func
        if self.is_classifier and own is _SIGMOID:
            return BOTH, self._sums.shares(*asked)
        sums = self._sums.of(*asked)
        if self.is_classifier:
            shares = np.array(list(map(model.loss.mean_func, sums.tolist())))
            return BOTH, np.stack([1.0 - shares, shares])
        if own is not _IDENTITY:
            sums = np.array(list(map(model.loss.mean_func, sums.tolist())))
        return PREDICTION, sums[None]

    def ice_all(self, points: Iterable[Any], scales: Sequence[Scale] = _NO_SCALES) -> Answer | None:
        model, sums = self.model, self._sums
        if type(model.loss).mean_func is not (_SIGMOID if self.is_classifier else _IDENTITY):
            return None
        ask = sums.shares if self.is_classifier else sums.of
        weights, intercept = model._weights, model.intercept
        values = np.array([ask(own, weights, intercept, scales) for own in points])
        return (BOTH, values) if self.is_classifier else (PREDICTION, values[:, None])


class LogisticPart(LinearPart):
    """Other models whose share is the sigmoid of a sum."""

    def __init__(self, model: Any, read: Callable[[Any], tuple[Weights, float]]) -> None:
        super().__init__(model)
        self._read = read
        self._sums = Sums()

    def ice(self, points: Asked) -> Answer | None:
        weights, intercept = self._read(self.model)
        return BOTH, self._sums.shares(points, weights, intercept)


class SumPart(LogisticPart):
    """Other models that predict a sum."""

    def ice(self, points: Asked) -> Answer | None:
        weights, intercept = self._read(self.model)
        return PREDICTION, self._sums.of(points, weights, intercept)[None]


class SoftmaxPart(LinearPart):
    """A sum for each class."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._sums = Sums()

    def ice(self, points: Asked) -> Answer | None:
        model = self.model
        if not model.weights:
            return None
        rows = [self._sums.of(points, w, 0.0) for w in model.weights.values()]
        values = np.stack(rows)
        values -= values.max(axis=0)
        np.exp(values, out=values)
        values /= values.sum(axis=0)
        return tuple(model.weights), values


_SIGMOID = find("optim.losses", "BinaryLoss", "mean_func")
_IDENTITY = find("optim.losses", "RegressionLoss", "mean_func")
_DOT = find("linear_model.base", "GLM", "_raw_dot_one")
_ALMA_DOT = find("linear_model", "ALMAClassifier", "_raw_dot")


def _generalized(*, is_classifier: bool) -> Callable[[Any], Part | None]:
    def make(model: Any) -> Part | None:
        if type(model)._raw_dot_one is not _DOT:
            return None
        return GeneralizedPart(model, is_classifier=is_classifier)

    return make


def _passive_aggressive(model: Any) -> tuple[Weights, float]:
    return model.weights, model.intercept


def _alma(model: Any) -> tuple[Weights, float]:
    return model.w, 0.0


def _make_alma(model: Any) -> Part | None:
    return LogisticPart(model, _alma) if type(model)._raw_dot is _ALMA_DOT else None


def _bayesian(model: Any) -> Part | None:
    """Older rivers keep the means in another way."""
    return SumPart(model, _means) if hasattr(model, "_idx") else None


def _means(model: Any) -> tuple[Weights, float]:
    if model._idx:
        model._ensure_m()  # what river computes once after it has learned
    means = model._m_arr
    return {name: means[at] for name, at in model._idx.items()}, 0.0


def _own(name: str, method: str) -> Any:
    return find("linear_model", name, method)


for _name in ("LogisticRegression", "Perceptron"):
    register(PROBABILITIES, _own(_name, PROBABILITIES), _generalized(is_classifier=True))
register(NUMBER, _own("LinearRegression", NUMBER), _generalized(is_classifier=False))
register(
    PROBABILITIES,
    _own("PAClassifier", PROBABILITIES),
    lambda model: LogisticPart(model, _passive_aggressive),
)
register(NUMBER, _own("PARegressor", NUMBER), lambda model: SumPart(model, _passive_aggressive))
register(PROBABILITIES, _own("SoftmaxRegression", PROBABILITIES), SoftmaxPart)
register(PROBABILITIES, _own("ALMAClassifier", PROBABILITIES), _make_alma)
register(NUMBER, _own("BayesianLinearRegression", NUMBER), _bayesian)
