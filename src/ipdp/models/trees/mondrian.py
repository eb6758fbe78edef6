"""Aggregated Mondrian forests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray, Label
from ipdp.models.trees import loops
from ipdp.models.trees.check import Member
from ipdp.models.trees.kinds import LEAF, NUMERIC, NodeKinds, Unknown
from ipdp.models.trees.labels import Labels
from ipdp.models.trees.names import find
from ipdp.models.trees.points import Points

_FOREST = find("forest", "AMFClassifier", "predict_proba_one")
_TREE = find("tree.mondrian", "MondrianTreeClassifier", "predict_proba_one")
_NODES = "tree.mondrian.mondrian_tree_nodes"
_BRANCH = find(_NODES, "MondrianBranchClassifier")
_LEAF = find(_NODES, "MondrianLeafClassifier")


class _MondrianNodes(NodeKinds):
    """The kinds of a Mondrian tree's nodes; river walks such trees in compiled code."""

    def _kind(self, cls: Any) -> int:
        if cls is _BRANCH:
            return NUMERIC
        if cls is _LEAF:
            return LEAF
        raise Unknown(f"nodes of class {cls.__name__}")


_KINDS = _MondrianNodes(None)


class MondrianWalk:
    """ICE curves of an aggregated Mondrian forest.

    Parameters
    ----------
    model
        The classifier.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.leaves = "factored leaves"
        self._labels = Labels()
        self._latest: tuple[Sequence[Any], FloatArray, Points] | None = None

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether it knows such a model."""
        method = getattr(type(model), "predict_proba_one", None)
        return method is not None and method is _FOREST and _TREE is not None

    def ice(self, points: Points) -> tuple[tuple[Label, ...], FloatArray] | None:
        """The classes, and their shares, of shape (n_classes, n_points); None if there are none."""
        model, trees = self.model, self.model.data
        labels = self._labels.now(model._classes)
        if not labels:
            return None
        for tree in trees:
            if type(tree).predict_proba_one is not _TREE:
                raise Unknown(f"trees of class {type(tree).__name__}")
        walker = loops.current.Walker(points)
        if all(hasattr(tree, "_class_to_idx") for tree in trees):
            votes = loops.current.mix(walker, trees, _KINDS, labels)
        else:
            self.leaves = "one call for each leaf"
            votes = _asked(walker, trees, points, labels)
        self._latest = trees, votes, points
        return labels, np.add.reduce(votes, axis=1) / model.n_estimators

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        """One of the trees, as the latest answer had it."""
        if self._latest is None:
            return None
        trees, votes, points = self._latest
        number = choose(range(len(trees)))
        tree = trees[number]

        def said_at(column: int) -> Any:
            return tree.predict_proba_one(points.at(column))

        return Member(votes[:, number], said_at)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}


def _asked(
    walker: Any, trees: Sequence[Any], points: Points, labels: tuple[Label, ...]
) -> FloatArray:
    """What trees say that count in another way, before river 0.24: each is asked for each leaf."""
    votes = np.zeros((len(labels), len(trees), len(points.numbers)))
    for row, tree in enumerate(trees):
        leaf, spans, runs, _ = walker.walk(tree._root, _KINDS, False)
        said: dict[int, list[list[float]]] = {}
        for node, lo, hi in [*runs, *((leaf, lo, hi) for lo, hi in spans)]:
            if lo < hi:
                shares = said.get(id(node))
                if shares is None:
                    answer = tree.predict_proba_one(points.at(lo))
                    shares = said[id(node)] = [[answer[label]] for label in labels]
                votes[:, row, lo:hi] = shares
    return votes
