"""What the trees of a classifier say at each point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Label
from ipdp.models.trees import loops
from ipdp.models.trees.bayes import BayesLeaves
from ipdp.models.trees.kinds import ADAPTIVE_NODES, PLAIN_NODES, Unknown
from ipdp.models.trees.leaves import NO_FEATURE, ClassifierLeaf
from ipdp.models.trees.names import find
from ipdp.models.trees.points import Points
from ipdp.models.trees.reach import NOBODY, Features, Form, Reach
from ipdp.models.trees.store import LeafStore

_PLAIN = find("tree", "HoeffdingTreeClassifier", "predict_proba_one")
_ADAPTIVE = find("tree", "HoeffdingAdaptiveTreeClassifier", "predict_proba_one")


class Forms(dict[type, Form]):
    """The form of each class of trees, looked up once."""

    def __missing__(self, cls: Any) -> Form:
        method = getattr(cls, "predict_proba_one", None)
        if method is not None and method is _PLAIN:
            self[cls] = Form(PLAIN_NODES, False)
        elif method is not None and method is _ADAPTIVE:
            self[cls] = Form(ADAPTIVE_NODES, True)
        else:
            raise Unknown(f"trees of class {cls.__name__}")
        return self[cls]


FORMS = Forms()


class Ballot(LeafStore[ClassifierLeaf]):
    """Counts the votes of the leaves at each point.

    Attributes
    ----------
    asks_river
        Whether in this question there are leaves that only river knows.
    known
        The features of all leaves so far, with their places; the first stands for none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asks_river = False
        self.known: dict[Any, int] = {NO_FEATURE: 0}
        self._classes: tuple[Label, ...] = ()
        self._build = ""
        self._asked: tuple[FeatureName, ...] = ()
        self._bayes: list[ClassifierLeaf] = []
        self._fixed: list[ClassifierLeaf | None] = []

    def count(
        self,
        trees: Sequence[Any],
        features: Sequence[Features],
        points: Points,
        classes: tuple[Label, ...],
    ) -> FloatArray:
        """What each tree says, of shape (n_classes, n_trees, n_points).

        Parameters
        ----------
        trees, features
            The trees, and the features that each of them sees.
        points
            The observation and its points.
        classes
            The classes.
        """
        self._begin(classes)
        forms = [FORMS[tree.__class__] for tree in trees]
        votes: FloatArray
        if loops.current.cast is None:
            reach = Reach.of(trees, forms, points)
            votes = self._at_once(reach)
        else:
            walker = loops.current.Walker(points)
            votes, reached, self.asks_river = loops.current.cast(
                walker, trees, forms, classes, self
            )
            if votes.shape[1] == len(trees) and not self.asks_river:
                return votes
            reach = Reach(trees, points, reached)
        if self.asks_river:
            for row, column, said in reach.answers(self, features):
                votes[:, row, column] = [said.get(label, 0.0) for label in classes]
        if reach.n_rows > len(trees):
            votes = np.add.reduceat(votes, reach.first_rows, axis=1)
        if self.asks_river or reach.n_rows > len(trees):
            _share_out(votes, [form.adaptive for form in forms])
        return votes

    def _begin(self, classes: tuple[Label, ...]) -> None:
        self.begin()
        if classes != self._classes or loops.current.build != self._build:
            self._classes = classes
            self._build = loops.current.build
            self.parts = {}
        self.asks_river = False

    def _at_once(self, reach: Reach) -> FloatArray:
        """What each leaf says, of shape (n_classes, n_rows, n_points)."""
        self._asked = reach.points.columns.names
        # From 0 up a leaf's number is that of naive Bayes, from -1 down that of votes which are
        # fixed, of which the first are nobody's.
        self._bayes = []
        self._fixed = [None]
        leaf_of = reach.numbers(self)
        with np.errstate(all="ignore"):
            votes = self._votes(leaf_of, reach.points)
        if reach.n_rows > len(reach.trees):
            votes *= self._scales(leaf_of)
        return votes

    def enter(self, leaf: Any, tree: Any) -> ClassifierLeaf:
        """Number a leaf, and read it if it has learned."""
        parts: ClassifierLeaf = loops.current.parts_of(
            self.parts, leaf, tree, self._classes, self.turn
        )
        if parts.own:
            self.asks_river = True
            parts.number = NOBODY
        elif parts.bayes:
            parts.number = len(self._bayes)
            self._bayes.append(parts)
            if parts.places_of is not self._asked:
                parts.find_places(self._asked, self.known)
        else:
            self._fixed.append(parts)
            parts.number = -len(self._fixed)
        return parts

    def _votes(self, leaf_of: Array, points: Points) -> FloatArray:
        """What each leaf says, of shape (n_classes, n_rows, n_points)."""
        nobody = [0.0] * len(self._classes)
        fixed = np.array([parts.votes if parts else nobody for parts in self._fixed]).T
        if not self._bayes:
            return fixed.take(~leaf_of, axis=1)
        if points.odd:
            for parts in self._bayes:
                parts.refuse(points.odd)
        bayes = BayesLeaves(self._bayes, self._classes, points, self.known)
        if leaf_of.min() >= 0:
            return bayes.votes(leaf_of)
        votes = bayes.votes(np.maximum(leaf_of, 0))
        np.copyto(votes, fixed.take(~leaf_of, axis=1, mode="clip"), where=leaf_of < 0)
        return votes

    def _scales(self, leaf_of: Array) -> FloatArray:
        """How much each leaf counts; to nobody it does not matter."""
        scales = [parts.scale for parts in self._bayes]
        # Numbers from -1 down count from the end.
        scales += [parts.scale if parts else 1.0 for parts in reversed(self._fixed)]
        return np.array(scales).take(leaf_of, mode="wrap")


def _share_out(votes: FloatArray, adaptive: Sequence[bool]) -> None:
    """Let adaptive trees share out one vote among their leaves, in place."""
    total = np.add.reduce(votes, axis=0)
    total[~np.array(adaptive)] = 1.0
    total[(total == 0) | np.isnan(total)] = 1.0
    votes *= 1 / total
