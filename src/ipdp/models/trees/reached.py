"""Which leaves some trees have at each point, and what is kept of leaves between questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.typing import Array
from ipdp.models.trees.kinds import Features, Form

if TYPE_CHECKING:
    from ipdp.models.trees.points import Points

NO_LEAF = -1
"""The number of the leaf where there is none."""

# What was part of no question for so many of them is dropped: leaves come and go with the trees.
_DROP_AFTER = 1000


class LeafCache:
    """What was read from leaves, by their address.

    It is kept with the leaf, so that the address stays its own, with the `number` of the leaf in
    the latest question that it was part of, and that question's `turn`.
    """

    def __init__(self) -> None:
        self.turn = 0  # number of the question
        self.parts: dict[int, Any] = {}
        self.places: dict[Any, int] = {}  # of the leaves' features, for the array build

    def __getstate__(self) -> dict[str, Any]:
        # Leaves are known by their address, which a copy does not share.
        return {**self.__dict__, "parts": {}, "places": {}}

    def begin(self) -> None:
        """Begin another question."""
        self.turn += 1
        if self.turn % _DROP_AFTER == 0:
            since = self.turn - _DROP_AFTER
            self.parts = {key: parts for key, parts in self.parts.items() if parts.turn > since}

    def clear(self) -> None:
        """Drop everything."""
        self.parts, self.places = {}, {}


class ReachedLeaves:
    """Which leaves some trees have at each point, given what the walk of each tree found.

    Every tree has one row, and one more before it for each alternate tree that is met.
    """

    def __init__(self, trees: Sequence[Any], points: Points, reached: Sequence[Any]) -> None:
        self.trees = trees
        self.points = points
        self.reached = reached
        self.first_rows = [0, *accumulate([1 + len(found[3]) for found in self.reached])]
        self.n_rows = self.first_rows.pop()

    @classmethod
    def of(cls, walker: Any, trees: Sequence[Any], forms: Sequence[Form]) -> ReachedLeaves:
        """Walk some trees; the forms say how each is walked."""
        pairs = zip(trees, forms, strict=True)
        found = [walker.walk(tree._root, form.kinds, form.adaptive) for tree, form in pairs]
        return cls(trees, walker.points, found)

    def numbers(self, cache: LeafCache, enter: Callable[[Any, Any], Any]) -> Array:
        """The number of each leaf, of shape (n_rows, n_points).

        `enter(leaf, tree)` numbers a leaf that was not met before in this question.
        """
        known, turn = cache.parts, cache.turn

        def number_of(leaf: Any, tree: Any) -> int:
            parts = known.get(id(leaf))
            if parts is None or parts.turn != turn:
                parts = enter(leaf, tree)
            number: int = parts.number
            return number

        numbers = np.full((self.n_rows, len(self.points.numbers)), NO_LEAF)
        row = 0
        for tree, (leaf, spans, runs, alternates) in zip(self.trees, self.reached, strict=True):
            for alternate, where in alternates:
                for lo, hi in where:
                    numbers[row, lo:hi] = number_of(alternate, tree)
                row += 1
            columns = numbers[row]
            if spans:
                # The runs take from it what is theirs.
                columns.fill(number_of(leaf, tree))
            for other, lo, hi in runs:
                columns[lo:hi] = number_of(other, tree)
            row += 1
        return numbers

    def opaque_predictions(
        self, parts: dict[int, Any], features: Sequence[Features]
    ) -> Iterator[tuple[int, int, Any]]:
        """The predictions of leaves that only river can tell: row, column, prediction.

        `parts` is what was read from the leaves; `features`, what each tree sees.
        """
        each = zip(self.trees, self.first_rows, features, self.reached, strict=True)
        for tree, first, seen, (leaf, spans, runs, alternates) in each:
            found = [*alternates, (leaf, spans), *((other, [(lo, hi)]) for other, lo, hi in runs)]
            for number, (node, where) in enumerate(found):
                if not where or not parts[id(node)].opaque:
                    continue
                row = first + min(number, len(alternates))
                for column in chain.from_iterable(range(lo, hi) for lo, hi in where):
                    yield row, column, node.prediction(self.points.at(column, seen), tree=tree)
