"""The kernels that are faster as operations on arrays where nothing is compiled.

They have the names and the answers of those in `walk.py` and `voting.py`. Naive Bayes is computed
for many points in many leaves at once: the arrays have the points, or the leaves, last, as
(terms, classes, points). numpy is fastest so, and adds the terms one after the other, in river's
own order.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Label, Labels
from ipdp.models.trees.kernels.leaves import NO_FEATURE, ClassifierLeaf, likelihoods, parts_of
from ipdp.models.trees.kernels.walk import ASCENDING, Reached, Walker
from ipdp.models.trees.kinds import Form
from ipdp.models.trees.reached import NO_LEAF, LeafCache, ReachedLeaves

if TYPE_CHECKING:
    from ipdp.models.trees.points import Points

_HALF_LOG_TAU = 0.5 * math.log(math.tau)


def in_order(numbers: FloatArray, order: bytes, whole: bytes) -> bool:
    """As `walk.in_order`."""
    expected = np.frombuffer(order, dtype=np.int8)
    fits = (expected == 0) | ~np.isnan(numbers)
    fits[1:] &= (expected[1:] != ASCENDING) | (numbers[1:] >= numbers[:-1])
    if any(whole):
        fits &= (np.frombuffer(whole, dtype=bool) < 1) | (np.trunc(numbers) == numbers)
    return bool(fits.all())


def combine(votes: FloatArray, weights: Sequence[float]) -> FloatArray:
    """As `voting.combine`."""
    shares: FloatArray = np.add.reduce(votes * np.array(weights)[:, None], axis=1)
    total = np.add.reduce(shares, axis=0)
    np.divide(shares, total, out=shares, where=total > 0)
    return shares


class CompactTrees:
    """As `compact.CompactTrees`: in Python, walking the trees as they are is as fast."""

    def vote(self, *_: Any) -> None:
        """No copies."""

    def vote_all(self, *_: Any) -> None:
        """No copies."""

    def set_lines(self, *_: Any) -> None:
        """No copies."""


def vote(
    walker: Walker, trees: Sequence[Any], forms: Sequence[Form], classes: Labels, cache: LeafCache
) -> tuple[FloatArray, Sequence[Reached], bool]:
    """As `voting.vote`."""
    reached = ReachedLeaves.of(walker, trees, forms)
    leaves = _QuestionLeaves(classes, walker.points.columns.names, cache)
    leaf_of = reached.numbers(cache, leaves.enter)
    with np.errstate(all="ignore"):
        votes = leaves.votes(leaf_of, walker.points)
    if reached.n_rows > len(trees):
        votes *= leaves.scales(leaf_of)
    return votes, reached.reached, leaves.has_opaque


class _QuestionLeaves:
    """The leaves of one question, numbered.

    From 0 up a leaf's number is that of naive Bayes, from -1 down that of votes which are the same
    whatever the observation, of which the first are those of no leaf.
    """

    def __init__(self, classes: Labels, asked: tuple[FeatureName, ...], cache: LeafCache) -> None:
        self.has_opaque = False
        self._classes = classes
        self._asked = asked
        self._cache = cache
        self._places = cache.places
        if not self._places:
            self._places[NO_FEATURE] = 0  # what a leaf lacks is filled up with zeros
        self._bayes: list[ClassifierLeaf] = []
        self._fixed: list[ClassifierLeaf | None] = [None]

    def enter(self, leaf: Any, tree: Any) -> ClassifierLeaf:
        """Number a leaf, and read it if it has learned."""
        parts = parts_of(self._cache.parts, leaf, tree, self._classes, self._cache.turn)
        if parts.opaque:
            self.has_opaque = True
            parts.number = NO_LEAF
        elif parts.bayes:
            parts.number = len(self._bayes)
            self._bayes.append(parts)
            if parts.places_of is not self._asked:
                parts.find_places(self._asked, self._places)
        else:
            self._fixed.append(parts)
            parts.number = -len(self._fixed)
        return parts

    def votes(self, leaf_of: Array, points: Points) -> FloatArray:
        """The votes of the leaves at each point, of shape (n_classes, n_rows, n_points)."""
        none = [0.0] * len(self._classes)
        fixed = np.array([parts.votes if parts else none for parts in self._fixed]).T
        if not self._bayes:
            return fixed.take(~leaf_of, axis=1)
        if points.non_numeric:
            for parts in self._bayes:
                parts.refuse(points.non_numeric)
        bayes = BayesLeaves(self._bayes, self._classes, points, self._places)
        if leaf_of.min() >= 0:
            return bayes.votes(leaf_of)
        votes = bayes.votes(np.maximum(leaf_of, 0))
        np.copyto(votes, fixed.take(~leaf_of, axis=1, mode="clip"), where=leaf_of < 0)
        return votes

    def scales(self, leaf_of: Array) -> FloatArray:
        """How much each leaf counts; where there is no leaf it does not matter."""
        scales = [parts.scale for parts in self._bayes]
        # Numbers from -1 down count from the end.
        scales += [parts.scale if parts else 1.0 for parts in reversed(self._fixed)]
        return np.array(scales).take(leaf_of, mode="wrap")


class BayesLeaves:
    """Some leaves that are naive Bayes, side by side; `places` are those of their features."""

    def __init__(
        self,
        leaves: Sequence[ClassifierLeaf],
        classes: Sequence[Label],
        points: Points,
        places: dict[Any, int],
    ) -> None:
        self.leaves = leaves
        self.classes = classes
        self.points = points
        self._n_asked = len(points.columns.names) + 1
        # One slot more than any leaf needs: the place of features that a leaf does not know.
        self._n_slots = 1 + max([len(leaf.names) for leaf in leaves])
        self._general = [
            (number, leaf, slot, name, splitter)
            for number, leaf in enumerate(leaves)
            for slot, (name, splitter) in leaf.general.items()
        ]
        self._gaussians, priors = self._tables()
        self._places = self._places_table()
        # (1 + n_slots, n_classes, n_leaves): the priors, and the terms of x itself.
        self._terms = np.zeros((1 + self._n_slots, len(classes), len(leaves)))
        self._terms[0] = priors
        self._fill_in_x(places)

    def _tables(self) -> tuple[FloatArray, FloatArray]:
        """The Gaussians, of shape (n_slots, 3, n_classes, n_leaves), and the priors."""
        n_leaves, n_classes, n_slots = len(self.leaves), len(self.classes), self._n_slots
        width = n_classes * (3 * n_slots - 2)
        # All ones is NaN: a slot that a leaf does not have.
        numbers = _joined([leaf.terms for leaf in self.leaves], 8 * width, b"\xff")
        table = np.frombuffer(numbers).reshape(n_leaves, width)
        gaussians = np.full((n_slots, 3, n_classes, n_leaves), math.nan)
        known = table[:, n_classes:].reshape(n_leaves, n_slots - 1, n_classes, 3)
        gaussians[:-1] = known.transpose(1, 3, 2, 0)
        return gaussians, table[:, :n_classes].T

    def _places_table(self) -> Array:
        """For each leaf the slots of the features that are asked about, then its own features."""
        width = self._n_asked + self._n_slots - 1
        places = _joined([leaf.places for leaf in self.leaves], 8 * width, b"\x00")
        table = np.frombuffer(places, dtype=np.int64).reshape(-1, width)
        return np.where(table < 0, self._n_slots - 1, table)

    def _fill_in_x(self, places: dict[Any, int]) -> None:
        x, nan = self.points.x, math.nan
        non_numeric = self.points.non_numeric
        values = np.array([nan if name in non_numeric else x.get(name, nan) for name in places])
        own = values.take(self._places[:, self._n_asked :].T)[:, None, :]
        _log_densities(own, self._gaussians[:-1].swapaxes(0, 1), self._terms[1:-1])
        for number, leaf, slot, name, splitter in self._general:
            if name in x:
                terms = likelihoods(splitter, x[name], self.classes, leaf.counted)
                self._terms[1 + slot, :, number] = terms

    def votes(self, leaf_of: Array) -> FloatArray:
        """The shares of the classes, of shape (n_classes, n_rows, n_points).

        `leaf_of` says which leaf votes, of shape (n_rows, n_points).
        """
        n_classes, n_leaves = self._terms.shape[1:]
        slot_of = self._places.take(leaf_of * self._places.shape[1] + self.points.columns.number_of)
        slot_of, leaf = slot_of.reshape(-1), leaf_of.reshape(-1)
        n_points = len(leaf)
        terms = self._terms.reshape(-1, n_leaves).take(leaf, axis=1)
        row = (slot_of + 1) * n_classes + np.arange(n_classes)[:, None]
        terms.reshape(-1)[row * n_points + np.arange(n_points)] = self._replaced(leaf, slot_of)
        votes: FloatArray = np.add.reduce(terms.reshape(-1, n_classes, n_points), axis=0)
        # exp(v) / sum(exp(v)) without its logarithm, which river takes: the same to rounding.
        votes -= np.maximum.reduce(votes, axis=0)
        np.exp(votes, out=votes)
        votes /= np.add.reduce(votes, axis=0)
        return votes.reshape(n_classes, *leaf_of.shape)

    def _replaced(self, leaf: Array, slot_of: Array) -> FloatArray:
        """The terms of the values that the points have instead of those of x."""
        n_classes, n_leaves = self._terms.shape[1:]
        values = self.points.values
        numbers = np.tile(self.points.numbers, len(leaf) // len(values))
        step = n_classes * n_leaves
        index = (slot_of * (3 * step) + leaf) + np.arange(0, step, n_leaves)[:, None]
        gaussians = [self._gaussians.take(index + k * step) for k in range(3)]
        terms = _log_densities(numbers, gaussians, gaussians[0])
        for number, parts, slot, _, splitter in self._general:
            for point in np.flatnonzero((leaf == number) & (slot_of == slot)).tolist():
                value = values[point % len(values)]
                terms[:, point] = likelihoods(splitter, value, self.classes, parts.counted)
        return terms


def _joined(blocks: Sequence[bytes | array[float]], width: int, filling: bytes) -> bytes:
    """The blocks one after the other, those that are too short filled up."""
    joined = b"".join(blocks)
    if len(joined) < width * len(blocks):
        joined = b"".join([bytes(block).ljust(width, filling) for block in blocks])
    return joined


def _log_densities(values: FloatArray, gaussians: Any, out: FloatArray) -> FloatArray:
    """Logs of normal densities, 0 where river leaves them out: unknown, or below all numbers."""
    mean, spread, log_deviation = gaussians
    np.subtract(values, mean, out=out)
    out *= out
    out /= spread
    out -= _HALF_LOG_TAU
    out -= log_deviation
    np.copyto(out, 0.0, where=~(out > -math.inf))
    return out
