"""Where a curve rests on few data, and what it is about its mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray

# A point with less than this share of the best point's effective sample size has thin data.
_THIN = 0.1
# So has a number with less than this share of the recent values within a tenth of the axis.
_SHARE, _NEAR = 0.01, 0.1
# From so few values nothing can be said about where there are none.
_ENOUGH = 20
_LEVELS = 12


def thin_points(curve: Curve) -> Array:
    """Which points of a single feature's curve have few data behind them, of shape (m,).

    Either they were seldom evaluated, as those that a range has just reached, or the feature's own
    recent values are elsewhere, as where one outlier stretches the range.
    """
    thin = seldom(curve)
    if curve.categorical[0] or not curve.rug or len(curve.rug[0]) < _ENOUGH:
        return thin
    x = np.asarray(curve.grid_values[0], dtype=float)
    if not x.size or not np.ptp(x) > 0:
        return thin
    values = np.sort(np.asarray(curve.rug[0], dtype=float))
    reach = _NEAR * np.ptp(x)
    near = np.searchsorted(values, x + reach, "right") - np.searchsorted(values, x - reach, "left")
    return np.asarray(thin | (near < _SHARE * len(values)))


def seldom(curve: Curve) -> Array:
    """Which points were evaluated much less often than others, of the shape of the grid."""
    points = curve.n_effective_points
    return np.asarray(points < _THIN * points.max(initial=0.0))


def known(curve: Curve) -> FloatArray:
    """The average, NaN where no observation is behind it yet."""
    return np.where(curve.n_effective_points > 0, curve.average, np.nan)


def about_its_mean(curve: Curve) -> Curve:
    """The curve minus its mean over the points, for each output; each ICE curve minus its own.

    Examples
    --------
    >>> import numpy as np
    >>> from ipdp import Curve
    >>> y = np.array([[1.0, 2.0, 6.0]])
    >>> about_its_mean(Curve("a", ("y",), [np.arange(3.0)], y, y, 9, y[0])).average
    array([[-2., -1.,  3.]])
    """
    n_outputs = len(curve.outputs)
    means = _means(known(curve).reshape(n_outputs, -1))
    ice = curve.ice
    if ice is not None:
        own = _means(ice.reshape(*ice.shape[:2], -1))
        ice = ice - own.reshape(*ice.shape[:2], *(1 for _ in curve.grid_values))
    return replace(
        curve,
        average=curve.average - means.reshape(n_outputs, *(1 for _ in curve.grid_values)),
        ice=ice,
        missing=None if curve.missing is None else curve.missing - means,
    )


def _means(values: FloatArray) -> FloatArray:
    """Means of the last axis over what is known; 0 where nothing is."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=-1)
    return np.asarray(total / np.maximum(there.sum(axis=-1), 1))


def round_levels(low: float, high: float) -> FloatArray:
    """About a dozen round numbers at equal distances, around all values.

    Examples
    --------
    >>> round_levels(0.0, 1.0)
    array([0. , 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1. ])
    """
    rough = (high - low) / _LEVELS
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(k for k in (1.0, 2.0, 2.5, 5.0, 10.0) if k * power >= rough * (1 - 1e-9))
    # As whole steps from zero: the ends of a surface at 0 and 1 are no steps beyond them.
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return np.asarray(np.arange(first, last + 1) * step)


def around(value: float, share: float = 0.5) -> tuple[float, float]:
    """Ends of an axis that has a single value: so much of its size to either side.

    Examples
    --------
    >>> around(10.0), around(0.0)
    ((5.0, 15.0), (-0.5, 0.5))
    """
    reach = share * (abs(value) or 1.0)
    return float(value - reach), float(value + reach)


def is_whole(curve: Curve, axis: int = 0) -> bool:
    """Whether the values of a feature are whole numbers."""
    values = curve.rug[axis] if len(curve.rug) > axis else np.empty(0)
    if not len(values):
        values = curve.grid_values[axis]
    return not curve.categorical[axis] and np.issubdtype(np.asarray(values).dtype, np.integer)
