"""How much data is behind each point of a curve, from the recent values that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ipdp.core.typing import Array, FloatArray

if TYPE_CHECKING:
    from ipdp.core.curve import Curve

# A point with less than this share of the best point's effective sample size has thin data.
_THIN = 0.1
# So has a number with less than this share of the recent values within a tenth of the axis.
_SHARE, _NEAR = 0.01, 0.1
# From so few values nothing can be said about where there are none.
_ENOUGH = 20


def supported_points(curve: Curve) -> Array:
    """Which points have enough data behind them, of the shape of the grid.

    Not those that were seldom evaluated, as where a range has just arrived, and not those far from
    the recent values of a single number, as where an outlier stretches the range.
    """
    points = curve.n_effective_points
    enough = np.asarray(points >= _THIN * points.max(initial=0.0))
    if curve.categorical != (False,) or not _has_values(curve):
        return enough
    x = np.asarray(curve.grid_values[0], dtype=float)
    if not x.size or not np.ptp(x) > 0:
        return enough
    values = np.sort(np.asarray(curve.rug[0], dtype=float))
    reach = _NEAR * np.ptp(x)
    near = np.searchsorted(values, x + reach, "right") - np.searchsorted(values, x - reach, "left")
    return np.asarray(enough & (near >= _SHARE * len(values)))


def data_weights(curve: Curve) -> FloatArray:
    """The share of the recent values that are nearest to each point, of the shape of the grid.

    All alike where there are too few recent values to say, or none of them is at a point.
    """
    shape = tuple(len(axis) for axis in curve.grid_values)
    n = int(np.prod(shape))
    alike = np.full(shape, 1.0 / n) if n else np.zeros(shape)
    if not n or not _has_values(curve):
        return alike
    places = [
        _nearest(axis, values, is_category)
        for axis, values, is_category in zip(
            curve.grid_values, curve.rug, curve.categorical, strict=True
        )
    ]
    known = np.all([place >= 0 for place in places], axis=0)
    if not known.any():
        return alike
    cells = np.ravel_multi_index([place[known] for place in places], shape)
    counts = np.bincount(cells, minlength=n).reshape(shape)
    return np.asarray(counts / counts.sum())


def deviation(curve: Curve, weights: FloatArray) -> FloatArray:
    """The standard deviation of a curve over its points with these weights, for each output.

    For a category a quarter of the range, which estimates the same.
    """
    n_outputs = len(curve.outputs)
    if curve.average.size < 2 * n_outputs or not n_outputs:
        return np.zeros(n_outputs)
    flat = curve.average.reshape(n_outputs, -1)
    if curve.categorical == (True,):
        return np.asarray(np.ptp(flat, axis=1) / 4)
    # From its first value, so that a constant curve has a deviation of exactly 0.
    flat = flat - flat[:, :1]
    share = weights.ravel() / weights.sum()
    away = flat - (flat @ share)[:, None]
    # Unbiased; for equal weights the same as with one degree of freedom less.
    freedom = 1 - share @ share
    return np.sqrt(away**2 @ share / freedom) if freedom > 0 else np.zeros(n_outputs)


def _has_values(curve: Curve) -> bool:
    return len(curve.rug) == len(curve.grid_values) and len(curve.rug[0]) >= _ENOUGH


def _nearest(axis: Array, values: Array, is_category: bool) -> Array:
    """For each value the number of the point nearest to it; -1 for a category without a point."""
    if is_category:
        number = {category: k for k, category in enumerate(axis.tolist())}
        return np.array([number.get(value, -1) for value in values.tolist()], dtype=int)
    x = np.asarray(axis, dtype=float)
    return np.searchsorted((x[1:] + x[:-1]) / 2, np.asarray(values, dtype=float))
