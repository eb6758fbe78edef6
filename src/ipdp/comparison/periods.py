"""The curves of a period of time, from the snapshots that a log has of it.

The curve of a period is the plain mean of those of its stretches (`stretches.py`), and how they
differ says how far it may be from the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.comparison.errors import Errors
from ipdp.comparison.smoothness import Smoothness
from ipdp.comparison.stretches import past_average, stretches
from ipdp.core.blocks import N_BLOCKS
from ipdp.core.curve import Curve
from ipdp.core.dependence import FEWEST
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.interpolation import weights_beyond
from ipdp.core.typing import Feature, FloatArray
from ipdp.log import LogReader


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
    means, lengths, known = stretches(curves, smoothness)
    shape, flat = last.average.shape, means.shape[1:]
    average = np.tensordot(lengths, means, axes=1) / lengths.sum()
    average = np.where(np.isnan(average), past_average(last).reshape(flat), average)
    n = lengths.sum() / smoothness.every
    single = last.std_error.reshape(flat) ** 2 * last.n_effective_points.ravel()
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
    errors = Errors.of_blocks(np.where(np.isnan(means), average, means), lengths)
    # How far a point is from its neighbours is known from the stretches in which it was there.
    own = errors.shape / np.sqrt(np.maximum(known, 1 / len(lengths)))
    points = np.sqrt(own**2 + errors.level[:, None] ** 2)
    varies = np.nan_to_num(single) > 0
    ratio = np.where(varies, points**2 * n / np.where(varies, single, 1.0), 0.0)
    inflation = ratio.sum(axis=1) / np.maximum(varies.sum(axis=1), 1)
    return replace(
        period,
        std_error=points.reshape(shape),
        centred_std_error=own.reshape(shape),
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


def is_of_changed(curve: Curve) -> bool:
    """Whether it is of a model that has said something else before."""
    past = curve.smoothed
    return past is not None and not np.array_equal(past, curve.average, equal_nan=True)
