"""River's tree regressors: the leaves are a mean, or a linear model, or the better of both."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answer, Latest, Walk
from ipdp.models.trees.kinds import MEAN, MODEL, REGRESSOR_FORMS, SELECTED, find, leaf_kind
from ipdp.models.trees.points import Points
from ipdp.models.trees.reached import NO_LEAF, LeafCache, ReachedLeaves

_FOREST = find("forest", "ARFRegressor", "predict_one")
_LINEAR = find("linear_model", "LinearRegression")
_GLM = find("linear_model.base", "GLM")
_IDENTITY = find("optim.losses", "RegressionLoss", "mean_func")

# The number of an opaque leaf.
_OPAQUE_LEAF = -2


class RegressorWalk(Walk):
    """ICE curves of a tree regressor, or of a forest of them."""

    method: ClassVar[str] = "predict_one"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._leaves = RegressorLeaves()

    @staticmethod
    def serves(model: Any) -> bool:
        return REGRESSOR_FORMS.knows(type(model)) or _is_forest(model)

    def ice(self, points: Points) -> Answer | None:
        is_forest = _is_forest(self.model)
        trees = self.model.data if is_forest else [self.model]
        if not trees or all(tree._root is None for tree in trees):
            return None
        values = self._leaves.predictions(trees, points)
        if self._leaves.has_opaque:
            self.leaves = "river's own leaves"
        if not is_forest:
            return PREDICTION, values
        self._latest = Latest(trees, [None] * len(trees), values[None], points)
        return PREDICTION, _combined(self.model, values)[None]


def _is_forest(model: Any) -> bool:
    return _FOREST is not None and getattr(type(model), "predict_one", None) is _FOREST


def _combined(model: Any, values: FloatArray) -> FloatArray:
    """The prediction of an adaptive random forest, given those of its trees."""
    if model.aggregation_method == model._MEDIAN:
        return np.asarray(np.median(values, axis=0))
    if not model.disable_weighted_vote:
        errors = np.array([metric.get() for metric in model._metrics[: len(values)]])
        total = sum(errors.tolist())
        if total != 0:
            # The higher the error, the less a tree counts.
            weights = total - errors
            values = values * (weights / weights.sum())[:, None]
    return np.asarray(values.mean(axis=0))


class RegressorLeaf:
    """The parts of a leaf, as of the last time that it learned."""

    def __init__(self, leaf: Any) -> None:
        self.leaf = leaf
        self.kind = leaf_kind(leaf.__class__)
        is_linear = self.kind in (MODEL, SELECTED) and _is_linear(leaf._leaf_model)
        self.opaque = self.kind != MEAN and not is_linear  # only river can tell its prediction
        self.number, self.turn = 0, -1  # see `LeafCache`
        self.learned: tuple[Any, ...] = ()  # how much it had learned when it was read
        self.weights: dict[FeatureName, float] = {}
        self.intercept = 0.0
        # The weights in the order of some features, as bytes, and these features.
        self.raw = b""
        self.raw_of: tuple[FeatureName, ...] = ()

    @property
    def is_mean(self) -> bool:
        """Whether the leaf answers with its mean."""
        leaf, kind = self.leaf, self.kind
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
            self.raw = array("d", [self.weights.get(name, 0.0) for name in order]).tobytes()


def _is_linear(model: Any) -> bool:
    cls = type(model)
    return (
        _LINEAR is not None
        and cls.predict_one is _LINEAR.predict_one
        and cls._raw_dot_one is _GLM._raw_dot_one
        and type(model.loss).mean_func is _IDENTITY
    )


def _linear_predictions(
    leaves: Sequence[RegressorLeaf], leaf_of: Array, order: Sequence[FeatureName], points: Points
) -> FloatArray:
    """The predictions of linear models, with their weights in the order of the features.

    `leaf_of` says which of them answers, of shape (n_rows, n_points), as the predictions.
    """
    if points.non_numeric:
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
    numbers = points.numbers.copy()
    numbers[points.columns.absent] = 0.0
    numbers[points.columns.number_of == len(points.columns.names)] = 0.0
    numbers = np.tile(numbers, len(leaf_of))
    terms[row, np.arange(len(leaf))] = weights.take(row * n_leaves + leaf) * numbers
    values: FloatArray = np.add.reduce(terms, axis=0)
    values += np.array([parts.intercept for parts in leaves]).take(leaf)
    return values.reshape(leaf_of.shape)


class RegressorLeaves(LeafCache):
    """The leaves of a regressor's trees, and their predictions at each point."""

    def __init__(self) -> None:
        super().__init__()
        self.has_opaque = False  # in this question
        self._order: tuple[FeatureName, ...] = ()
        self._linear: list[RegressorLeaf] = []
        self._fixed: list[float] = []

    def predictions(self, trees: Sequence[Any], points: Points) -> FloatArray:
        """The prediction of each tree, of shape (n_trees, n_points)."""
        self.begin()
        # The order in which river adds up: that of x, what x does not have last.
        self._order = tuple(dict.fromkeys([*points.x, *points.columns.names]))
        self.has_opaque = False
        # From 0 up a leaf's number is that of a linear model, from -1 down that of a number which
        # is fixed, of which the first is that of no leaf.
        self._linear, self._fixed = [], [0.0]
        forms = [REGRESSOR_FORMS[tree.__class__] for tree in trees]
        reached = ReachedLeaves.of(kernels.current.Walker(points), trees, forms)
        leaf_of = reached.numbers(self, self._enter)
        with np.errstate(all="ignore"):
            values = self._values(leaf_of, points)
        if self.has_opaque:
            all_features = [None] * len(trees)
            for row, column, prediction in reached.opaque_predictions(self.parts, all_features):
                values[row, column] = prediction
        if reached.n_rows > len(trees):
            counts = np.add.reduceat(leaf_of != NO_LEAF, reached.first_rows, axis=0, dtype=float)
            values = np.add.reduceat(values, reached.first_rows, axis=0) / np.maximum(counts, 1.0)
        return values

    def _enter(self, leaf: Any, tree: Any) -> RegressorLeaf:
        """Number a leaf, and read it if it has learned."""
        del tree  # it does not matter
        parts: RegressorLeaf | None = self.parts.get(id(leaf))
        if parts is None:
            parts = self.parts[id(leaf)] = RegressorLeaf(leaf)
        parts.turn = self.turn
        if parts.opaque:
            self.has_opaque = True
            parts.number = _OPAQUE_LEAF
        elif parts.is_mean:
            self._fixed.append(leaf.stats.mean.get())
            parts.number = -len(self._fixed)
        else:
            parts.read(self._order)
            parts.number = len(self._linear)
            self._linear.append(parts)
        return parts

    def _values(self, leaf_of: Array, points: Points) -> FloatArray:
        """The prediction of each leaf, of shape (n_rows, n_points)."""
        fixed = np.array(self._fixed)
        if not self._linear:
            return fixed.take(~leaf_of, mode="clip")
        values = _linear_predictions(self._linear, np.maximum(leaf_of, 0), self._order, points)
        np.copyto(values, fixed.take(~leaf_of, mode="clip"), where=leaf_of < 0)
        return values
