"""Points at fixed positions, which come and go with the range: the estimator `regrid`.

Under virtual drift the paper's points move, and the mean of the model's outputs along the way is
not its output at the mean position, unless it is linear there. A lattice keeps points at fixed
positions: knots at a distance of 2^j. A knot's mean is that of the model's outputs at exactly this
position; when the range moves, knots are added on one side and removed on the other.

Knots of whole numbers are multiples of 2^j. Those of other numbers are thirds: (k + 1/3) 2^j where
j is even, (k + 2/3) 2^j where it is odd. A lattice of half the distance contains them too, and none
is a round number, where models like to have their steps.
docs/notes/regrid.md has what was tried and how the constants were found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.times import Kind
from ipdp.core.typing import Array, State
from ipdp.grid.auto import Auto
from ipdp.grid.base import Grid, Key, need_points
from ipdp.grid.doubt import Looks
from ipdp.grid.ranges import RangeGrid
from ipdp.grid.steps import Steps, finest

# A step is at most the distance of the grid's points and more than half of it. It is halved or
# doubled only when it is beyond that by this many octaves.
_SLACK = 0.15
# Where the range has outgrown the knots, they reach this many steps beyond it from then on; and a
# knot at the end stays until the range has withdrawn from it by this many steps. A range that comes
# from a sample is never at rest: with less room, knots would come and go three times as often.
_AHEAD, _HYSTERESIS = 0.5, 2.5
# A knot near a point that is not one of equidistant ones stays until that is so many steps away.
_AWAY = 0.75
# Points that are not equidistant are rounded to a lattice this much finer than their distance.
_FINENESS = 4

# No end of a range is between these.
_NOWHERE = (math.inf, -math.inf, math.inf, -math.inf)


class Lattice(Grid):
    """The points of another grid, moved to the nearest knots of a lattice.

    As many points as the other grid has, up to about twice as many. Categories and fixed points
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
    >>> lattice.points.round(2).tolist()
    [-0.17, 0.33, 0.83, 1.33, 1.83, 2.33, 2.83, 3.33, 3.83, 4.33]
    """

    _settings = ("grid",)

    def __init__(self, grid: Grid) -> None:
        super().__init__(warm_up=grid.warm_up, missing=grid.missing)
        self.grid = grid
        self._exponent: int | None = None
        self._thirds = False
        self._first = self._last = 0
        self._extra: float | None = None
        self._held: list[tuple[float, int]] = []
        self._points: Array = np.empty(0)
        self._keys: tuple[Key, ...] = ()
        # Whether the numbers were whole when the knots were last looked at, and between which
        # values each end of the range may be without a change of the knots.
        self._whole: bool | None = None
        self._bounds = _NOWHERE
        self._watch: Any = None
        self._only_grows = False  # as far as what takes the values knows
        self.refresh()

    @property
    def _source(self) -> RangeGrid | None:
        """The grid with a range, if there is one at the moment."""
        grid: Grid = self.grid
        if type(grid) is Auto:
            grid = grid.chosen
        return grid if isinstance(grid, RangeGrid) else None

    def admit(self, x: Any) -> Any:
        return self.grid.admit(x)

    @property
    def time(self) -> Kind | None:
        return self.grid.time

    def be_wary(self) -> None:
        self.grid.be_wary()

    def trust(self) -> None:
        self.grid.trust()
        self._forget_watch()

    @property
    def looks_like(self) -> Looks | None:
        return self.grid.looks_like

    @property
    def is_sure_of_looks(self) -> bool:
        return self.grid.is_sure_of_looks

    def arrange(self, categories: Sequence[Any]) -> None:
        self.grid.arrange(categories)

    @property
    def admits_numbers(self) -> bool:
        return self.grid.admits_numbers

    def update(self, x: Any) -> None:
        if self._source is None or self._only_grows:
            # There may be too many categories now, or a range; or it has ceased to grow.
            self._forget_watch()
        self.grid.update(x)
        # Here and not where points are read: the knots must not depend on who looks when.
        source = self._source
        if source is not None and _is_time(source.n_values, source.whole is self._whole):
            self.refresh()

    @property
    def intake(self) -> Any:
        grid, source = self.grid, self._source
        if type(grid) is not Auto or source is None or grid.looks_like is None:
            return self.watch
        watch = self._watch_of(source.intake, source)
        growth = grid.growth_watch_for(self, watch) if watch is not None else None
        self._watch, self._only_grows = (None, False) if growth is None else (watch, True)
        return growth

    @property
    def watch(self) -> Any:
        if self._watch is None:
            source = self._source
            if source is not None:
                # Where there is a storage that may take the values, the grid keeps its kind.
                self._watch = self._watch_of(self.grid.intake, source)
            elif type(self.grid) is Auto:
                self._watch = self.grid.watch_for(self)
        return self._watch

    def _watch_of(self, storage: Any, source: RangeGrid) -> Any:
        if storage is None:
            return None
        watch = kernels.current.Watch(storage, source.ends, self)
        watch.expect(self._whole, self._bounds)
        return watch

    def _forget_watch(self) -> None:
        self._watch, self._only_grows = None, False

    def refresh(self) -> None:
        """Let the knots follow the range; `update` does it."""
        source = self._source
        if source is not None and source.n_values:
            self._follow(source)

    def _follow(self, source: RangeGrid) -> None:
        low, high = source.range
        low_from, low_to, high_from, high_to = self._bounds
        stays = low_from <= low <= low_to and high_from <= high <= high_to
        if stays and source.whole is self._whole:
            return
        self._whole = source.whole
        knots = self._knots(low, high, source)
        # Beyond 64 bits numpy would take them for objects.
        number = int if source.whole and all(abs(knot) < 2**63 for knot in knots) else float
        knots = [number(knot) for knot in knots]
        keys, points = tuple(knots), np.array(knots)
        if keys != self._keys:
            self._keys, self._points = keys, points
        elif points.dtype != self._points.dtype:
            self._points = points  # the same places, no longer whole numbers
        if self._watch is not None:
            self._watch.expect(self._whole, self._bounds)
            self._watch.version += 1

    def _knots(self, low: float, high: float, source: RangeGrid) -> list[float]:
        if low == high:
            self._exponent, self._bounds = None, (low, low, high, high)
            return [low]
        if self._exponent is None or not self.ready:
            self._thirds = not source.whole
            # Where a feature was constant, much of its data is.
            constant = self._points.tolist() if self.ready else []
            self._extra = constant[0] if len(constant) == 1 else None
        if not source.is_even:
            self._bounds = _NOWHERE
            self._exponent = None
            return self._nearest(source)
        return self._covering(low, high, source)

    def _covering(self, low: float, high: float, source: RangeGrid) -> list[float]:
        """All knots from one below the range to one above it."""
        distance = math.log2(high - low) - math.log2(source.size - 1)
        steps = self._steps
        if steps is not None and -_SLACK <= distance - steps.exponent <= 1 + _SLACK:
            self._move_ends(low, high, steps)
        else:
            least = finest(low, high, whole=source.whole, thirds=self._thirds)
            self._exponent = max(math.floor(distance), least)
            steps = Steps(self._exponent, self._thirds)
            ahead = self._ahead(steps)
            self._first, self._last = steps.below(low - ahead), steps.above(high + ahead)
        knots = [steps.at(k) for k in range(self._first, self._last + 1)]
        room = _HYSTERESIS * steps.size
        self._bounds = (knots[0], knots[0] + room, knots[-1] - room, knots[-1])
        return self._with_extra(knots)

    @property
    def _steps(self) -> Steps | None:
        return None if self._exponent is None else Steps(self._exponent, self._thirds)

    def _move_ends(self, low: float, high: float, steps: Steps) -> None:
        ahead, room = self._ahead(steps), _HYSTERESIS * steps.size
        if not 0 <= low - steps.at(self._first) <= room:
            self._first = steps.below(low - ahead)
        if not 0 <= steps.at(self._last) - high <= room:
            self._last = steps.above(high + ahead)

    def _ahead(self, steps: Steps) -> float:
        # Whole numbers may count something, which is never below none.
        return 0.0 if self._whole else _AHEAD * steps.size

    def _with_extra(self, knots: list[float]) -> list[float]:
        extra = self._extra
        if extra is None or not knots[0] <= extra <= knots[-1]:
            self._extra = None
            return knots
        return knots if extra in knots else sorted([*knots, extra])

    def _nearest(self, source: RangeGrid) -> list[float]:
        """The knots nearest to the points, each of a lattice that is as fine as its neighbourhood.

        A knot is held until its point is well away, or its neighbourhood is another one.
        """
        points = sorted(set(source.points.tolist()))
        low, high = source.range
        gaps = [high - low, *(b - a for a, b in pairwise(points)), high - low]
        held = self._held if len(self._held) == len(points) else [(math.nan, 0)] * len(points)
        self._held = []
        for point, around, old in zip(points, pairwise(gaps), held, strict=True):
            wanted = math.log2(min(around)) - math.log2(_FINENESS)
            is_near = abs(point - old[0]) <= math.ldexp(_AWAY, old[1])
            if is_near and abs(wanted - old[1]) <= 1:
                self._held.append(old)
                continue
            least = finest(point, point, whole=source.whole, thirds=self._thirds)
            steps = Steps(max(round(wanted), least), self._thirds)
            self._held.append((steps.nearest(point), steps.exponent))
        return sorted({knot for knot, _ in self._held})

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
        if self._source is None:
            return self.grid.points
        if not self._keys:
            need_points(self)
        return self._points

    @property
    def keys(self) -> tuple[Key, ...]:
        if self._source is None:
            return self.grid.keys
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

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_watch": None, "_only_grows": False}

    def fresh(self, seed: int | None = None) -> Grid:
        return Lattice(self.grid.fresh(seed))

    def copy(self) -> Grid:
        twin = Lattice(self.grid.copy())
        twin._restore(self._own_state)
        return twin

    @property
    def _own_state(self) -> State:
        return {
            "whole": self._whole,
            "exponent": self._exponent,
            "thirds": self._thirds,
            "first": self._first,
            "last": self._last,
            "extra": self._extra,
            "held": [list(held) for held in self._held],
            "bounds": None if self._bounds == _NOWHERE else list(self._bounds),
            "knots": self._points.tolist(),
        }

    def _restore(self, state: State) -> None:
        _check(state)
        self._exponent = state["exponent"]
        self._first, self._last = state["first"], state["last"]
        # Older states have knots without their exponents: they are chosen anew.
        self._held = [tuple(held) for held in state["held"] if isinstance(held, list)]
        self._points = np.array(state["knots"])
        self._keys = tuple(state["knots"])
        # Older states have none of these: their knots are multiples, and are looked at anew.
        self._thirds, self._extra = state.get("thirds", False), state.get("extra")
        self._whole = state.get("whole")
        self._bounds = tuple(state.get("bounds") or _NOWHERE)
        self._forget_watch()

    @property
    def state(self) -> State:
        return {**self._own_state, "grid": self.grid.state}

    @state.setter
    def state(self, state: State) -> None:
        self.grid.state = state["grid"]
        self._restore(state)
        if self.grid.ready and not len(self._points):
            self._bounds = _NOWHERE
            self.refresh()  # or there would be no point to ask about

    def merge(self, later: Lattice) -> Lattice:
        joined = Lattice(self.grid.merge(later.grid))
        joined._restore(later._own_state if later.n_values else self._own_state)
        joined._bounds = _NOWHERE
        joined.refresh()
        return joined


_WHOLE = schema.Kind("a whole number", lambda n: type(n) is int and abs(n) < 2**200)
# A knot and its exponent; of older states the knot alone.
_HELD = schema.Kind(
    "a knot", lambda h: schema.value.fits(h) or (schema.each(schema.value, 2).fits(h))
)


def _check(state: State) -> None:
    """Raise unless a state is one of knots that ascend."""
    may, whole = schema.maybe, schema.maybe(_WHOLE)
    schema.check(state, exponent=whole, first=whole, last=whole, whole=may(schema.flag))
    schema.check(
        state, knots=schema.each(schema.value), thirds=schema.flag, extra=may(schema.value)
    )
    schema.check(
        state, bounds=may(schema.each(schema.number, len(_NOWHERE))), held=schema.each(_HELD)
    )
    if any(a >= b for a, b in pairwise(state["knots"])):
        raise ValueError("the state is damaged: the knots of a grid do not ascend")


def _is_time(n: int, is_same: bool) -> bool:
    """Whether to look at the range after n values; `kernels.storages.Watch` does the same."""
    return n <= 64 or not n % 8 or not is_same
