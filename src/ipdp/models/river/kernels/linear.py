"""Scaling and linear models, number by number.

This file is compiled as it is, into `_linear`; the types are in `_linear.pxd`. In Python the same
is done with arrays, see `array.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import exp

    def number_of(numbers: Mapping[Any, Any], name: FeatureName) -> float:
        """What a dict, or river's vector, has for a name, 0 for nothing."""
        return float(numbers.get(name, 0.0))


Numbers = dict[FeatureName, float]
Scale = tuple[Numbers | None, Numbers | None, bool]
"""What is subtracted from features, by what they are divided, and whether these are variances."""

Order = tuple[tuple[FeatureName, ...], list[tuple[int, int, int]]]
"""Features as they are added up, and those that are replaced: their numbers, with their columns."""

# Beyond it river's sigmoid is 0 or 1.
_FAR = 30.0


def scaled(
    x: dict[FeatureName, Any],
    numbers: FloatArray,
    places: Sequence[tuple[FeatureName, int, int]],
    scale: Scale,
) -> tuple[dict[FeatureName, float], FloatArray]:
    """An observation and its points, less the centres and divided by the spreads.

    The points of a feature stand in the columns that `places` names. Where a spread is 0 all is 0.
    """
    centres, spreads, squared = scale
    scaled_x = {}
    for name, value in x.items():
        centre, spread = _centre(centres, name), _spread(spreads, name, squared)
        scaled_x[name] = (value - centre) / spread if spread else 0.0
    made = np.array(numbers)
    table = made  # as numbers in C
    for place in range(len(places)):
        name, lo, hi = places[place]
        centre, spread = _centre(centres, name), _spread(spreads, name, squared)
        for column in range(lo, hi):
            table[column] = (table[column] - centre) / spread if spread else 0.0
    return scaled_x, made


def _centre(centres: Any, name: FeatureName) -> float:
    return 0.0 if centres is None else number_of(centres, name)


def _spread(spreads: Any, name: FeatureName, squared: bool) -> float:
    if spreads is None:
        return 1.0
    spread = number_of(spreads, name)
    # As river does it: a square root may differ in the last bit.
    return spread**0.5 if squared else spread


class LinearStep:
    """Weighted sums of features at points, each of which replaces one feature.

    Parameters
    ----------
    order
        The features, those of the observation first, and which of them are replaced where.
    n_columns
        Number of points.
    """

    def __init__(self, order: Order, n_columns: int) -> None:
        self.names, places = order
        self.places = np.array(places, dtype=np.intp).reshape(-1, 3)
        n = len(self.names)
        self.totals, self.values, self.rest, self.own = map(np.zeros, (n_columns, n, n + 1, n))
        alone = np.ones(n_columns, dtype=bool)
        for _, lo, hi in places:
            alone[lo:hi] = False
        self.alone = np.flatnonzero(alone)
        # As numbers in C.
        self.v_places, self.v_totals, self.v_alone = self.places, self.totals, self.alone
        self.v_values, self.v_rest, self.v_own = self.values, self.rest, self.own

    def sums(
        self,
        x: dict[FeatureName, Any],
        weights: Mapping[FeatureName, float],
        intercept: float,
        numbers: FloatArray,
        scales: Sequence[Scale],
    ) -> FloatArray:
        """The weighted sum at each point, after some scales.

        In columns that replace nothing it is the sum of x.
        """
        self._add_up(x, weights, intercept, numbers, scales)
        return np.array(self.totals)

    def shares(
        self,
        x: dict[FeatureName, Any],
        weights: Mapping[FeatureName, float],
        intercept: float,
        numbers: FloatArray,
        scales: Sequence[Scale],
    ) -> FloatArray:
        """What `logistic` makes of these sums."""
        self._add_up(x, weights, intercept, numbers, scales)
        return logistic(self.v_totals)

    def _add_up(
        self,
        x: Any,
        weights: Mapping[FeatureName, float],
        intercept: float,
        numbers: FloatArray,
        scales: Sequence[Scale],
    ) -> None:
        values, rest, totals, places = self.v_values, self.v_rest, self.v_totals, self.v_places
        own, n, n_own = self.v_own, len(self.names), len(x)
        if n_own > n or numbers.shape[0] != totals.shape[0]:
            raise ValueError("these are not the features and points of the step")
        for k in range(n):
            values[k] = number_of(x, self.names[k]) if k < n_own else 0.0
            own[k] = number_of(weights, self.names[k])
        for column in range(totals.shape[0]):
            totals[column] = numbers[column]
        for number in range(len(scales)):
            self._scale(n_own, scales[number])
        # What the features from here on add, so that nothing has to be subtracted.
        rest[n] = 0.0
        for k in range(n - 1, -1, -1):
            values[k] *= own[k]
            rest[k] = rest[k + 1] + values[k]
        for k in range(self.v_alone.shape[0]):
            totals[self.v_alone[k]] = rest[0] + intercept
        before, done = 0.0, 0
        for place in range(places.shape[0]):
            at, lo, hi = places[place, 0], places[place, 1], places[place, 2]
            while done < at:
                before += values[done]
                done += 1
            for column in range(lo, hi):
                totals[column] = before + own[at] * totals[column] + rest[at + 1] + intercept

    def _scale(self, n_own: int, scale: Scale) -> None:
        """Scale the features of the observation, and the points, which are in their order."""
        centres, spreads, squared = scale
        values, totals, places = self.v_values, self.v_totals, self.v_places
        place, n_places = 0, places.shape[0]
        for k in range(len(self.names)):
            is_asked = place < n_places and places[place, 0] == k
            if k >= n_own and not is_asked:
                continue
            name = self.names[k]
            centre, spread = _centre(centres, name), _spread(spreads, name, squared)
            if k < n_own:
                values[k] = (values[k] - centre) / spread if spread else 0.0
            while place < n_places and places[place, 0] == k:
                for column in range(places[place, 1], places[place, 2]):
                    totals[column] = (totals[column] - centre) / spread if spread else 0.0
                place += 1


def logistic(sums: FloatArray) -> FloatArray:
    """The shares of both classes, of shape (2, n_points), as river's sigmoid has them."""
    n = len(sums)
    values = np.empty((2, n))
    shares = values  # as numbers in C
    for column in range(n):
        total = sums[column]
        if total < -_FAR:
            share = 0.0
        elif total > _FAR:
            share = 1.0
        else:
            share = 1.0 / (1.0 + exp(-total))
        shares[0, column] = 1.0 - share
        shares[1, column] = share
    return values
