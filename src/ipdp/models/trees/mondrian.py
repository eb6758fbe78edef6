"""Aggregated Mondrian forests: what a tree says depends on the leaf alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipdp.models.trees import loops
from ipdp.models.trees.check import Member
from ipdp.models.trees.kinds import LEAF, NUMERIC, NodeKinds, Unknown
from ipdp.models.trees.labels import Labels
from ipdp.models.trees.names import find
from ipdp.models.trees.points import Points
from ipdp.typing import FloatArray, Label

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

    leaves = "one call for each leaf"

    def __init__(self, model: Any) -> None:
        self.model = model
        self._labels = Labels()

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether it knows such a model."""
        method = getattr(type(model), "predict_proba_one", None)
        return method is not None and method is _FOREST and _TREE is not None

    def ice(self, points: Points) -> tuple[tuple[Label, ...], FloatArray] | None:
        """The classes, and their shares, of shape (n_classes, n_points); None if there are none."""
        model = self.model
        labels = self._labels.now(frozenset(model._classes))
        if not labels:
            return None
        shares = np.zeros((len(points.numbers), len(labels)))
        for tree in model.data:
            if type(tree).predict_proba_one is not _TREE:
                raise Unknown(f"trees of class {type(tree).__name__}")
            _add(shares, tree, points, labels, model.n_estimators)
        return labels, shares.T

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        """None: each tree is asked for each leaf as it is."""
        del choose
        return None


def _add(
    shares: FloatArray, tree: Any, points: Points, labels: tuple[Label, ...], n_trees: int
) -> None:
    """Add what one tree says, of shape (n_points, n_classes)."""
    leaf, spans, runs, _ = loops.current.Walker(points).walk(tree._root, _KINDS, False)
    said: dict[int, list[float]] = {}
    for node, lo, hi in [*runs, *((leaf, lo, hi) for lo, hi in spans)]:
        if lo == hi:
            continue
        scores = said.get(id(node))
        if scores is None:
            answer = tree.predict_proba_one(points.at(lo))
            scores = said[id(node)] = [answer[label] / n_trees for label in labels]
        shares[lo:hi] += scores
