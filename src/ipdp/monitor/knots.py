"""Fixed places on the axes, at which ICE curves on a moving grid can be compared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import encode_name
from ipdp.core.typing import Array, FloatArray, State
from ipdp.monitor.features import Layout, axis_of, probe_of

# Knots keep this share of the range away from its ends, which wander even if nothing changes,
_MARGIN = 0.05
# and lie where the data are: between these quantiles of the values, if there are enough of them.
_QUANTILES = 0.02, 0.98
_ENOUGH = 50
# A knot may lie so far outside of the current range, as a share of it, and still be compared.
_TOLERANCE = 0.05


class Knots:
    """The places at which each feature's curves are compared.

    A number's knots divide the range that it had when the reference was taken; an ICE curve is
    interpolated there. A category's knots are the categories of that time. `numbers` are those of
    the targets in the explainer's layout.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        # For each effect its knots, (n_knots,) numbers or categories; None before they are taken.
        self.places: list[Array | None] = [None] * len(self.numbers)
        self._layout: Layout | None = None  # for which the knots are arranged

    def take(
        self,
        row: int,
        layout: Layout,
        positions: FloatArray,
        values: Sequence[float] = (),
        at_most: int | None = None,
    ) -> None:
        """Take new knots of an effect from where its points, and recent values, are now.

        Of more numbers than `at_most` so many are taken, evenly; of categories all.
        """
        self.drop(row)
        axis = axis_of(layout, positions, self.numbers[row])
        if axis is not None and axis.dtype != object:
            if at_most is not None and len(axis) > at_most:
                axis = axis[np.linspace(0, len(axis) - 1, at_most).round().astype(int)]
            axis = _inner(axis, values)
        self.places[row] = axis

    def drop(self, row: int) -> None:
        """Forget the knots of an effect."""
        self.places[row] = None
        self._layout = None

    def read(
        self, layout: Layout, positions: Sequence[FloatArray], values: FloatArray
    ) -> tuple[FloatArray, Array]:
        """Some ICE curves of one layout at the knots, and whose knots are all within its range.

        The curves have positions of shape (n_axes, n_points) each, and values of shape (n_curves,
        n_outputs, n_points). At the knots their shape is (n_curves, n_outputs, n_effects, width),
        0 beyond an effect's own knots; who is within its range is of shape (n_curves, n_effects).
        """
        if layout is not self._layout:
            self._arrange(layout)
            self._layout = layout
        # A grid stays as it is for a while: what is the same array is looked at once.
        distinct = {id(own): own[0] for own in positions}
        number = {key: k for k, key in enumerate(distinct)}
        which = np.array([number[id(own)] for own in positions])
        left, right, share, within = self._weigh(np.array(list(distinct.values())))
        n_curves, n_outputs, n_points = values.shape
        rows = np.arange(0, values.size, n_points).reshape(n_curves, n_outputs, 1, 1)
        low = values.take(rows + left[which][:, None])
        at_knots = values.take(rows + right[which][:, None])
        at_knots -= low
        at_knots *= share[which][:, None]
        at_knots += low
        at_knots *= self.has
        return at_knots, within[which]

    def _arrange(self, layout: Layout) -> None:
        """Which columns belong to which effect; where the knots are, as numbers."""
        n, width = len(self.numbers), max([1, *(len(p) for p in self.places if p is not None)])
        probes = [probe_of(layout, number) for number in self.numbers]
        size = max([p.stop - p.start for p in probes if p is not None], default=1)
        self._columns = np.zeros((n, size), dtype=int)
        self._filled = np.zeros((n, size), dtype=bool)
        self._by_number = np.zeros((n, 1), dtype=bool)
        self._knots = np.full((n, width), np.nan)
        self.has = np.zeros((n, width))
        for row, (probe, places) in enumerate(zip(probes, self.places, strict=True)):
            if places is None or probe is None:
                continue
            m = probe.stop - probe.start - probe.missing
            self._columns[row, :m] = np.arange(probe.start, probe.start + m)
            self._filled[row, :m] = True
            self.has[row, : len(places)] = 1.0
            categories = probe.categories[0]
            if (categories is None) != (places.dtype != object):
                continue  # numbers became categories: the knots stay out of range
            if categories is None:
                self._by_number[row] = True
                self._knots[row, : len(places)] = places
            else:
                known = {c: float(k) for k, c in enumerate(categories.tolist()[:m])}
                self._knots[row, : len(places)] = [known.get(c, np.nan) for c in places.tolist()]
        self.n_knots = np.maximum(self.has.sum(axis=1), 1.0)
        # Without knots, or with a category that is not there.
        self._lost = ((self.has > 0) & np.isnan(self._knots)).any(axis=1) | ~self.has.any(axis=1)
        self._last = np.maximum(self._filled.sum(axis=1, keepdims=True) - 1, 0)
        self._base = np.arange(n)[:, None] * size
        # A category is found by its number, a number by its position; both ascend.
        self._numbered = np.where(self._filled, np.arange(size, dtype=float), np.inf)
        self._positioned = self._filled & self._by_number

    def _weigh(self, positions: FloatArray) -> tuple[Array, Array, FloatArray, Array]:
        """Between which two columns each knot lies, how far along, and who is within its range."""
        axis = np.where(self._positioned, positions[:, self._columns], self._numbered)
        knots = self._knots
        right = np.count_nonzero(axis[:, :, None, :] <= knots[:, :, None], axis=3)
        np.minimum(np.maximum(right, 1, out=right), self._last, out=right)
        left = np.maximum(right - 1, 0)
        # Cells are picked by their flat index, which is quick: first within one grid, then in all.
        left += self._base
        right += self._base
        grid = np.arange(0, axis.size, self._columns.size)[:, None, None]
        low, high = axis.take(left + grid), axis.take(right + grid)
        first, end = axis[:, :, :1], axis.take(self._last + self._base + grid)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (knots - low) / (high - low)
            slack = _TOLERANCE * (end - first)
            outside = (knots < first - slack) | (knots > end + slack)
        # Not a number where there is no knot, or no such category: neither inside nor outside.
        share = np.minimum(np.maximum(np.nan_to_num(share), 0.0), 1.0)
        left, right = self._columns.take(left), self._columns.take(right)
        return left, right, share, ~(self._lost | outside.any(axis=2))

    @property
    def state(self) -> State:
        """The places, JSON-safe."""
        return {
            "places": [
                None if p is None else {"categories": p.dtype == object, "values": _saved(p)}
                for p in self.places
            ]
        }

    @state.setter
    def state(self, state: State) -> None:
        if len(state["places"]) != len(self.places):
            raise ValueError("the state is damaged: it has other features than the explainer")
        self.places = [None if saved is None else _restored(saved) for saved in state["places"]]
        self._layout = None


def _saved(places: Array) -> list[Any]:
    return [encode_name(place) for place in places.tolist()]


def _restored(saved: State) -> Array:
    """Places that were saved: numbers that ascend, or categories."""
    schema.check(saved, categories=schema.flag)
    values = schema.categories(saved, "values")
    if not values:
        raise ValueError("the state is damaged: a feature has no places")
    if not saved["categories"]:
        schema.check({"values": values}, values=schema.each(schema.value))
    places: Array = np.empty(len(values), dtype=object if saved["categories"] else float)
    places[:] = values
    if not saved["categories"] and (np.diff(places) <= 0).any():
        raise ValueError("the state is damaged: the places of a feature do not ascend")
    return places


def data_shares(places: Array, values: Sequence[Any]) -> FloatArray:
    """The share of the values that are nearest to each of some places; all alike if there are few.

    Places are numbers that ascend, or categories.
    """
    if places.dtype == object:
        number = {category: k for k, category in enumerate(places.tolist())}
        at = np.array([k for k in map(number.get, map(_key, values)) if k is not None], dtype=int)
    else:
        at = np.searchsorted((places[1:] + places[:-1]) / 2, np.asarray(values, dtype=float))
    if len(at) < _ENOUGH:
        return np.full(len(places), 1 / len(places))
    return np.asarray(np.bincount(at, minlength=len(places)) / len(at))


def _key(value: Any) -> Any:
    """A value as it can be looked for among categories; None for what cannot be one."""
    return value if isinstance(value, Hashable) else None


def _inner(axis: FloatArray, values: Sequence[float]) -> FloatArray:
    """The points of an axis drawn together, so that knots stay inside of a range that wanders."""
    first, last = axis.min(), axis.max()
    low, high = first + _MARGIN * (last - first), last - _MARGIN * (last - first)
    if len(values) >= _ENOUGH:
        ends = np.quantile(values, _QUANTILES)
        if max(low, ends[0]) < min(high, ends[1]):
            low, high = max(low, ends[0]), min(high, ends[1])
    return np.asarray(low + (axis - first) * ((high - low) / ((last - first) or 1.0)))
