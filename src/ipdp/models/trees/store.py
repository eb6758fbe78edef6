"""What is known of leaves, kept from one question to the next."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

Parts = TypeVar("Parts", bound="HasTurn")

# What was not asked about for so many questions is forgotten: leaves come and go with the trees.
_FORGET_AFTER = 1000


class HasTurn(Protocol):
    """Knows the latest question that it was part of."""

    turn: int


class LeafParts:
    """What is known of a leaf.

    Attributes
    ----------
    leaf
        The leaf, which is kept alive so that its address stays its own.
    own
        Whether only river knows what the leaf says.
    number, turn
        The number of the leaf in the latest question that it was part of; that question's.
    """

    __slots__ = ("leaf", "number", "own", "turn")

    def __init__(self, leaf: Any, own: bool) -> None:
        self.leaf = leaf
        self.own = own
        self.number = 0
        self.turn = -1


class LeafStore(Generic[Parts]):
    """What is known of leaves, by their address.

    Attributes
    ----------
    turn
        Number of the question.
    parts
        The leaves.

    Examples
    --------
    >>> store = LeafStore()
    >>> store.begin()
    >>> store.turn, store.parts
    (1, {})
    """

    def __init__(self) -> None:
        self.turn = 0
        self.parts: dict[int, Parts] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Leaves are told by their address, which a copy does not share.
        return {**self.__dict__, "parts": {}}

    def begin(self) -> None:
        """Begin another question."""
        self.turn += 1
        if self.turn % _FORGET_AFTER == 0:
            since = self.turn - _FORGET_AFTER
            self.parts = {key: parts for key, parts in self.parts.items() if parts.turn > since}
