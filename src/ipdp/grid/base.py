"""What a grid is: values of a feature in, evaluation points out."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.observations import is_na
from ipdp.core.times import Kind
from ipdp.core.typing import Array, State
from ipdp.core.validation import whole_number
from ipdp.core.words import shown
from ipdp.grid.doubt import Looks

Key = Hashable
"""What a grid point is remembered by: its number, its category, or its position."""

# How many values are shown under a curve; enough for its shape, little to keep and to send.
RUG_SIZE = 200
# More points than anybody asks for: a slip, or a log that wants all memory.
MOST_POINTS = 100_000

# Larger numbers count as infinite: errors have degrees of freedom by fourth powers, and squares
# are summed with weights of up to 1e150. What a float of 32 bits holds ends at 3.4e38.
LARGEST = 1e70


class Span(Protocol):
    """A range that is divided evenly by the points of a grid."""

    @property
    def version(self) -> int:
        """Changes whenever the ends may have."""

    def ends(self) -> tuple[float, float]:
        """Where the range begins and ends."""


class Grid(ABC):
    """Evaluation points of one feature, from its recent values.

    A grid is given to an explainer as a pattern; every feature gets its own by `fresh`. Values go
    in by `update`, after the observation has been explained; `points` are where the model is
    evaluated, and `keys` identify the points over time: a point that keeps its key keeps its
    mean.

    Parameters
    ----------
    warm_up
        Number of values that are collected before the first points are given out.
    missing
        Whether a missing value is a point of its own. The model gets NaN for it (None for
        categories); for river's models the feature is left out.

    Attributes
    ----------
    categorical
        Whether the points are categories, without an order or a distance.

    Examples
    --------
    >>> from ipdp.grid import Fixed, Grid
    >>> grid = Fixed([10, 20, 30])
    >>> isinstance(grid, Grid), grid.points.tolist()
    (True, [10, 20, 30])
    """

    categorical: bool = False
    _settings: ClassVar[tuple[str, ...]] = ("warm_up", "missing")

    def __init__(self, *, warm_up: int = 20, missing: bool = False) -> None:
        self.warm_up = whole_number("warm_up", warm_up)
        self.missing = missing
        self._settled = False

    # What a grid must answer.

    @abstractmethod
    def admit(self, x: Any) -> Any:
        """The value as the storage takes it, None if it is missing; TypeError if it is unfit."""

    @abstractmethod
    def update(self, x: Any) -> None:
        """Put an admitted value into the storage."""

    @property
    @abstractmethod
    def points(self) -> Array:
        """Where to evaluate the model, ascending.

        The same array until the points move, come or go, or cease to be whole numbers.
        """

    @property
    @abstractmethod
    def keys(self) -> tuple[Key, ...]:
        """What each point is remembered by; the same tuple until a point comes or goes."""

    @property
    @abstractmethod
    def rug(self) -> Array:
        """Recent values of the feature, at most 200."""

    @property
    @abstractmethod
    def n_values(self) -> int:
        """How many values have entered."""

    @property
    @abstractmethod
    def state(self) -> State:
        """Everything it remembers, without its settings."""

    @state.setter
    @abstractmethod
    def state(self, state: State) -> None: ...

    @abstractmethod
    def merge(self, later: Any) -> Any:
        """The grid of this segment of a stream followed by a `later` one."""

    # What follows from it.

    def take(self, values: Sequence[Any]) -> None:
        """Put many admitted values into the storage, one after the other."""
        for value in values:
            self.update(value)

    @property
    def whole(self) -> bool:
        """Whether the points are whole numbers now."""
        return False

    @property
    def time(self) -> Kind | None:
        """What kind of times the points stand for, as seconds since 1970; None for numbers."""
        return None

    @property
    def span(self) -> Span | None:
        """The range that the points divide evenly, always into as many; None for other points.

        Whoever evaluates many grids at once can spread the points out itself, to the same numbers
        as `points`.
        """
        return None

    @property
    def intake(self) -> Any:
        """What `update` does no more than `offer` a value to; None if it does more."""
        return None

    @property
    def watch(self) -> Any:
        """What has a `version` that changes whenever the points do; None: look at the points."""
        return None

    @property
    def admits_numbers(self) -> bool:
        """Whether `admit` gives back every float and int of a size below `LARGEST` as it is."""
        return False

    @property
    def limits(self) -> tuple[float, float] | None:
        """Beyond which positions a curve is not shown; None for no limits."""
        return None

    def arrange(self, categories: Sequence[Any]) -> None:  # noqa: B027  (numbers have an order)
        """Give the values, which are categories, an order: that of the type of their column."""

    def be_wary(self) -> None:  # noqa: B027  (a grid that was asked for is used)
        """Give no points as long as the values look like an id or a clock."""

    def trust(self) -> None:  # noqa: B027
        """Give points, whatever the values look like."""

    @property
    def looks_like(self) -> Looks | None:
        """What the values look like, if that is why there are no points."""
        return None

    @property
    def is_sure_of_looks(self) -> bool:
        """Whether the values looked so for long enough to say it."""
        return False

    @property
    def ready(self) -> bool:
        """Whether the warm-up is over."""
        return self._settled or self.n_values >= self.warm_up

    def settle(self) -> None:
        """End the warm-up, because no more values will come."""
        self._settled = True

    def fresh(self, seed: int | None = None) -> Grid:
        """A grid with the same settings and no data; `seed` is used where the grid has none."""
        settings = self.settings
        if "seed" in settings and settings["seed"] is None:
            settings["seed"] = seed
        return type(self)(**settings)

    def spanning(self, n: int) -> Grid:
        """A grid of the same kind for a table of n rows, which holds them all."""
        settings = self.settings
        whole_table = {"window": n, "storage_size": n}
        settings |= {name: value for name, value in whole_table.items() if name in settings}
        return type(self)(**settings)

    def copy(self) -> Grid:
        """An independent copy."""
        twin = copy.copy(self)
        twin.__init__(**self.settings)  # type: ignore[misc]  # new storages instead of shared ones
        twin.state = self.state
        return twin

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {name: getattr(self, name) for name in self._settings}

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        """Grids are equal if their settings are, whatever data they hold."""
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class NumberGrid(Grid):
    """A grid for numbers; whole numbers stay whole.

    Parameters
    ----------
    integers
        Whether the points are whole numbers; None: as long as every value has been one.

    Examples
    --------
    >>> from ipdp import grid
    >>> isinstance(grid.MinMax(10), grid.NumberGrid)
    True
    >>> [grid.MinMax(10).admit(x) for x in (3, True, float("nan"))]
    [3, 1, None]
    """

    _settings = ("integers", *Grid._settings)

    def __init__(
        self, *, integers: bool | None = None, warm_up: int = 20, missing: bool = False
    ) -> None:
        super().__init__(warm_up=warm_up, missing=missing)
        self.integers = integers

    def admit(self, x: Any) -> Any:
        if type(x) is float or type(x) is int:
            # False for NaN as well.
            return x if -LARGEST < x < LARGEST else None
        return None if x is None else _admit_number(x, self)

    @property
    def admits_numbers(self) -> bool:
        return type(self).admit is NumberGrid.admit


def _admit_number(x: Any, grid: Grid) -> Any:
    if is_missing(x):
        return None
    if isinstance(x, (bool, np.bool_)):
        return int(x)
    if isinstance(x, (str, bytes)):
        raise TypeError(
            f"{shown(x)} is not a number, which {type(grid).__name__} needs; "
            "use ipdp.grid.Categories() for this feature"
        )
    if isinstance(x, np.generic):
        x = x.item()
    try:
        number = x if isinstance(x, int) else float(x)
    except (TypeError, ValueError):
        raise TypeError(
            f"a value of type {type(x).__name__} is not a number, which {type(grid).__name__} needs"
        ) from None
    return number if -LARGEST < number < LARGEST else None


def is_missing(x: Any) -> bool:
    """Whether a value is missing: None, NaN, infinity, pandas' NA and NaT.

    Examples
    --------
    >>> [is_missing(x) for x in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if x is None or is_na(x):
        return True
    return isinstance(x, (float, np.floating)) and not math.isfinite(x)


@cache
def numbered(n: int) -> tuple[int, ...]:
    """The keys of n points that are identified by their number; one tuple for each n."""
    return tuple(range(n))


def need_points(grid: Grid) -> None:
    """Raise `NotEnoughSamples` where points are asked of a grid that has no values yet.

    Parameters
    ----------
    grid
        A grid of your own, in its `points` and `keys`.

    Examples
    --------
    >>> import ipdp
    >>> try:
    ...     need_points(ipdp.grid.MinMax(10))
    ... except ipdp.NotEnoughSamples as error:
    ...     print(error)
    the grid has no points before its first value
    """
    if not grid.n_values:
        raise NotEnoughSamples("the grid has no points before its first value")
