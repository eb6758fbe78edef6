"""The ICE curves of flat trees: one walk of each tree for all points of all features of a row.

A point differs from its row in one feature, so that it takes the row's path until it meets a split
on that feature. There the points part, and those that leave the path go down on their own, as runs
of neighbouring columns, with the rest of the row as it is. A point of a pair differs in two
features. It ends where the one alone would that leaves the path first; unless it meets a split on
the other feature below, where rectangles of the pair's points leave in turn. So a pair is the sum
of two curves, and what is to be added where both of its features have left the path.

This file is compiled as it is, into `_ice`; the types are in `_ice.pxd`. As Python it is too slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython

CATEGORICAL, MISSING_LEFT, OTHER_LEFT, ZERO_IS_MISSING = 1, 2, 4, 8
"""What a node may be, as flags; a category outside of its table goes the way of OTHER_LEFT."""

# What LightGBM takes for zero.
ZERO = 1e-35

# To find out beforehand where the points part at each node is worth while for so many rows, and
# for so many nodes a row.
_WORTH, _NODES_A_ROW = 16, 64

# So many rows go through a tree before the next one: they and the tree stay in the cache.
_ROWS = 256


class Walk:
    """Walks flat trees for the rows of a table.

    Parameters
    ----------
    forest
        A `Flat` (`forests/flat.py`).
    axes
        The `Axes` (`forests/axes.py`): which features have points, and in which columns.
    X, points
        The rows, of shape (n_rows, n_features), and the points of all axes, (n_rows, n_columns).
    base, single, pair
        To be added to: the leaves of the rows, of shape (n_rows, n_outputs); by how much those of
        the points differ, (n_rows, n_outputs, n_columns); by how much those of the points of pairs
        differ from the sum of their two curves, (n_rows, n_outputs, n_cells).
    """

    def __init__(
        self, forest: Any, axes: Any, X: Any, points: Any, base: Any, single: Any, pair: Any
    ) -> None:
        self.nodes = forest.nodes
        self.roots, self.outputs, self.leaves = forest.roots, forest.outputs, forest.leaves
        self.set_start, self.sets = forest.set_start, forest.sets
        self.width = forest.leaves.shape[1]
        self.axis_of, self.start, self.stop = axes.axis_of, axes.start, axes.stop
        self.pair_at = axes.pair_at
        self.has_pairs = axes.n_cells > 0
        self.X, self.points, self.base, self.single, self.pair = X, points, base, single, pair
        n_columns = points.shape[1]
        # The part of each axis that is still on the path, and what it was, to go back to.
        self.lo, self.hi = axes.start.copy(), axes.stop.copy()
        self.ascending = np.zeros(len(axes.start), dtype=np.uint8)
        # Where rows have the same points: for each node the first column that goes right.
        self.cuts = np.empty(len(forest.nodes) if len(X) >= _WORTH else 1, dtype=np.int32)
        self.cut_row, self.has_cuts = -1, False
        self.log = np.empty((2 * forest.depth + 4, 3), dtype=np.int32)
        # Runs that wait: node, first column and the one after the last, length of the log.
        self.waiting = np.empty((n_columns + 2, 4), dtype=np.int32)
        # Runs that have ended: leaf, columns as above, axis.
        self.ended = np.empty((n_columns + 2, 4), dtype=np.int32)
        # Rectangles that wait: node, and of both axes the number, the first column and the last.
        self.rectangles = np.empty((axes.n_cells + 2, 7), dtype=np.int32)
        # By how much the points of single features differ from the row in the present tree.
        self.own = np.zeros((self.width, n_columns))
        self.n_log = self.n_ended = self.n_rectangles = self.row = 0

    def run(self, first: int, last: int) -> None:
        """Walk all trees for the rows from first to last, without holding the interpreter."""
        with cython.nogil:
            self._run(first, last)

    def _run(self, first: int, last: int) -> None:
        while first < last:
            end = min(first + _ROWS, last)
            self._look(first, end)
            for tree in range(self.roots.shape[0]):
                for row in range(first, end):
                    self._one(tree, row)
            first = end

    def _look(self, first: int, last: int) -> None:
        """Find out which axes have points that ascend in some rows, and whether rows are alike."""
        n, same, known = self.points.shape[1], True, self.cut_row
        for axis in range(self.start.shape[0]):
            ascending = True
            for row in range(first, last):
                for column in range(self.start[axis] + 1, self.stop[axis]):
                    if not self.points[row, column - 1] <= self.points[row, column]:
                        ascending = False
                column = self.start[axis]
                if self.points[row, column] != self.points[row, column]:
                    ascending = False
            self.ascending[axis] = ascending
        for row in range(first, last):
            for column in range(n):
                if self.points[row, column] != self.points[first, column]:
                    same = False
        for column in range(n):
            if known >= 0 and self.points[known, column] != self.points[first, column]:
                known = -1
        self.has_cuts = same and known >= 0
        few = self.nodes.shape[0] <= _NODES_A_ROW * (last - first)
        if same and known < 0 and few and self.cuts.shape[0] > 1:
            self._cut(first)

    def _cut(self, row: int) -> None:
        """Find out for every node where the points of a row part."""
        self.row, self.cut_row, self.has_cuts = row, row, False
        for node in range(self.nodes.shape[0]):
            axis = -1
            if self.nodes[node].feature >= 0:
                axis = self.axis_of[self.nodes[node].feature]
            if axis >= 0 and self._in_order(node, axis):
                self.cuts[node] = self._first_right(node, self.start[axis], self.stop[axis])
        self.has_cuts = True

    def _one(self, tree: int, row: int) -> None:
        """One tree for one row."""
        self.row, self.n_ended, self.n_rectangles = row, 0, 0
        node = self.roots[tree]
        feature = self.nodes[node].feature
        while feature >= 0:
            left = self._goes_left(node, self.X[row, feature])
            axis = self.axis_of[feature]
            if axis >= 0 and self.lo[axis] < self.hi[axis]:
                self._part(node, axis, left, -1, 0, 0)
            node = self.nodes[node].left + (not left)
            feature = self.nodes[node].feature
        self._undo(0)
        for k in range(self.width):
            self._add(node, self.outputs[tree] + k, k)
        if self.has_pairs:
            self._add_pairs(node, self.outputs[tree])

    def _goes_left(self, node: int, value: float) -> Any:
        flags = self.nodes[node].kind
        if flags & CATEGORICAL:
            return self._is_left_category(node, value)
        if value != value or (flags & ZERO_IS_MISSING and -ZERO <= value <= ZERO):
            return (flags & MISSING_LEFT) != 0
        return value <= self.nodes[node].threshold

    def _is_left_category(self, node: int, value: float) -> Any:
        flags = self.nodes[node].kind
        if value != value:
            return (flags & MISSING_LEFT) != 0
        table = int(self.nodes[node].threshold)
        first, stop = self.set_start[table], self.set_start[table + 1]
        if value <= -1.0 or value >= stop - first:
            return (flags & OTHER_LEFT) != 0
        category = int(value)
        return self.sets[first + category] != 0

    def _part(self, node: int, axis: int, left: bool, other: int, lo: int, hi: int) -> None:
        """Let the points of an axis leave that go another way than the row does at a node.

        On the row's path (`other` is -1) they leave as a run. Off it, where the columns from lo to
        hi of another axis are on their way, as a rectangle with those.
        """
        first, last = self.lo[axis], self.hi[axis]
        if not self._in_order(node, axis):
            self._part_any(node, axis, left, other, lo, hi)
            return
        k = self._first_right(node, first, last)
        if left and k < last:
            self._narrow(axis, first, k)
            self._leave(self.nodes[node].left + 1, axis, k, last, other, lo, hi)
        elif not left and k > first:
            self._narrow(axis, k, last)
            self._leave(self.nodes[node].left, axis, first, k, other, lo, hi)

    def _part_any(self, node: int, axis: int, left: bool, other: int, lo: int, hi: int) -> None:
        """The same for points in any order: if some leave, all do, in runs that stay together."""
        first, last = self.lo[axis], self.hi[axis]
        goes_left = self._goes_left(node, self.points[self.row, first])
        if goes_left == left and self._end_of_run(node, axis, left, first, last) == last:
            return
        self._narrow(axis, last, last)
        while first < last:
            goes_left = self._goes_left(node, self.points[self.row, first])
            k = self._end_of_run(node, axis, goes_left, first, last)
            child = self.nodes[node].left + (not goes_left)
            self._leave(child, axis, first, k, other, lo, hi)
            first = k

    def _in_order(self, node: int, axis: int) -> Any:
        """Whether those of an axis that go left at a node come before those that go right."""
        special = self.nodes[node].kind & (CATEGORICAL | ZERO_IS_MISSING)
        return special == 0 and self.ascending[axis] != 0

    def _first_right(self, node: int, first: int, last: int) -> Any:
        """The first of ascending points that goes right."""
        if self.has_cuts:
            return min(max(self.cuts[node], first), last)
        threshold = self.nodes[node].threshold
        if self.points[self.row, last - 1] <= threshold:
            return last
        while first < last:
            middle = (first + last) // 2
            if self.points[self.row, middle] <= threshold:
                first = middle + 1
            else:
                last = middle
        return first

    def _end_of_run(self, node: int, axis: int, left: bool, first: int, last: int) -> int:
        """Up to which column the points of an axis go the way of the first."""
        if self._in_order(node, axis):
            return self._first_right(node, first, last) if left else last
        first += 1
        while first < last and self._goes_left(node, self.points[self.row, first]) == left:
            first += 1
        return first

    def _narrow(self, axis: int, first: int, last: int) -> None:
        """Keep a part of an axis on the path, and write down what it was."""
        n = self.n_log
        self.log[n, 0] = axis
        self.log[n, 1] = self.lo[axis]
        self.log[n, 2] = self.hi[axis]
        self.n_log = n + 1
        self.lo[axis], self.hi[axis] = first, last

    def _undo(self, length: int) -> None:
        """Take back all but the first entries of the log."""
        n = self.n_log
        while n > length:
            n -= 1
            axis = self.log[n, 0]
            self.lo[axis], self.hi[axis] = self.log[n, 1], self.log[n, 2]
        self.n_log = n

    def _leave(
        self, node: int, axis: int, first: int, last: int, other: int, lo: int, hi: int
    ) -> None:
        if other < 0:
            self._go_down(node, axis, first, last)
        else:
            self._put(node, other, lo, hi, axis, first, last)

    def _put(
        self, node: int, axis: int, first: int, last: int, other: int, lo: int, hi: int
    ) -> None:
        """Let a rectangle wait: the columns from first to last of an axis, lo to hi of another."""
        n = self.n_rectangles
        self.rectangles[n, 0] = node
        self.rectangles[n, 1], self.rectangles[n, 4] = axis, other
        self.rectangles[n, 2], self.rectangles[n, 3] = first, last
        self.rectangles[n, 5], self.rectangles[n, 6] = lo, hi
        self.n_rectangles = n + 1

    def _go_down(self, node: int, axis: int, first: int, last: int) -> None:
        """Take a run of an axis from where it left the path to its leaves."""
        begin, n = self.n_log, 1
        self._wait(0, node, first, last)
        while n > 0:
            n -= 1
            node, first, last = self.waiting[n, 0], self.waiting[n, 1], self.waiting[n, 2]
            self._undo(self.waiting[n, 3])
            feature = self.nodes[node].feature
            while feature >= 0:
                if self.axis_of[feature] == axis:
                    left = self._goes_left(node, self.points[self.row, first])
                    k = self._end_of_run(node, axis, left, first, last)
                    if k < last:
                        self._wait(n, node, k, last)
                        n += 1
                        last = k
                else:
                    left = self._goes_left(node, self.X[self.row, feature])
                    if self.has_pairs:
                        self._part_other(node, left, axis, first, last)
                node = self.nodes[node].left + (not left)
                feature = self.nodes[node].feature
            k = self.n_ended
            self.ended[k, 0], self.ended[k, 1], self.ended[k, 2] = node, first, last
            self.ended[k, 3] = axis
            self.n_ended = k + 1
        self._undo(begin)

    def _wait(self, n: int, node: int, first: int, last: int) -> None:
        self.waiting[n, 0] = node
        self.waiting[n, 1], self.waiting[n, 2] = first, last
        self.waiting[n, 3] = self.n_log

    def _part_other(self, node: int, left: bool, axis: int, first: int, last: int) -> None:
        """Where a run meets a split on another feature, part the points of their pair."""
        other = self.axis_of[self.nodes[node].feature]
        if other >= 0 and self.lo[other] < self.hi[other] and self._is_pair(axis, other):
            self._part(node, other, left, axis, first, last)

    def _value(self, leaf: int, k: int) -> Any:
        # Where a leaf is one number, it stands in the node.
        if self.width == 1:
            return self.nodes[leaf].threshold
        return self.leaves[self.nodes[leaf].left, k]

    def _add(self, leaf: int, output: int, k: int) -> None:
        """Add what a tree says: of the row, and by how much its runs differ."""
        at_x = self._value(leaf, k)
        self.base[self.row, output] += at_x
        for n in range(self.n_ended):
            difference = self._value(self.ended[n, 0], k) - at_x
            for column in range(self.ended[n, 1], self.ended[n, 2]):
                self.single[self.row, output, column] += difference
            if self.has_pairs:
                for column in range(self.ended[n, 1], self.ended[n, 2]):
                    self.own[k, column] = difference

    def _add_pairs(self, leaf: int, output: int) -> None:
        """Add what the points of pairs differ from the sum of two curves."""
        for later in range(self.n_ended):
            for n in range(later):
                self._take_back(n, later, output)
        while self.n_rectangles > 0:
            self.n_rectangles -= 1
            self._take_down(self.n_rectangles, leaf, output)
        for n in range(self.n_ended):
            for column in range(self.ended[n, 1], self.ended[n, 2]):
                for k in range(self.width):
                    self.own[k, column] = 0.0

    def _take_back(self, n: int, later: int, output: int) -> None:
        """Where both features of a pair left the path, the one that did so later does not count."""
        axis, other = self.ended[later, 3], self.ended[n, 3]
        if self._is_pair(axis, other):
            first, last = self.ended[later, 1], self.ended[later, 2]
            lo, hi = self.ended[n, 1], self.ended[n, 2]
            for k in range(self.width):
                self._add_cells(axis, first, last, other, lo, hi, output, k, 0.0)

    def _is_pair(self, axis: int, other: int) -> Any:
        return self.pair_at[axis, other] >= 0 or self.pair_at[other, axis] >= 0

    def _take_down(self, n: int, leaf: int, output: int) -> None:
        node = self.rectangles[n, 0]
        axis, other = self.rectangles[n, 1], self.rectangles[n, 4]
        first, last = self.rectangles[n, 2], self.rectangles[n, 3]
        lo, hi = self.rectangles[n, 5], self.rectangles[n, 6]
        feature = self.nodes[node].feature
        while feature >= 0:
            if self.axis_of[feature] == axis:
                left = self._goes_left(node, self.points[self.row, first])
                k = self._end_of_run(node, axis, left, first, last)
                if k < last:
                    self._put(node, axis, k, last, other, lo, hi)
                    last = k
            elif self.axis_of[feature] == other:
                left = self._goes_left(node, self.points[self.row, lo])
                k = self._end_of_run(node, other, left, lo, hi)
                if k < hi:
                    self._put(node, axis, first, last, other, k, hi)
                    hi = k
            else:
                left = self._goes_left(node, self.X[self.row, feature])
            node = self.nodes[node].left + (not left)
            feature = self.nodes[node].feature
        for k in range(self.width):
            rest = self._value(node, k) - self._value(leaf, k)
            self._add_cells(axis, first, last, other, lo, hi, output, k, rest)

    def _add_cells(
        self,
        axis: int,
        first: int,
        last: int,
        other: int,
        lo: int,
        hi: int,
        output: int,
        k: int,
        rest: float,
    ) -> None:
        """Add to a rectangle of a pair, less what its first feature differs already."""
        at, step, step_other = self.pair_at[axis, other], self.stop[other] - self.start[other], 1
        if at < 0:
            at, step, step_other = self.pair_at[other, axis], 1, self.stop[axis] - self.start[axis]
        at -= self.start[axis] * step + self.start[other] * step_other
        for i in range(first, last):
            difference = rest - self.own[k, i]
            if difference != 0.0:
                for j in range(lo, hi):
                    self.pair[self.row, output + k, at + i * step + j * step_other] += difference
