"""Tree classifiers, and ensembles of them, told by their `predict_proba_one`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray, Labels
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answer, ClassOrder, Latest, Walk
from ipdp.models.trees.kinds import (
    CLASSIFIER_FORMS,
    MONDRIAN_KINDS,
    Features,
    Form,
    Unsupported,
    find,
    grows_at_leaves,
    known,
)
from ipdp.models.trees.points import Points
from ipdp.models.trees.reached import LeafCache, ReachedLeaves

_METHOD = "predict_proba_one"
# About so many votes are collected at once: what a processor has at hand.
_AT_ONCE = 2**16
_MEMBER_OF_SRP = find("ensemble.streaming_random_patches", "BaseSRPClassifier", _METHOD)
_MONDRIAN_FOREST = find("forest", "AMFClassifier", _METHOD)
_MONDRIAN_TREE = find("tree.mondrian", "MondrianTreeClassifier", _METHOD)


class Ensemble(NamedTuple):
    """Trees that vote, the features that each sees, and by what its votes are multiplied."""

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


def _boosting(model: Any) -> Ensemble:
    n = len(model.data)
    return Ensemble(model.data, [None] * n, boosting_weights(model))


def _bole(model: Any) -> Ensemble:
    n = len(model.data)
    return Ensemble(model.data, [None] * n, bole_weights(model))


def boosting_weights(model: Any) -> list[float]:
    """How much each member of AdaBoost counts."""
    weights = []
    for number in range(len(model.data)):
        right, wrong = model.correct_weight[number], model.wrong_weight[number]
        error = (wrong + 1e-16) / (right + wrong + 1e-16)
        if error == 0 or error > 0.5:
            weights.append(1.0)
        else:
            odds = (1 - error) / error
            weights.append(math.log(odds) if odds != 0 else 0.0)
    return weights


def bole_weights(model: Any) -> list[float]:
    """How much each member of BOLE counts; all the same if none would."""
    weights = []
    for number in range(len(model.data)):
        right, wrong, weight = model.correct_weight[number], model.wrong_weight[number], 0.0
        if right > 0.0 and wrong > 0.0:
            error = wrong / (right + wrong) + 1e-16
            if error <= model.error_bound:
                weight = math.log((1 - error) / error)
        weights.append(weight)
    return weights if any(weights) else [1.0] * len(weights)


def _weights(model: Any, metrics: Sequence[Any]) -> list[float]:
    """The values of the metrics, or 1 where they are not positive."""
    if model.disable_weighted_vote:
        return [1.0] * len(metrics)
    values = [metric.get() for metric in metrics]
    return [value if value > 0 else 1.0 for value in values]


_ENSEMBLES: dict[Any, Callable[[Any], Ensemble]] = known(
    (find("tree", "HoeffdingTreeClassifier", _METHOD), _single),
    (find("tree", "HoeffdingAdaptiveTreeClassifier", _METHOD), _single),
    (find("forest", "ARFClassifier", _METHOD), _adaptive_random_forest),
    (find("ensemble", "BaggingClassifier", _METHOD), _bagging),
    (find("ensemble", "AdaBoostClassifier", _METHOD), _boosting),
    (find("ensemble", "BOLEClassifier", _METHOD), _bole),
    (find("ensemble", "SRPClassifier", _METHOD), _random_patches),
)


class _Asked(NamedTuple):
    """Some trees, the form of each, and the classes that they know."""

    ensemble: Ensemble
    forms: list[Form]
    classes: Labels


class ClassifierWalk(Walk):
    """ICE curves of a Hoeffding tree, or of an ensemble of them."""

    method: ClassVar[str] = _METHOD

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._ensemble = _ENSEMBLES[type(model).predict_proba_one]
        self._alone = _single(model) if self._ensemble is _single else None
        self._order = ClassOrder()
        self._cache = LeafCache()
        self._read_for: tuple[Any, ...] = ()
        self._copies: Any = None
        self._copies_fit = True
        self._held: _Asked | None = None

    @staticmethod
    def serves(model: Any) -> bool:
        ensemble = _ENSEMBLES.get(getattr(type(model), _METHOD, None))
        if ensemble is None:
            return False
        # An ensemble that has not learned may be empty; its `model` is what it will be made of.
        members = ensemble(model).trees or [getattr(model, "model", None)]
        return all(CLASSIFIER_FORMS.knows(type(member)) for member in members if member is not None)

    def ice(self, points: Points) -> Answer | None:
        asked = self._asked()
        ensemble, _, classes = asked
        if not classes:
            return None
        votes = self._votes(asked, points)
        if self._alone:
            return classes, votes[:, 0]
        self._latest = Latest(ensemble.trees, ensemble.features, votes, points)
        return classes, kernels.current.combine(votes, ensemble.weights)

    def ice_all(self, points: Iterable[Points]) -> Answer | None:
        (trees, _, weights), forms, classes = self._asked()
        if not classes or not self._has_copies(trees):
            return None
        self._begin(classes)
        asked, found = list(points), []
        n_points = len(asked[0].numbers)
        at_once = max(1, _AT_ONCE // (len(classes) * len(trees) * n_points))
        for first in range(0, len(asked), at_once):
            some = asked[first : first + at_once]
            votes = self._copied("vote_all", some, trees, forms, classes)
            if votes is None:
                return None
            shares = votes[:, 0] if self._alone else kernels.current.combine(votes, weights)
            found.append(shares.reshape(len(classes), len(some), n_points).swapaxes(0, 1))
        return classes, np.concatenate(found)

    def surface(self, points: Points, name: FeatureName, firsts: FloatArray) -> Answer | None:
        ensemble, forms, classes = self._asked()
        if not classes or not self._copies_fit:
            return None
        self._begin(classes)
        walker = kernels.current.Walker(points)
        lines = name, firsts
        votes = self._copied("vote", walker, ensemble.trees, forms, classes, lines=lines)
        if votes is None:
            return None
        if self._alone:
            return classes, votes[:, 0]
        return classes, kernels.current.combine(votes, ensemble.weights)

    def hold(self, on: bool) -> None:
        self._held = None
        with suppress(Exception):  # it is raised again where an answer is asked for
            self._held = self._asked() if on else None

    def _asked(self) -> _Asked:
        """The trees as they are now, and the classes that they know."""
        if self._held is not None:
            return self._held
        ensemble = self._alone or self._ensemble(self.model)
        met = [tree.classes for tree in ensemble.trees]
        forms = [CLASSIFIER_FORMS[tree.__class__] for tree in ensemble.trees]
        return _Asked(ensemble, forms, self._order.of(met[0] if self._alone else set().union(*met)))

    def _has_copies(self, trees: Sequence[Any]) -> bool:
        """Whether there are, or may be, copies of all trees: in the compiled build, of some."""
        if not self._copies_fit or kernels.current.build == "pure":
            return False
        return all(grows_at_leaves(tree.__class__) for tree in trees)

    def _begin(self, classes: Labels) -> None:
        """Begin another question."""
        self._cache.begin()
        if (classes, kernels.current.build) != self._read_for:
            self._read_for = (classes, kernels.current.build)
            self._cache.clear()
            self._copies = kernels.current.CompactTrees()

    def simplify(self) -> bool:
        if self._copies_fit:
            self._copies_fit, self._copies = False, None
            self.leaves += ", without copies of the trees"
            return True
        return False

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_copies": None, "_read_for": ()}

    def _votes(self, asked: _Asked, points: Points) -> FloatArray:
        """The votes of each tree, of shape (n_classes, n_trees, n_points)."""
        (trees, features, _), forms, classes = asked
        self._begin(classes)
        cache = self._cache
        walker = kernels.current.Walker(points)
        if self._copies_fit:
            copied = self._copied("vote", walker, trees, forms, classes)
            if copied is not None:
                return copied
        votes: FloatArray
        votes, found, has_opaque = kernels.current.vote(walker, trees, forms, classes, cache)
        if has_opaque:
            self.leaves = "river's own leaves"
        elif votes.shape[1] == len(trees):
            return votes
        reached = ReachedLeaves(trees, points, found)
        if has_opaque:
            for row, column, shares in reached.opaque_predictions(cache.parts, features):
                votes[:, row, column] = [shares.get(label, 0.0) for label in classes]
        if reached.n_rows > len(trees):
            votes = np.add.reduceat(votes, reached.first_rows, axis=1)
        _normalise(votes, [form.adaptive for form in forms])
        return votes

    def _copied(self, method: str, *asked: Any, lines: tuple[Any, ...] = ()) -> FloatArray | None:
        """The votes by compact copies of the trees; None where these do not serve."""
        try:
            if lines:
                self._copies.set_lines(*lines)
            votes: FloatArray | None = getattr(self._copies, method)(*asked, self._cache)
        except Exception:  # what river has changed in a later release; the walk knows its own part
            self.simplify()
            votes = None
        if votes is None:
            self._cache.begin()
        return votes


def _normalise(votes: FloatArray, adaptive: Sequence[bool]) -> None:
    """Let the votes of adaptive trees sum to one, in place."""
    total = np.add.reduce(votes, axis=0)
    total[~np.array(adaptive)] = 1.0
    total[(total == 0) | np.isnan(total)] = 1.0
    votes *= 1 / total


class MondrianWalk(Walk):
    """ICE curves of an aggregated Mondrian forest."""

    method: ClassVar[str] = _METHOD

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._order = ClassOrder()

    @staticmethod
    def serves(model: Any) -> bool:
        method = getattr(type(model), _METHOD, None)
        return method is not None and method is _MONDRIAN_FOREST and _MONDRIAN_TREE is not None

    def ice(self, points: Points) -> Answer | None:
        model, trees = self.model, self.model.data
        classes = self._order.of(model._classes)
        if not classes:
            return None
        for tree in trees:
            if type(tree).predict_proba_one is not _MONDRIAN_TREE:
                raise Unsupported(f"trees of class {type(tree).__name__}")
        walker = kernels.current.Walker(points)
        if all(hasattr(tree, "_class_to_idx") for tree in trees):
            votes = kernels.current.aggregate(walker, trees, MONDRIAN_KINDS, classes)
        else:
            self.leaves = "one call for each leaf"
            votes = _shares_by_call(walker, trees, points, classes)
        self._latest = Latest(trees, [None] * len(trees), votes, points)
        return classes, np.add.reduce(votes, axis=1) / model.n_estimators


def _shares_by_call(
    walker: Any, trees: Sequence[Any], points: Points, classes: Labels
) -> FloatArray:
    """The shares in trees that count in another way, before river 0.24: one call for each leaf."""
    votes = np.zeros((len(classes), len(trees), len(points.numbers)))
    for row, tree in enumerate(trees):
        leaf, spans, runs, _ = walker.walk(tree._root, MONDRIAN_KINDS, False)
        known: dict[int, list[list[float]]] = {}
        for node, lo, hi in [*runs, *((leaf, lo, hi) for lo, hi in spans)]:
            if lo < hi:
                shares = known.get(id(node))
                if shares is None:
                    answer = tree.predict_proba_one(points.at(lo))
                    shares = known[id(node)] = [[answer[label]] for label in classes]
                votes[:, row, lo:hi] = shares
    return votes
