"""What a model said between two snapshots of a log, at the points of a later curve.

A smoothed curve is M' of before, with the weight W' that is left of it, and the mean of what came
since; so that mean is M' + (M - M') W / (W - W'), as for `core/blocks.py`. It is an extrapolation:
what is wrong at either end by a little is wrong by many times that much in between. So a value is
taken from a snapshot only where that has a point itself. Ranges move and steps of grids change:
where a snapshot lacks a point, or has had it for a short time only, the value is that of the
nearest point that it has, plus what both were apart in the snapshots before and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ipdp.comparison.smoothness import Smoothness
from ipdp.core.curve import Curve
from ipdp.core.interpolation import interpolation_weights
from ipdp.core.typing import Array, FloatArray

# A point with less than this share of the observations behind the others is too new.
_NEW = 0.8
# Points closer than this share of an axis are one.
_SAME = 1e-6
# Points belong to one grid if at least this share of them is in both curves.
_SHARED = 0.3


class Stretches(NamedTuple):
    """The stretches of a period.

    Attributes
    ----------
    means
        The mean of each, of shape (n_stretches, n_outputs, n_points).
    lengths
        How long each is.
    known
        The share of them in which each point was there.
    """

    means: FloatArray
    lengths: FloatArray
    known: FloatArray


def stretches(curves: Sequence[Curve | None], smoothness: Smoothness) -> Stretches:
    """The stretches between some curves, None before there was any, at the points of the last."""
    last = curves[-1]
    assert last is not None
    ends = [_End.of(curve, last, smoothness) for curve in curves]
    if last.categorical != (True,):  # what a category was before it came, nobody knows
        _fill(ends, smoothness, _distances(last))
    means, lengths, known = [], [], []
    for before, now in pairwise(ends):
        if now.t > before.t:
            aged = smoothness.left(now.t - before.t) * before.weight
            gained = now.weight - aged
            some = gained > 1e-9 * now.weight
            grown = np.where(some, now.weight / np.where(some, gained, 1.0), np.nan)
            mean = before.values + (now.values - before.values) * grown
            means.append(np.where(before.weight > 0, mean, now.values))
            lengths.append(now.t - before.t)
            known.append(before.reached & now.reached)
    found = _without_gaps(np.array(means))
    share = np.average(known, axis=0, weights=lengths) if lengths else np.ones(0)
    return Stretches(found, np.array(lengths), share)


class _End:
    """A curve at the points of a later one.

    Attributes
    ----------
    t
        Its time.
    values
        Shape (n_outputs, n_points); NaN where it has no point.
    weight
        The sum of the weights behind each.
    there
        Where it has a point.
    reached
        Where it has one, or ones on both sides.
    """

    def __init__(self, t: float, n_outputs: int, n: int) -> None:
        self.t = t
        self.values: FloatArray = np.zeros((n_outputs, n))
        self.weight: FloatArray = np.zeros(n)
        self.there: Array = np.ones(n, dtype=bool)
        self.reached: Array = np.ones(n, dtype=bool)

    @classmethod
    def of(cls, curve: Curve | None, last: Curve, smoothness: Smoothness) -> _End:
        """That of a curve; of None, or of one that says nothing of these points, it is nothing."""
        t = 0.0 if curve is None else float(curve.t or 0.0)
        end = cls(t, len(last.outputs), last.average[0].size)
        if curve is None or not curve.outputs or curve.categorical != last.categorical:
            return end
        weights, exact = _point_weights(curve, last)
        behind = _behind(curve, smoothness)
        said = past_average(curve).reshape(len(curve.outputs), -1)
        for k, output in enumerate(last.outputs):  # a class that was not met has probability 0
            if output in curve.outputs:
                end.values[k] = said[curve.outputs.index(output)] @ weights.T
        n = np.nan_to_num(weights @ behind)
        end.reached = np.asarray(~np.isnan(weights).any(axis=1))
        end.there = end.reached & exact
        if last.categorical != (True,):
            # A new point is shown with what its neighbours know of the time before it came.
            old = np.greater_equal(n, _NEW * n.max(initial=0.0))
            end.reached = np.logical_and(end.reached, old)
            if curve is not last:
                end.there = np.logical_and(end.there, old)
            n = np.full(len(n), n.max(initial=0.0))
        end.weight = np.where(end.reached | end.there, smoothness.weight(n), 1.0)
        end.values[:, ~end.there] = np.nan
        return end


def _point_weights(curve: Curve, last: Curve) -> tuple[FloatArray, Array]:
    """Weights of a curve's points at those of the last one, and where it has a point of its own.

    Points of a grid that moves as a whole are those on the line between two others.
    """
    weights, exact = [], []
    for own, points, is_category in zip(
        curve.grid_values, last.grid_values, curve.categorical, strict=True
    ):
        weights.append(_axis_weights(own, points, is_category))
        exact.append(np.ones(len(points), dtype=bool) if is_category else _shared(own, points))
    if len(weights) == 1:
        return weights[0], exact[0]
    return np.asarray(np.kron(*weights), dtype=float), np.logical_and.outer(*exact).ravel()


def _axis_weights(axis: Any, points: Any, is_category: bool) -> FloatArray:
    if not is_category:
        return interpolation_weights(axis, points, False)
    number = {value: k for k, value in enumerate(axis.tolist())}
    weights = np.zeros((len(points), len(axis)))
    for row, value in enumerate(points.tolist()):
        if value in number:
            weights[row, number[value]] = 1.0
        else:
            weights[row] = np.nan
    return weights


def _shared(axis: Array, points: Array) -> Array:
    """Which points an axis has; all of them if both belong to no common grid."""
    axis, points = (np.asarray(each, dtype=float) for each in (axis, points))
    right = np.clip(np.searchsorted(axis, points), 1, max(len(axis) - 1, 1))
    near = np.minimum(
        np.abs(points - axis[right - 1]), np.abs(points - axis[np.minimum(right, len(axis) - 1)])
    )
    same = near <= _SAME * max(float(np.ptp(points)), 1e-300)
    inside = (points >= axis[0]) & (points <= axis[-1])
    if same.sum() < _SHARED * inside.sum():
        return np.ones(len(points), dtype=bool)
    return np.asarray(same)


def _distances(curve: Curve) -> FloatArray:
    """How many steps of the grid its points are from each other; categories are all alike."""
    total = np.zeros((1, 1))
    for axis, is_category in zip(curve.grid_values, curve.categorical, strict=True):
        steps = np.abs(np.subtract.outer(np.arange(len(axis)), np.arange(len(axis))))
        own = np.minimum(steps, 1) if is_category else steps
        total = np.kron(total, np.ones(own.shape)) + np.kron(np.ones(total.shape), own)
    return np.asarray(total)


def _fill(ends: Sequence[_End], smoothness: Smoothness, distances: FloatArray) -> None:
    """Give a value to the points that curves lack."""
    there = np.array([end.there for end in ends])
    values = np.array([end.values for end in ends])
    for k, point in np.argwhere(~there):
        later = k + int(there[k:, point].argmax())  # the last curve has all of its points
        before = np.flatnonzero(there[:k, point])
        shared = there[k] & there[later]
        if before.size:
            shared &= there[before[-1]]
        if not shared.any():
            continue
        nearest = int(np.where(shared, distances[point], np.inf).argmin())
        apart = values[later, :, point] - values[later, :, nearest]
        if before.size:
            i = before[-1]
            past = values[i, :, point] - values[i, :, nearest]
            share = _since(ends[i], ends[k], smoothness) / _since(ends[i], ends[later], smoothness)
            apart = past + share * (apart - past)
        ends[k].values[:, point] = values[k, :, nearest] + apart
        ends[k].weight[point] = ends[k].weight[nearest]


def _since(earlier: _End, later: _End, smoothness: Smoothness) -> float:
    """The share of a mean that comes from the time since another one."""
    left = smoothness.left(later.t - earlier.t) * float(earlier.weight.max())
    return max(1 - left / float(later.weight.max()), 1e-9)


def _without_gaps(means: FloatArray) -> FloatArray:
    """Stretches in which nothing is known of a point: as far from the others as in the rest."""
    unknown = np.isnan(means)
    if not unknown.any():
        return means
    always = ~unknown.any(axis=(0, 1))
    if not always.any():
        return means
    level = means[:, :, always].mean(axis=2, keepdims=True)
    some = ~unknown.all(axis=0)
    apart = np.where(some, np.nansum(means - level, axis=0), np.nan)
    apart = apart / np.maximum((~unknown).sum(axis=0), 1)
    return np.where(unknown, level + apart, means)


def _behind(curve: Curve, smoothness: Smoothness) -> FloatArray:
    """How many observations are behind the mean at each point."""
    n, most = curve.n_effective_points.ravel(), smoothness.n_effective(curve.n_samples)
    # That of a model that changed says how many its own error is worth; the mean has them all.
    is_less = curve.smoothed is not None and n.max(initial=0.0) < 0.99 * most
    return np.where(n > 0, most, 0.0) if is_less else n


def past_average(curve: Curve) -> FloatArray:
    """What the model said at the time of each observation."""
    return curve.average if curve.smoothed is None else curve.smoothed
