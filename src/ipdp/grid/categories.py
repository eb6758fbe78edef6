"""Categories that come and go with the window."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.counts import WindowedCounts, in_order
from ipdp.core.jsonable import encode_name
from ipdp.core.typing import Array, State
from ipdp.core.validation import whole_number
from ipdp.grid.base import MOST_POINTS, RUG_SIZE, Grid, Key, is_missing, need_points


class Categories(Grid):
    """One point for each category that occurred among the last `window` values.

    Parameters
    ----------
    size
        The most points there can be; the most frequent categories have them.
    window
        Number of values to look back on. A category that is not among them has no point; what is
        known of it is kept for a while, in case it comes back.
    warm_up, missing
        As in `MinMax`.

    Examples
    --------
    >>> grid = Categories(window=3)
    >>> for x in ["red", "green", "blue", "green"]:
    ...     grid.update(x)
    >>> grid.points
    array(['blue', 'green'], dtype=object)
    """

    categorical = True
    _settings = ("size", "window", *Grid._settings)

    def __init__(
        self, size: int = 20, window: int = 1000, *, warm_up: int = 20, missing: bool = False
    ) -> None:
        super().__init__(warm_up=warm_up, missing=missing)
        self.size = whole_number("size", size, most=MOST_POINTS)
        self.window = whole_number("window", window)
        self._counts = WindowedCounts(window=window)
        self._points: Array = np.empty(0, dtype=object)
        self._keys: tuple[Key, ...] = ()
        self._points_of = -1
        self._ranks: dict[Any, int] = {}
        self._n_arranged = 0

    def arrange(self, categories: Sequence[Any]) -> None:
        self._ranks = {category: k for k, category in enumerate(categories)}
        self._points_of = -1
        self._n_arranged += 1

    def admit(self, x: Any) -> Any:
        return admit_category(x)

    @property
    def admits_numbers(self) -> bool:
        return type(self).admit is Categories.admit

    def update(self, x: Any) -> None:
        self._counts.update(x)

    @property
    def points(self) -> Array:
        self._refresh()
        return self._points

    @property
    def keys(self) -> tuple[Key, ...]:
        self._refresh()
        return self._keys

    def _refresh(self) -> None:
        need_points(self)
        if self._points_of == self._counts.version and not self.is_crowded:
            return
        self._points_of = self._counts.version
        categories = in_order([x for x, _ in self._counts.most_common(self.size)])
        if self._ranks:  # what is not among them comes last
            last = len(self._ranks)
            categories = tuple(sorted(categories, key=lambda x: self._ranks.get(x, last)))
        keys = category_keys(categories)
        if keys != self._keys:
            self._keys = keys
            self._points = np.empty(len(keys), dtype=object)
            self._points[:] = categories

    @property
    def rug(self) -> Array:
        recent = self._counts.recent[-RUG_SIZE:]
        rug = np.empty(len(recent), dtype=object)
        rug[:] = recent
        return rug

    @property
    def n_values(self) -> int:
        return self._counts.n_values

    @property
    def counts(self) -> WindowedCounts:
        """How often each category occurred in the window."""
        return self._counts

    @property
    def kind(self) -> type | None:
        """The type of all categories of the window, if each has a point; else None."""
        kinds = set(map(type, self._counts))
        return kinds.pop() if len(kinds) == 1 and len(self._counts) <= self.size else None

    @property
    def n_in_window(self) -> int:
        """How many values the window holds."""
        return min(self.n_values, self.window)

    @property
    def n_categories(self) -> int:
        """How many categories the window holds, with a point or without."""
        return len(self._counts)

    @property
    def is_crowded(self) -> bool:
        """Whether not all have a point: then the counts decide, at every step."""
        return len(self._counts) > self.size

    @property
    def version(self) -> int:
        """Another one whenever a category has come or gone, or they are in another order."""
        return self._counts.version + self._n_arranged

    @property
    def state(self) -> State:
        state: State = {"counts": self._counts.state}
        return {**state, "order": list(self._ranks)} if self._ranks else state

    @state.setter
    def state(self, state: State) -> None:
        self._counts.state = state["counts"]
        self.arrange(schema.categories(state, "order") if "order" in state else ())
        self._points_of = -1

    def merge(self, later: Categories) -> Categories:
        joined = type(self)(**self.settings)
        joined._counts = self._counts.merge(later._counts)
        joined.arrange(list(self._ranks or later._ranks))
        return joined


def admit_category(x: Any) -> Any:
    """A category as it is kept, None if it is missing; TypeError if it cannot be one."""
    if type(x) is str:
        return x
    if is_missing(x):
        return None
    if isinstance(x, np.generic):
        return x.item()
    if not isinstance(x, Hashable) or isinstance(x, tuple):
        raise TypeError(f"a value of type {type(x).__name__} cannot be a category")
    if not isinstance(x, (int, float)):
        encode_name(x)  # what cannot be saved is refused at once, not at the next checkpoint
    return x


def category_keys(categories: Iterable[Any]) -> tuple[Key, ...]:
    """Keys that are not taken for the numbers of points: category 3 is not the point no. 3."""
    return tuple((category,) for category in categories)
