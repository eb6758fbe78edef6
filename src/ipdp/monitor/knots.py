"""Fixed places on the axes, at which ICE curves on a moving grid can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.layout import Layout
from ipdp.typing import Array, FloatArray, State

# Knots keep this share of the range away from its ends, which wander even if nothing changes,
_MARGIN = 0.05
# and lie where the data are: between these quantiles of the values, if there are enough of them.
_QUANTILES = 0.02, 0.98
_ENOUGH = 50
# After so many moves it is looked again at who is within the range.
_LOOK_AGAIN = 32
# A knot may lie so far outside of the current range, as a share of it, and still be compared.
_TOLERANCE = 0.05


class Knots:
    """The places at which each feature's curves are compared.

    A number's knots divide the range that it had when the reference was taken; an ICE curve is
    interpolated there. A category's knots are the categories of that time.

    Parameters
    ----------
    numbers
        Numbers of the effects, as in the explainer's layout.

    Attributes
    ----------
    places
        For each effect its knots, (n_knots,) numbers or categories; None before they are taken.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self.places: list[Array | None] = [None] * len(self.numbers)
        self._layout: Layout | None = None
        self._positions: FloatArray | None = None
        self._moves = 0
        self._share: FloatArray = np.empty((0, 0))
        self._left: Array = np.empty((0, 0), dtype=int)
        self._right: Array = np.empty((0, 0), dtype=int)
        self._within: Array = np.empty(0, dtype=bool)

    @property
    def width(self) -> int:
        """The most knots that an effect has."""
        return max((len(places) for places in self.places if places is not None), default=0)

    def take(
        self, row: int, layout: Layout, positions: FloatArray, values: Sequence[float] = ()
    ) -> None:
        """Take the knots of an effect anew from where its points, and recent values, are now."""
        axis = axis_of(layout, positions, self.numbers[row])
        self.drop(row)
        self.places[row] = axis if axis is None or axis.dtype == object else _inner(axis, values)

    def drop(self, row: int) -> None:
        """Forget the knots of an effect."""
        self.places[row] = None
        self._layout = None

    def read(
        self, layout: Layout, positions: FloatArray, values: FloatArray
    ) -> tuple[FloatArray, Array]:
        """The ICE curves at the knots, and whose knots are all within its range now.

        Returns
        -------
        Shape (n_outputs, n_effects, width), 0 beyond an effect's own knots; and (n_effects,).
        """
        if layout is not self._layout:
            self._layout, self._positions = layout, None
            self._arrange(layout)
        if positions is not self._positions:
            is_new = self._positions is None
            self._positions = positions
            if is_new or not self._shift(positions[0]):
                self._weigh(positions)
        left = values[:, self._left]
        at_knots = values[:, self._right]
        at_knots -= left
        at_knots *= self._share
        at_knots += left
        at_knots *= self.has
        return at_knots, self._within

    def _arrange(self, layout: Layout) -> None:
        """Which columns belong to whom; where the knots are, as numbers."""
        n, width = len(self.numbers), max(self.width, 1)
        probes = dict(zip(layout.effects, layout.probes, strict=True))
        size = max([p.stop - p.start for p in probes.values()], default=1)
        self._columns = np.zeros((n, size), dtype=int)
        self._filled = np.zeros((n, size), dtype=bool)
        self._by_number = np.zeros((n, 1), dtype=bool)
        self._knots = np.full((n, width), np.nan)
        self.has = np.zeros((n, width))
        for row, (number, places) in enumerate(zip(self.numbers, self.places, strict=True)):
            probe = probes.get(number)
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
        # Cells that do not move with the positions: categories, and where there is no knot.
        self._still = ~(self._by_number & (self.has > 0))
        # Without knots, or with a category that is not there.
        self._lost = ((self.has > 0) & np.isnan(self._knots)).any(axis=1) | ~self.has.any(axis=1)
        self._last = np.maximum(self._filled.sum(axis=1, keepdims=True) - 1, 0)
        # The flat index of the first column of each row, to pick cells by `take`, which is quick.
        self._base = np.arange(n)[:, None] * size
        # A category is found by its number, a number by its position; both ascend.
        self._numbered = np.where(self._filled, np.arange(size, dtype=float), np.inf)
        self._positioned = self._filled & self._by_number

    def _shift(self, positions: FloatArray) -> bool:
        """Weigh anew if each knot still lies between the same two points, which is the rule."""
        self._moves += 1
        if self._moves % _LOOK_AGAIN == 0:
            return False
        low = positions.take(self._left)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (self._knots - low) / (positions.take(self._right) - low)
            # Out of range is looked at now and then; 0 / 0 is a feature that is constant.
            still = self._still | ~self._within[:, None] | np.isnan(share)
            if (((share < 0.0) | (share > 1.0)) & ~still).any():
                return False
        self._share = np.where(still, self._share, share)
        return True

    def _weigh(self, positions: FloatArray) -> None:
        """Between which two columns each knot lies, and how far along."""
        axis = np.where(self._positioned, positions[0].take(self._columns), self._numbered)
        knots = self._knots
        right = (axis[:, None, :] <= knots[:, :, None]).sum(axis=2)
        np.minimum(np.maximum(right, 1, out=right), self._last, out=right)
        right += self._base
        left = np.maximum(right - 1, self._base)
        low, end = axis.take(left), axis.take(self._last + self._base)
        first = axis[:, :1]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (knots - low) / (axis.take(right) - low)
            slack = _TOLERANCE * (end - first)
            outside = (knots < first - slack) | (knots > end + slack)
        # Not a number where there is no knot, or no such category: neither inside nor outside.
        self._share = np.minimum(np.maximum(np.nan_to_num(share), 0.0), 1.0)
        self._left, self._right = self._columns.take(left), self._columns.take(right)
        lost = self._lost | outside.any(axis=1)
        self._within = np.asarray(~lost)

    @property
    def state(self) -> State:
        """The places, JSON-safe."""
        return {
            "places": [
                None if p is None else {"categories": p.dtype == object, "values": p.tolist()}
                for p in self.places
            ]
        }

    @state.setter
    def state(self, state: State) -> None:
        self.places = [_restored(saved) for saved in state["places"]]
        self._layout = None


def axis_of(layout: Layout, positions: FloatArray, number: int) -> Array | None:
    """Where the points of an effect are, or its categories; None if it is not evaluated now."""
    if number not in layout.effects:
        return None
    probe = layout.probes[layout.effects.index(number)]
    stop = probe.stop - probe.missing
    categories = probe.categories[0]
    if categories is not None:
        return categories[: stop - probe.start]
    return positions[0, probe.start : stop].copy()


def _inner(axis: FloatArray, values: Sequence[float]) -> FloatArray:
    """The points of an axis drawn together, so that the knots stay inside of a range that wanders.

    Examples
    --------
    >>> _inner(np.array([0.0, 5.0, 10.0]), ())
    array([0.5, 5. , 9.5])
    """
    first, last = axis.min(), axis.max()
    low, high = first + _MARGIN * (last - first), last - _MARGIN * (last - first)
    if len(values) >= _ENOUGH:
        ends = np.quantile(values, _QUANTILES)
        if max(low, ends[0]) < min(high, ends[1]):
            low, high = max(low, ends[0]), min(high, ends[1])
    return np.asarray(low + (axis - first) * ((high - low) / ((last - first) or 1.0)))


def _restored(saved: Any) -> Array | None:
    if saved is None:
        return None
    if not saved["categories"]:
        return np.array(saved["values"], dtype=float)
    places = np.empty(len(saved["values"]), dtype=object)
    places[:] = saved["values"]
    return places
