"""Between the points of a curve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.core.words import shown

# By so many steps the lines between points go on beyond the ends.
_BEYOND = 4.0


def places(values: Iterable[Any]) -> list[Array]:
    """Each a place or several on an axis, as an array, or an error."""
    try:
        found = [np.asarray(each) for each in values]
    except ValueError:  # lists of several lengths
        found = [np.empty((0, 0))]
    for each in found:
        if each.ndim > 1:
            raise ValueError(f"a curve is read at one value or a list of them, got {shown(values)}")
    return found


def interpolation_weights(axis: Array, x: Array, categorical: bool) -> FloatArray:
    """Weights of the axis' points at each x, of shape (n, m); a row of NaN outside of the axis."""
    weights = np.zeros((len(x), len(axis)))
    if categorical:
        known = {value: k for k, value in enumerate(axis.tolist())}
        for row, value in enumerate(x.tolist()):
            if value not in known:
                raise ValueError(f"no category {shown(value)}: the curve has {list(known)}")
            weights[row, known[value]] = 1.0
        return weights
    try:
        x = x.astype(float)
    except (OverflowError, TypeError, ValueError):
        raise TypeError(f"the curve is of numbers, got {shown(x.tolist())}") from None
    _add_shares(weights, axis, x)
    weights[(x < axis[0]) | (x > axis[-1]) | np.isnan(x)] = np.nan
    return weights


def weights_beyond(axis: Array, values: Sequence[Any]) -> FloatArray:
    """Weights of the axis' points at the values of observations, of shape (n, m).

    Lines go on beyond both ends of an axis, by a few steps; a row of NaN for a missing value, and
    for a category without a point.
    """
    weights = np.zeros((len(values), len(axis)))
    if axis.dtype == object:
        known = {value: k for k, value in enumerate(axis.tolist())}
        for row, value in enumerate(values):
            weights[row, known.get(value, 0)] = 1.0 if value in known else np.nan
        return weights
    x = np.array([np.nan if value is None else value for value in values], dtype=float)
    if len(axis) > 1:
        ends = axis[0] - _BEYOND * (axis[1] - axis[0]), axis[-1] + _BEYOND * (axis[-1] - axis[-2])
        x = x.clip(*ends)
    _add_shares(weights, axis, x)
    return weights


def continued(
    own: tuple[Array, FloatArray], other: tuple[Array, FloatArray], values: Sequence[Any]
) -> FloatArray:
    """A curve, its axis and its numbers, at some values, of shape (n,).

    Where it does not reach it goes on as another curve of the same feature does: from its end on,
    or for a category at the level of what both have. NaN where neither says anything.

    Examples
    --------
    >>> own = np.array([0.0, 1.0]), np.array([5.0, 6.0])
    >>> other = np.array([1.0, 2.0, 3.0]), np.array([10.0, 12.0, 12.0])
    >>> continued(own, other, [0.5, 1.5, 3.0])
    array([5.5, 7. , 8. ])
    """
    axis, numbers = own
    said = np.asarray(weights_beyond(other[0], values) @ other[1])
    if axis.dtype == object:
        mine = weights_beyond(axis, values) @ numbers
        there = weights_beyond(other[0], axis.tolist()) @ other[1]
        apart = (numbers - there)[~np.isnan(there)]
        level = float(apart.mean()) if apart.size else np.nan
        return np.where(np.isnan(mine), said + level, mine)
    x = np.array([np.nan if value is None else value for value in values], dtype=float)
    inside = np.clip(x, axis[0], axis[-1])
    at_end = weights_beyond(other[0], inside.tolist()) @ other[1]
    return np.asarray(weights_beyond(axis, inside.tolist()) @ numbers + (said - at_end))


def _add_shares(weights: FloatArray, axis: Array, x: FloatArray) -> None:
    """Give each x to the points at both sides of it; NaN to those of NaN."""
    # Duplicates (a constant feature) are stepped over: the last of them counts.
    last = len(axis) - 1
    right = np.maximum(np.minimum(axis.searchsorted(x, side="right"), last), 1)
    left = right - 1
    right = np.minimum(right, last)
    start = axis[left]
    width = (axis[right] - start).astype(float)
    wide = width > 0
    share = np.where(wide, (x - start) / np.where(wide, width, 1.0), 0.0 * x)
    rows = np.arange(len(x))
    weights[rows, left] += 1 - share
    weights[rows, right] += share
