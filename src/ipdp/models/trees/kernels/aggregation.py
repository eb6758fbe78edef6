"""The shares of the classes in a Mondrian tree: a weighted mean over the path to a leaf.

From the leaf upwards, each node adds its own shares of the classes to a part of those from below.
Seen from the root, each node takes its part of the weight and leaves the rest to those below it, so
that leaves have the sum over the common part of their paths in common.

This file is compiled as it is, into `_aggregation`; the types are in `_aggregation.pxd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray, Labels
from ipdp.models.trees.kinds import DEEPEST, NodeKinds

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import exp

    from ipdp.models.trees.kernels.walk import Walker


class Path:
    """From the root down to a node: the weighted shares of each class so far.

    `left` is the part of the weight that is left to the nodes below.
    """

    def __init__(self, left: float, shares: list[float]) -> None:
        self.left = left
        self.shares = shares


class Aggregation:
    """Aggregates the nodes of a tree."""

    def __init__(self, tree: Any, classes: Labels) -> None:
        self._aggregates = tree.use_aggregation
        self._dirichlet = tree.dirichlet
        self._prior = tree.dirichlet * len(tree._classes)
        self._places = [tree._class_to_idx[label] for label in classes]
        self._start = Path(1.0, [0.0] * len(classes))
        self._known: dict[Any, Path] = {}

    def at(self, leaf: Any) -> list[float]:
        """The shares of the classes at a leaf."""
        if not self._aggregates:
            return self._add(self._start.shares, leaf, 1.0)
        above = self._path(leaf.parent)
        shares = self._add(above.shares, leaf, above.left)
        total = 0.0
        for share in shares:
            total += share
        return [share / total for share in shares] if total > 0 else shares

    def _path(self, node: Any) -> Path:
        """The path down to a node."""
        unknown: list[Any] = []
        while node is not None and id(node) not in self._known:
            unknown.append(node)
            if len(unknown) > DEEPEST:
                raise ValueError("the nodes above a leaf have no end: this is no tree")
            node = node.parent
        path = self._start if node is None else self._known[id(node)]
        for below in reversed(unknown):
            weight = 0.5 * exp(below.weight - below.log_weight_tree)
            shares = self._add(path.shares, below, path.left * weight)
            path = self._known[id(below)] = Path(path.left * (1.0 - weight), shares)
        return path

    def _add(self, shares: list[float], node: Any, part: float) -> list[float]:
        """Add a part of the node's own shares."""
        counts = node.counts
        total = node.n_samples + self._prior
        together = []
        for k in range(len(shares)):
            place, count = self._places[k], self._dirichlet
            if 0 <= place < len(counts):
                count += counts[place]
            together.append(shares[k] + part * (count / total))
        return together


def aggregate(
    walker: Walker, trees: Sequence[Any], kinds: NodeKinds, classes: Labels
) -> FloatArray:
    """The shares of the classes in Mondrian trees, of shape (n_classes, n_trees, n_points)."""
    votes = np.zeros((len(classes), len(trees), len(walker.numbers)))
    table = votes  # as numbers in C
    for row in range(len(trees)):
        tree = trees[row]
        leaf, spans, runs, _ = walker.walk(tree._root, kinds, False)
        aggregation = Aggregation(tree, classes)
        if spans:
            shares = aggregation.at(leaf)
            for lo, hi in spans:
                _write(table, row, lo, hi, shares)
        for other, lo, hi in runs:
            _write(table, row, lo, hi, aggregation.at(other))
    return votes


def _write(votes: FloatArray, row: int, lo: int, hi: int, shares: list[float]) -> None:
    """Write down the same shares for neighbouring columns."""
    for k in range(len(shares)):
        votes[k, row, lo:hi] = shares[k]
