"""One walk of one tree, for all points of all features at once.

A point differs from the observation x in one feature, so that it takes the path of x until it
meets a branch on that feature. There the points of the feature, which stand in ascending order,
part in two, and those that leave go down on their own, as runs of neighbouring columns.

This file is compiled as it is, into `_walk`; the types are in `_walk.pxd`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.trees.kinds import ABSENT, DEEPEST, LEAF, NUMERIC, NodeKinds

if TYPE_CHECKING:
    from ipdp.models.trees.points import Points

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from bisect import bisect_right
    from math import floor, isnan

_NUMBERS = np.floating, np.integer

IS_NUMBER, ASCENDING = 1, 2
"""What a column is expected to be, see `in_order`."""

Span = tuple[int, int]
"""Neighbouring columns: the first, and the one after the last."""

Run = tuple[Any, int, int]
"""A leaf, and the span of columns that reach it."""

Alternate = tuple[Any, list[Span]]
"""An alternate tree that counts besides the leaf, and for which columns."""

Reached = tuple[Any, list[Span], list[Run], list[Alternate]]
"""The leaf of x and the columns that reach it; the other leaves; the alternate trees."""


class Walker:
    """Walks trees with an observation and its points."""

    def __init__(self, points: Points) -> None:
        self.points = points
        # Lists are fast in Python, arrays in C.
        self.numbers: Any = points.numbers if cython.compiled else points.values
        self._kinds: Any = None
        self._latest: type | None = None
        self._kind = LEAF
        self._depth = 0
        self._adaptive = False
        # Those that left the path of x: the node to go on from, their feature, and their span.
        self._waiting: list[tuple[Any, FeatureName, int, int]] = []
        self._alternates: list[Alternate] = []

    def walk(self, root: Any, kinds: NodeKinds, adaptive: bool) -> Reached:
        """Which leaf each point reaches, from a root that is None if the tree has not grown."""
        if root is None:
            return None, [], [], []
        self._kinds, self._adaptive, self._latest = kinds, adaptive, None
        self._waiting, self._alternates, self._depth = [], [], 0
        leaf, spans = self._path_of_x(root)
        return leaf, spans, self._off_path(), self._alternates

    def _kind_of(self, node: Any) -> int:
        """The kind of the next node, which is mostly of the class of the one above."""
        self._depth += 1
        if self._depth > DEEPEST:  # in C, Ctrl-C would not end it
            raise ValueError("the branches of a tree have no end: this is no tree")
        if type(node) is not self._latest:
            self._latest = type(node)
            self._kind = self._kinds[self._latest]
        return self._kind

    def _path_of_x(self, node: Any) -> tuple[Any, list[Span]]:
        """Go down the path of x, and let the columns wait that leave it."""
        live = dict(self.points.columns.walked_spans)
        numbers, comparable = self.numbers, self.points.comparable
        adaptive, waiting = self._adaptive, self._waiting
        while True:
            kind = self._kind_of(node)
            if kind == LEAF:
                return node, [span for span in live.values() if span[0] < span[1]]
            if adaptive and node._alternate_tree:
                self._alternates.append((node._alternate_tree, list(live.values())))
            feature = node.feature
            value = comparable.get(feature)
            if kind != NUMERIC or value is None:
                node = self._fork(node, live)
                continue
            left, right = node.children
            threshold = node.threshold
            below = value <= threshold
            span = live.get(feature)
            if span is not None:
                lo, hi = span
                k = bisect_right(numbers, threshold, lo, hi)
                if below and k < hi:
                    waiting.append((right, feature, k, hi))
                    live[feature] = (lo, k)
                elif not below and k > lo:
                    waiting.append((left, feature, lo, k))
                    live[feature] = (k, hi)
            node = left if below else right

    def _off_path(self) -> list[Run]:
        """Go down from where the path of x was left."""
        runs: list[Run] = []
        numbers, comparable, unordered = self.numbers, self.points.comparable, self.points.unordered
        adaptive, waiting = self._adaptive, self._waiting
        while waiting:
            node, own, lo, hi = waiting.pop()
            self._depth = 0
            kind = self._kind_of(node)
            while kind != LEAF:
                if adaptive and node._alternate_tree:
                    self._alternates.append((node._alternate_tree, [(lo, hi)]))
                feature = node.feature
                if kind != NUMERIC:
                    node, lo, hi = self._step(node, own, lo, hi)
                elif feature != own:
                    value = comparable.get(feature)
                    if value is None:
                        node, lo, hi = self._step(node, own, lo, hi)
                    else:
                        left, right = node.children
                        node = left if value <= node.threshold else right
                elif own in unordered:
                    node, lo, hi = self._step(node, own, lo, hi)
                else:
                    left, right = node.children
                    k = bisect_right(numbers, node.threshold, lo, hi)
                    if k == lo:
                        node = right
                    else:
                        if k < hi:
                            waiting.append((right, own, k, hi))
                        node, hi = left, k
                kind = self._kind_of(node)
            runs.append((node, lo, hi))
        return runs

    def _fork(self, node: Any, live: dict[FeatureName, Span]) -> Any:
        """The child of x at a branch that river decides, value by value."""
        child, lost = _next(node, self.points.x)
        feature = node.feature
        span = live.pop(feature, None)
        if lost:
            self._count_again(child, list(live.values()))
        if span is not None:
            first, end = span
            for other, lo, hi in self._parts(node, feature, first, end):
                if other is child and feature not in live:
                    live[feature] = (lo, hi)
                else:
                    self._waiting.append((other, feature, lo, hi))
        return child

    def _step(self, node: Any, own: FeatureName, lo: int, hi: int) -> Run:
        """The next node of a run, or of its last part, at a branch that river decides."""
        if node.feature != own:
            child, lost = _next(node, self.points.x)
            if lost:
                self._count_again(child, [(lo, hi)])
            return child, lo, hi
        others = self._parts(node, own, lo, hi)
        last = others.pop()
        self._waiting += [(child, own, start, stop) for child, start, stop in others]
        return last

    def _parts(self, node: Any, feature: FeatureName, lo: int, hi: int) -> list[Run]:
        """The columns of a span, in runs that go to the same child."""
        parts: list[Run] = []
        latest, start = None, lo
        for column in range(lo, hi):
            value = self.points.values[column]
            child, lost = _next(node, {} if value is ABSENT else {feature: value})
            if lost:
                self._count_again(child, [(column, column + 1)])
            if child is not latest:
                if start < column:
                    parts.append((latest, start, column))
                latest, start = child, column
        if start < hi:
            parts.append((latest, start, hi))
        return parts

    def _count_again(self, child: Any, spans: list[Span]) -> None:
        """Add the alternate tree of a child once more, for those that were lost on their way to it.

        river's `walk` yields the child that a lost observation goes to twice, and `traverse` asks
        its alternate tree each time.
        """
        if self._adaptive and (alternate := getattr(child, "_alternate_tree", None)):
            self._alternates.append((alternate, spans))


def _next(node: Any, x: Any) -> tuple[Any, bool]:
    """The child for x, and whether x is lost: without the feature, or with a category never seen.

    As in river, it then goes where most went before.
    """
    try:
        return node.children[node.branch_no(x)], False
    except KeyError:
        return node.most_common_path()[1], True


def in_order(numbers: FloatArray, order: bytes, whole: bytes) -> bool:
    """Whether the numbers in columns are as expected.

    For each column `order` is IS_NUMBER if it must not be NaN, ASCENDING if it is not to be below
    the one before it either, else 0; `whole` says whether it is to be a whole number.
    """
    for k in range(len(order)):
        if order[k] == ASCENDING and not numbers[k] >= numbers[k - 1]:
            return False
        if order[k] == IS_NUMBER and isnan(numbers[k]):
            return False
        if whole[k] and numbers[k] != floor(numbers[k]):
            return False
    return True


def has_only_numbers(x: dict[FeatureName, Any]) -> bool:
    """Whether all values of an observation are numbers of Python or numpy."""
    for value in x.values():
        if not isinstance(value, (float, int)) and not isinstance(value, _NUMBERS):
            return False
    return True
