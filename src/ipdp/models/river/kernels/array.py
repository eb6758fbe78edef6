"""The same as `linear.py`, by operations on arrays, which are faster than Python's loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.river.kernels.linear import _FAR, Order, Scale


def scaled(
    x: dict[FeatureName, Any],
    numbers: FloatArray,
    places: Sequence[tuple[FeatureName, int, int]],
    scale: Scale,
) -> tuple[dict[FeatureName, float], FloatArray]:
    """See `linear.scaled`."""
    centres, spreads, squared = scale
    centre = (centres or {}).get
    spread = _spreads([*x, *[place[0] for place in places]], spreads, squared)
    scaled_x = {
        name: (value - centre(name, 0.0)) / spread[name] if spread[name] else 0.0
        for name, value in x.items()
    }
    made = numbers.copy()
    shift, divisor = np.zeros(len(made)), np.ones(len(made))
    for name, lo, hi in places:
        shift[lo:hi] = centre(name, 0.0)
        # A constant becomes 0, as in river.
        divisor[lo:hi] = spread[name] or math.inf
    made -= shift
    made /= divisor
    return scaled_x, made


def _spreads(
    names: Sequence[FeatureName], spreads: dict[FeatureName, float] | None, squared: bool
) -> dict[FeatureName, float]:
    if spreads is None:
        return dict.fromkeys(names, 1.0)
    found = {name: spreads.get(name, 0.0) for name in names}
    return {name: value**0.5 for name, value in found.items()} if squared else found


def linear(
    x: dict[FeatureName, Any],
    order: Order,
    weights: FloatArray,
    intercept: float,
    numbers: FloatArray,
) -> FloatArray:
    """See `linear.linear`."""
    names, places = order
    own = weights.tolist()
    terms = [weight * x.get(name, 0.0) for weight, name in zip(own, names, strict=True)]
    after = [0.0]
    for term in reversed(terms):
        after.append(after[-1] + term)
    after.reverse()
    sums = np.full(len(numbers), after[0] + intercept)
    before, done = 0.0, 0
    slopes, rests = np.zeros(len(numbers)), sums
    for at, lo, hi in places:
        while done < at:
            before += terms[done]
            done += 1
        slopes[lo:hi] = own[at]
        rests[lo:hi] = before + after[at + 1] + intercept
    slopes *= numbers
    sums += slopes
    return sums


def logistic(sums: FloatArray) -> FloatArray:
    """See `linear.logistic`."""
    values = np.empty((2, len(sums)))
    share = values[1]
    np.clip(sums, -_FAR, _FAR, out=share)
    np.negative(share, out=share)
    np.exp(share, out=share)
    share += 1.0
    np.divide(1.0, share, out=share)
    far = np.abs(sums) > _FAR
    if far.any():
        share[far] = sums[far] > 0
    np.subtract(1.0, share, out=values[0])
    return values
