"""The points at which two curves of a feature can be compared."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.interpolation import interpolation_weights
from ipdp.core.typing import Array, FloatArray

# Points that are closer than this share of an axis are one.
_SAME = 1e-6
# Weights of points at places that are worked out at most, of each curve: 200 MB.
_MOST = 25_000_000
# So much of a place must lie between points with data behind them.
_SUPPORTED = 0.99


@dataclass(frozen=True, eq=False)
class Common:
    """Places that both curves reach with data behind them.

    Attributes
    ----------
    places
        For each feature an array with its value at each of the n places.
    weights
        Of both curves: the weights of their points at each place, of shape (n, n_points).
    """

    places: list[Array]
    weights: tuple[FloatArray, FloatArray]

    def __len__(self) -> int:
        return len(self.places[0])


def common_points(a: Curve, b: Curve) -> Common | None:
    """The points of either curve that lie within both; None where there are none."""
    axes = [
        _axis(one, other, is_category)
        for one, other, is_category in zip(a.grid_values, b.grid_values, a.categorical, strict=True)
    ]
    if a.categorical != b.categorical or not all(len(axis) for axis in axes):
        return None
    n_points = max(math.prod(map(len, curve.grid_values)) for curve in (a, b))
    if math.prod(map(len, axes)) * n_points > _MOST:
        raise ValueError(f"curves of {n_points:,} points are too long to be compared")
    places = [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]
    weights = [_weights(curve, places) for curve in (a, b)]
    near = [w @ c.supported.ravel() > _SUPPORTED for w, c in zip(weights, (a, b), strict=True)]
    kept = near[0] & near[1]
    if not kept.any():
        return None
    return Common([place[kept] for place in places], (weights[0][kept], weights[1][kept]))


def _axis(one: Array, other: Array, is_category: bool) -> Array:
    """The points of both axes that lie within both of them."""
    if is_category:
        known = set(other.tolist())
        shared = [value for value in one.tolist() if value in known]
        axis = np.empty(len(shared), dtype=object)
        axis[:] = shared
        return axis
    if not len(one) or not len(other):
        return np.empty(0)
    one, other = (np.asarray(axis, dtype=float) for axis in (one, other))
    low, high = max(one[0], other[0]), min(one[-1], other[-1])
    points = np.unique(np.concatenate([one, other]))
    points = points[(points >= low) & (points <= high)]
    apart = np.diff(points, prepend=-np.inf) > _SAME * max(high - low, 0.0)
    return np.asarray(points[apart])


def _weights(curve: Curve, places: list[Array]) -> FloatArray:
    """Weights of the curve's points, of shape (n, n_points)."""
    own = [
        interpolation_weights(axis, place, is_category)
        for axis, place, is_category in zip(
            curve.grid_values, places, curve.categorical, strict=True
        )
    ]
    if len(own) == 1:
        return own[0]
    both: FloatArray = np.einsum("ni,nj->nij", *own)
    return both.reshape(len(places[0]), -1)


def between_points(curve: Curve, common: Common) -> FloatArray:
    """How far the curve may be from the line between its points, of shape (n_outputs, n).

    The bends at both points say how much may be hidden in between. Where they go the same way the
    curve is round there; where they go opposite ways there is a step, and nobody knows where: the
    curve may have the value of either point. 0 at points of the curve itself, and where it is
    straight.
    """
    n_outputs, n = len(curve.outputs), len(common)
    if len(curve.grid_values) > 1 or curve.categorical[0] or len(curve.grid_values[0]) < 4:
        return np.zeros((n_outputs, n))
    x, y = np.asarray(curve.grid_values[0], dtype=float), curve.average
    place = np.asarray(common.places[0], dtype=float)
    width = np.diff(x)
    slope = np.diff(y, axis=1) / np.where(width > 0, width, np.inf)
    bend = np.zeros_like(y)
    bend[:, 1:-1] = np.diff(slope, axis=1)
    bend[:, 0], bend[:, -1] = -bend[:, 1], -bend[:, -2]  # beyond the ends anything may be
    left = np.clip(np.searchsorted(x, place, side="right") - 1, 0, len(x) - 2)
    share = (place - x[left]) / np.where(width[left] > 0, width[left], np.inf)
    one, other = bend[:, left], bend[:, left + 1]
    least = np.minimum(np.abs(one), np.abs(other)) * width[left]
    reach = np.where(one * other < 0, np.maximum(share, 1 - share), 2 * share * (1 - share))
    is_point = np.minimum(share, 1 - share) < _SAME
    return np.asarray(np.where(is_point, 0.0, reach * least))
