"""What a block of values says, and how far series have moved at many time scales, by numpy.

The steps of `moves.py`, under the same names, for where they are not compiled: to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.kernels import moves as rules
from ipdp.core.typing import Array, FloatArray

_MISSING, _PLACE, _WIDTH = rules._MISSING, rules._PLACE, rules._WIDTH


# Blocks of values.


def take_numbers(rows: Any, is_category: Any, values: FloatArray) -> bool:
    """Write rows of values as floats, NaN for categories and for what is no finite number.

    Whether all others are floats, whole numbers or None; if not, nothing is to be read.
    """
    if any(is_category):
        rows = [[None if c else v for c, v in zip(is_category, row, strict=True)] for row in rows]
    try:
        values[:] = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    values[np.isinf(values)] = np.nan
    return True


def read_block(
    values: FloatArray, scale: FloatArray, periods: FloatArray, season: FloatArray, read: FloatArray
) -> None:
    """Write what a block of values, (n, n_features), says of each feature into its row of `read`.

    `scale`, (2, n_features), are middle and spread of each; `season` is what the season makes of
    the places of those with a period, of the shape of the values, or empty if there are none.
    """
    n = len(values)
    known = np.add.reduce(~np.isnan(values), axis=0, dtype=float)
    read[:, _WIDTH:] = np.nan
    read[:, _MISSING] = 1 - known / n
    scaled = (values - scale[0]) / scale[1]
    places = rules.LINEAR * np.arcsinh(scaled / rules.LINEAR)
    if len(season):
        places = np.where(periods > 0, places - season, places)
        scaled = np.where(periods > 0, places, scaled)
    has_place = ~np.isnan(places)
    count = np.add.reduce(has_place, axis=0)
    place = np.add.reduce(np.where(has_place, places, 0.0), axis=0) / np.maximum(count, 1)
    read[:, _PLACE] = np.where(count * 2 >= n, place, np.nan)
    # The narrower half: a step from one level to another is in one of them only.
    read[:, _WIDTH] = _log_width(scaled.reshape(2, n // 2, -1)).min(axis=0)


def _log_width(halves: FloatArray) -> FloatArray:
    """Logarithm of the range between two quantiles, along the second axis."""
    ordered = np.sort(halves, axis=1)  # NaN last
    count = np.add.reduce(~np.isnan(halves), axis=1)
    ends = rules._LOW_END, rules._HIGH_END
    if (count == halves.shape[1]).all():
        low, high = (_quantile(ordered, share) for share in ends)
    else:
        low, high = (_quantile_of(ordered, count, share) for share in ends)
    width = np.log(np.maximum(high - low, 0.0) + rules._NARROWEST)
    return np.where(count >= rules._FEWEST_OF_HALF, width, np.nan)


def _quantile(ordered: FloatArray, share: float) -> FloatArray:
    """A quantile along the second axis of values in order."""
    at = share * (ordered.shape[1] - 1)
    left = int(at)
    low = ordered[:, left]
    return np.asarray(low + (at - left) * (ordered[:, left + 1] - low))


def _quantile_of(ordered: FloatArray, count: Array, share: float) -> FloatArray:
    """The same of as many values as there are, the first ones."""
    last = np.maximum(count - 1, 0)[:, None]
    at = share * last
    left = at.astype(int)
    low = np.take_along_axis(ordered, left, axis=1)
    high = np.take_along_axis(ordered, np.minimum(left + 1, last), axis=1)
    return np.asarray(low + (at - left) * (high - low))[:, 0]


def count_runs(values: FloatArray, last: FloatArray, counts: Array, said: Array) -> bool:
    """Count runs of equal values, and steps down and up; a missing value ends a run.

    `counts` are of shape (6, n_features): how long the newest value has lasted, the longest run
    that has ended, the number of runs, of steps down, of steps up and of blocks. `said`, (2,
    n_features), is whether a feature has had the same value for too long, and 1 if it only grows,
    -1 if it only falls; the result is whether that is otherwise than before.
    """
    run, longest, n_runs, *_ = counts
    steps = values - np.concatenate([last[None], values[:-1]])
    counts[rules._DOWN : rules._UP + 1] += np.add.reduce(np.array([steps < 0, steps > 0]), axis=1)
    begins = steps != 0  # also where there is no value, or none before
    at = np.arange(len(values))[:, None]
    first = np.maximum.accumulate(np.where(begins, at, -1), axis=0)
    runs = np.where(first < 0, run + at + 1, at - first + 1)
    runs[np.isnan(values)] = 0
    before = np.concatenate([run[None], runs[:-1]])
    ended = np.where(begins, before, 0)
    longest[:] = np.maximum(longest, ended.max(axis=0))
    n_runs += (ended > 0).sum(axis=0)
    run[:], last[:] = runs[-1], values[-1]
    counts[rules._BLOCKS] += 1
    down, up = counts[rules._DOWN], counts[rules._UP]
    is_long = (down + up >= rules._STEPS) & (counts[rules._BLOCKS] >= rules._MANY_BLOCKS)
    one_way = np.sign(up) - np.sign(down)  # 0 where it has gone both ways
    is_stuck = (n_runs >= rules._MANY_RUNS) & (run >= rules._TIMES * longest + rules._LONGER)
    now = np.array([is_stuck, np.where(is_long, one_way, 0)])
    is_new = bool((now != said).any())
    said[:] = now
    return is_new


# Series of block means.


def advance(scales: Any, values: FloatArray, ratio: FloatArray, at_scale: Array) -> bool:
    """Take one more value of each series; write how far it has moved, and at which scale.

    How far is against what is allowed: above 1 it is a move. Whether there is any.
    """
    scales._ages[0] += 1
    ratio[:], at_scale[:] = 0.0, 0
    known = ~np.isnan(values)
    carried = np.array([np.where(known, values, 0.0), known, np.ones(len(values))])
    for k in range(len(scales._past)):
        scales._open[k] += carried
        if scales.n % 2**k:
            break
        carried = scales._open[k].copy()
        scales._open[k] = 0.0
        means = _means(k, carried)
        own = _moved(scales, k, means)
        at_scale[own > ratio] = k
        np.maximum(ratio, own, out=ratio)
        _remember(scales._past[k], scales._newest[k], scales._lags[k], means)
    return bool((ratio > 1).any())


def _means(k: int, sums: FloatArray) -> FloatArray:
    """Means of complete blocks, of which at least half is known; else NaN."""
    total, known, count = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / known
    is_whole = (count == 2**k) & (known * 2 >= 2**k)
    return means if is_whole.all() else np.where(is_whole, means, np.nan)


def _moved(scales: Any, k: int, means: FloatArray) -> FloatArray:
    """How far the newest means lie from the past ones, against what is allowed."""
    is_tested = _is_worth_a_test(scales, k, means)
    if not is_tested.any():
        return np.zeros(len(means))
    count, mean, squares, steps, _, low, high = scales._past[k]
    is_share, _, first_scale, width = scales._kinds
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        variance = squares / count
        # 1 - r, from the squares of the steps from one mean to the next
        apart = np.where(squares > 0, steps / np.maximum(count - 1, 1) / (2 * variance), 1.0)
        apart = np.minimum(apart, 1.0)
        apart = np.maximum(apart - rules._BIAS * (1 - apart) / count, 1e-6)
        independent = count * apart / (2 - apart)
        variance = variance * independent / (independent - 1)
        difference = means - mean
        wider = _wider(scales, k, means)
        distance = np.abs(difference) / np.sqrt(variance + 1e-18 * (1 + mean**2))
        distance = distance / np.exp(wider)
        share_distance = _share_distance(scales, k, means, variance)
        distance = np.where(is_share > 0, share_distance, distance)
        z = _as_normal(distance / np.sqrt(1 + 1 / independent), independent - 1)
        # Of dependent tests there are fewer independent ones.
        bound = np.sqrt(np.maximum(scales.bound**2 - 2 * np.log((2 - apart) / apart), 1.0))
        ratio = z / bound
        beyond = np.maximum(means - high, low - means) / np.exp(wider)
        share = np.maximum(rules._BEYOND, rules._BEYOND_OF_FEW / independent)
        is_bounded = (width >= 0) & (count >= rules._FEWEST_BEYOND)
        is_bounded &= independent >= rules._INDEPENDENT_BEYOND
        beyond = np.where(is_bounded, beyond / (share * (high - low) + 1e-9), 0.0)
        ratio = np.maximum(ratio, beyond)
        is_tested &= independent >= rules._FEWEST_INDEPENDENT
        if k:  # what is asked of both halves is a move that lasts
            halves = (scales._newest[k - 1, :2] - mean) * np.sign(difference)
            lasts = halves.min(axis=0) > 0.5 * np.abs(difference)
            is_tested &= lasts | (first_scale == 0)
    return np.where(is_tested, ratio, 0.0)


def _is_worth_a_test(scales: Any, k: int, means: FloatArray) -> Array:
    """Which means may be moves: most are near the past ones, and the test is long."""
    count, mean, squares = scales._past[k, :3]
    _, least, first_scale, _ = scales._kinds
    difference = np.abs(means - mean)  # NaN where it is not known, which no limit allows
    # Together, as most are near.
    limits = np.maximum(least, rules._NEAR * np.sqrt(squares / np.maximum(count, 1.0)))
    is_worth = (difference >= limits) & (count >= rules._FEWEST) & (k >= first_scale)
    if is_worth.any():
        age, warm_up = scales._ages
        is_worth &= age >= np.where(difference >= rules._HUGE, rules._SOON, warm_up)
    return np.asarray(is_worth)


def _wider(scales: Any, k: int, means: FloatArray) -> FloatArray:
    """By how much more widely than usual each series spreads at the time, as a logarithm.

    One block says little about it: that of the blocks just before it counts, if it is more.
    """
    width = scales._kinds[3].astype(int)
    recent = scales._newest[k, : rules._RECENT][:, width]
    known = ~np.isnan(recent)
    mean = np.where(known, recent, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    mean = np.where(known.any(axis=0), mean, -np.inf)
    now = np.fmax(means[width], mean) - scales._past[k, rules._MEAN, width]
    return np.where(width < 0, 0.0, np.clip(np.nan_to_num(now), 0.0, rules._WIDEST))


def _share_distance(scales: Any, k: int, means: FloatArray, variance: FloatArray) -> FloatArray:
    """How unlikely the newest shares are: the signed root of the deviance.

    Rare events have a skewed distribution, for which standard deviations are no measure.
    """
    count, mean = scales._past[k, :2]
    events = count * scales.per_value * 2**k
    share = (mean * events + 0.5) / (events + 1)
    chance = share * (1 - share) / (scales.per_value * 2**k)  # variance of independent events
    deviance = 2 * (_surprise(means, share) + _surprise(1 - means, 1 - share))
    variance = np.maximum(np.nan_to_num(variance), chance)
    distance = np.sqrt(np.maximum(deviance, 0.0) * share * (1 - share) / variance)
    return np.asarray(distance / (1 + rules._CLUSTERS * (1 - chance / variance)))


def _surprise(share: FloatArray, expected: FloatArray) -> FloatArray:
    return np.asarray(share * np.log(np.maximum(share, 1e-300) / expected))


def _as_normal(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """The normal quantile of the same chance as a quantile of Student's t (Wallace 1959)."""
    freedom = np.maximum(freedom, 0.5)
    exact = np.sqrt(freedom * np.log1p(t**2 / freedom))
    return np.asarray(exact * (8 * freedom + 1) / (8 * freedom + 3))


def _remember(past: FloatArray, newest: FloatArray, lag: int, means: FloatArray) -> None:
    """Keep the newest means; those that are old enough belong to the past from now on."""
    old = newest[lag].copy()
    newest[1:] = newest[:-1].copy()
    newest[0] = means
    known = ~np.isnan(old)
    if known.all():
        past[:] = _followed(past, old)
    elif known.any():
        past[:, known] = _followed(past[:, known], old[known])


def _followed(past: FloatArray, means: FloatArray) -> FloatArray:
    """What is kept of the past when one more mean of each series belongs to it."""
    count, mean, squares, steps, last, low, high = past
    difference = means - mean
    newer = mean + difference / (count + 1)
    return np.array(
        [
            count + 1,
            newer,
            squares + difference * (means - newer),
            np.where(count > 0, steps + (means - last) ** 2, steps),
            means,
            np.minimum(low, means),
            np.maximum(high, means),
        ]
    )
