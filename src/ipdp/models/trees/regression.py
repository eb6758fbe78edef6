"""River's tree regressors: the leaves are a mean, or a linear model, or the better of both."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answer, Latest, Walk
from ipdp.models.trees.kinds import (
    ABSENT,
    ADAPTIVE_REGRESSOR_NODES,
    LEAVES,
    MEAN,
    MODEL,
    PLAIN_NODES,
    SELECTED,
    Features,
    Form,
    Unsupported,
    find,
    known,
)
from ipdp.models.trees.points import Points
from ipdp.models.trees.reached import NO_LEAF, LeafCache, LeafParts, ReachedLeaves

_FORMS: dict[Any, Form] = known(
    (find("tree", "HoeffdingTreeRegressor", "predict_one"), Form(PLAIN_NODES, False)),
    (
        find("tree", "HoeffdingAdaptiveTreeRegressor", "predict_one"),
        Form(ADAPTIVE_REGRESSOR_NODES, True),
    ),
)
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
        method = getattr(type(model), "predict_one", None)
        return method is not None and (method in _FORMS or method is _FOREST)

    def ice(self, points: Points) -> Answer | None:
        is_forest = type(self.model).predict_one is _FOREST
        trees = self.model.data if is_forest else [self.model]
        if not trees or all(tree._root is None for tree in trees):
            return None
        values = self._leaves.predictions(trees, [_form(tree) for tree in trees], points)
        if self._leaves.has_opaque:
            self.leaves = "river's own leaves"
        if not is_forest:
            return PREDICTION, values
        self._latest = Latest(trees, [None] * len(trees), values[None], points)
        return PREDICTION, _combined(self.model, values)[None]


def _form(tree: Any) -> Form:
    form = _FORMS.get(type(tree).predict_one)
    if form is None:
        raise Unsupported(f"trees of class {type(tree).__name__}")
    return form


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
            self.opaque = True
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


def _linear_predictions(
    leaves: Sequence[RegressorLeaf],
    leaf_of: Array,
    order: tuple[FeatureName, ...],
    points: Points,
) -> FloatArray:
    """The predictions of linear models, of the shape of `leaf_of`.

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
    absent = [value is ABSENT for value in points.values]
    numbers = np.tile(np.where(absent, 0.0, points.numbers), len(leaf_of))
    terms[row, np.arange(len(leaf))] = weights.take(row * n_leaves + leaf) * numbers
    values: FloatArray = np.add.reduce(terms, axis=0)
    values += np.array([parts.intercept for parts in leaves]).take(leaf)
    return values.reshape(leaf_of.shape)


class RegressorLeaves(LeafCache[RegressorLeaf]):
    """The leaves of a regressor's trees, and their predictions at each point.

    Attributes
    ----------
    has_opaque
        Whether there are opaque leaves in this question.
    """

    def __init__(self) -> None:
        super().__init__()
        self.has_opaque = False
        self._order: tuple[FeatureName, ...] = ()
        self._linear: list[RegressorLeaf] = []
        self._fixed: list[float] = []

    def predictions(
        self, trees: Sequence[Any], forms: Sequence[Form], points: Points
    ) -> FloatArray:
        """The prediction of each tree, of shape (n_trees, n_points).

        Parameters
        ----------
        trees, forms
            The trees, and how each of them is walked.
        points
            The observation and its points.
        """
        self.begin()
        asked = points.columns.names
        # The order in which river adds up: that of x, what x does not have last.
        order = (*points.x, *(name for name in asked if name not in points.x))
        if order != self._order:
            self._order = order
        self.has_opaque = False
        # From 0 up a leaf's number is that of a linear model, from -1 down that of a number which
        # is fixed, of which the first is that of no leaf.
        self._linear, self._fixed = [], [0.0]
        reached = ReachedLeaves.of(kernels.current.Walker(points), trees, forms)
        leaf_of = reached.numbers(self)
        with np.errstate(all="ignore"):
            values = self._values(leaf_of, points)
        if self.has_opaque:
            everything: Sequence[Features] = [None] * len(trees)
            for row, column, prediction in reached.opaque_predictions(self.parts, everything):
                values[row, column] = prediction
        if reached.n_rows > len(trees):
            counts = np.add.reduceat(leaf_of != NO_LEAF, reached.first_rows, axis=0, dtype=float)
            values = np.add.reduceat(values, reached.first_rows, axis=0) / np.maximum(counts, 1.0)
        return values

    def enter(self, leaf: Any, tree: Any) -> RegressorLeaf:
        """Number a leaf, and read it if it has learned."""
        del tree  # it does not matter
        parts = self.parts.get(id(leaf))
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
