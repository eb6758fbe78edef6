"""The ICE curves of small flat trees for rows that have the same points, by masks of leaves.

The leaves of a tree are numbered from left to right. To go right at a split rules the leaves out
that are below its left child, wherever the split is; the lowest leaf that no split rules out is
that of the row (Lucchese et al., QuickScorer, SIGIR 2015). A point differs from its row in one
feature. So what the splits on each feature rule out is found once for a row and once for a point,
and the leaf of each point of a row is found from the two, without a branch: several times as fast
as a walk, where the points are the same for many rows.

This file is compiled as it is, into `_masks`; the types are in `_masks.pxd`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython

from ipdp.models.forests.kernels.ice import CATEGORICAL, MISSING_LEFT, ZERO_IS_MISSING

if not cython.compiled:

    def _lowest(mask: int) -> int:
        """Number of the lowest bit that is set."""
        return (int(mask) & -int(mask)).bit_length() - 1

    def _keep(
        x: Any, first: int, left: Any, at: int, n: int, threshold: float, mask: int, missing: int
    ) -> None:
        """Leave the leaves of a mask to those of n numbers that go right at a split."""
        for k in range(n):
            goes_left = not x[first + k] > threshold if missing else x[first + k] <= threshold
            if not goes_left:
                left[at + k] &= mask

    def _and(a: Any, at_a: int, b: Any, at_b: int, to: Any, at: int, n: int) -> None:
        """Write what n masks have in common with others."""
        for k in range(n):
            to[at + k] = a[at_a + k] & b[at_b + k]

    def _differ(
        others: Any, mask: int, values: Any, at: int, leaf: Any, apart: Any, n: int
    ) -> None:
        """Write by how much the leaves of a point differ from those of n rows."""
        for k in range(n):
            apart[k] = values[at + _lowest(others[k] & mask)] - leaf[k]

    def _add(numbers: Any, sums: Any, at: int, n: int) -> None:
        """Add n numbers to others."""
        for k in range(n):
            sums[at + k] += numbers[k]


# So many leaves fit into a mask.
_MOST_LEAVES = 64

# So many rows are gone through together: with all of their points they stay in the cache.
_ROWS = 64

_ALL = 2**64 - 1


class Splits:
    """The splits of flat trees, tree by tree and feature by feature.

    Parameters
    ----------
    forest
        A `Flat` (`forests/flat.py`) whose trees `are_small`.
    """

    def __init__(self, forest: Any) -> None:
        nodes, roots = forest.nodes, forest.roots
        n_leaves, first = _leaves_below(nodes)
        tree = np.searchsorted(roots, np.arange(len(nodes)), side="right") - 1
        is_leaf = nodes["feature"] < 0
        starts = np.cumsum([0, *n_leaves[roots].tolist()])
        self.values = np.empty(starts.max())
        self.values[(starts[tree] + first)[is_leaf]] = nodes["threshold"][is_leaf]
        self.value_start = starts.astype(np.int32)
        order = np.flatnonzero(~is_leaf)
        order = order[np.lexsort((nodes["feature"][order], tree[order]))]
        left, one = nodes["left"][order], np.uint64(1)
        self.masks = ((one << n_leaves[left].astype(np.uint64)) - one) << first[left].astype(
            np.uint64
        )
        self.thresholds = nodes["threshold"][order]
        self.missing_left = ((nodes["kind"][order] & MISSING_LEFT) != 0).astype(np.uint8)
        # A group is the splits of a tree on one feature.
        keys = np.stack([tree[order], nodes["feature"][order]])
        begins = np.flatnonzero(np.diff(keys, prepend=-1).any(axis=0))
        self.features = keys[1, begins].astype(np.int32)
        self.group_start = np.append(begins, len(order)).astype(np.int32)
        self.tree_start = np.searchsorted(keys[0, begins], np.arange(len(roots) + 1)).astype(
            np.int32
        )
        self.most_groups = int(np.diff(self.tree_start).max(initial=0))


def are_small(forest: Any) -> bool:
    """Whether all trees have leaves of one number, few enough for a mask, and compare numbers."""
    special = forest.nodes["kind"] & (CATEGORICAL | ZERO_IS_MISSING)
    if forest.leaves.shape[1] != 1 or special.any():
        return False
    most = max(np.diff([*forest.roots.tolist(), len(forest.nodes)]))
    return bool(most < 2 * _MOST_LEAVES)


def _leaves_below(nodes: Any) -> tuple[Any, Any]:
    """For each node how many leaves are below it, and how many are further left in its tree."""
    feature, left = nodes["feature"].tolist(), nodes["left"].tolist()
    n, first = [1] * len(nodes), [0] * len(nodes)
    for node in range(len(nodes) - 1, -1, -1):  # children come after their parents
        if feature[node] >= 0:
            n[node] = n[left[node]] + n[left[node] + 1]
    for node, child in enumerate(left):
        if feature[node] >= 0:
            first[child], first[child + 1] = first[node], first[node] + n[child]
    return np.array(n), np.array(first)


class Masks:
    """Finds the leaves of rows that have the same points, for all of their points.

    Parameters
    ----------
    forest
        The `Flat` whose trees these are.
    splits
        Its `Splits`.
    axes, X, points, base, single
        As in `ice.Walk`.
    """

    def __init__(
        self, forest: Any, splits: Splits, axes: Any, X: Any, points: Any, base: Any, single: Any
    ) -> None:
        self.outputs = forest.outputs
        self.values, self.value_start = splits.values, splits.value_start
        self.masks, self.thresholds = splits.masks, splits.thresholds
        self.missing_left, self.features = splits.missing_left, splits.features
        self.group_start, self.tree_start = splits.group_start, splits.tree_start
        self.axis_of, self.start, self.stop = axes.axis_of, axes.start, axes.stop
        self.X, self.points, self.base, self.single = X, points, base, single
        n_groups, n_columns = splits.most_groups, points.shape[1]
        self.most = most = min(_ROWS, len(X))
        # Feature by feature, row by row; the points of one row.
        self.x = np.empty(X.shape[1] * most)
        self.at = np.empty(n_columns)
        # What the splits of each group leave: of the rows, and of the points of one feature.
        self.left = np.empty(n_groups * most, dtype=np.uint64)
        self.of_points = np.empty(n_columns, dtype=np.uint64)
        # What all groups before each one leave, and all that come after one; both together.
        self.before = np.empty((n_groups + 1) * most, dtype=np.uint64)
        self.after, self.others = np.empty((2, most), dtype=np.uint64)
        # The leaves of the rows, by how much those of a point differ, and the sum of that.
        self.leaf, self.apart = np.empty((2, most))
        self.sums = np.empty(base.shape[1] * n_columns * most)

    def run(self, first: int, last: int) -> None:
        """Add what all trees say of the rows from first to last, which have the same points."""
        with cython.nogil:
            while first < last:
                end = min(first + self.most, last)
                self._some(first, end - first)
                first = end

    def _some(self, first: int, n: int) -> None:
        """Do so for few rows."""
        n_columns, n_outputs = self.points.shape[1], self.base.shape[1]
        for feature in range(self.X.shape[1]):
            for k in range(n):
                self.x[feature * self.most + k] = self.X[first + k, feature]
        for column in range(n_columns):
            self.at[column] = self.points[first, column]
        for k in range(n_outputs * n_columns * self.most):
            self.sums[k] = 0.0
        for tree in range(self.outputs.shape[0]):
            self._one(tree, first, n)
        for k in range(n):
            for output in range(n_outputs):
                for column in range(n_columns):
                    at = (output * n_columns + column) * self.most + k
                    self.single[first + k, output, column] += self.sums[at]

    def _one(self, tree: int, first: int, n: int) -> None:
        """One tree."""
        begin = self.tree_start[tree]
        n_groups, output = self.tree_start[tree + 1] - begin, self.outputs[tree]
        for k in range(n):
            self.before[k] = self.after[k] = _ALL
        for g in range(n_groups):
            x = self.features[begin + g] * self.most
            self._rule_out(begin + g, self.x, x, self.left, g * self.most, n)
            at = g * self.most
            _and(self.before, at, self.left, at, self.before, at + self.most, n)
        values = self.value_start[tree]
        for k in range(n):
            self.leaf[k] = self.values[values + _lowest(self.before[n_groups * self.most + k])]
            self.base[first + k, output] += self.leaf[k]
        for g in range(n_groups - 1, -1, -1):
            axis = self.axis_of[self.features[begin + g]]
            if axis >= 0:
                _and(self.before, g * self.most, self.after, 0, self.others, 0, n)
                self._points(begin + g, axis, values, output, n)
            _and(self.after, 0, self.left, g * self.most, self.after, 0, n)

    def _points(self, group: int, axis: int, values: int, output: int, n: int) -> None:
        """The points of one feature, those together that have the same leaves."""
        column, stop = self.start[axis], self.stop[axis]
        first_sum = output * self.points.shape[1]
        self._rule_out(group, self.at, column, self.of_points, column, stop - column)
        while column < stop:
            mask = self.of_points[column]
            _differ(self.others, mask, self.values, values, self.leaf, self.apart, n)
            while column < stop and self.of_points[column] == mask:
                _add(self.apart, self.sums, (first_sum + column) * self.most, n)
                column += 1

    def _rule_out(self, group: int, x: Any, first: int, left: Any, at: int, n: int) -> None:
        """Find out which leaves the splits of a group leave to each of n numbers."""
        for k in range(n):
            left[at + k] = _ALL
        for split in range(self.group_start[group], self.group_start[group + 1]):
            mask, threshold = ~self.masks[split], self.thresholds[split]
            _keep(x, first, left, at, n, threshold, mask, self.missing_left[split])
