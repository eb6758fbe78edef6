"""Equidistant points in the current range of a feature."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.extremes import WindowedExtremes
from ipdp.core.reservoir import Reservoir, Select
from ipdp.core.typing import Array, State
from ipdp.core.validation import as_number, whole_number
from ipdp.core.words import shown
from ipdp.grid.base import MOST_POINTS, RUG_SIZE, Key, NumberGrid, Span, need_points, numbered


class RangeGrid(NumberGrid):
    """Equidistant points between the two ends of a range that moves with the data.

    Whole numbers get distinct whole points: all of them where the range has no more than `size`.

    Attributes
    ----------
    storage
        What keeps the values; its `version` changes whenever the range may have.
    """

    _settings = ("size", "window", *NumberGrid._settings)

    def __init__(
        self,
        size: int = 10,
        window: int = 1000,
        *,
        integers: bool | None = None,
        warm_up: int = 20,
        missing: bool = False,
    ) -> None:
        super().__init__(integers=integers, warm_up=warm_up, missing=missing)
        self.size = whole_number("size", size, least=2, most=MOST_POINTS)
        self.window = whole_number("window", window)
        self._fractions = np.arange(size) / (size - 1)
        self._points: Array = np.empty(0)
        self._points_of = -1
        self._points_between: Any = None
        self.storage: Any = self._new_storage()

    @abstractmethod
    def _new_storage(self) -> WindowedExtremes | Reservoir:
        """What keeps the values."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """The two ends between which the points lie."""

    def update(self, x: float) -> None:
        self.storage.update(x)

    @property
    def n_values(self) -> int:
        return int(self.storage.n_values)

    @property
    def intake(self) -> Any:
        return self.storage.kernel if type(self).update is RangeGrid.update else None

    @property
    def whole(self) -> bool:
        return bool(self.storage.kernel.whole) if self.integers is None else self.integers

    @property
    def state(self) -> State:
        return self._saved()

    @state.setter
    def state(self, state: State) -> None:
        self._restore(state)

    def _saved(self) -> State:
        return {"storage": self.storage.state}

    def _restore(self, state: State) -> None:
        saved = state["storage"]
        if "only_integers" in state:  # as the first version wrote it
            saved = {**saved, "whole": state["only_integers"]}
        self.storage.state = saved
        self._points_of, self._points_between = -1, None

    def merge(self, later: Self) -> Self:
        joined = type(self)(**self.settings)
        joined.storage = self.storage.merge(later.storage)
        return joined

    @property
    def is_even(self) -> bool:
        """Whether the points are those that this class spreads over the range."""
        kind = type(self)
        own, ours = ((c.points, c._refresh, c._spread) for c in (kind, RangeGrid))
        return own == ours

    @property
    def span(self) -> Span | None:
        if self.whole or self.missing or not self.is_even:
            return None
        return self._span()

    @property
    def ends(self) -> Span:
        """The range as the kernels read it."""
        return self._span()

    def _span(self) -> Span:
        return _RangeSpan(self)

    @property
    def points(self) -> Array:
        version = self.storage.version
        if version != self._points_of:
            if not version:
                need_points(self)
            self._points_of = version
            self._refresh()
        return self._points

    def _refresh(self) -> None:
        low, high = self.range
        between = (low, high, self.whole)
        if between != self._points_between:
            self._points_between = between
            self._points = self._spread(low, high)

    def _spread(self, low: float, high: float) -> Array:
        if self.whole:
            first, last = math.floor(low + 0.5), math.floor(high + 0.5)
            if last - first < self.size:
                return np.arange(first, last + 1)
        # x_min + (k - 1) / (m - 1) (x_max - x_min), the paper's model evaluation point.
        # As floats: numpy 1 turns whole numbers beyond 64 bits into objects.
        points = self._fractions * float(high - low)
        points += float(low)
        # Rounded up from the middle, so that points at least 1 apart stay distinct.
        return np.floor(points + 0.5).astype(np.int64) if self.whole else points

    @property
    def keys(self) -> tuple[Key, ...]:
        return numbered(self.size if self.is_even and not self.whole else len(self.points))


class _RangeSpan:
    """The range of a grid that has no kernel for it."""

    def __init__(self, grid: RangeGrid) -> None:
        self._grid = grid

    @property
    def version(self) -> int:
        return int(self._grid.storage.version)

    def ends(self) -> tuple[float, float]:
        return self._grid.range


class MinMax(RangeGrid):
    """Equidistant points between the smallest and the largest of the last `window` values.

    The extremes come from Algorithm 2 and are exact.

    Parameters
    ----------
    size
        Number of points, m in the paper.
    window
        Number of values to look back on.
    integers
        Whether the points are whole numbers; None: as long as every value has been one.
    warm_up
        Number of values that are collected before the first points are given out.
    missing
        Whether a missing value is a point of its own.

    Examples
    --------
    >>> grid = MinMax(size=5, window=3)
    >>> for x in [90.0, 0.0, 2.0, 4.0]:
    ...     grid.update(x)
    >>> grid.points
    array([0., 1., 2., 3., 4.])
    """

    def _new_storage(self) -> WindowedExtremes:
        storage = WindowedExtremes(window=self.window)
        storage.kernel.recent = deque(maxlen=RUG_SIZE)
        return storage

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.storage.kernel.ends()
        return low, high

    def _span(self) -> Span:
        kernel: Span = self.storage.kernel
        return kernel if type(self).range is MinMax.range else super()._span()

    @property
    def rug(self) -> Array:
        return np.sort(np.array(self.storage.kernel.recent))

    def _saved(self) -> State:
        return {**super()._saved(), "recent": list(self.storage.kernel.recent)}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        schema.check(state, recent=schema.each(schema.value))
        if self.n_values:
            schema.check({"range": self.range}, range=schema.each(schema.value))
        self.storage.kernel.recent = deque(state["recent"], maxlen=RUG_SIZE)

    def merge(self, later: Self) -> Self:
        joined = super().merge(later)
        recent = [*self.storage.kernel.recent, *later.storage.kernel.recent]
        joined.storage.kernel.recent = deque(recent, maxlen=RUG_SIZE)
        return joined


class _ReservoirGrid(RangeGrid):
    """A grid that reads its points off a reservoir (Algorithm 3)."""

    _settings = ("storage_size", "select", "seed", *RangeGrid._settings)

    def __init__(
        self,
        size: int = 10,
        *,
        window: int = 1000,
        storage_size: int | None = None,
        select: Select = "oldest",
        seed: int | None = None,
        integers: bool | None = None,
        warm_up: int = 20,
        missing: bool = False,
    ) -> None:
        self.storage_size = storage_size
        self.select: Select = select
        self.seed = seed
        super().__init__(size, window, integers=integers, warm_up=warm_up, missing=missing)

    def _new_storage(self) -> Reservoir:
        size = self.storage_size
        size = min(self.window, 500) if size is None else whole_number("storage_size", size)
        if size > self.window:
            raise ValueError(f"storage_size must be at most window = {self.window}, got {size}")
        return Reservoir(
            size=size, probability=size / self.window, select=self.select, seed=self.seed
        )

    def take(self, values: Sequence[Any]) -> None:
        if self.n_values or len(values) > self.storage.size:
            super().take(values)
        else:
            self.storage.fill(values)

    def _restore(self, state: State) -> None:
        super()._restore(state)
        schema.check({"values": self.storage.values}, values=schema.each(schema.value))

    @property
    def rug(self) -> Array:
        values = np.array(self.storage.values)
        if len(values) <= RUG_SIZE:
            return values
        evenly: Array = values[np.linspace(0, len(values) - 1, RUG_SIZE).round().astype(int)]
        return evenly


class QuantileRange(_ReservoirGrid):
    """Equidistant points between two quantiles of the recent values.

    Robust against outliers, which stretch the grid of `MinMax` for a whole window. The values are
    kept by Algorithm 3: `storage_size` of them stand for the last `window`, so that each one
    enters with a probability of `storage_size / window`.

    Parameters
    ----------
    size
        Number of points, m in the paper.
    lower, upper
        The two quantiles; 5 % and 95 % as in the paper.
    window
        Number of values to look back on.
    storage_size
        Number of values kept, L in the paper; all of the window up to 500 if None.
    select
        Which value makes room for a new one; see `ipdp.Reservoir`.
    seed
        Start of its own random numbers; the explainer gives one to each feature if None.
    integers, warm_up, missing
        As in `MinMax`.

    Examples
    --------
    >>> grid = QuantileRange(size=3, lower=0.1, upper=0.9, window=101)
    >>> for x in range(101):
    ...     grid.update(x / 100)
    >>> grid.points
    array([0.1, 0.5, 0.9])
    """

    _settings = ("lower", "upper", *_ReservoirGrid._settings)

    def __init__(
        self,
        size: int = 10,
        lower: float = 0.05,
        upper: float = 0.95,
        *,
        window: int = 1000,
        storage_size: int | None = None,
        select: Select = "oldest",
        seed: int | None = None,
        integers: bool | None = None,
        warm_up: int = 20,
        missing: bool = False,
    ) -> None:
        super().__init__(
            size,
            window=window,
            storage_size=storage_size,
            select=select,
            seed=seed,
            integers=integers,
            warm_up=warm_up,
            missing=missing,
        )
        if not 0 <= as_number(lower) < as_number(upper) <= 1:
            given = f"{shown(lower)} and {shown(upper)}"
            raise ValueError(f"0 <= lower < upper <= 1 must hold, got {given}")
        self.lower = as_number(lower)
        self.upper = as_number(upper)

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.storage.interval(self.lower, self.upper)
        return low, high

    def _span(self) -> Span:
        if type(self).range is not QuantileRange.range:
            return super()._span()
        span: Span = kernels.current.QuantileSpan(self.storage.kernel, self.lower, self.upper)
        return span


class Quantiles(_ReservoirGrid):
    """The quantiles of the recent values themselves: points where the data are.

    Parameters
    ----------
    size
        Number of points; they are the quantiles 0, 1 / (size - 1), ..., 1.
    window, storage_size, select, seed, integers, warm_up, missing
        As in `QuantileRange`.

    Examples
    --------
    >>> grid = Quantiles(size=3, window=5)
    >>> for x in [1.0, 2.0, 4.0, 8.0, 16.0]:
    ...     grid.update(x)
    >>> grid.points
    array([ 1.,  4., 16.])
    """

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.storage.interval(0, 1)
        return low, high

    def _refresh(self) -> None:
        quantile = self.storage.quantile
        points = np.array([quantile(q) for q in self._fractions.tolist()], dtype=float)
        self._points = np.unique(np.floor(points + 0.5).astype(np.int64)) if self.whole else points
