"""Scaling and linear models, number by number.

This file is compiled as it is, into `_linear`; the types are in `_linear.pxd`. In Python the same
is done with arrays, see `array.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import exp, sqrt

    def number_of(numbers: dict[Any, Any], name: FeatureName) -> float:
        """What a dict has for a name, 0 for nothing."""
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
    divided = spreads is not None
    spread = 1.0
    for name, value in x.items():
        if divided:
            spread = _spread(spreads, name, squared)
        centre = 0.0 if centres is None else number_of(centres, name)
        scaled_x[name] = (value - centre) / spread if spread else 0.0
    made = np.array(numbers)
    table = made  # as numbers in C
    for place in range(len(places)):
        name, lo, hi = places[place]
        if divided:
            spread = _spread(spreads, name, squared)
        centre = 0.0 if centres is None else number_of(centres, name)
        for column in range(lo, hi):
            table[column] = (table[column] - centre) / spread if spread else 0.0
    return scaled_x, made


def _spread(spreads: Any, name: FeatureName, squared: bool) -> float:
    spread = number_of(spreads, name)
    return sqrt(spread) if squared else spread


def linear(
    x: dict[FeatureName, Any],
    order: Order,
    weights: FloatArray,
    intercept: float,
    numbers: FloatArray,
) -> FloatArray:
    """The weighted sum of the features at each point.

    `weights` are in the order of the features. In columns that replace nothing it is the sum of x.
    """
    names, places = order
    n = len(names)
    sums = np.empty(len(numbers))
    totals = sums  # as numbers in C
    # What the features from here on add, so that nothing has to be subtracted.
    after = np.empty(n + 1)
    rest = after
    rest[n] = 0.0
    own = weights
    for k in range(n - 1, -1, -1):
        rest[k] = rest[k + 1] + own[k] * number_of(x, names[k])
    for column in range(len(numbers)):
        totals[column] = rest[0] + intercept
    before, done = 0.0, 0
    for place in range(len(places)):
        at, lo, hi = places[place]
        while done < at:
            before += own[done] * number_of(x, names[done])
            done += 1
        for column in range(lo, hi):
            totals[column] = before + own[at] * numbers[column] + rest[at + 1] + intercept
    return sums


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
