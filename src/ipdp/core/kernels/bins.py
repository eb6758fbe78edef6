"""Which bins the values of an observation are in: fast when compiled.

Compiled as it is into `_bins`, with the types in `_bins.pxd`; in `array.py` it reads lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython  # noqa: F401

NumberBins = tuple[int, list[float], int]
"""Where the value of a number stands, the edges of its bins, the slot of the first bin."""
CategoryBins = tuple[int, list[Any], int, int]
"""Where a category stands, all of them in their order, the slots of the first step and count."""


class Locator:
    """The bins of numbers, and the steps between categories that are numbers.

    Parameters
    ----------
    numbers, categories
        The axes.
    shape
        Of the positions where the model is asked: (n_axes, n_points).
    n_effects, n_slots
        How many effects an observation has, and how many slots with those that count.
    """

    def __init__(
        self,
        numbers: Sequence[NumberBins],
        categories: Sequence[CategoryBins],
        shape: tuple[int, int],
        n_effects: int,
        n_slots: int,
    ) -> None:
        self.shape, self.n_effects, self.n_slots = shape, n_effects, n_slots
        self.n_numbers, self.n_categories = len(numbers), len(categories)
        n_points = 2 * self.n_numbers + 3 * self.n_categories
        n_steps = self.n_numbers + 2 * self.n_categories
        fits = n_points <= shape[1] and n_steps <= n_effects
        if not fits or n_effects + self.n_categories > n_slots:
            raise ValueError("the bins do not fit into the positions")
        # For each category its place in the order.
        self.orders = [{c: k for k, c in enumerate(own)} for _, own, _, _ in categories]
        both: list[Any] = [*numbers, *categories]
        self.places: list[int] = [axis[0] for axis in both]
        axes: list[list[Any]] = [axis[1] for axis in both]
        # The points of all axes side by side, and where those of each begin and end.
        self.points = np.array([float(point) for axis in axes for point in axis])
        self.starts = np.cumsum([0, *map(len, axes)], dtype=np.intp)
        self.firsts = np.array([axis[2] for axis in both], dtype=np.intp)
        self.counts = np.array([axis[3] for axis in categories], dtype=np.intp)

    def locate(self, values: list[Any]) -> tuple[FloatArray, Array, bool]:
        """Where the model is asked, the slot of each effect and count, -1 for none, and if any is.

        A number beyond the edges, or a category without a place, has no slot; positions after
        those of numbers and categories are 0.
        """
        positions, slots = np.zeros(self.shape), np.empty(self.n_slots, np.intp)
        row, found = positions, slots  # as numbers in C
        some = False
        for slot in range(self.n_slots):
            found[slot] = -1
        for axis in range(self.n_numbers):
            value = values[self.places[axis]]
            k = -1 if value is None else self.bin_of(axis, value)
            low = self.starts[axis] + (k if k > 0 else 0)
            row[0, 2 * axis], row[0, 2 * axis + 1] = self.points[low], self.points[low + 1]
            if k >= 0:
                found[axis] = self.firsts[axis] + k
                some = True
        column, effect = 2 * self.n_numbers, self.n_numbers
        for number in range(self.n_categories):
            axis = self.n_numbers + number
            start, last = self.starts[axis], self.starts[axis + 1] - self.starts[axis] - 1
            k = self.orders[number].get(values[self.places[axis]], -1)
            middle = k if k > 0 else 0
            low = middle - 1 if k > 0 else 0
            high = k + 1 if 0 <= k < last else middle
            row[0, column] = self.points[start + low]
            row[0, column + 1] = self.points[start + middle]
            row[0, column + 2] = self.points[start + high]
            if k > 0:
                found[effect] = self.firsts[axis] + k - 1
            if 0 <= k < last:
                found[effect + 1] = self.firsts[axis] + k
            if k >= 0:
                found[self.n_effects + number] = self.counts[number] + k
                some = True
            column += 3
            effect += 2
        return positions, slots, some

    def bin_of(self, axis: int, value: float) -> int:
        """The number of the bin of an axis that a value is in; -1 beyond its edges."""
        start, low, high = self.starts[axis], self.starts[axis], self.starts[axis + 1] - 1
        if not self.points[low] <= value <= self.points[high]:
            return -1
        while low < high:
            middle = (low + high) // 2
            if self.points[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low - start - 1 if low > start else 0
