"""One walk of one tree, for all points of all features at once.

A point differs from the observation x in one feature, so that it takes the path of x until it
meets a branch on that feature. There the points of the feature, which stand in ascending order,
part in two, and those that leave go down on their own, as runs of neighbouring columns.

Plain functions over lists, dicts and numbers, so that this file can be compiled as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from ipdp.models.trees.kinds import LEAF, NUMERIC, NodeKinds
from ipdp.models.trees.points import ABSENT, Points
from ipdp.typing import FeatureName

Span = tuple[int, int]
"""Neighbouring columns: the first, and the one after the last."""

Run = tuple[Any, int, int]
"""A leaf, and the span of columns that reach it."""

Alternate = tuple[Any, list[Span]]
"""An alternate tree that has a say besides the leaf, and for which columns."""

Reached = tuple[Any, list[Span], list[Run], list[Alternate]]
"""The leaf of x and the columns that reach it; the other leaves; the alternate trees."""


def walk(root: Any, points: Points, kinds: NodeKinds, adaptive: bool) -> Reached:
    """Which leaf each point reaches.

    Parameters
    ----------
    root
        Root of the tree, a leaf or a branch; None if it has not grown.
    points
        The observation and the points.
    kinds
        The kinds of the tree's nodes.
    adaptive
        Whether its branches may have alternate trees.
    """
    if root is None:
        return None, [], [], []
    way = _Way(points, kinds, adaptive)
    leaf, spans = way.with_x(root)
    return leaf, spans, way.on_their_own(), way.alternates


class _Way:
    """A walk under way.

    Attributes
    ----------
    waiting
        Those that left the path of x: the node to go on from, their feature, and their span.
    alternates
        The alternate trees that were met.
    """

    __slots__ = ("adaptive", "alternates", "kinds", "points", "waiting")

    def __init__(self, points: Points, kinds: NodeKinds, adaptive: bool) -> None:
        self.points = points
        self.kinds = kinds
        self.adaptive = adaptive
        self.waiting: list[tuple[Any, FeatureName, int, int]] = []
        self.alternates: list[Alternate] = []

    def with_x(self, node: Any) -> tuple[Any, list[Span]]:
        """Go down the path of x, and let those wait that leave it."""
        live = dict(self.points.columns.spans)
        values, easy = self.points.values, self.points.easy
        kinds, adaptive, waiting = self.kinds, self.adaptive, self.waiting
        while True:
            kind = kinds[node.__class__]
            if kind == LEAF:
                return node, [span for span in live.values() if span[0] < span[1]]
            if adaptive and node._alternate_tree:
                self.alternates.append((node._alternate_tree, list(live.values())))
            feature = node.feature
            value = easy.get(feature)
            if kind != NUMERIC or value is None:
                node = self._fork(node, live)
                continue
            left, right = node.children
            threshold = node.threshold
            below = value <= threshold
            span = live.get(feature)
            if span is not None:
                lo, hi = span
                k = bisect_right(values, threshold, lo, hi)
                if below and k < hi:
                    waiting.append((right, feature, k, hi))
                    live[feature] = (lo, k)
                elif not below and k > lo:
                    waiting.append((left, feature, lo, k))
                    live[feature] = (k, hi)
            node = left if below else right

    def on_their_own(self) -> list[Run]:
        """Go down from where the path of x was left."""
        runs: list[Run] = []
        values, easy, unordered = self.points.values, self.points.easy, self.points.unordered
        kinds, adaptive, waiting = self.kinds, self.adaptive, self.waiting
        while waiting:
            node, own, lo, hi = waiting.pop()
            kind = kinds[node.__class__]
            while kind != LEAF:
                if adaptive and node._alternate_tree:
                    self.alternates.append((node._alternate_tree, [(lo, hi)]))
                feature = node.feature
                if kind == NUMERIC and feature == own and own not in unordered:
                    left, right = node.children
                    k = bisect_right(values, node.threshold, lo, hi)
                    if k == lo:
                        node = right
                    else:
                        if k < hi:
                            waiting.append((right, own, k, hi))
                        node, hi = left, k
                elif (
                    kind == NUMERIC and feature != own and (value := easy.get(feature)) is not None
                ):
                    left, right = node.children
                    node = left if value <= node.threshold else right
                else:
                    node, lo, hi = self._step(node, own, lo, hi)
                kind = kinds[node.__class__]
            runs.append((node, lo, hi))
        return runs

    def _fork(self, node: Any, live: dict[FeatureName, Span]) -> Any:
        """The child of x at a branch that has to be asked for each value."""
        child, lost = _next(node, self.points.x)
        feature = node.feature
        span = live.pop(feature, None)
        if lost:
            self._count_again(child, list(live.values()))
        if span is not None:
            for other, lo, hi in self._parts(node, feature, *span):
                if other is child and feature not in live:
                    live[feature] = (lo, hi)
                else:
                    self.waiting.append((other, feature, lo, hi))
        return child

    def _step(self, node: Any, own: FeatureName, lo: int, hi: int) -> Run:
        """The next node of a run, or of its last part, at a branch that has to be asked."""
        if node.feature != own:
            child, lost = _next(node, self.points.x)
            if lost:
                self._count_again(child, [(lo, hi)])
            return child, lo, hi
        *others, last = self._parts(node, own, lo, hi)
        self.waiting += [(child, own, start, stop) for child, start, stop in others]
        return last

    def _parts(self, node: Any, feature: FeatureName, lo: int, hi: int) -> list[Run]:
        """The columns of a span, in runs that go to the same child."""
        parts: list[Run] = []
        for column in range(lo, hi):
            value = self.points.values[column]
            child, lost = _next(node, {} if value is ABSENT else {feature: value})
            if lost:
                self._count_again(child, [(column, column + 1)])
            if parts and parts[-1][0] is child:
                parts[-1] = (child, parts[-1][1], column + 1)
            else:
                parts.append((child, column, column + 1))
        return parts

    def _count_again(self, child: Any, spans: list[Span]) -> None:
        """Add the alternate tree of a child once more, for those that were lost on their way to it.

        river's `walk` yields the child that a lost observation goes to twice, and `traverse` asks
        its alternate tree each time.
        """
        if self.adaptive and (alternate := getattr(child, "_alternate_tree", None)):
            self.alternates.append((alternate, spans))


def _next(node: Any, x: Any) -> tuple[Any, bool]:
    """The child for x, and whether x is lost: without the feature, or with a category never seen.

    As in river, it then goes where most went before.
    """
    try:
        return node.children[node.branch_no(x)], False
    except KeyError:
        return node.most_common_path()[1], True
