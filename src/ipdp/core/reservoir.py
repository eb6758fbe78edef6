"""Algorithm 3: the recent distribution of a feature in a small, ordered storage."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from typing import Literal, get_args

from ipdp.core.arguments import whole_number
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.uniforms import Uniforms
from ipdp.typing import State

Select = Literal["oldest", "age", "uniform"]
"""Which value makes room for a new one."""


class Reservoir:
    """A sample of about the last `size / probability` values, kept in order.

    Algorithm 3 of the paper. Until `size` values are stored each one enters; after that a value
    enters with `probability` and takes the place of the one that `select` names. A quantile is read
    in O(1); an update is a binary search and a small shift of memory.

    Parameters
    ----------
    size
        Number of values kept, L in the paper.
    probability
        Entrance probability of a value once the reservoir is full, P(E) in the paper.
    select
        `"oldest"` (the paper's deterministic choice: first in, first out), `"age"` (the older of
        two values picked at random, so that the chance grows linearly with the rank of the age)
        or `"uniform"` (any; the geometric reservoir of Fumagalli et al. 2022).
    seed
        Start of its own random numbers.

    Attributes
    ----------
    version
        Changes whenever the stored values do.

    Notes
    -----
    As printed, Algorithm 3 lets a value enter a second time while the reservoir is still being
    filled; here a value enters once.

    Examples
    --------
    >>> reservoir = Reservoir(size=5)
    >>> for x in range(100):
    ...     reservoir.update(x)
    >>> reservoir.values
    [95, 96, 97, 98, 99]
    >>> reservoir.quantile(0.5)
    97
    """

    def __init__(
        self,
        *,
        size: int,
        probability: float = 1.0,
        select: Select = "oldest",
        seed: int | None = None,
    ) -> None:
        if not 0 < probability <= 1:
            raise ValueError(f"probability must be in (0, 1], got {probability}")
        if select not in get_args(Select):
            raise ValueError(f"select must be one of {', '.join(get_args(Select))}, got {select!r}")
        self.size = whole_number("size", size)
        self.probability = probability
        self.select = select
        self.seed = seed
        self.version = 0
        self._n = 0
        self._sorted: list[float] = []
        self._by_age: deque[float] = deque()
        self._uniforms = Uniforms(seed=seed)
        self._ranks: tuple[int, float, int, float] = (0, 0.0, 0, 0.0)
        self._ranks_of: tuple[float, float, int] | None = None

    def update(self, x: float) -> None:
        """Offer a value to the reservoir."""
        self._n += 1
        values = self._sorted
        if len(values) == self.size:
            if self.probability < 1 and self._uniforms.draw() > self.probability:
                return
            leaving = self._by_age.popleft() if self.select == "oldest" else self._draw_one()
            del values[bisect_left(values, leaving)]
        self._by_age.append(x)
        insort(values, x)
        self.version += 1

    def _draw_one(self) -> float:
        draws = 1 if self.select == "uniform" else 2
        at = min(self._uniforms.draw_below(self.size) for _ in range(draws))
        leaving = self._by_age[at]
        del self._by_age[at]
        return leaving

    def quantile(self, q: float) -> float:
        """The q-quantile, linear between values as `numpy.quantile` has it."""
        return self.interval(q, q)[0]

    def interval(self, lower: float, upper: float) -> tuple[float, float]:
        """Two quantiles at once; the same as two calls of `quantile`, at half the price."""
        values = self._sorted
        if self._ranks_of != (lower, upper, len(values)):
            self._rank(lower, upper)
        # The value below the quantile, and which share of the step to the next one is missing.
        below, share, below_high, share_high = self._ranks
        low, high = values[below], values[below_high]
        if share:
            low += share * (values[below + 1] - low)
        if share_high:
            high += share_high * (values[below_high + 1] - high)
        return low, high

    def _rank(self, lower: float, upper: float) -> None:
        n = len(self._sorted)
        if not n:
            raise NotEnoughSamples("no value yet: call update first")
        first, second = lower * (n - 1), upper * (n - 1)
        self._ranks = (int(first), first - int(first), int(second), second - int(second))
        self._ranks_of = (lower, upper, n)

    @property
    def values(self) -> list[float]:
        """The stored values in ascending order, as a new list."""
        return self._sorted.copy()

    @property
    def n_values(self) -> int:
        """How many values have been offered in all."""
        return self._n

    @property
    def window(self) -> float:
        """About how many observations the stored values stand for, L / P(E)."""
        return self.size / self.probability

    def merge(self, later: Reservoir) -> Reservoir:
        """A reservoir for this segment of a stream followed by a `later` one, by sampling.

        Not the reservoir of the whole stream, but one of the same kind: the later values, topped
        up with the newest of the earlier ones; where a random choice would have let some earlier
        ones survive (`"age"`, `"uniform"`) the join is a little younger.

        Examples
        --------
        >>> first, second = Reservoir(size=3), Reservoir(size=3)
        >>> for x in [1, 2, 3]: first.update(x)
        >>> for x in [8, 9]: second.update(x)
        >>> first.merge(second).values
        [3, 8, 9]
        """
        if (self.size, self.probability, self.select) != (
            later.size,
            later.probability,
            later.select,
        ):
            raise ValueError("two reservoirs can be merged only if their settings agree")
        joined = later.copy()
        joined._n = self._n + later._n
        room = self.size - len(joined._by_age)
        # A later reservoir that never filled up let every value in, where the full one would have
        # let in a share of them; each of its values stands for as many as an earlier one does.
        earlier = list(self._by_age)
        joined._by_age.extendleft(reversed(earlier[max(0, len(earlier) - room) :]))
        joined._sorted = sorted(joined._by_age)
        joined.version += 1
        return joined

    def copy(self) -> Reservoir:
        """An independent copy."""
        twin = Reservoir(
            size=self.size, probability=self.probability, select=self.select, seed=self.seed
        )
        twin.state = self.state
        return twin

    @property
    def state(self) -> State:
        """Everything it remembers."""
        return {
            "n": self._n,
            "version": self.version,
            "by_age": list(self._by_age),
            "uniforms": self._uniforms.state,
        }

    @state.setter
    def state(self, state: State) -> None:
        self._n = state["n"]
        self.version = state["version"]
        self._by_age = deque(state["by_age"])
        self._sorted = sorted(self._by_age)
        self._uniforms.state = state["uniforms"]
