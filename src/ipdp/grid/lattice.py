"""Points at fixed positions, which come and go with the range: the estimator `regrid`.

Under virtual drift the paper's points move, and the mean of the model's outputs along the way is
not its output at the mean position, unless it is linear there. A lattice keeps points at fixed
positions: knots at the multiples of a step 2^j. A knot's mean is that of the model's outputs at
exactly this position; when the range moves, knots are added on one side and removed on the other.
docs/notes/regrid.md has what was tried and how the constants were found.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from ipdp.core.typing import Array, State
from ipdp.grid.auto import Auto
from ipdp.grid.base import Grid, Key, need_points
from ipdp.grid.fixed import Fixed
from ipdp.grid.ranges import RangeGrid

# The lattice is halved or doubled only when the number of knots leaves this share of the size.
_FEWEST, _MOST = 0.6, 1.4
# A knot at the end stays until the range has withdrawn from it by this many steps.
_HYSTERESIS = 1.5
# Points that are not equidistant are rounded to a lattice this much finer than their distance.
_FINENESS = 4

AnyGrid = TypeVar("AnyGrid", bound=Grid)


class Lattice(Grid):
    """The points of another grid, moved to the nearest knots of a lattice.

    Between 0.6 and 1.4 times as many points as the other grid has. Categories and fixed points
    stay as they are.

    Parameters
    ----------
    grid
        The grid whose range is to be covered.

    Examples
    --------
    >>> from ipdp.grid import MinMax
    >>> lattice = Lattice(MinMax(size=5))
    >>> for x in [0.3, 3.9]:
    ...     lattice.update(x)
    >>> lattice.points
    array([0., 1., 2., 3., 4.])
    """

    _settings = ("grid",)

    def __init__(self, grid: Grid) -> None:
        super().__init__(warm_up=grid.warm_up, missing=grid.missing)
        self.grid = grid
        self._seen: Any = None
        self._exponent: int | None = None
        self._first = self._last = 0
        self._held: list[float] = []
        self._points: Array = np.empty(0)
        self._keys: tuple[Key, ...] = ()
        self._refresh()

    @property
    def _source(self) -> RangeGrid | None:
        """The grid with a range, if there is one at the moment."""
        grid: Grid = self.grid
        if isinstance(grid, Auto):
            grid = grid.chosen
        return grid if isinstance(grid, RangeGrid) else None

    def admit(self, x: Any) -> Any:
        return self.grid.admit(x)

    @property
    def admits_numbers(self) -> bool:
        return self.grid.admits_numbers

    def update(self, x: Any) -> None:
        self.grid.update(x)
        # Here and not where points are read: the knots must not depend on who looks when.
        self._refresh()

    def _refresh(self) -> None:
        source = self._source
        if source is not None and source.n_values:
            self._follow(source)
        elif source is None and (self.grid.n_values or isinstance(self.grid, Fixed)):
            self._points, self._keys = self.grid.points, self.grid.keys

    def _follow(self, source: RangeGrid) -> None:
        now = (source.storage.version, source.whole)
        if now == self._seen:
            return
        self._seen = now
        low, high = source.range
        if low == high:
            self._exponent = None
            knots = [low]
        elif not source.is_even:
            knots = self._nearest(source, high - low)
        else:
            knots = self._covering(low, high, source)
        if source.whole:
            knots = [int(knot) for knot in knots]
        keys, points = tuple(knots), np.array(knots)
        if keys != self._keys:
            self._keys, self._points = keys, points
        elif points.dtype != self._points.dtype:
            self._points = points  # the same places, no longer whole numbers

    def _covering(self, low: float, high: float, source: RangeGrid) -> list[float]:
        """All knots from the last below the range to the first above it."""
        exponent, size = self._exponent, source.size
        if exponent is not None:
            self._move_ends(low, high, exponent)
            if _FEWEST * size <= self._last - self._first + 1 <= _MOST * size:
                return self._knots(exponent)
        exponent = _exponent_for(low, high, size, source.whole)
        if exponent != self._exponent:
            self._exponent = exponent
            self._first, self._last = _ends(low, high, exponent)
        return self._knots(exponent)

    def _move_ends(self, low: float, high: float, exponent: int) -> None:
        step = math.ldexp(1.0, exponent)
        first, last = _ends(low, high, exponent)
        if not 0 <= low - self._first * step <= _HYSTERESIS * step:
            self._first = first
        if not 0 <= self._last * step - high <= _HYSTERESIS * step:
            self._last = last

    def _knots(self, exponent: int) -> list[float]:
        # k 2^j is exact, so that a knot is the same number on every lattice that has it.
        return [math.ldexp(k, exponent) for k in range(self._first, self._last + 1)]

    def _nearest(self, source: RangeGrid, span: float) -> list[float]:
        """The knots nearest to the points; each is held until its point is well away."""
        wanted = math.log2(span) - math.log2(_FINENESS * source.size)
        if self._exponent is None or abs(wanted - self._exponent) > 1:
            exponent = max(round(wanted), _finest(*source.range, source.whole))
            if exponent != self._exponent:
                self._exponent, self._held = exponent, []
        step = math.ldexp(1.0, self._exponent)
        points = source.points.tolist()
        held = self._held if len(self._held) == len(points) else [math.nan] * len(points)
        self._held = [
            knot if abs(point - knot) <= _HYSTERESIS / 2 * step else round(point / step) * step
            for point, knot in zip(points, held, strict=True)
        ]
        return sorted(set(self._held))

    @property
    def limits(self) -> tuple[float, float] | None:
        source = self._source
        if source is None or self._exponent is None:
            return None
        low, high = source.range
        # The knots further out only carry the curve to its ends; few data are behind them.
        half = math.ldexp(0.5, self._exponent)
        return low - half, high + half

    @property
    def categorical(self) -> bool:  # type: ignore[override]
        return self.grid.categorical

    @property
    def whole(self) -> bool:
        return self.grid.whole

    @property
    def points(self) -> Array:
        if not self._keys:
            need_points(self)
        return self._points

    @property
    def keys(self) -> tuple[Key, ...]:
        if not self._keys:
            need_points(self)
        return self._keys

    @property
    def rug(self) -> Array:
        return self.grid.rug

    @property
    def n_values(self) -> int:
        return self.grid.n_values

    @property
    def ready(self) -> bool:
        return self.grid.ready

    def settle(self) -> None:
        self.grid.settle()

    def fresh(self, seed: int | None = None) -> Grid:
        return Lattice(self.grid.fresh(seed))

    def copy(self) -> Grid:
        twin = Lattice(self.grid.copy())
        twin._restore(self._own_state)
        return twin

    @property
    def _own_state(self) -> State:
        return {
            "seen": None if self._seen is None else list(self._seen),
            "exponent": self._exponent,
            "first": self._first,
            "last": self._last,
            "held": list(self._held),
            "knots": self._points.tolist(),
        }

    def _restore(self, state: State) -> None:
        self._seen = None if state["seen"] is None else tuple(state["seen"])
        self._exponent = state["exponent"]
        self._first, self._last = state["first"], state["last"]
        self._held = list(state["held"])
        self._points = np.array(state["knots"])
        self._keys = tuple(state["knots"])
        if self._source is None:
            self._refresh()

    @property
    def state(self) -> State:
        return {**self._own_state, "grid": self.grid.state}

    @state.setter
    def state(self, state: State) -> None:
        self.grid.state = state["grid"]
        self._restore(state)

    def merge(self, later: Lattice) -> Lattice:
        joined = Lattice(self.grid.merge(later.grid))
        joined._restore(later._own_state if later.n_values else self._own_state)
        joined._seen = None
        joined._refresh()
        return joined


def _ends(low: float, high: float, exponent: int) -> tuple[int, int]:
    step = math.ldexp(1.0, exponent)
    return math.floor(low / step), math.ceil(high / step)


def _exponent_for(low: float, high: float, size: int, whole: bool) -> int:
    """The step, as a power of two, whose number of knots is nearest to the size."""
    guess = math.floor(math.log2(high - low) - math.log2(size))
    finest = _finest(low, high, whole)

    def distance(exponent: int) -> float:
        first, last = _ends(low, high, exponent)
        return abs(math.log((last - first + 1) / size))

    return min((max(guess + k, finest) for k in (0, 1, 2)), key=distance)


def _finest(low: float, high: float, whole: bool) -> int:
    """The finest step that tells knots apart: whole numbers, or what the floats there can hold."""
    ulp = math.frexp(math.ulp(max(abs(low), abs(high))))[1] - 1
    return max(0, ulp) if whole else ulp
