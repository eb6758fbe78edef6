"""The grid that is chosen from the first values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.typing import Array, State
from ipdp.grid.base import Grid, Key, Span, is_missing
from ipdp.grid.categories import Categories
from ipdp.grid.ranges import MinMax


class Auto(Grid):
    """Numbers get `MinMax`, whole numbers too unless they are few; all else gets `Categories`.

    The choice is made when the warm-up ends: strings, booleans and anything else that is not a
    number are categories; so are whole numbers with at most `size` different values. Should these
    few become more than twice `size` later on, they turn into a range for good, and the curve
    of the feature starts again.

    Parameters
    ----------
    size, window, warm_up, missing
        As in `MinMax`. Strings may have up to 20 categories, whatever the `size`.

    Examples
    --------
    >>> ages, colours = Auto(size=3, warm_up=4), Auto(warm_up=4)
    >>> for age, colour in [(20, "red"), (60, "red"), (33, "blue"), (40, "red")]:
    ...     ages.update(age)
    ...     colours.update(colour)
    >>> ages.points
    array([20, 40, 60])
    >>> colours.points
    array(['blue', 'red'], dtype=object)
    """

    _settings = ("size", "window", *Grid._settings)

    def __init__(
        self, size: int = 10, window: int = 1000, *, warm_up: int = 20, missing: bool = False
    ) -> None:
        super().__init__(warm_up=warm_up, missing=missing)
        self.size = size
        self.window = window
        self._range = MinMax(size, window, warm_up=warm_up, missing=missing)
        self._categories = Categories(max(size, 20), window, warm_up=warm_up, missing=missing)
        # Both storages are filled until one of them is ruled out.
        self._may_be_range = self._may_be_categories = True

    @property
    def chosen(self) -> MinMax | Categories:
        """The grid that is in use."""
        return self._categories if self.categorical else self._range

    @property
    def categorical(self) -> bool:  # type: ignore[override]
        return self._may_be_categories and (not self._may_be_range or self._few)

    @property
    def _few(self) -> bool:
        return self._range.whole and self._categories.n_categories <= self._limit

    @property
    def _limit(self) -> int:
        # Before the choice `size` values are few; afterwards there is some tolerance.
        return self.size if self._categories.n_values <= self.warm_up else 2 * self.size

    def admit(self, x: Any) -> Any:
        if type(x) is float and self._may_be_range:
            return self._range.admit(x)
        if is_missing(x):
            return None
        if _is_number(x):
            if self._may_be_range:
                return self._range.admit(x)
        elif self.ready and not self._may_be_categories:
            return self._range.admit(x)  # says what is wrong with it
        return self._categories.admit(x)

    def update(self, x: Any) -> None:
        if self._may_be_range:
            if type(x) is float or _is_number(x):
                self._range.update(x)
            else:
                self._may_be_range = False
        if self._may_be_categories:
            self._categories.update(x)
            if self.ready and not self.categorical:
                self._may_be_categories = False

    def spanning(self, n: int) -> Auto:
        # The choice is made when all values are known.
        return Auto(self.size, n, warm_up=n, missing=self.missing)

    @property
    def admits_numbers(self) -> bool:
        return type(self).admit is Auto.admit

    @property
    def span(self) -> Span | None:
        return self.chosen.span if type(self).points is Auto.points else None

    @property
    def intake(self) -> Any:
        is_decided = self.ready and not self._may_be_categories
        return self._range.intake if is_decided and type(self).update is Auto.update else None

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
        }

    @state.setter
    def state(self, state: State) -> None:
        self._may_be_range = state["may_be_range"]
        self._may_be_categories = state["may_be_categories"]
        if state["range"] is not None:
            self._range.state = state["range"]
        if state["categories"] is not None:
            self._categories.state = state["categories"]

    def merge(self, later: Auto) -> Auto:
        joined = type(self)(**self.settings)
        joined._may_be_range = self._may_be_range and later._may_be_range
        joined._may_be_categories = self._may_be_categories and later._may_be_categories
        if not (joined._may_be_range or joined._may_be_categories):
            raise ValueError(
                "a feature that holds numbers in one part holds categories in the other"
            )
        joined._range = self._range.merge(later._range)
        joined._categories = self._categories.merge(later._categories)
        return joined


def _is_number(x: Any) -> bool:
    return hasattr(type(x), "__float__") and not isinstance(x, (bool, np.bool_, str, bytes))
