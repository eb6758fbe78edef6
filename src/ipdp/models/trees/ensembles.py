"""Whose votes a classifier counts, and how, told by its `predict_proba_one`."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray, Label
from ipdp.models.trees import loops
from ipdp.models.trees.check import Member
from ipdp.models.trees.kinds import Unknown
from ipdp.models.trees.labels import Labels
from ipdp.models.trees.names import find, known
from ipdp.models.trees.points import Points
from ipdp.models.trees.reach import Features
from ipdp.models.trees.votes import FORMS, Ballot

_MEMBER_OF_SRP = find("ensemble.streaming_random_patches", "BaseSRPClassifier", "predict_proba_one")


class Committee(NamedTuple):
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


def _single(model: Any) -> Committee:
    return Committee([model], [None], [1.0])


def _bagging(model: Any) -> Committee:
    n = len(model.data)
    return Committee(model.data, [None] * n, [1.0] * n)


def _adaptive_random_forest(model: Any) -> Committee:
    n = len(model.data)
    return Committee(model.data, [None] * n, _weights(model, model._metrics[:n]))


def _random_patches(model: Any) -> Committee:
    members = model.data
    for member in members:
        if type(member).predict_proba_one is not _MEMBER_OF_SRP:
            raise Unknown(f"members of class {type(member).__name__}")
    return Committee(
        [member.model for member in members],
        [member.features for member in members],
        _weights(model, [member.metric for member in members]),
    )


def _weights(model: Any, metrics: Sequence[Any]) -> list[float]:
    """What the metrics say, or 1 where they have nothing good to say."""
    if model.disable_weighted_vote:
        return [1.0] * len(metrics)
    values = [metric.get() for metric in metrics]
    return [value if value > 0 else 1.0 for value in values]


_COMMITTEES: dict[Any, Callable[[Any], Committee]] = known(
    (find("tree", "HoeffdingTreeClassifier", "predict_proba_one"), _single),
    (find("tree", "HoeffdingAdaptiveTreeClassifier", "predict_proba_one"), _single),
    (find("forest", "ARFClassifier", "predict_proba_one"), _adaptive_random_forest),
    (find("ensemble", "BaggingClassifier", "predict_proba_one"), _bagging),
    (find("ensemble", "SRPClassifier", "predict_proba_one"), _random_patches),
)


class ClassifierWalk:
    """ICE curves of a Hoeffding tree, or of an ensemble of them.

    Parameters
    ----------
    model
        The classifier.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.leaves = "factored leaves"
        self._committee = _COMMITTEES[type(model).predict_proba_one]
        self._alone = _single(model) if self._committee is _single else None
        self._labels = Labels()
        self._ballot = Ballot()
        self._latest: tuple[Committee, FloatArray, Points] | None = None

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether it knows such a model."""
        committee = _COMMITTEES.get(getattr(type(model), "predict_proba_one", None))
        if committee is None:
            return False
        # An ensemble that has not learned may be empty; what it will be made of says the model.
        members = committee(model).trees or [getattr(model, "model", None)]
        try:
            for member in members:
                if member is not None:
                    FORMS[type(member)]
        except Unknown:
            return False
        return True

    def ice(self, points: Points) -> tuple[tuple[Label, ...], FloatArray] | None:
        """The classes, and their shares, of shape (n_classes, n_points); None if there are none."""
        committee = self._alone or self._committee(self.model)
        labels = self._labels.now(_classes(committee.trees))
        if not labels:
            return None
        votes = self._ballot.count(committee.trees, committee.features, points, labels)
        if self._ballot.asks_river:
            self.leaves = "river's own leaves"
        if self._alone:
            return labels, votes[:, 0]
        self._latest = committee, votes, points
        if loops.current.combine is not None:
            shares = np.zeros((len(labels), len(points.numbers)))
            loops.current.combine(votes, committee.weights, shares)
            return labels, shares
        shares = np.add.reduce(votes * np.array(committee.weights)[:, None], axis=1)
        total = np.add.reduce(shares, axis=0)
        np.divide(shares, total, out=shares, where=total > 0)
        return labels, shares

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        """One of the trees, as the latest answer had it; None if there is only one."""
        if self._latest is None:
            return None
        committee, votes, points = self._latest
        number = choose(range(len(committee.trees)))
        tree, features = committee.trees[number], committee.features[number]

        def said_at(column: int) -> Any:
            return tree.predict_proba_one(points.at(column, features))

        return Member(votes[:, number], said_at)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}


def _classes(trees: Sequence[Any]) -> Set[Label]:
    """The classes that trees have met."""
    if len(trees) == 1:
        met: Set[Label] = trees[0].classes
        return met
    return frozenset().union(*[tree.classes for tree in trees])
