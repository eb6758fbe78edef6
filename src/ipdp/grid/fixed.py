"""Points that the user gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from ipdp.core import schema
from ipdp.core.typing import Array, State
from ipdp.core.validation import is_name, listed
from ipdp.grid.base import RUG_SIZE, Key, NumberGrid, is_missing, numbered
from ipdp.grid.categories import admit_category, category_keys


class Fixed(NumberGrid):
    """Fixed points: numbers, or categories.

    There is no warm-up: the first observation already has a curve.

    Parameters
    ----------
    values
        The points. Numbers are put in ascending order; strings and booleans are categories and
        keep theirs.
    missing
        Whether a missing value is a point of its own.

    Examples
    --------
    >>> Fixed([3, 1, 2]).points
    array([1, 2, 3])
    >>> Fixed(["low", "high"]).points
    array(['low', 'high'], dtype=object)
    """

    _settings: ClassVar[tuple[str, ...]] = ("values", "missing")

    def __init__(self, values: Iterable[Any], *, missing: bool = False) -> None:
        super().__init__(warm_up=1, missing=missing)
        self.values = listed("values", values)
        self._recent: deque[Any] = deque(maxlen=RUG_SIZE)
        self._n = 0
        if not self.values or any(is_missing(value) for value in self.values):
            raise ValueError("values must hold at least one point, and no missing or infinite one")
        if not all(map(is_name, self.values)):
            raise ValueError("values must be finite numbers, or strings or booleans")
        if len(set(self.values)) < len(self.values):
            raise ValueError("values must be distinct")
        self.categorical = any(isinstance(v, (str, bool, np.bool_)) for v in self.values)
        self._points: Array
        if self.categorical:
            self._points = np.empty(len(self.values), dtype=object)
            self._points[:] = self.values
            self._keys: tuple[Key, ...] = category_keys(self.values)
        else:
            numbers = np.array(self.values)
            if numbers.dtype.kind not in "iuf" or numbers.ndim != 1:
                raise ValueError("values must be finite numbers, or strings or booleans")
            self._points = np.sort(numbers)
            self._keys = numbered(len(self._points))

    def admit(self, x: Any) -> Any:
        if self.categorical:
            return admit_category(x)
        return super().admit(x)

    def update(self, x: Any) -> None:
        self._n += 1
        self._recent.append(x)

    @property
    def ready(self) -> bool:
        return True

    @property
    def whole(self) -> bool:
        return self._points.dtype.kind == "i"

    @property
    def points(self) -> Array:
        return self._points

    @property
    def keys(self) -> tuple[Key, ...]:
        return self._keys

    @property
    def rug(self) -> Array:
        recent = list(self._recent)
        return np.array(recent, dtype=object) if self.categorical else np.sort(np.array(recent))

    @property
    def n_values(self) -> int:
        return self._n

    @property
    def state(self) -> State:
        return {"n": self._n, "recent": list(self._recent)}

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n=schema.count)
        recent = schema.categories(state, "recent")
        if not self.categorical:
            schema.check({"recent": recent}, recent=schema.each(schema.value))
        self._n = state["n"]
        self._recent = deque(recent, maxlen=RUG_SIZE)

    def merge(self, later: Self) -> Self:
        joined = type(self)(**self.settings)
        joined._n = self._n + later._n
        joined._recent = deque([*self._recent, *later._recent], maxlen=RUG_SIZE)
        return joined
