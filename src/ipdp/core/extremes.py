"""Algorithm 2: the extreme values of a moving window."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from ipdp.core import kernels, schema
from ipdp.core.typing import State
from ipdp.core.validation import whole_number

_Queue: TypeAlias = deque[tuple[int, float]]


class WindowedExtremes:
    """Minimum and maximum of the last `window` values, exactly.

    Two monotonic queues (Algorithm 2 of the paper): a value that is older and no larger than a
    newer one can never be the maximum again and is dropped at once. Every value enters and leaves
    a queue once, so an update costs O(1) on average; a queue holds at most `window` values
    (reached on a falling trend) and about ln(window) of them on exchangeable data.

    Parameters
    ----------
    window
        Number of values to look back on.

    Examples
    --------
    >>> extremes = WindowedExtremes(window=3)
    >>> for x in [5, 1, 2, 3]:
    ...     extremes.update(x)
    >>> extremes.min, extremes.max
    (1, 3)
    """

    def __init__(self, *, window: int) -> None:
        self.window = whole_number("window", window)
        self.kernel = kernels.current.Extremes(self.window)

    def update(self, x: float) -> None:
        """Add the newest value and let the one that left the window go."""
        self.kernel.offer(x)

    @property
    def version(self) -> int:
        """Changes whenever `min` or `max` does, or whether all values are whole numbers."""
        return int(self.kernel.version)

    @property
    def min(self) -> float:
        """The smallest value of the window."""
        low: float = self.kernel.ends()[0]
        return low

    @property
    def max(self) -> float:
        """The largest value of the window."""
        high: float = self.kernel.ends()[1]
        return high

    @property
    def n_values(self) -> int:
        """How many values have been seen in all."""
        return int(self.kernel.n)

    @property
    def n_stored(self) -> int:
        """How many values the two queues hold."""
        return len(self.kernel.smallest) + len(self.kernel.largest)

    def merge(self, later: WindowedExtremes) -> WindowedExtremes:
        """The extremes of this segment of a stream followed by a `later` one, exactly.

        Examples
        --------
        >>> first, second = WindowedExtremes(window=3), WindowedExtremes(window=3)
        >>> for x in [9, 4]: first.update(x)
        >>> for x in [5, 6]: second.update(x)
        >>> both = first.merge(second)
        >>> both.min, both.max
        (4, 6)
        """
        if self.window != later.window:
            raise ValueError(f"windows differ: {self.window} and {later.window}")
        mine, newer = self.kernel, later.kernel
        joined = self.copy()
        kept = joined.kernel
        # Only the values that a queue kept can ever be extremes, so replaying them is enough;
        # the numbers in between say how far the window has moved.
        kept.n += newer.n
        kept.whole = mine.whole and newer.whole
        kept.smallest = _joined(mine.smallest, newer.smallest, mine.n, kept.n - self.window, 1)
        kept.largest = _joined(mine.largest, newer.largest, mine.n, kept.n - self.window, -1)
        kept.version += 1
        return joined

    def copy(self) -> WindowedExtremes:
        """An independent copy."""
        twin = WindowedExtremes(window=self.window)
        twin.state = self.state
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
        kept = self.kernel
        return {
            "n": kept.n,
            "version": kept.version,
            "whole": bool(kept.whole),
            "smallest": [list(pair) for pair in kept.smallest],
            "largest": [list(pair) for pair in kept.largest],
        }

    @state.setter
    def state(self, state: State) -> None:
        queue = schema.each(_PAIR)
        schema.check(state, n=schema.count, version=schema.count, whole=schema.flag)
        schema.check(state, smallest=queue, largest=queue)
        for name, sign in (("smallest", 1), ("largest", -1)):
            _must_be_queue(state[name], state["n"], sign)
        # The last value is both, until there are others.
        if state["smallest"] and state["smallest"][-1][1] != state["largest"][-1][1]:
            raise ValueError("the state is damaged: its extremes do not fit each other")
        kept = self.kernel
        kept.n, kept.version = state["n"], state["version"]
        kept.whole = state.get("whole", True)  # older states have it with the grid
        kept.smallest = deque((n, x) for n, x in state["smallest"])
        kept.largest = deque((n, x) for n, x in state["largest"])


_PAIR = schema.Kind(
    "the number of a value, and it",
    lambda pair: (
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and schema.count.fits(pair[0])
        and schema.number.fits(pair[1])
    ),
)


def _must_be_queue(pairs: Sequence[Any], n: int, sign: int) -> None:
    """Raise unless numbers and values ascend up to the last value, as in a queue of extremes."""
    ascend = all(a[0] < b[0] and sign * a[1] <= sign * b[1] for a, b in pairwise(pairs))
    if not ascend or bool(n) != bool(pairs) or (pairs and pairs[-1][0] != n):
        raise ValueError("the state is damaged: its extremes are not in order")


def _joined(queue: _Queue, newer: _Queue, n: int, oldest: int, sign: int) -> _Queue:
    """A queue of smallest (sign 1) or largest (-1) values, followed by that of a later segment."""
    shifted = [(n + number, x) for number, x in newer]
    if not shifted:
        return deque(queue)
    limit = sign * shifted[0][1]
    return deque([(k, x) for k, x in queue if k > oldest and sign * x < limit] + shifted)


def restored(values: dict[str, Any]) -> Any:
    """The `Extremes` of the build that runs, from what was pickled."""
    extremes = kernels.current.Extremes(values["window"])
    for name, value in values.items():
        setattr(extremes, name, value)
    return extremes
