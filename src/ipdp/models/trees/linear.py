"""What a leaf of a regressor says: a mean, or a linear model, or the better of both."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.models.trees.kinds import LEAVES, MEAN, MODEL, SELECTED
from ipdp.models.trees.names import find
from ipdp.models.trees.points import ABSENT, Points
from ipdp.models.trees.store import LeafParts

_LINEAR = find("linear_model", "LinearRegression")
_GLM = find("linear_model.base", "GLM")
_IDENTITY = find("optim.losses", "RegressionLoss", "mean_func")


class RegressorLeaf(LeafParts):
    """The parts of a leaf, as of the last time that it learned.

    Attributes
    ----------
    learned
        How much it had learned at that time.
    weights
        The weights of its linear model.
    intercept
        What the model adds to the weighted values.
    raw, raw_of
        The weights in the order of some features, as bytes; these features.
    """

    __slots__ = ("intercept", "learned", "raw", "raw_of", "weights")

    def __init__(self, leaf: Any) -> None:
        kind = LEAVES[leaf.__class__]
        super().__init__(leaf, kind not in (MEAN, MODEL, SELECTED))
        if kind in (MODEL, SELECTED) and not _is_linear(leaf._leaf_model):
            self.own = True
        self.learned: tuple[Any, ...] = ()
        self.weights: dict[FeatureName, float] = {}
        self.intercept = 0.0
        self.raw = b""
        self.raw_of: tuple[FeatureName, ...] = ()

    @property
    def is_mean(self) -> bool:
        """Whether the leaf answers with its mean."""
        leaf = self.leaf
        kind = LEAVES[leaf.__class__]
        return kind == MEAN or (kind == SELECTED and leaf._fmse_mean < leaf._fmse_model)

    def read(self, order: tuple[FeatureName, ...]) -> None:
        """Read the linear model, its weights in the order of some features."""
        model = self.leaf._leaf_model
        learned = (self.leaf.stats.mean.n, model.optimizer.n_iterations, model.intercept)
        if learned != self.learned:
            self.learned = learned
            self.weights = dict(model.weights)
            self.intercept = model.intercept
            self.raw_of = ()
        if self.raw_of != order:
            self.raw_of = order
            weights = array("d", [self.weights.get(name, 0.0) for name in order])
            self.raw = weights.tobytes()


def _is_linear(model: Any) -> bool:
    cls = type(model)
    return (
        _LINEAR is not None
        and cls.predict_one is _LINEAR.predict_one
        and cls._raw_dot_one is _GLM._raw_dot_one
        and type(model.loss).mean_func is _IDENTITY
    )


def linear_values(
    leaves: Sequence[RegressorLeaf],
    leaf_of: Array,
    order: tuple[FeatureName, ...],
    points: Points,
) -> FloatArray:
    """What linear models say, of the shape of `leaf_of`.

    Parameters
    ----------
    leaves
        The leaves, whose weights are in order.
    leaf_of
        Which of them answers, of shape (n_rows, n_points).
    order
        The features in the order in which river adds them up.
    points
        The observation and its points.
    """
    if points.odd:
        raise TypeError("a linear model takes numbers only")
    n_features, n_leaves = len(order), len(leaves)
    # One row more, for columns that replace no feature.
    weights = np.zeros((n_features + 1, n_leaves))
    table = np.frombuffer(b"".join([parts.raw for parts in leaves]))
    weights[:-1] = table.reshape(n_leaves, n_features).T
    x = np.array([*[points.x.get(name, 0.0) for name in order], 0.0])
    place = {name: row for row, name in enumerate(order)}
    rows = np.array([*[place[name] for name in points.columns.names], n_features])
    row = np.tile(rows.take(points.columns.number_of), len(leaf_of))
    leaf = leaf_of.reshape(-1)
    terms = (weights * x[:, None]).take(leaf, axis=1)
    absent = [value is ABSENT for value in points.values]
    numbers = np.tile(np.where(absent, 0.0, points.numbers), len(leaf_of))
    terms[row, np.arange(len(leaf))] = weights.take(row * n_leaves + leaf) * numbers
    values: FloatArray = np.add.reduce(terms, axis=0)
    values += np.array([parts.intercept for parts in leaves]).take(leaf)
    return values.reshape(leaf_of.shape)
