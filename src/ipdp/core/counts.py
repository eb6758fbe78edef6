"""The categories of a moving window."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from typing import Any

from ipdp.core import kernels, schema
from ipdp.core.typing import State
from ipdp.core.validation import whole_number


class WindowedCounts:
    """How often each value occurred among the last `window` ones.

    `version` changes whenever a value appears or disappears, not at every count.
    """

    def __init__(self, *, window: int) -> None:
        self.window = whole_number("window", window)
        self.version = 0
        self._n = 0
        self._recent: deque[Hashable] = deque()
        self._counts: dict[Hashable, int] = {}

    def update(self, x: Hashable) -> None:
        """Add the newest value and let the one that left the window go."""
        if kernels.current.count_in(self, x):
            self.version += 1

    def most_common(self, n: int | None = None) -> list[tuple[Hashable, int]]:
        """The `n` most frequent values with their counts; at a tie, in their natural order."""
        ordered = in_order(list(self._counts))
        ranked = sorted(ordered, key=self._counts.__getitem__, reverse=True)
        return [(x, self._counts[x]) for x in ranked[:n]]

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._counts)

    def __contains__(self, x: object) -> bool:
        return x in self._counts

    @property
    def recent(self) -> list[Hashable]:
        """The values of the window, newest last."""
        return list(self._recent)

    @property
    def n_values(self) -> int:
        """How many values have been seen in all."""
        return self._n

    def merge(self, later: WindowedCounts) -> WindowedCounts:
        """The counts of this segment of a stream followed by a `later` one, exactly."""
        if self.window != later.window:
            raise ValueError(f"windows differ: {self.window} and {later.window}")
        joined = self.copy()
        for x in later._recent:
            joined.update(x)
        joined._n = self._n + later._n
        return joined

    def copy(self) -> WindowedCounts:
        """An independent copy."""
        twin = WindowedCounts(window=self.window)
        twin.state = self.state
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
        return {"n": self._n, "version": self.version, "recent": list(self._recent)}

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n=schema.count, version=schema.count)
        recent = schema.categories(state, "recent")
        if not len(recent) <= min(self.window, state["n"]):
            raise ValueError("the state is damaged: there are more categories than a window holds")
        if state["n"] and not recent:
            raise ValueError("the state is damaged: a window has lost its categories")
        self._n = state["n"]
        self.version = state["version"]
        self._recent = deque(recent)
        self._counts = dict(Counter(self._recent))


def in_order(categories: list[Any]) -> tuple[Any, ...]:
    """Categories as people list them: by value where they compare, else by how they read."""
    try:
        return tuple(sorted(categories))
    except TypeError:
        return tuple(sorted(categories, key=lambda x: (str(x), type(x).__name__)))
