"""Hoeffding tree classifiers, and ensembles of them, told by their `predict_proba_one`."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray, Label
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answer, ClassOrder, Latest, Walk
from ipdp.models.trees.kernels.leaves import ClassifierLeaf
from ipdp.models.trees.kinds import (
    ADAPTIVE_NODES,
    PLAIN_NODES,
    Features,
    Form,
    Unsupported,
    find,
    known,
)
from ipdp.models.trees.points import Points
from ipdp.models.trees.reached import LeafCache, ReachedLeaves

_PLAIN = find("tree", "HoeffdingTreeClassifier", "predict_proba_one")
_ADAPTIVE = find("tree", "HoeffdingAdaptiveTreeClassifier", "predict_proba_one")
_MEMBER_OF_SRP = find("ensemble.streaming_random_patches", "BaseSRPClassifier", "predict_proba_one")


class Forms(dict[type, Form]):
    """The form of each class of trees, looked up once."""

    def __missing__(self, cls: Any) -> Form:
        method = getattr(cls, "predict_proba_one", None)
        if method is not None and method is _PLAIN:
            self[cls] = Form(PLAIN_NODES, False)
        elif method is not None and method is _ADAPTIVE:
            self[cls] = Form(ADAPTIVE_NODES, True)
        else:
            raise Unsupported(f"trees of class {cls.__name__}")
        return self[cls]


_FORMS = Forms()


class Ensemble(NamedTuple):
    """The trees that vote.

    Attributes
    ----------
    trees
        The trees.
    features
        For each of them the features that it sees, None for all.
    weights
        By what its votes are multiplied.
    """

    trees: Sequence[Any]
    features: Sequence[Features]
    weights: list[float]


def _single(model: Any) -> Ensemble:
    return Ensemble([model], [None], [1.0])


def _bagging(model: Any) -> Ensemble:
    n = len(model.data)
    return Ensemble(model.data, [None] * n, [1.0] * n)


def _adaptive_random_forest(model: Any) -> Ensemble:
    n = len(model.data)
    return Ensemble(model.data, [None] * n, _weights(model, model._metrics[:n]))


def _random_patches(model: Any) -> Ensemble:
    members = model.data
    for member in members:
        if type(member).predict_proba_one is not _MEMBER_OF_SRP:
            raise Unsupported(f"members of class {type(member).__name__}")
    return Ensemble(
        [member.model for member in members],
        [member.features for member in members],
        _weights(model, [member.metric for member in members]),
    )


def _weights(model: Any, metrics: Sequence[Any]) -> list[float]:
    """The values of the metrics, or 1 where they are not positive."""
    if model.disable_weighted_vote:
        return [1.0] * len(metrics)
    values = [metric.get() for metric in metrics]
    return [value if value > 0 else 1.0 for value in values]


_ENSEMBLES: dict[Any, Callable[[Any], Ensemble]] = known(
    (_PLAIN, _single),
    (_ADAPTIVE, _single),
    (find("forest", "ARFClassifier", "predict_proba_one"), _adaptive_random_forest),
    (find("ensemble", "BaggingClassifier", "predict_proba_one"), _bagging),
    (find("ensemble", "SRPClassifier", "predict_proba_one"), _random_patches),
)


class ClassifierWalk(Walk):
    """ICE curves of a Hoeffding tree, or of an ensemble of them."""

    method: ClassVar[str] = "predict_proba_one"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._ensemble = _ENSEMBLES[type(model).predict_proba_one]
        self._alone = _single(model) if self._ensemble is _single else None
        self._order = ClassOrder()
        self._cache: LeafCache[ClassifierLeaf] = LeafCache()
        self._classes: tuple[Label, ...] = ()
        self._build = ""

    @staticmethod
    def serves(model: Any) -> bool:
        ensemble = _ENSEMBLES.get(getattr(type(model), "predict_proba_one", None))
        if ensemble is None:
            return False
        # An ensemble that has not learned may be empty; its `model` is what it will be made of.
        members = ensemble(model).trees or [getattr(model, "model", None)]
        try:
            for member in members:
                if member is not None:
                    _FORMS[type(member)]
        except Unsupported:
            return False
        return True

    def ice(self, points: Points) -> Answer | None:
        ensemble = self._alone or self._ensemble(self.model)
        classes = self._order.of(_classes(ensemble.trees))
        if not classes:
            return None
        votes = self._votes(ensemble, points, classes)
        if self._alone:
            return classes, votes[:, 0]
        self._latest = Latest(ensemble.trees, ensemble.features, votes, points)
        return classes, kernels.current.combine(votes, ensemble.weights)

    def _votes(self, ensemble: Ensemble, points: Points, classes: tuple[Label, ...]) -> FloatArray:
        """The votes of each tree, of shape (n_classes, n_trees, n_points)."""
        self._begin(classes)
        trees, features, _ = ensemble
        forms = [_FORMS[tree.__class__] for tree in trees]
        walker = kernels.current.Walker(points)
        votes: FloatArray
        votes, found, has_opaque = kernels.current.vote(walker, trees, forms, classes, self._cache)
        if has_opaque:
            self.leaves = "river's own leaves"
        elif votes.shape[1] == len(trees):
            return votes
        reached = ReachedLeaves(trees, points, found)
        if has_opaque:
            parts = self._cache.parts
            for row, column, shares in reached.opaque_predictions(parts, features):
                votes[:, row, column] = [shares.get(label, 0.0) for label in classes]
        if reached.n_rows > len(trees):
            votes = np.add.reduceat(votes, reached.first_rows, axis=1)
        _normalise(votes, [form.adaptive for form in forms])
        return votes

    def _begin(self, classes: tuple[Label, ...]) -> None:
        self._cache.begin()
        if classes != self._classes or kernels.current.build != self._build:
            self._classes = classes
            self._build = kernels.current.build
            self._cache.clear()


def _normalise(votes: FloatArray, adaptive: Sequence[bool]) -> None:
    """Let the votes of adaptive trees sum to one, in place."""
    total = np.add.reduce(votes, axis=0)
    total[~np.array(adaptive)] = 1.0
    total[(total == 0) | np.isnan(total)] = 1.0
    votes *= 1 / total


def _classes(trees: Sequence[Any]) -> Set[Label]:
    """The classes that trees have met."""
    if len(trees) == 1:
        met: Set[Label] = trees[0].classes
        return met
    return frozenset().union(*[tree.classes for tree in trees])
