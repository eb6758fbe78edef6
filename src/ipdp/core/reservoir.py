"""Algorithm 3: the recent distribution of a feature in a small, ordered storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from ipdp.core import kernels, schema
from ipdp.core.random import Uniforms
from ipdp.core.typing import State
from ipdp.core.validation import as_number, whole_number
from ipdp.core.words import shown

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
        if not 0 < as_number(probability) <= 1:
            raise ValueError(f"probability must be in (0, 1], got {shown(probability)}")
        if select not in get_args(Select):
            raise ValueError(
                f"select must be one of {', '.join(get_args(Select))}, got {shown(select)}"
            )
        self.size = whole_number("size", size)
        self.probability = as_number(probability)
        self.select = select
        self.seed = seed
        self._uniforms = Uniforms(seed=seed)
        self.kernel = sample(self.size, probability, select, self._uniforms)

    def update(self, x: float) -> None:
        """Offer a value to the reservoir."""
        self.kernel.offer(x)

    def fill(self, values: Sequence[float]) -> None:
        """Offer at once to an empty reservoir values that it has room for; to sort once is quick.

        Examples
        --------
        >>> reservoir = Reservoir(size=5)
        >>> reservoir.fill([3, 1, 2])
        >>> reservoir.values, reservoir.n_values
        ([1, 2, 3], 3)
        """
        self.kernel.fill(list(values))
        self.kernel.n += len(values)
        self.kernel.version += len(values)
        self.kernel.whole = all(map(kernels.current.is_whole, values))

    def quantile(self, q: float) -> float:
        """The q-quantile, linear between values as `numpy.quantile` has it."""
        return self.interval(q, q)[0]

    def interval(self, lower: float, upper: float) -> tuple[float, float]:
        """Two quantiles at once; the same as two calls of `quantile`, at half the price."""
        low, high = self.kernel.interval(lower, upper)
        return low, high

    @property
    def values(self) -> list[float]:
        """The stored values in ascending order, as a new list."""
        return list(self.kernel.ordered)

    @property
    def version(self) -> int:
        """Changes whenever the stored values do."""
        return int(self.kernel.version)

    @property
    def n_values(self) -> int:
        """How many values have been offered in all."""
        return int(self.kernel.n)

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
        for name in ("size", "probability", "select"):
            if getattr(self, name) != getattr(later, name):
                raise ValueError("two reservoirs can be merged only if their settings agree")
        joined = later.copy()
        newer, earlier = later.kernel.by_age, self.kernel.by_age
        # A later reservoir that never filled up let every value in, where the full one would have
        # let in a share of them; each of its values stands for as many as an earlier one does.
        room = self.size - len(newer)
        joined.kernel.fill([*earlier[max(0, len(earlier) - room) :], *newer])
        joined.kernel.n += self.n_values
        joined.kernel.whole = self.kernel.whole and later.kernel.whole
        joined.kernel.version += 1
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
            "n": self.n_values,
            "version": self.version,
            "whole": bool(self.kernel.whole),
            "by_age": self.kernel.by_age,
            "uniforms": self._uniforms.state,
        }

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n=schema.count, version=schema.count, whole=schema.flag)
        schema.check(state, by_age=schema.each(schema.number))
        if not len(state["by_age"]) <= min(self.size, state["n"]):
            raise ValueError("the state is damaged: there are more values than a reservoir holds")
        if state["n"] and not state["by_age"]:
            raise ValueError("the state is damaged: a reservoir has lost its values")
        self.kernel.n, self.kernel.version = state["n"], state["version"]
        self.kernel.whole = state.get("whole", True)  # older states have it with the grid
        self.kernel.fill(list(state["by_age"]))
        self._uniforms.state = state["uniforms"]


def sample(size: int, probability: float, select: str, uniforms: Uniforms) -> Any:
    """A `Sample` of the build that runs, see `kernels/loop.py`."""
    return kernels.current.Sample(size, probability, select, uniforms)
