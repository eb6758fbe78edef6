"""Compact copies of growing trees: branches as arrays, and leaves as they were read.

Most of a walk through river's nodes is waiting for memory: a forest is large, and learning has
just gone through all of it. A copy is small, and stays right because a Hoeffding tree changes only
where it learns:

- a leaf adds the weight of what it learns to that of a class, and a branch never changes, so that
  if the leaf of the latest observation has taken all weight that the tree has seen since, no other
  leaf has changed. That is the rule where each observation is explained and then learned;
- else any leaf may have changed, and each is compared with river's when it is next reached;
- a leaf that is not where it was has given way to a branch: the copy is made anew.

Memory management puts leaves to sleep that have not learned. It runs after splits, which change the
numbers of leaves, or the splitters of the leaf that tried one, and at fixed weights.

This file is compiled as it is, into `_compact`; the types are in `_compact.pxd`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray, Labels
from ipdp.models.trees.kinds import LEAF, NUMERIC, NodeKinds, grows_at_leaves, learns_by_weight

if TYPE_CHECKING:
    from ipdp.models.trees.kinds import Form
    from ipdp.models.trees.points import Columns, Points
    from ipdp.models.trees.reached import LeafCache

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from bisect import bisect_right
    from math import floor

    from ipdp.models.trees.kernels.leaves import ClassifierLeaf, parts_of
    from ipdp.models.trees.kernels.voting import Voting
    from ipdp.models.trees.kernels.walk import Walker

# Weights are added up in two places, each sum rounded on its own.
_ROUNDING = 1e-15
_NEVER = -1
_ENTRY = 5  # numbers of one entry of those that wait


class CompactTree:
    """The copy of one tree; `usable` says whether it can be one."""

    def __init__(self, tree: Any, kinds: NodeKinds) -> None:
        self.tree = tree
        self.kinds = kinds
        self.root: Any = None
        self.usable = grows_at_leaves(tree.__class__)
        # What the tree had learned when the copy was in step with it; leaves whose version is not
        # that of the copy are to be compared with river's.
        self.version = 0
        self.weight = 0.0
        self.n_active = self.n_inactive = 0
        # For each node the place of its feature, or -1 for a leaf; where the branch parts; and its
        # first child, which the second follows, or the number of the leaf.
        self.feature = array("i")
        self.threshold = array("d")
        self.child = array("i")
        # For each leaf: the list of children that it is in, and where; what was read from it, its
        # version, and its weight then.
        self.leaves: list[Any] = []
        self.homes: list[Any] = []
        self.sides = array("i")
        self.parts: list[ClassifierLeaf | None] = []
        self.versions = array("q")
        self.weights = array("d")

    def build(self, places: dict[FeatureName, int]) -> None:
        """Copy the tree as it is now; what cannot be read leaves no copy."""
        root = self.tree._root
        self.root = None
        self.version += 1
        leaves: list[Any] = []
        homes: list[Any] = []
        feature, threshold, child, sides = array("i"), array("d"), array("i"), array("i")
        waiting: list[tuple[Any, Any, int]] = [] if root is None else [(root, None, 0)]
        branches: set[int] = set()
        n = 0
        while n < len(waiting) and self.usable:
            node, home, side = waiting[n]
            kind = self.kinds[type(node)]
            if kind == LEAF:
                self.usable = learns_by_weight(node.__class__)
                feature.append(-1)
                threshold.append(0.0)
                child.append(len(leaves))
                leaves.append(node)
                homes.append(home)
                sides.append(side)
            elif kind == NUMERIC and id(node) not in branches:  # else it is no tree
                branches.add(id(node))
                feature.append(places.setdefault(node.feature, len(places)))
                threshold.append(node.threshold)
                child.append(len(waiting))
                children = node.children
                left, right = children  # in C an index is not checked
                waiting += [(left, children, 0), (right, children, 1)]
            else:
                self.usable = False
            n += 1
        self.leaves, self.homes = leaves, homes
        self.feature, self.threshold, self.child = feature, threshold, child
        self.sides = sides
        self.parts = [None] * len(leaves)
        self.versions = array("q", [_NEVER]) * len(leaves)
        self.weights = array("d", [0.0]) * len(leaves)
        self.root = root

    def is_in_place(self, number: int) -> bool:
        """Whether a leaf is where it was."""
        home, side = self.homes[number], self.sides[number]
        return home is None or (side < len(home) and home[side] is self.leaves[number])


class CompactTrees:
    """The copies of the trees of a model, and the votes of their leaves."""

    def __init__(self) -> None:
        self._copies: list[CompactTree] = []
        self._places: dict[FeatureName, int] = {}  # of features of branches, and of the points
        # The latest observation: its values by place; whether it was asked about.
        self._x = array("d")
        self._has_x = False
        # The columns that are asked about, by place: the first, and the one after the last; the
        # same as far as the walk of one tree has got.
        self._columns: Columns | None = None
        self._unchanged: list[tuple[int, int]] = []  # those in which nothing is replaced
        self._first = array("i")
        self._last = array("i")
        self._lo = array("i")
        self._hi = array("i")
        # Those that left the path of x: node, place of their feature, and columns. Of a pair: node,
        # lines, and columns.
        self._waiting = array("i")
        self._n_lines = 0

    def vote(
        self, walker: Walker, trees: Sequence[Any], forms: Sequence[Form], classes: Labels,
        cache: LeafCache,
    ) -> FloatArray | None:  # fmt: skip
        """The votes of the trees, of shape (n_classes, n_trees, n_points).

        None if they have to be walked, because of what is asked, or of what they are.
        """
        votes = self._vote(walker, trees, forms, classes, cache)
        self._n_lines = 0
        return votes

    def vote_all(
        self, asked: Sequence[Points], trees: Sequence[Any], forms: Sequence[Form],
        classes: Labels, cache: LeafCache,
    ) -> FloatArray | None:  # fmt: skip
        """The votes about several observations, one after the other, in columns of one array.

        The same columns are asked about of each. It is of shape (n_classes, n_trees, n * n_points).
        None as for `vote`. What is learned next is the observation of the last single question, as
        a rule, so that this one stays the latest.
        """
        had_x, latest = self._has_x, array("d", self._x)
        self._known, self._turn, self._classes = cache.parts, cache.turn, classes
        if not self._follow(trees, forms, had_x):
            return None
        self._has_x = False
        n_points = len(asked[0].numbers)
        votes = np.zeros((len(classes), len(trees), len(asked) * n_points))
        for k in range(len(asked)):
            cache.begin()
            self._known, self._turn = cache.parts, cache.turn
            if not self._count(Walker(asked[k]), len(trees), cache, votes, k * n_points):
                return None
        if had_x and len(latest) == len(self._x):
            self._x, self._has_x = latest, True
        return votes

    def set_lines(self, name: FeatureName, firsts: FloatArray) -> None:
        """Let the next question be about a pair: about its points with each of `firsts` in turn.

        These are values of the feature `name`, in ascending order.
        """
        self._n_lines, self._first_name, self._firsts = len(firsts), name, firsts

    def _vote(
        self, walker: Walker, trees: Sequence[Any], forms: Sequence[Form], classes: Labels,
        cache: LeafCache,
    ) -> FloatArray | None:  # fmt: skip
        had_x, self._has_x = self._has_x, False
        self._known, self._turn, self._classes = cache.parts, cache.turn, classes
        if _is_other(walker.points) or not self._follow(trees, forms, had_x):
            return None
        n_points = len(walker.points.numbers) * max(self._n_lines, 1)
        votes = np.zeros((len(classes), len(trees), n_points))
        self._has_x = self._count(walker, len(trees), cache, votes, 0)
        return votes if self._has_x else None

    def _count(
        self, walker: Walker, n_trees: int, cache: LeafCache, votes: FloatArray, start: int
    ) -> bool:
        """Collect the votes at the points of one observation, from a column on; False for none."""
        points = walker.points
        if _is_other(points) or not self._take(points):
            return False
        self._numbers = walker.numbers
        self._voting = Voting(walker, self._classes, cache)
        self._voting.collect_in(votes, start)
        for row in range(n_trees):
            copy = self._copies[row]
            while copy.root is not None and not (
                self._walk_lines(copy, row) if self._n_lines else self._walk(copy, row)
            ):
                copy.build(self._places)
                if not copy.usable or not self._take(points):
                    return False
        return True

    def _follow(self, trees: Sequence[Any], forms: Sequence[Form], had_x: bool) -> bool:
        """Bring the copies in step with the trees; False if one of these cannot be copied."""
        copies = self._copies
        if len(copies) != len(trees):
            pairs = zip(trees, forms, strict=True)
            copies = self._copies = [CompactTree(tree, form.kinds) for tree, form in pairs]
        for row in range(len(trees)):
            copy, tree = copies[row], trees[row]
            if copy.tree is not tree:
                copy = copies[row] = CompactTree(tree, forms[row].kinds)
            if not copy.usable:
                return False
        for row in range(len(trees)):
            copy = copies[row]
            is_new = copy.root is not copy.tree._root
            if is_new:
                copy.build(self._places)
                if not copy.usable:
                    return False
            # A new copy may have a branch on a feature that was not read of the latest x.
            self._update(copy, had_x and not is_new)
        return True

    def _update(self, copy: CompactTree, had_x: bool) -> None:
        """Find out which leaves of a tree may have learned."""
        tree = copy.tree
        weight, before = tree._train_weight_seen_by_model, copy.weight
        n_active, n_inactive = tree._n_active_leaves, tree._n_inactive_leaves
        same_leaves = n_active == copy.n_active and n_inactive == copy.n_inactive
        if weight == before and same_leaves:
            return
        copy.weight, copy.n_active, copy.n_inactive = weight, n_active, n_inactive
        period = tree.memory_estimate_period
        if (
            not had_x
            or not same_leaves
            or floor(weight / period) != floor(before / period)
            or copy.root is None
            or not self._took_all(copy, weight - before)
        ):
            copy.version += 1

    def _took_all(self, copy: CompactTree, weight: float) -> bool:
        """Whether the leaf of the latest observation has learned all that the tree has."""
        x, feature, threshold, child, node = self._x, copy.feature, copy.threshold, copy.child, 0
        while feature[node] >= 0:
            node = child[node] + (0 if x[feature[node]] <= threshold[node] else 1)
        number = child[node]
        if copy.versions[number] != copy.version or not copy.is_in_place(number):
            return False
        parts = copy.parts[number]
        if parts is None or parts.splitters is not copy.leaves[number].splitters:
            return False
        before = copy.weights[number]
        gained = self._read(copy, number).weight - before
        return abs(gained - weight) <= _ROUNDING * copy.weight

    def _read(self, copy: CompactTree, number: int) -> ClassifierLeaf:
        """Read a leaf, if it has learned since."""
        parts = parts_of(self._known, copy.leaves[number], copy.tree, self._classes, self._turn)
        copy.parts[number] = parts
        copy.versions[number] = copy.version
        copy.weights[number] = parts.weight
        return parts

    def _take(self, points: Points) -> bool:
        """Take an observation and its points; False if a branch has no number to go by."""
        places, x, columns = self._places, points.x, points.columns
        if columns is not self._columns or len(places) != len(self._x):
            for name in columns.names:
                places.setdefault(name, len(places))
            none = array("i", [0]) * len(places)
            self._x = array("d", [0.0]) * len(places)
            self._first, self._last, self._lo, self._hi = none[:], none[:], none[:], none[:]
            for name, (first, last) in columns.spans.items():
                self._first[places[name]], self._last[places[name]] = first, last
            self._columns, self._unchanged = columns, columns.unchanged
        n_entries = 1 + len(points.numbers) * max(self._n_lines, 1)
        if len(self._waiting) < _ENTRY * n_entries:
            self._waiting = array("i", [0]) * (_ENTRY * n_entries)
        for name, place in places.items():
            value = x.get(name)
            if value is None:
                return False
            self._x[place] = value
        return True

    def _walk(self, copy: CompactTree, row: int) -> bool:
        """Walk a tree for all points, and let its leaves vote; False if it is not as it was."""
        feature, threshold, child = copy.feature, copy.threshold, copy.child
        x, numbers, lo_of, hi_of = self._x, self._numbers, self._lo, self._hi
        n_places = len(self._places)
        for place in range(n_places):
            lo_of[place], hi_of[place] = self._first[place], self._last[place]
        node = top = 0
        while feature[node] >= 0:
            place, limit, node = feature[node], threshold[node], child[node]
            lo, hi = lo_of[place], hi_of[place]
            is_right = not x[place] <= limit
            if lo < hi:
                k = bisect_right(numbers, limit, lo, hi)
                if is_right and lo < k:
                    lo_of[place] = k
                    top = self._wait(top, node, place, lo, k)
                elif not is_right and k < hi:
                    hi_of[place] = k
                    top = self._wait(top, node + 1, place, k, hi)
            node += is_right
        # Also if no point reaches it: it is the one that is to learn.
        parts = self._leaf(copy, child[node])
        if parts is None:
            return False
        for place in range(n_places):
            if lo_of[place] < hi_of[place]:
                self._voting.vote(parts, row, lo_of[place], hi_of[place], False)
        for lo, hi in self._unchanged:
            self._voting.vote(parts, row, lo, hi, False)
        return self._off_path(copy, row, top)

    def _wait(self, top: int, node: int, place: int, lo: int, hi: int) -> int:
        """Let columns wait; the number of entries then."""
        waiting = self._waiting
        waiting[top], waiting[top + 1], waiting[top + 2], waiting[top + 3] = node, place, lo, hi
        return top + _ENTRY

    def _off_path(self, copy: CompactTree, row: int, top: int) -> bool:
        """Go down from where the path of x was left; False if the tree is not as it was."""
        feature, threshold, child = copy.feature, copy.threshold, copy.child
        x, numbers, waiting = self._x, self._numbers, self._waiting
        while top:
            top -= _ENTRY
            node, own, lo, hi = waiting[top], waiting[top + 1], waiting[top + 2], waiting[top + 3]
            while feature[node] >= 0:
                place, limit, node = feature[node], threshold[node], child[node]
                if place != own:
                    node += not x[place] <= limit
                    continue
                k = bisect_right(numbers, limit, lo, hi)
                if k == lo:
                    node += 1
                elif k < hi:
                    top = self._wait(top, node + 1, own, k, hi)
                    hi = k
            parts = self._leaf(copy, child[node])
            if parts is None:
                return False
            self._voting.vote(parts, row, lo, hi, False)
        return True

    def _walk_lines(self, copy: CompactTree, row: int) -> bool:
        """Walk a tree for all points of a pair, by rectangles; False if it is not as it was."""
        feature, threshold, child = copy.feature, copy.threshold, copy.child
        x, numbers, firsts, waiting = self._x, self._numbers, self._firsts, self._waiting
        first = self._places.get(self._first_name, _NEVER)
        second = self._places[self._columns.names[0]]  # type: ignore[union-attr]
        waiting[4] = len(numbers)
        top = self._wait(0, 0, 0, self._n_lines, 0)
        while top:
            top -= _ENTRY
            node, line, end = waiting[top], waiting[top + 1], waiting[top + 2]
            lo, hi = waiting[top + 3], waiting[top + 4]
            while feature[node] >= 0:
                place, limit, node = feature[node], threshold[node], child[node]
                if place == first:
                    k = bisect_right(firsts, limit, line, end)
                    if line < k < end:
                        waiting[top + 4] = hi
                        top = self._wait(top, node + 1, k, end, lo)
                        end = k
                    node += k == line
                elif place == second:
                    k = bisect_right(numbers, limit, lo, hi)
                    if lo < k < hi:
                        waiting[top + 4] = hi
                        top = self._wait(top, node + 1, line, end, k)
                        hi = k
                    node += k == lo
                else:
                    node += not x[place] <= limit
            parts = self._leaf(copy, child[node])
            if parts is None:
                return False
            for number in range(line, end):
                self._voting.begin_line(
                    parts, self._first_name, firsts[number], number * len(numbers)
                )
                self._voting.vote(parts, row, lo, hi, False)
        return True

    def _leaf(self, copy: CompactTree, number: int) -> ClassifierLeaf | None:
        """The parts of a leaf as it is now; None if it has given way to a branch."""
        parts = copy.parts[number]
        if parts is None or copy.versions[number] != copy.version:
            if not copy.is_in_place(number):
                return None
            parts = self._read(copy, number)
        parts.turn = self._turn
        self._voting.enter(parts)
        return parts


def _is_other(points: Points) -> bool:
    """Whether some points are no numbers in ascending order."""
    return bool(points.non_numeric or points.unordered or points.columns.absent)
