"""Aggregated Mondrian forests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ipdp.core.typing import FloatArray, Label
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answer, ClassOrder, Latest, Walk
from ipdp.models.trees.kinds import LEAF, NUMERIC, NodeKinds, Unsupported, find
from ipdp.models.trees.points import Points

_FOREST = find("forest", "AMFClassifier", "predict_proba_one")
_TREE = find("tree.mondrian", "MondrianTreeClassifier", "predict_proba_one")
_NODES = "tree.mondrian.mondrian_tree_nodes"
# river walks such trees in compiled code: subclasses of these nodes are not known.
_KINDS = NodeKinds(
    None,
    (find(_NODES, "MondrianBranchClassifier"), NUMERIC),
    (find(_NODES, "MondrianLeafClassifier"), LEAF),
)


class MondrianWalk(Walk):
    """ICE curves of an aggregated Mondrian forest."""

    method: ClassVar[str] = "predict_proba_one"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._order = ClassOrder()

    @staticmethod
    def serves(model: Any) -> bool:
        method = getattr(type(model), "predict_proba_one", None)
        return method is not None and method is _FOREST and _TREE is not None

    def ice(self, points: Points) -> Answer | None:
        model, trees = self.model, self.model.data
        classes = self._order.of(model._classes)
        if not classes:
            return None
        for tree in trees:
            if type(tree).predict_proba_one is not _TREE:
                raise Unsupported(f"trees of class {type(tree).__name__}")
        walker = kernels.current.Walker(points)
        if all(hasattr(tree, "_class_to_idx") for tree in trees):
            votes = kernels.current.aggregate(walker, trees, _KINDS, classes)
        else:
            self.leaves = "one call for each leaf"
            votes = _shares_by_call(walker, trees, points, classes)
        self._latest = Latest(trees, [None] * len(trees), votes, points)
        return classes, np.add.reduce(votes, axis=1) / model.n_estimators


def _shares_by_call(
    walker: Any, trees: Sequence[Any], points: Points, classes: tuple[Label, ...]
) -> FloatArray:
    """The shares in trees that count in another way, before river 0.24: one call for each leaf."""
    votes = np.zeros((len(classes), len(trees), len(points.numbers)))
    for row, tree in enumerate(trees):
        leaf, spans, runs, _ = walker.walk(tree._root, _KINDS, False)
        known: dict[int, list[list[float]]] = {}
        for node, lo, hi in [*runs, *((leaf, lo, hi) for lo, hi in spans)]:
            if lo < hi:
                shares = known.get(id(node))
                if shares is None:
                    answer = tree.predict_proba_one(points.at(lo))
                    shares = known[id(node)] = [[answer[label]] for label in classes]
                votes[:, row, lo:hi] = shares
    return votes
