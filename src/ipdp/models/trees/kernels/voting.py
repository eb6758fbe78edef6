"""The votes of leaves of classifiers, one point after the other.

Loops over numbers, which are fast when compiled: this file is compiled as it is, into `_voting`,
and the types are in `_voting.pxd`. In Python the same is done with arrays, see `array.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray, Labels
from ipdp.models.trees.kernels.leaves import likelihoods

if TYPE_CHECKING:
    from ipdp.models.trees.kernels.walk import Reached
    from ipdp.models.trees.kinds import Form
    from ipdp.models.trees.reached import LeafCache

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import exp

    from ipdp.models.trees.kernels.leaves import ClassifierLeaf, parts_of
    from ipdp.models.trees.kernels.walk import Walker

_HALF_LOG_TAU = 0.5 * math.log(math.tau)
_LEFT_OUT = -math.inf


class Voting:
    """The votes of leaves at points, one run of neighbouring columns after the other."""

    def __init__(self, walker: Walker, classes: Labels, cache: LeafCache) -> None:
        self._walker = walker
        self._points = walker.points
        self.classes = classes
        self._name_of = self._points.columns.name_of
        self._known = cache.parts
        self._turn = cache.turn
        self._has_opaque = False
        self._start = 0  # the column of the votes at which the points begin
        # Lists are fast in Python, arrays in C.
        self._numbers = self._walker.numbers if cython.compiled else self._points.numbers.tolist()

    def collect_in(self, votes: FloatArray, start: int = 0) -> None:
        """Set where votes are written, (n_classes, n_rows, n_columns), and from which column on."""
        self._votes = votes
        self._start = start

    def count(self, votes: FloatArray, trees: Sequence[Any], reached: Sequence[Reached]) -> bool:
        """Collect the votes of trees, of shape (n_classes, n_rows, n_points) and all 0 before.

        Gives back whether some leaves are opaque.
        """
        self.collect_in(votes)
        weighted = self._votes.shape[1] > len(trees)
        row = 0
        # Counted by hand: in C, `zip` would take as long as the walk of a small tree.
        for number in range(len(reached)):
            tree, (leaf, spans, runs, alternates) = trees[number], reached[number]
            for alternate, where in alternates:
                for lo, hi in where:
                    self.vote(self._enter(alternate, tree), row, lo, hi, weighted)
                row += 1
            if spans:
                parts = self._enter(leaf, tree)
                for lo, hi in spans:
                    self.vote(parts, row, lo, hi, weighted)
            for other, lo, hi in runs:
                self.vote(self._enter(other, tree), row, lo, hi, weighted)
            row += 1
        return self._has_opaque

    def _enter(self, leaf: Any, tree: Any) -> ClassifierLeaf:
        parts = self._known.get(id(leaf))
        if parts is None or parts.turn != self._turn:
            parts = parts_of(self._known, leaf, tree, self.classes, self._turn)
        self.enter(parts)
        return parts

    def enter(self, parts: ClassifierLeaf) -> None:
        """Prepare a leaf that was read for its votes."""
        if parts.opaque:
            self._has_opaque = True
        elif parts.entered != self._turn:
            parts.entered = self._turn
            if parts.bayes:
                self._terms_of_x(parts)

    def _terms_of_x(self, parts: ClassifierLeaf) -> None:
        """Compute the terms of x itself."""
        if self._points.non_numeric:
            parts.refuse(self._points.non_numeric)
        x, n_classes = self._points.x, len(self.classes)
        place, at = 0, n_classes
        for name in parts.names:
            given = x.get(name)
            value = math.nan if given is None else given
            for _ in range(n_classes):
                parts.at_x[place] = _log_density(
                    value, parts.terms[at], parts.terms[at + 1], parts.terms[at + 2]
                )
                place += 1
                at += 3
        for slot, (name, splitter) in parts.general.items():
            if name in x:
                found = likelihoods(splitter, x[name], self.classes, parts.counted)
                for k in range(n_classes):
                    parts.at_x[slot * n_classes + k] = found[k]

    # Arrays are read through their owner below: in C, to hand one over costs as much as a point.

    def begin_line(
        self, parts: ClassifierLeaf, name: FeatureName, value: float, start: int
    ) -> None:
        """Let a feature of x have another value, and let votes be written from a column on.

        The first column is `start` then. The leaf forgets the value with the next question.
        """
        self._start = start
        slot = parts.slots.get(name, -1) if parts.bayes else -1
        if slot < 0:
            return
        n_classes = len(self.classes)
        if parts.general and slot in parts.general:
            found = likelihoods(parts.general[slot][1], value, self.classes, parts.counted)
            for k in range(n_classes):
                parts.at_x[slot * n_classes + k] = found[k]
            return
        for k in range(n_classes):
            at = n_classes * (1 + 3 * slot) + 3 * k
            parts.at_x[slot * n_classes + k] = _log_density(
                value, parts.terms[at], parts.terms[at + 1], parts.terms[at + 2]
            )

    def vote(self, parts: ClassifierLeaf, row: int, lo: int, hi: int, weighted: bool) -> None:
        """Write the votes of a leaf at neighbouring columns, which are of one feature."""
        n_classes, start = len(self.classes), self._start
        scale = parts.scale if weighted else 1.0
        if parts.bayes:
            slot = parts.slots.get(self._name_of[lo], -1)
            if slot >= 0:
                self._replace(parts, slot, row, lo, hi)
                self._add_up(parts, slot, row, lo, hi)
                self._normalise(row, lo, hi, scale)
            else:
                # The leaf knows nothing of the feature: its votes are the same at all of them.
                self._add_up(parts, slot, row, lo, lo + 1)
                self._normalise(row, lo, lo + 1, scale)
                for k in range(n_classes):
                    share = self._votes[k, row, start + lo]
                    for column in range(lo + 1, hi):
                        self._votes[k, row, start + column] = share
        elif not parts.opaque:
            for k in range(n_classes):
                share = parts.votes[k] * scale
                for column in range(lo, hi):
                    self._votes[k, row, start + column] = share

    def _replace(self, parts: ClassifierLeaf, slot: int, row: int, lo: int, hi: int) -> None:
        """Write the terms of what the points have instead of x."""
        n_classes, start = len(self.classes), self._start
        if parts.general and slot in parts.general:
            splitter = parts.general[slot][1]
            for column in range(lo, hi):
                value = self._points.values[column]
                found = likelihoods(splitter, value, self.classes, parts.counted)
                for k in range(n_classes):
                    self._votes[k, row, start + column] = found[k]
            return
        for k in range(n_classes):
            at = n_classes * (1 + 3 * slot) + 3 * k
            mean, twice, half = parts.terms[at], parts.terms[at + 1], parts.terms[at + 2]
            for column in range(lo, hi):
                term = _log_density(self._numbers[column], mean, twice, half)
                self._votes[k, row, start + column] = term

    def _add_up(self, parts: ClassifierLeaf, slot: int, row: int, lo: int, hi: int) -> None:
        """Add up the terms at each point, in river's order; none is replaced if `slot` is -1."""
        n_classes, n_slots, start = len(self.classes), len(parts.names), self._start
        n_before = n_slots if slot < 0 else slot
        for k in range(n_classes):
            before = parts.terms[k]
            for s in range(n_before):
                before += parts.at_x[s * n_classes + k]
            for column in range(lo, hi):
                replaced = self._votes[k, row, start + column] if slot >= 0 else 0.0
                self._votes[k, row, start + column] = before + replaced
            # One term after the other at all points: the sums do not wait for each other.
            for s in range(n_before + 1, n_slots):
                term = parts.at_x[s * n_classes + k]
                for column in range(lo, hi):
                    self._votes[k, row, start + column] += term

    def _normalise(self, row: int, lo: int, hi: int, scale: float) -> None:
        """Turn sums of logs into shares of the classes.

        exp(v) / sum(exp(v)) is computed as it stands, without the logarithm of the sum that river
        takes: half of the time, and the same to rounding.
        """
        n_classes, start = len(self.classes), self._start
        for column in range(lo, hi):
            highest = _LEFT_OUT
            for k in range(n_classes):
                highest = max(highest, self._votes[k, row, start + column])
            total = 0.0
            for k in range(n_classes):
                difference = self._votes[k, row, start + column] - highest
                share = exp(difference) if difference else 1.0
                self._votes[k, row, start + column] = share
                total += share
            for k in range(n_classes):
                self._votes[k, row, start + column] *= scale / total


def vote(
    walker: Walker, trees: Sequence[Any], forms: Sequence[Form], classes: Labels, cache: LeafCache
) -> tuple[FloatArray, list[Reached], bool]:
    """Walk trees, and collect the votes of their leaves.

    Gives back the votes, of shape (n_classes, n_rows, n_points), with a row for each tree and one
    more before it for each alternate tree; what each point reaches; and whether some leaves are
    opaque, whose votes are missing.
    """
    reached: list[Reached] = []
    n_rows = len(trees)
    for number in range(len(forms)):
        form = forms[number]
        found = walker.walk(trees[number]._root, form.kinds, form.adaptive)
        n_rows += len(found[3])
        reached.append(found)
    votes = np.zeros((len(classes), n_rows, len(walker.numbers)))
    return votes, reached, Voting(walker, classes, cache).count(votes, trees, reached)


def combine(votes: FloatArray, weights: Sequence[float]) -> FloatArray:
    """The weighted votes of trees as shares of the classes, of shape (n_classes, n_points).

    The votes are of shape (n_classes, n_trees, n_points); the weights say how much a tree counts.
    """
    n_classes, n_trees, n_points = votes.shape[0], votes.shape[1], votes.shape[2]
    if len(weights) != n_trees:
        raise ValueError(f"{n_trees} trees vote, and {len(weights)} of them have a weight")
    combined = np.zeros((n_classes, n_points))
    shares = combined  # as numbers in C
    for row in range(n_trees):
        weight = weights[row]
        for k in range(n_classes):
            for column in range(n_points):
                shares[k, column] += votes[k, row, column] * weight
    for column in range(n_points):
        total = 0.0
        for k in range(n_classes):
            total += shares[k, column]
        if total > 0:
            for k in range(n_classes):
                shares[k, column] /= total
    return combined


def _log_density(value: float, mean: float, twice: float, half: float) -> float:
    """The log of a normal density; 0 where river leaves it out: unknown, or below all numbers.

    `twice` is -2 times the variance, `half` half of its logarithm.
    """
    distance = value - mean
    term: float = distance * distance / twice - _HALF_LOG_TAU - half
    return term if term > _LEFT_OUT else 0.0
