"""Algorithm 2: the extreme values of a moving window."""

from __future__ import annotations

from collections import deque

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import State
from ipdp.core.validation import whole_number


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

    Attributes
    ----------
    version
        Changes whenever `min` or `max` does.

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
        self.version = 0
        self._n = 0
        # Pairs (number of the value, value); the front holds the extreme.
        self._smallest: deque[tuple[int, float]] = deque()
        self._largest: deque[tuple[int, float]] = deque()

    def update(self, x: float) -> None:
        """Add the newest value and let the one that left the window go."""
        self._n = n = self._n + 1
        smallest, largest = self._smallest, self._largest
        before = (smallest[0][1], largest[0][1]) if smallest else None
        while smallest and smallest[-1][1] >= x:
            smallest.pop()
        smallest.append((n, x))
        while largest and largest[-1][1] <= x:
            largest.pop()
        largest.append((n, x))
        oldest = n - self.window
        if smallest[0][0] <= oldest:
            smallest.popleft()
        if largest[0][0] <= oldest:
            largest.popleft()
        if (smallest[0][1], largest[0][1]) != before:
            self.version += 1

    @property
    def min(self) -> float:
        """The smallest value of the window."""
        return self._front(self._smallest)

    @property
    def max(self) -> float:
        """The largest value of the window."""
        return self._front(self._largest)

    @property
    def n_values(self) -> int:
        """How many values have been seen in all."""
        return self._n

    @property
    def n_stored(self) -> int:
        """How many values the two queues hold."""
        return len(self._smallest) + len(self._largest)

    @staticmethod
    def _front(queue: deque[tuple[int, float]]) -> float:
        if not queue:
            raise NotEnoughSamples("no value yet: call update first")
        return queue[0][1]

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
        joined = self.copy()
        # Only the values that a queue kept can ever be extremes, so replaying them is enough;
        # the numbers in between say how far the window has moved.
        joined._n += later._n
        oldest = joined._n - self.window
        for kept, queue, newer in (
            (joined._smallest, self._smallest, later._smallest),
            (joined._largest, self._largest, later._largest),
        ):
            kept.clear()
            shifted = [(self._n + n, x) for n, x in newer]
            if shifted:
                smaller = newer is later._smallest
                limit = shifted[0][1]
                kept.extend(
                    (n, x) for n, x in queue if n > oldest and (x < limit if smaller else x > limit)
                )
            else:
                kept.extend(queue)
            kept.extend(shifted)
        joined.version += 1
        return joined

    def copy(self) -> WindowedExtremes:
        """An independent copy."""
        twin = WindowedExtremes(window=self.window)
        twin.state = self.state
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
        return {
            "n": self._n,
            "version": self.version,
            "smallest": [list(pair) for pair in self._smallest],
            "largest": [list(pair) for pair in self._largest],
        }

    @state.setter
    def state(self, state: State) -> None:
        self._n = state["n"]
        self.version = state["version"]
        self._smallest = deque((n, x) for n, x in state["smallest"])
        self._largest = deque((n, x) for n, x in state["largest"])
