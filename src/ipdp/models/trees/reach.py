"""Which leaves some trees have at each point."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from ipdp.core.typing import Array, FeatureName
from ipdp.models.trees import loops
from ipdp.models.trees.kinds import NodeKinds
from ipdp.models.trees.points import Points

NOBODY = -1
"""The number of the leaf where there is none."""

Features = Collection[FeatureName] | None
"""The features that a tree sees; None for all."""


class Form(NamedTuple):
    """How a class of trees is walked: kinds of its nodes, and whether it has alternate trees."""

    kinds: NodeKinds
    adaptive: bool


class Numbered(Protocol):
    """What is known of a leaf: its number in a question, and that question's; whether it is OWN."""

    number: int
    turn: int
    own: bool


class Register(Protocol):
    """Knows leaves by their address, and numbers those that it has not met in this question."""

    turn: int
    parts: dict[int, Any]

    def enter(self, leaf: Any, tree: Any) -> Numbered:
        """Number a leaf."""
        ...


class Reach:
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
    def of(cls, trees: Sequence[Any], forms: Sequence[Form], points: Points) -> Reach:
        """Walk some trees; the forms say how each is walked."""
        walk = loops.current.Walker(points).walk
        found = [
            walk(tree._root, form.kinds, form.adaptive)
            for tree, form in zip(trees, forms, strict=True)
        ]
        return cls(trees, points, found)

    def numbers(self, register: Register) -> Array:
        """The number of each leaf, of shape (n_rows, n_points)."""
        known, turn = register.parts, register.turn
        numbers = np.full((self.n_rows, len(self.points.numbers)), NOBODY)
        row = 0
        for tree, (leaf, spans, runs, alternates) in zip(self.trees, self.reached, strict=True):
            for alternate, where in alternates:
                number = _number(register, alternate, tree)
                for lo, hi in where:
                    numbers[row, lo:hi] = number
                row += 1
            columns = numbers[row]
            if spans:
                # The runs take from it what is theirs.
                columns.fill(_number(register, leaf, tree))
            for other, lo, hi in runs:
                parts = known.get(id(other))
                if parts is None or parts.turn != turn:
                    parts = register.enter(other, tree)
                columns[lo:hi] = parts.number
            row += 1
        return numbers

    def answers(
        self, register: Register, features: Sequence[Features]
    ) -> Iterator[tuple[int, int, Any]]:
        """What river itself says, at the leaves that only it knows: row, column, answer.

        Parameters
        ----------
        register
            Knows which leaves these are.
        features
            For each tree the features that it sees.
        """
        for tree, first, seen, reached in zip(
            self.trees, self.first_rows, features, self.reached, strict=True
        ):
            leaf, spans, runs, alternates = reached
            found = [*alternates, (leaf, spans), *((other, [(lo, hi)]) for other, lo, hi in runs)]
            for number, (node, where) in enumerate(found):
                if not where or not register.parts[id(node)].own:
                    continue
                row = first + min(number, len(alternates))
                for column in chain.from_iterable(range(lo, hi) for lo, hi in where):
                    yield row, column, node.prediction(self.points.at(column, seen), tree=tree)


def _number(register: Register, leaf: Any, tree: Any) -> int:
    parts = register.parts.get(id(leaf))
    if parts is None or parts.turn != register.turn:
        parts = register.enter(leaf, tree)
    return int(parts.number)
