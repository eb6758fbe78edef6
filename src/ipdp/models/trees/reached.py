"""Which leaves some trees have at each point, and what is kept of leaves between questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ipdp.core.typing import Array
from ipdp.models.trees.kinds import Features, Form

if TYPE_CHECKING:
    from ipdp.models.trees.points import Points

NO_LEAF = -1
"""The number of the leaf where there is none."""

# What was part of no question for so many of them is dropped: leaves come and go with the trees.
_DROP_AFTER = 1000


class LeafParts:
    """What was read from a leaf.

    Attributes
    ----------
    leaf
        The leaf, which is kept alive so that its address stays its own.
    opaque
        Whether only river can tell the prediction of the leaf.
    number, turn
        The number of the leaf in the latest question that it was part of; that question's.
    """

    __slots__ = ("leaf", "number", "opaque", "turn")

    def __init__(self, leaf: Any, opaque: bool) -> None:
        self.leaf = leaf
        self.opaque = opaque
        self.number = 0
        self.turn = -1


class Numbered(Protocol):
    """The attributes of `LeafParts` that do not change from one kind of leaves to another."""

    number: int
    turn: int
    opaque: bool


Parts = TypeVar("Parts", bound=Numbered)


class LeafCache(Generic[Parts]):
    """What was read from leaves, by their address.

    Attributes
    ----------
    turn
        Number of the question.
    parts
        The leaves.
    places
        Place of each feature of the leaves, for the array build.

    Examples
    --------
    >>> cache = LeafCache()
    >>> cache.begin()
    >>> cache.turn, cache.parts
    (1, {})
    """

    def __init__(self) -> None:
        self.turn = 0
        self.parts: dict[int, Parts] = {}
        self.places: dict[Any, int] = {}

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


class Numbering(Protocol):
    """Numbers the leaves of a question."""

    turn: int
    parts: dict[int, Any]

    def enter(self, leaf: Any, tree: Any) -> Numbered:
        """Number a leaf that was not met before in this question."""
        ...


class ReachedLeaves:
    """Which leaves some trees have at each point.

    Every tree has one row, and one more before it for each alternate tree that is met.

    Parameters
    ----------
    trees
        The trees.
    points
        The observation and its points.
    reached
        What the walk of each tree found.
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
        walk = walker.walk
        found = [
            walk(tree._root, form.kinds, form.adaptive)
            for tree, form in zip(trees, forms, strict=True)
        ]
        return cls(trees, walker.points, found)

    def numbers(self, numbering: Numbering) -> Array:
        """The number of each leaf, of shape (n_rows, n_points)."""
        known, turn = numbering.parts, numbering.turn
        numbers = np.full((self.n_rows, len(self.points.numbers)), NO_LEAF)
        row = 0
        for tree, (leaf, spans, runs, alternates) in zip(self.trees, self.reached, strict=True):
            for alternate, where in alternates:
                number = _number(numbering, alternate, tree)
                for lo, hi in where:
                    numbers[row, lo:hi] = number
                row += 1
            columns = numbers[row]
            if spans:
                # The runs take from it what is theirs.
                columns.fill(_number(numbering, leaf, tree))
            for other, lo, hi in runs:
                parts = known.get(id(other))
                if parts is None or parts.turn != turn:
                    parts = numbering.enter(other, tree)
                columns[lo:hi] = parts.number
            row += 1
        return numbers

    def opaque_predictions(
        self, parts: dict[int, Any], features: Sequence[Features]
    ) -> Iterator[tuple[int, int, Any]]:
        """The predictions of leaves that only river can tell: row, column, prediction.

        Parameters
        ----------
        parts
            What was read from the leaves, by their address.
        features
            For each tree the features that it sees.
        """
        for tree, first, seen, reached in zip(
            self.trees, self.first_rows, features, self.reached, strict=True
        ):
            leaf, spans, runs, alternates = reached
            found = [*alternates, (leaf, spans), *((other, [(lo, hi)]) for other, lo, hi in runs)]
            for number, (node, where) in enumerate(found):
                if not where or not parts[id(node)].opaque:
                    continue
                row = first + min(number, len(alternates))
                for column in chain.from_iterable(range(lo, hi) for lo, hi in where):
                    yield row, column, node.prediction(self.points.at(column, seen), tree=tree)


def _number(numbering: Numbering, leaf: Any, tree: Any) -> int:
    parts = numbering.parts.get(id(leaf))
    if parts is None or parts.turn != numbering.turn:
        parts = numbering.enter(leaf, tree)
    return int(parts.number)
