"""The curves of a stretch of time, from those that a log has of its beginning and end.

A smoothed curve is M' of before, with the weight W' that is left of it, and the mean of what came
since; so that mean is M' + (M - M') W / (W - W'), as for `core/blocks.py`. The curve of a period is
the plain mean of those of its stretches, and how they differ says how far it may be from the truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ipdp.comparison.errors import Errors
from ipdp.core.blocks import N_BLOCKS
from ipdp.core.curve import Curve
from ipdp.core.dependence import FEWEST
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.interpolation import interpolation_weights, weights_beyond
from ipdp.core.typing import Feature, FloatArray
from ipdp.log import LogReader


class Smoothness(NamedTuple):
    """How fast curves forget: `alpha` for each observation, every k-th of which is explained."""

    alpha: float | None
    every: int = 1

    @property
    def own(self) -> float:
        """The weight of the newest explained observation."""
        return 0.0 if self.alpha is None else 1 - (1 - self.alpha) ** self.every

    def left(self, elapsed: float) -> float:
        """What is left of a weight."""
        return 1.0 if self.alpha is None else float((1 - self.alpha) ** elapsed)

    def weight(self, n: Any) -> Any:
        """The sum of the weights behind a mean that is worth n observations."""
        if self.alpha is None:
            return n
        return (1 - self._forgotten(n)) / self.own

    def squares(self, n: Any) -> Any:
        """The sum of the squares of these weights."""
        if self.alpha is None:
            return n
        return (1 - self._forgotten(n) ** 2) / (1 - (1 - self.own) ** 2)

    def n_effective(self, n: float) -> float:
        """What the mean of the n newest observations is worth."""
        if self.alpha is None:
            return n
        left = (1 - self.own) ** n
        return float((2 - self.own) / self.own * (1 - left) / (1 + left))

    def _forgotten(self, n: Any) -> Any:
        # The number of n newest weights is (1 - q) / (1 + q) times that of all, q = (1 - own)^n.
        most = (2 - self.own) / self.own
        n = np.minimum(n, most)
        return (most - n) / (most + n)

    def shares(self, n_earlier: float, n_later: float, elapsed: float) -> tuple[float, float]:
        """What of two variances, earlier and later, is that of the difference of two means."""
        left = self.left(elapsed)
        weight = self.weight(n_later) - left * self.weight(n_earlier)
        squares = self.squares(n_later) - left**2 * self.squares(n_earlier)
        since = weight / self.weight(n_later)
        if not (since > 0 and squares > 0):
            return 0.0, 0.0
        return since**2, since**2 * n_later * squares / weight**2


def during(
    reader: LogReader, explainer: str, period: tuple[float, float], smoothness: Smoothness
) -> tuple[dict[Feature, Curve], tuple[int, int]]:
    """The curves over a period, by feature, and from which snapshot to which it is."""
    first, last = period
    if not first < last:
        raise ValueError(f"a period ends after it begins, got {first:g} to {last:g}")
    times = [info.n for info in reader.snapshots()]
    start = max((n for n in times if n <= first), default=None)
    inside = [n for n in times if first < n <= last and n != start]
    if not inside:
        raise NotEnoughSamples(f"the log has no snapshot after {first:g} up to {last:g}")
    ends = [inside[k] for k in _evenly(len(inside))]
    snapshots = [{} if start is None else reader.at(start, explainer)]
    snapshots += [reader.at(n, explainer) for n in ends]
    found = {}
    for feature, curve in snapshots[-1].items():
        if isinstance(curve, Curve) and curve.outputs:
            past = [at.get(feature) for at in snapshots[:-1]]
            found[feature] = _over([*past, curve], smoothness)
    return found, (start or 0, ends[-1])


def with_errors_since(
    later: Mapping[Feature, Curve], period: Mapping[Feature, Curve]
) -> dict[Feature, Curve]:
    """Curves of one time with the errors of what was seen since an earlier one.

    Their own rest on all that they remember. Where the data moved in between, that is no error of
    what is compared, but what is looked for.
    """
    return {
        feature: _with_errors_since(curve, period[feature]) if feature in period else curve
        for feature, curve in later.items()
    }


def _with_errors_since(curve: Curve, period: Curve) -> Curve:
    # The errors of a model that changed know of that, and leave it out.
    is_other = period.centred_std_error is None or period.average.shape != curve.average.shape
    if is_other or is_of_changed(curve):
        return curve
    assert period.centred_std_error is not None
    # The error of a mean of n observations, for one of as many as are behind the curve.
    more = np.sqrt(period.n_effective_points / np.maximum(curve.n_effective_points, 1.0))
    return replace(
        curve,
        std_error=period.std_error * more,
        centred_std_error=period.centred_std_error * more,
        centred_path_length=period.centred_path_length,
        degrees=period.degrees,
        inflation=period.inflation,
        provisional=False,
    )


def _evenly(n: int) -> list[int]:
    """At most as many of n as there are blocks, the last among them."""
    most = min(n, N_BLOCKS)
    return sorted({round((k + 1) * n / most) - 1 for k in range(most)})


def _over(curves: list[Curve | None], smoothness: Smoothness) -> Curve:
    """The mean curve between the first of some curves, None before there was any, and the last."""
    last = curves[-1]
    assert last is not None
    means, lengths = _stretches(curves, last, smoothness)
    known = ~np.isnan(means)
    total = (lengths[:, None, None] * known).sum(axis=0)
    average = np.nansum(lengths[:, None, None] * means, axis=0) / np.where(total > 0, total, np.nan)
    shape = last.average.shape
    average = np.where(np.isnan(average), _past(last).reshape(average.shape), average)
    n = lengths.sum() / smoothness.every
    single = last.std_error.reshape(average.shape) ** 2 * last.n_effective_points.ravel()
    if last.inflation is not None:
        single = single / last.inflation[:, None]
    period = replace(
        last,
        average=average.reshape(shape),
        smoothed=None,
        n_samples=round(n),
        n_effective_points=np.where(last.n_effective_points > 0, n, 0.0),
        ice=None,
        ice_grid_values=None,
        **_data_over(curves, last, smoothness),
    )
    if len(lengths) < FEWEST:
        return _with_errors_of(period, last)
    errors = Errors.of_blocks(np.where(known, means, average), lengths)
    points = np.sqrt(errors.shape**2 + errors.level[:, None] ** 2)
    varies = np.nan_to_num(single) > 0
    ratio = np.where(varies, points**2 * n / np.where(varies, single, 1.0), 0.0)
    inflation = ratio.sum(axis=1) / np.maximum(varies.sum(axis=1), 1)
    return replace(
        period,
        std_error=points.reshape(shape),
        centred_std_error=errors.shape.reshape(shape),
        centred_path_length=errors.path,
        path_length=None,
        degrees=errors.degrees,
        inflation=np.maximum(inflation, 1.0),
        provisional=False,
    )


def _data_over(curves: list[Curve | None], last: Curve, smoothness: Smoothness) -> dict[str, Any]:
    """Mean predictions, and where the observations were: the mean over the stretches."""
    there = [curve for curve in curves if curve is not None]
    if any(c.prediction is None or c.density is None for c in there):
        return {"prediction": None, "density": None}
    total, length = np.zeros(len(last.outputs) + len(last.grid_values[0])), 0.0
    for before, now in pairwise(curves):
        if now is None:
            continue
        elapsed = float(now.t or 0.0) - (0.0 if before is None else float(before.t or 0.0))
        mean, weight = _data_at(now, last), _weight_of_all(now, smoothness)
        if before is not None:
            aged = smoothness.left(elapsed) * _weight_of_all(before, smoothness)
            if weight - aged > 1e-9 * weight:
                past = _data_at(before, last)
                mean = past + (mean - past) * weight / (weight - aged)
        total, length = total + elapsed * mean, length + elapsed
    mean = total / length if length > 0 else _data_at(last, last)
    n = len(last.outputs)
    return {"prediction": mean[:n], "density": mean[n:]}


def _weight_of_all(curve: Curve, smoothness: Smoothness) -> float:
    return float(smoothness.weight(smoothness.n_effective(curve.n_samples)))


def _data_at(curve: Curve, last: Curve) -> FloatArray:
    """Mean predictions, and the density at the points of the last curve, side by side."""
    assert curve.prediction is not None
    assert curve.density is not None
    said = dict(zip(curve.outputs, curve.prediction.tolist(), strict=True))
    means = [said.get(output, 0.0) for output in last.outputs]
    density = curve.density
    if curve is not last and curve.categorical == last.categorical:
        axes = last.grid_values[0], curve.grid_values[0].tolist()
        density = density @ np.nan_to_num(weights_beyond(*axes))
    return np.concatenate([means, density])


def _with_errors_of(period: Curve, last: Curve) -> Curve:
    """A period of too few stretches has the errors of its end, for its number of observations."""
    more = np.sqrt(last.n_effective_points / np.maximum(period.n_effective_points, 1.0))
    centred = last.centred_std_error
    return replace(
        period,
        std_error=last.std_error * more,
        centred_std_error=None if centred is None else centred * more,
    )


def _stretches(
    curves: list[Curve | None], last: Curve, smoothness: Smoothness
) -> tuple[FloatArray, FloatArray]:
    """The mean of each stretch, of shape (n, n_outputs, n_points) of the last curve, and length."""
    at = [_at_points(curve, last, smoothness) for curve in curves]
    times = [0.0 if curve is None else float(curve.t or 0.0) for curve in curves]
    means, lengths = [], []
    for k in range(1, len(curves)):
        (before, n_before), (now, n_now) = at[k - 1], at[k]
        weight = smoothness.weight(n_now)
        aged = smoothness.left(times[k] - times[k - 1]) * smoothness.weight(n_before)
        gained = weight - aged
        known = gained > 1e-9 * weight
        grown = np.where(known, weight / np.where(known, gained, 1.0), np.nan)
        means.append(np.where(n_before > 0, before + (now - before) * grown, now))
        lengths.append(times[k] - times[k - 1])
    kept = [k for k, length in enumerate(lengths) if length > 0]
    return np.array([means[k] for k in kept]), np.array([lengths[k] for k in kept])


def _at_points(
    curve: Curve | None, last: Curve, smoothness: Smoothness
) -> tuple[FloatArray, FloatArray]:
    """A curve at the points of the last one, and how many observations are behind each."""
    n_outputs, n = len(last.outputs), math.prod(len(axis) for axis in last.grid_values)
    if curve is None or not curve.outputs or curve.categorical != last.categorical:
        return np.zeros((n_outputs, n)), np.zeros(n)
    own = [
        _axis_weights(c, p, k)
        for c, p, k in zip(curve.grid_values, last.grid_values, curve.categorical, strict=True)
    ]
    weights = own[0] if len(own) == 1 else np.kron(own[0], own[1])
    past = _past(curve).reshape(len(curve.outputs), -1)
    values = np.zeros((n_outputs, n))  # a class that had not been met has the probability 0
    for k, output in enumerate(last.outputs):
        if output in curve.outputs:
            values[k] = past[curve.outputs.index(output)] @ weights.T
    behind = np.nan_to_num(weights @ _behind(curve, smoothness))
    # Where the curve was not yet, the stretch is unknown.
    outside = np.isnan(weights).any(axis=1)
    values[:, outside] = np.nan
    return values, np.where(outside, 1.0, behind)


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


def _behind(curve: Curve, smoothness: Smoothness) -> FloatArray:
    """How many observations are behind the mean at each point."""
    n, most = curve.n_effective_points.ravel(), smoothness.n_effective(curve.n_samples)
    # That of a model that changed says how many its own error is worth; the mean has them all.
    is_less = curve.smoothed is not None and n.max(initial=0.0) < 0.99 * most
    return np.where(n > 0, most, 0.0) if is_less else n


def is_of_changed(curve: Curve) -> bool:
    """Whether it is of a model that has said something else before."""
    past = curve.smoothed
    return past is not None and not np.array_equal(past, curve.average, equal_nan=True)


def _past(curve: Curve) -> FloatArray:
    """What the model said at the time of each observation."""
    return curve.average if curve.smoothed is None else curve.smoothed
