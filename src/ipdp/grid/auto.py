"""The grid that is chosen from the first values."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.times import Kind, Moment, moment_of
from ipdp.core.typing import Array, State
from ipdp.core.validation import whole_number
from ipdp.core.words import shown
from ipdp.grid.base import Grid, Key, Span, is_missing
from ipdp.grid.categories import Categories
from ipdp.grid.doubt import Doubt, Looks
from ipdp.grid.ranges import MinMax, QuantileRange

# The first and the last of the values, as shares: a few outliers do not stretch the grid.
LOWER, UPPER = 0.01, 0.99
# How many values are stored for the quantiles: all of the window, up to this many.
_STORED = 500
# With fewer values than this it cannot be said whether they look like an id or a clock.
_FEWEST = 20
# After so many it is said that they look like one: a half-hour of the day grows 48 times.
_SURE = 100

Ends = Literal["quantiles", "extremes"]
"""Between what the points for numbers lie."""


class Auto(Grid):
    """Numbers get a range, whole numbers too unless they are few; all else gets `Categories`.

    The range is a `QuantileRange` that covers the middle 98 % of the recent values. The choice is
    made when the warm-up ends: strings, booleans and anything else that is not a
    number are categories; so are whole numbers with at most `size` different values. Should these
    few become more than twice `size` later on, they turn into a range for good, and the curve
    of the feature starts again. Times are numbers: seconds since 1970.

    Parameters
    ----------
    size, window, warm_up, missing
        As in `QuantileRange`. Strings may have up to 20 categories, whatever the `size`.
    ends
        "quantiles", or "extremes" for a `MinMax`, which reaches from the smallest to the largest
        value and is stretched by an outlier for a whole window.

    Examples
    --------
    >>> ages, colours = Auto(size=3, warm_up=4), Auto(warm_up=4)
    >>> for age, colour in [(20, "red"), (60, "red"), (33, "blue"), (40, "red")]:
    ...     ages.update(age)
    ...     colours.update(colour)
    >>> ages.points
    array([20, 40, 59])
    >>> colours.points
    array(['blue', 'red'], dtype=object)
    """

    _settings = ("size", "window", "ends", *Grid._settings)

    def __init__(
        self,
        size: int = 10,
        window: int = 1000,
        *,
        ends: Ends = "quantiles",
        warm_up: int = 20,
        missing: bool = False,
    ) -> None:
        super().__init__(warm_up=warm_up, missing=missing)
        if ends not in get_args(Ends):
            raise ValueError(f"ends must be quantiles or extremes, got {shown(ends)}")
        self.size = whole_number("size", size)
        self.window = whole_number("window", window)
        self.ends: Ends = ends
        self._stored = _STORED
        self._range = self._new_range(None)
        self._categories = Categories(max(size, 20), window, warm_up=warm_up, missing=missing)
        # Both storages are filled until one of them is ruled out.
        self._may_be_range = self._may_be_categories = True
        self._time: Kind | None = None
        self._doubt: Doubt | None = None
        self._decided_by: tuple[Any, ...] | None = None
        self._decide()

    def _new_range(self, seed: int | None) -> MinMax | QuantileRange:
        common: Any = {"warm_up": self.warm_up, "missing": self.missing}
        if self.ends == "extremes":
            return MinMax(self.size, self.window, **common)
        stored = min(self.window, self._stored)
        # Which values are stored does not depend on them: without a seed it is always the same.
        seed = 0 if seed is None else seed
        more: Any = {"window": self.window, "storage_size": stored, "seed": seed}
        return QuantileRange(self.size, LOWER, UPPER, **common, **more)

    def fresh(self, seed: int | None = None) -> Auto:
        own = type(self)(**self.settings)
        own._stored = self._stored
        own._range = own._new_range(seed)
        own._decide()
        return own

    @property
    def chosen(self) -> MinMax | QuantileRange | Categories:
        """The grid that is in use."""
        return self._chosen

    @property
    def categorical(self) -> bool:  # type: ignore[override]
        return self._chosen is self._categories

    def arrange(self, categories: Sequence[Any]) -> None:
        self._categories.arrange(categories)
        self._may_be_range = False
        self._decide()

    def _decide(self) -> None:
        self._decided_by = None
        is_categorical = self._may_be_categories and (not self._may_be_range or self._few)
        self._chosen = self._categories if is_categorical else self._range

    @property
    def _is_decided_range(self) -> bool:
        return self.ready and not self._may_be_categories

    @property
    def _has_text(self) -> bool:
        """Whether values have come that are no numbers."""
        return self._may_be_categories and not self._may_be_range and self._categories.n_values > 0

    @property
    def _few(self) -> bool:
        return self._range.whole and self._categories.n_categories <= self._limit

    @property
    def _limit(self) -> int:
        # Before the choice `size` values are few; afterwards there is some tolerance.
        return self.size if self._categories.n_values <= self.warm_up else self._many

    @property
    def _many(self) -> int:
        return 2 * self.size

    def admit(self, x: Any) -> Any:
        if type(x) is float and self._may_be_range:
            return self._range.admit(x)
        if type(x) is str and self._has_text and not self._time:
            return self._categories.admit(x)
        if is_missing(x):
            return None
        if type(x) is not int and (self._time or not self.n_values):
            moment = moment_of(x)
            if moment is not None:
                return float(moment) if self._time else moment
        # A range says what is wrong with what is no number.
        only_range = self._may_be_range if _is_number(x) else self._is_decided_range
        return (self._range if only_range else self._categories).admit(x)

    def be_wary(self) -> None:
        if self.warm_up >= _FEWEST:
            self._doubt = Doubt()

    def settle(self) -> None:
        super().settle()
        if self.n_values < _FEWEST:
            self._doubt = None

    def trust(self) -> None:
        self._doubt = None

    @property
    def looks_like(self) -> Looks | None:
        return self._doubt.looks if self._doubt is not None and super().ready else None

    @property
    def is_sure_of_looks(self) -> bool:
        return self.looks_like is not None and self.n_values >= min(_SURE, self.window)

    @property
    def ready(self) -> bool:
        return self._doubt is None and super().ready

    @property
    def time(self) -> Kind | None:
        return self._time

    def update(self, x: Any) -> None:
        if type(x) is Moment:
            self._time, x, self._may_be_categories = x.kind, float(x), False
            self._decide()
        if self._may_be_range:
            if type(x) is float or _is_number(x):
                self._range.update(x)
            else:
                self._may_be_range = False
        if self._may_be_categories:
            self._categories.update(x)
            # Most values change nothing of this.
            decides = self._may_be_range, self._range.whole, self._categories.version, self._limit
            if decides != self._decided_by:
                self._decide()
                self._decided_by = decides
        if self._doubt is not None:
            self._look_at(x)
        # Readiness is asked last: a feature of few values goes through here with each of them.
        if self._may_be_categories and not self.categorical and self.ready:
            self._may_be_categories = False

    def _look_at(self, x: Any) -> None:
        assert self._doubt is not None
        counts = {"n": self._categories.n_in_window, "n_different": self._categories.n_categories}
        is_time = self._time is not None
        if self._doubt.is_over(x, is_time=is_time, warm_up=self.warm_up, **counts):
            self._doubt = None

    def spanning(self, n: int) -> Auto:
        # The choice is made when all values are known.
        own = type(self)(**{**self.settings, "window": n, "warm_up": max(n, _FEWEST)})
        own._stored = n  # the quantiles are those of all values, not of some
        return own

    def take(self, values: Sequence[Any]) -> None:
        if self.n_values or not set(map(type, values)) <= {int, float}:
            super().take(values)
            return
        # In a table only whole numbers that grow are a row's number: it may be sorted by others.
        grow = len(values) > 1 and all(map(operator.lt, values, values[1:]))
        if self._doubt is not None and not (grow and set(map(type, values)) == {int}):
            self._doubt = None
        elif self._doubt is not None:
            self._doubt.looks = "clock"
        self._range.take(values)
        if self._range.whole:
            self._categories.take(values)
        else:
            self._may_be_categories = False
        self._decide()

    @property
    def admits_numbers(self) -> bool:
        return type(self).admit is Auto.admit

    @property
    def span(self) -> Span | None:
        return self.chosen.span if type(self).points is Auto.points else None

    @property
    def intake(self) -> Any:
        is_own = type(self).update is Auto.update
        return self._range.intake if is_own and self._is_decided_range else None

    def watch_for(self, owner: Grid) -> Any:
        """What takes values as `update` does, while the categories stay the same; None if nothing.

        Of any other value the `owner` is told, which is this grid or one that has it.
        """
        kind = self._categories.kind if self.ready and self.categorical else None
        if kind is None or self._doubt is not None:
            return None
        storage = self._range.intake if self._may_be_range else None
        if self._may_be_range and (storage is None or kind is not int):
            return None
        return kernels.current.CountWatch(storage, self._categories.counts, kind, owner)

    def growth_watch_for(self, owner: Grid, storage: Any) -> Any:
        """What takes values as `update` does while they only grow; None if they do not.

        The `storage` takes them for the range; of any other value the `owner` is told.
        """
        doubt, categories = self._doubt, self._categories
        if doubt is None or self.looks_like != "clock" or doubt.last is None or self.categorical:
            return None
        if self._may_be_categories and self._range.whole and categories.n_categories <= self._many:
            return None
        counts = categories.counts if self._may_be_categories else None
        kind, may_stay = type(doubt.last), self._time is not None
        return kernels.current.GrowthWatch(storage, counts, doubt, kind, owner, may_stay=may_stay)

    @property
    def whole(self) -> bool:
        return self.chosen.whole

    @property
    def points(self) -> Array:
        return self.chosen.points

    @property
    def keys(self) -> tuple[Key, ...]:
        return self.chosen.keys

    @property
    def rug(self) -> Array:
        return self.chosen.rug

    @property
    def n_values(self) -> int:
        return max(self._range.n_values, self._categories.n_values)

    @property
    def state(self) -> State:
        return {
            "may_be_range": self._may_be_range,
            "may_be_categories": self._may_be_categories,
            "range": self._range.state if self._may_be_range else None,
            "categories": self._categories.state if self._may_be_categories else None,
            **({"time": self._time} if self._time else {}),
            **({"doubt": self._doubt.state} if self._doubt else {}),
        }

    @state.setter
    def state(self, state: State) -> None:
        self._check(state)
        self._may_be_range = state["may_be_range"]
        self._may_be_categories = state["may_be_categories"]
        self._time = state.get("time")
        self._doubt = Doubt.from_state(state["doubt"]) if "doubt" in state else None
        if state["range"] is not None:
            if self.ends == "quantiles" and "recent" in state["range"]:
                # Saved before there were other ends than extremes, for a feature without a grid.
                self.ends = "extremes"
                self._range = self._new_range(None)
            self._range.state = state["range"]
        if state["categories"] is not None:
            self._categories.state = state["categories"]
        self._decide()

    def _check(self, state: State) -> None:
        flag = schema.flag
        schema.check(state, may_be_range=flag, may_be_categories=flag)
        schema.check(state, time=schema.one_of(*get_args(Kind)))
        for name in ("range", "categories"):
            if (state[name] is not None) != state[f"may_be_{name}"]:
                raise ValueError(f"the state is damaged: it does not have what is said of {name}")

    def merge(self, later: Auto) -> Auto:
        joined = type(self)(**self.settings)
        joined._time = self._time or later._time
        if self._doubt is not None and later._doubt is not None:
            joined._doubt = Doubt.from_state(later._doubt.state)
        joined._may_be_range = self._may_be_range and later._may_be_range
        joined._may_be_categories = self._may_be_categories and later._may_be_categories
        if not (joined._may_be_range or joined._may_be_categories):
            raise ValueError(
                "a feature that holds numbers in one part holds categories in the other"
            )
        joined._range = self._range.merge(later._range)  # type: ignore[arg-type]
        joined._categories = self._categories.merge(later._categories)
        joined._decide()
        return joined


def as_now(text: str) -> str:
    """The settings of grids as text, in which an `Auto` of the time before `ends` has its ends.

    Examples
    --------
    >>> as_now("Auto(size=10, window=1000, warm_up=20, missing=False)")
    "Auto(size=10, window=1000, ends='extremes', warm_up=20, missing=False)"
    """
    return re.sub(
        r"\bAuto\((size=\d+, window=\d+), warm_up", r"Auto(\1, ends='extremes', warm_up", text
    )


def with_extremes(spec: Any) -> Any:
    """Grids as the settings of a run name them, in which every `Auto` has its extremes as ends.

    Examples
    --------
    >>> with_extremes("Auto(20)"), with_extremes({"age": "Auto", "pay": "MinMax(20)"})
    ("Auto(20, ends='extremes')", {'age': "Auto(ends='extremes')", 'pay': 'MinMax(20)'})
    """
    if isinstance(spec, Mapping):
        return {name: with_extremes(each) for name, each in spec.items()}
    found = re.fullmatch(r"\s*Auto\s*(?:\((.*)\))?\s*", spec, flags=re.DOTALL)
    if found is None:
        return spec
    given = (found[1] or "").strip().rstrip(",")
    return f"Auto({given + ', ' if given else ''}ends='extremes')"


def _is_number(x: Any) -> bool:
    return hasattr(type(x), "__float__") and not isinstance(x, (bool, np.bool_, str, bytes))
