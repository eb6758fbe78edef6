"""How much of what a feature does differs between observations, from what a curve carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ipdp.core.typing import FloatArray

if TYPE_CHECKING:
    from ipdp.core.curve import Curve


# Of the size of a curve, what may be rounding.
_ROUNDING = 1e-9


def interaction_of(curve: Curve) -> FloatArray:
    """The root of the mean square of the spread over the recent values, for each output.

    Points whose spread is not known do not count; NaN without any.
    """
    return np.sqrt(_mean_square(curve))


def heterogeneity_of(curve: Curve) -> FloatArray:
    """The share of the interaction in all that the feature does, for each output, in [0, 1]."""
    hidden = _mean_square(curve)
    n_outputs = len(curve.outputs)
    if not n_outputs:
        return hidden
    flat = curve.average.reshape(n_outputs, -1)
    weights = curve.weights.ravel()
    flat = flat - flat[:, :1]  # so that a constant curve has a variance of exactly 0
    shown = (flat - (flat @ weights)[:, None]) ** 2 @ weights
    total = hidden + shown
    # Where nothing is left but rounding, neither is anything.
    least = (_ROUNDING * np.abs(curve.average).max(initial=0.0)) ** 2
    return np.asarray(np.where(total <= least, 0.0, hidden / np.where(total > 0, total, 1.0)))


def _mean_square(curve: Curve) -> FloatArray:
    n_outputs = len(curve.outputs)
    if curve.ice_spread is None or not n_outputs:
        return np.full(n_outputs, np.nan)
    flat = curve.ice_spread.reshape(n_outputs, -1)
    weights = np.where(np.isnan(flat), 0.0, curve.weights.ravel())
    total = weights.sum(axis=1)
    # Where only points without data have a spread, all alike.
    weights = np.where(total[:, None] > 0, weights, (~np.isnan(flat)).astype(float))
    total = weights.sum(axis=1)
    sums = (weights * np.where(np.isnan(flat), 0.0, flat) ** 2).sum(axis=1)
    return np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)
