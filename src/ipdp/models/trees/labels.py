"""The classes of a classifier that may still meet new ones."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ipdp.core.typing import Label


class Labels:
    """Keeps classes in the order in which they came, those that came together sorted.

    Examples
    --------
    >>> labels = Labels()
    >>> labels.now({"b"})
    ('b',)
    >>> labels.now({"d", "c", "b"})
    ('b', 'c', 'd')
    """

    def __init__(self) -> None:
        self._classes: frozenset[Label] = frozenset()
        self._ordered: tuple[Label, ...] = ()

    def now(self, classes: Set[Label]) -> tuple[Label, ...]:
        """The classes, in order; the same tuple as long as they are the same."""
        if classes != self._classes:
            new: list[Any] = list(classes - self._classes)
            try:
                new.sort()
            except TypeError:  # classes of different types
                new.sort(key=str)
            self._ordered = (*(label for label in self._ordered if label in classes), *new)
            self._classes = frozenset(classes)
        return self._ordered
