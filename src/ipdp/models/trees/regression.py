"""What river's tree regressors say at each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.typing import Array, FeatureName, FloatArray, Label
from ipdp.models.trees.check import Member
from ipdp.models.trees.kinds import ADAPTIVE_REGRESSOR_NODES, PLAIN_NODES, Unknown
from ipdp.models.trees.linear import RegressorLeaf, linear_values
from ipdp.models.trees.names import find, known
from ipdp.models.trees.points import Points
from ipdp.models.trees.reach import NOBODY, Features, Form, Reach
from ipdp.models.trees.store import LeafStore

_FORMS: dict[Any, Form] = known(
    (find("tree", "HoeffdingTreeRegressor", "predict_one"), Form(PLAIN_NODES, False)),
    (
        find("tree", "HoeffdingAdaptiveTreeRegressor", "predict_one"),
        Form(ADAPTIVE_REGRESSOR_NODES, True),
    ),
)
_FOREST = find("forest", "ARFRegressor", "predict_one")

# The number of a leaf that only river knows.
_ASKED = -2


class RegressorWalk:
    """ICE curves of a tree regressor, or of a forest of them.

    Parameters
    ----------
    model
        The regressor.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.leaves = "factored leaves"
        self._estimates = Estimates()
        self._latest: tuple[Sequence[Any], FloatArray, Points] | None = None

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether it knows such a model."""
        method = getattr(type(model), "predict_one", None)
        return method is not None and (method in _FORMS or method is _FOREST)

    def ice(self, points: Points) -> tuple[tuple[Label, ...], FloatArray] | None:
        """The prediction, of shape (1, n_points); None if plain calls are to be made."""
        is_forest = type(self.model).predict_one is _FOREST
        trees = self.model.data if is_forest else [self.model]
        if not trees or all(tree._root is None for tree in trees):
            return None
        values = self._estimates.collect(trees, [_form(tree) for tree in trees], points)
        if self._estimates.asks_river:
            self.leaves = "river's own leaves"
        if not is_forest:
            return PREDICTION, values
        self._latest = trees, values, points
        return PREDICTION, _combined(self.model, values)[None]

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        """One of the trees, as the latest answer had it; None if there is only one."""
        if self._latest is None:
            return None
        trees, values, points = self._latest
        number = choose(range(len(trees)))
        tree = trees[number]

        def said_at(column: int) -> Any:
            return tree.predict_one(points.at(column))

        return Member(values[number : number + 1], said_at)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}


def _form(tree: Any) -> Form:
    form = _FORMS.get(type(tree).predict_one)
    if form is None:
        raise Unknown(f"trees of class {type(tree).__name__}")
    return form


def _combined(model: Any, values: FloatArray) -> FloatArray:
    """What an adaptive random forest makes of the predictions of its trees."""
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


class Estimates(LeafStore[RegressorLeaf]):
    """What the trees of a regressor say at each point.

    Attributes
    ----------
    asks_river
        Whether in this question there are leaves that only river knows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asks_river = False
        self._order: tuple[FeatureName, ...] = ()
        self._linear: list[RegressorLeaf] = []
        self._fixed: list[float] = []

    def collect(self, trees: Sequence[Any], forms: Sequence[Form], points: Points) -> FloatArray:
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
        # The order in which river adds up: that of x, what it does not have last.
        order = (*points.x, *(name for name in asked if name not in points.x))
        if order != self._order:
            self._order = order
        self.asks_river = False
        # From 0 up a leaf's number is that of a linear model, from -1 down that of a number which
        # is fixed, of which the first is nobody's.
        self._linear, self._fixed = [], [0.0]
        reach = Reach.of(trees, forms, points)
        leaf_of = reach.numbers(self)
        with np.errstate(all="ignore"):
            values = self._values(leaf_of, points)
        if self.asks_river:
            everything: Sequence[Features] = [None] * len(trees)
            for row, column, said in reach.answers(self, everything):
                values[row, column] = said
        if reach.n_rows > len(trees):
            counts = np.add.reduceat(leaf_of != NOBODY, reach.first_rows, axis=0, dtype=float)
            values = np.add.reduceat(values, reach.first_rows, axis=0) / np.maximum(counts, 1.0)
        return values

    def enter(self, leaf: Any, tree: Any) -> RegressorLeaf:
        """Number a leaf, and read it if it has learned."""
        del tree  # it has no say
        parts = self.parts.get(id(leaf))
        if parts is None:
            parts = self.parts[id(leaf)] = RegressorLeaf(leaf)
        parts.turn = self.turn
        if parts.own:
            self.asks_river = True
            parts.number = _ASKED
        elif parts.is_mean:
            self._fixed.append(leaf.stats.mean.get())
            parts.number = -len(self._fixed)
        else:
            parts.read(self._order)
            parts.number = len(self._linear)
            self._linear.append(parts)
        return parts

    def _values(self, leaf_of: Array, points: Points) -> FloatArray:
        """What each leaf says, of shape (n_rows, n_points)."""
        fixed = np.array(self._fixed)
        if not self._linear:
            return fixed.take(~leaf_of, mode="clip")
        values = linear_values(self._linear, np.maximum(leaf_of, 0), self._order, points)
        np.copyto(values, fixed.take(~leaf_of, mode="clip"), where=leaf_of < 0)
        return values
