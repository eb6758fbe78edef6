"""What a block of values says, and how far series have moved at many time scales, one by one.

Compiled as it is into `_moves`, with the types in `_moves.pxd`; `moves_array.py` does the same by
operations on arrays, to rounding, and says what it is.
"""

from __future__ import annotations

from array import array
from typing import Any

from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import asinh, exp, isnan, log, log1p, sqrt

# The columns of a feature.
_MISSING, _PLACE, _WIDTH = 0, 1, 2
# Up to so many standard deviations the scale is about linear.
LINEAR = 3.0
# A range is taken as at least this share of the usual standard deviation.
_NARROWEST = 0.02
# The width is the range between these quantiles.
_LOW_END, _HIGH_END = 0.1, 0.9
# The width of a half block is known if it has so many values; the place, if half are there.
_FEWEST_OF_HALF = 12

# What is counted of a feature.
_RUN, _LONGEST, _RUNS, _DOWN, _UP, _BLOCKS = 0, 1, 2, 3, 4, 5
# Values that usually change: there have been so many runs of equal values,
_MANY_RUNS = 50
# and a run that is this many times as long as the longest before, and so much longer, is stuck.
_TIMES, _LONGER = 4, 32
# A column that has changed so often, over so many blocks, and never fallen, only grows.
_STEPS, _MANY_BLOCKS = 24, 96

# With fewer past block means at a scale, or fewer independent ones, there is no test.
_FEWEST, _FEWEST_INDEPENDENT = 6.0, 3.0
# The correlation of successive means is estimated too low, by about so much over their number.
_BIAS = 3.0
# Past every past block mean by this share of their range: a move. So much, or, of few independent
# ones, this number divided by them; of at least so many.
_BEYOND, _BEYOND_OF_FEW, _FEWEST_BEYOND, _INDEPENDENT_BEYOND = 0.6, 5.0, 64.0, 6.0
# Shares that vary more than independent events do come in clusters, and say so much less.
_CLUSTERS = 0.5
# A series that spreads more widely may vary by this more, as a logarithm; not by all that it does,
# or a series that becomes a thousand times as large would not have moved.
_WIDEST = 2.0
# How widely a series spreads is also seen in so many blocks before the newest.
_RECENT = 3
# A move that is this large, in units of the series, is believed sooner.
_HUGE, _SOON = 6.0, 32.0
# Nothing nearer to the past mean than so many standard deviations, and within the range, is a move.
_NEAR = 1.5
# What is kept of the past means of a series, and of a block that is not complete yet.
_COUNT, _MEAN, _SQUARES, _STEPS, _LAST, _LOW, _HIGH = 0, 1, 2, 3, 4, 5, 6
_SUM, _KNOWN, _ALL = 0, 1, 2
# What a series is, as in `Series`.
_IS_SHARE, _LEAST, _FIRST_SCALE, _WIDTH_OF = 0, 1, 2, 3
_NAN = float("nan")
# Whole numbers up to this size are floats, too.
_LARGEST = 2**53


# Blocks of values.


def take_numbers(rows: Any, is_category: Any, values: FloatArray) -> bool:
    """Write rows of values as floats, NaN for categories and for what is no finite number.

    Whether all others are floats, whole numbers or None; if not, nothing is to be read.
    """
    if values.shape[0] != len(rows) or values.shape[1] != len(is_category):
        raise ValueError("the values do not fit")
    for k in range(values.shape[0]):
        row = rows[k]
        for f in range(values.shape[1]):
            if is_category[f]:
                values[k, f] = _NAN
                continue
            value = row[f]
            if isinstance(value, float) or (type(value) is int and -_LARGEST < value < _LARGEST):
                number = value
                values[k, f] = number if number - number == 0 else _NAN
            elif value is None:
                values[k, f] = _NAN
            else:
                return False
    return True


def read_block(
    values: FloatArray, scale: FloatArray, periods: FloatArray, season: FloatArray, read: FloatArray
) -> None:
    """Write what a block of values, (n, n_features), says of each feature into its row of `read`.

    `scale`, (2, n_features), are middle and spread of each; `season` is what the season makes of
    the places of those with a period, of the shape of the values, or empty if there are none.
    """
    n, n_features = values.shape[0], values.shape[1]
    fits = read.shape[0] == n_features and scale.shape[1] == n_features and scale.shape[0] == 2
    if not fits or read.shape[1] <= _WIDTH or periods.shape[0] != n_features or n < 2 or n % 2:
        raise ValueError("the values do not fit")
    has_seasons = season.shape[0] > 0
    if has_seasons and (season.shape[0] != n or season.shape[1] != n_features):
        raise ValueError("the season does not fit")
    own = array("d", bytes(8 * n))
    room: Any = own
    for f in range(n_features):
        missing, count, total = 0, 0, 0.0
        for k in range(n):
            missing += isnan(values[k, f])
            scaled = (values[k, f] - scale[0, f]) / scale[1, f]
            place = LINEAR * asinh(scaled / LINEAR)
            if has_seasons and periods[f] > 0:
                place -= season[k, f]
                scaled = place
            room[k] = scaled
            if not isnan(place):
                count += 1
                total += place
        read[f, _MISSING] = 1 - (n - missing) / float(n)
        read[f, _PLACE] = total / count if count * 2 >= n else _NAN
        # The narrower half: a step from one level to another is in one of them only.
        width, other = _log_width(room, 0, n // 2), _log_width(room, n // 2, n)
        read[f, _WIDTH] = other if other < width or isnan(other) else width
        for column in range(_WIDTH + 1, read.shape[1]):
            read[f, column] = _NAN


def _log_width(room: Any, first: int, stop: int) -> float:
    """Logarithm of the range between two quantiles of some values, which are put in order."""
    count = 0
    for k in range(first, stop):
        value = room[k]
        if isnan(value):
            continue
        at = first + count
        while at > first and room[at - 1] > value:
            room[at] = room[at - 1]
            at -= 1
        room[at] = value
        count += 1
    if count < _FEWEST_OF_HALF:
        return _NAN
    width = _quantile(room, first, count, _HIGH_END) - _quantile(room, first, count, _LOW_END)
    return log((width if width > 0 else 0.0) + _NARROWEST)


def _quantile(room: Any, first: int, count: int, share: float) -> float:
    """A quantile of so many values in order."""
    at = share * (count - 1)
    left = int(at)
    right = left + 1 if left + 1 < count else left
    low: float = room[first + left]
    step: float = (at - left) * (room[first + right] - low)
    return low + step


def count_runs(values: FloatArray, last: FloatArray, counts: Array, said: Array) -> bool:
    """Count runs of equal values, and steps down and up; a missing value ends a run.

    `counts` are of shape (6, n_features): how long the newest value has lasted, the longest run
    that has ended, the number of runs, of steps down, of steps up and of blocks. `said`, (2,
    n_features), is whether a feature has had the same value for too long, and 1 if it only grows,
    -1 if it only falls; the result is whether that is otherwise than before.
    """
    n_features, is_new = values.shape[1], False
    if counts.shape[0] != 6 or counts.shape[1] != n_features or last.shape[0] != n_features:
        raise ValueError("the values do not fit")
    if said.shape[0] != 2 or said.shape[1] != n_features:
        raise ValueError("the values do not fit")
    for f in range(n_features):
        before = last[f]
        for k in range(values.shape[0]):
            value = values[k, f]
            step = value - before
            if step != 0:  # also where there is no value, or none before
                counts[_DOWN, f] += step < 0
                counts[_UP, f] += step > 0
                counts[_RUNS, f] += counts[_RUN, f] > 0
                counts[_LONGEST, f] = max(counts[_LONGEST, f], counts[_RUN, f])
                counts[_RUN, f] = 0
            counts[_RUN, f] = 0 if isnan(value) else counts[_RUN, f] + 1
            before = value
        last[f] = before
        counts[_BLOCKS, f] += 1
        stuck = counts[_RUNS, f] >= _MANY_RUNS and (
            counts[_RUN, f] >= _TIMES * counts[_LONGEST, f] + _LONGER
        )
        down, up = counts[_DOWN, f], counts[_UP, f]
        grows = 0
        if counts[_BLOCKS, f] >= _MANY_BLOCKS and down + up >= _STEPS and (not down or not up):
            grows = 1 if up else -1
        is_new = is_new or said[0, f] != stuck or said[1, f] != grows
        said[0, f], said[1, f] = stuck, grows
    return is_new


# Series of block means.


def advance(scales: Any, values: FloatArray, ratio: FloatArray, at_scale: Array) -> bool:
    """Take one more value of each series; write how far it has moved, and at which scale.

    How far is against what is allowed: above 1 it is a move. Whether there is any.
    """
    past, opened, newest, means = scales._past, scales._open, scales._newest, scales._means
    kinds, ages, lags = scales._kinds, scales._ages, scales._lags
    n, n_scales, n_series = scales.n, past.shape[0], values.shape[0]
    fits = past.shape[1] == 7 and opened.shape[1] == 3 and kinds.shape[0] == 4
    fits = fits and ages.shape[0] == 2 and opened.shape[0] == newest.shape[0] == n_scales
    fits = fits and past.shape[2] == opened.shape[2] == newest.shape[2] == n_series
    fits = fits and means.shape[0] == kinds.shape[1] == ages.shape[1] == n_series
    fits = fits and ratio.shape[0] == at_scale.shape[0] == n_series and lags.shape[0] == n_scales
    for k in range(n_scales if fits else 0):
        fits = fits and 0 < lags[k] < newest.shape[1] and newest.shape[1] >= _RECENT
    for s in range(n_series if fits else 0):
        fits = fits and kinds[_WIDTH_OF, s] < n_series
    if not fits:
        raise ValueError("the values do not fit")
    size, bound, per_value, has_moved = 1, scales.bound, scales.per_value, False
    for s in range(n_series):
        ages[0, s] += 1
        ratio[s], at_scale[s] = 0.0, 0
    for k in range(n_scales):
        for s in range(n_series):
            _add(opened, k, s, values[s])
        if n % size:
            break
        for s in range(n_series):
            means[s] = _mean(opened, k, s, size)
        for s in range(n_series):
            found = _moved(past, newest, means, kinds, ages, bound, per_value, k, s)
            if found > ratio[s]:
                ratio[s], at_scale[s] = found, k
                has_moved = has_moved or found > 1
        for s in range(n_series):
            _remember(past, newest, lags[k], k, s, means[s])
        size *= 2
    return has_moved


def _add(opened: Any, k: int, s: int, value: float) -> None:
    """Add to an open block: a value, or the block of the scale before, which is complete."""
    if k:
        for part in range(3):
            opened[k, part, s] += opened[k - 1, part, s]
            opened[k - 1, part, s] = 0.0
        return
    opened[0, _ALL, s] += 1.0
    if not isnan(value):
        opened[0, _SUM, s] += value
        opened[0, _KNOWN, s] += 1.0


def _mean(opened: Any, k: int, s: int, size: float) -> float:
    """The mean of a complete block, of which at least half is known; else NaN."""
    known = opened[k, _KNOWN, s]
    if opened[k, _ALL, s] != size or known * 2 < size:
        return _NAN
    mean: float = opened[k, _SUM, s] / known
    return mean


def _moved(
    past: Any,
    newest: Any,
    means: Any,
    kinds: Any,
    ages: Any,
    bound: float,
    per_value: float,
    k: int,
    s: int,
) -> float:
    """How far the newest mean of a series lies from the past ones, against what is allowed."""
    difference = means[s] - past[k, _MEAN, s]
    if not _is_worth_a_test(past, newest, kinds, ages, difference, k, s):
        return 0.0
    count, mean, squares = past[k, _COUNT, s], past[k, _MEAN, s], past[k, _SQUARES, s]
    variance = squares / count
    # 1 - r, from the squares of the steps from one mean to the next
    apart = past[k, _STEPS, s] / (count - 1) / (2 * variance) if squares > 0 else 1.0
    apart = 1.0 if apart > 1 else apart
    apart -= _BIAS * (1 - apart) / count
    apart = 1e-6 if apart < 1e-6 else apart
    independent = count * apart / (2 - apart)
    if not independent >= _FEWEST_INDEPENDENT:
        return 0.0
    variance *= independent / (independent - 1)
    wider = exp(_wider(past, newest, means, int(kinds[_WIDTH_OF, s]), k))
    if kinds[_IS_SHARE, s] > 0:
        distance = _share_distance(count, mean, means[s], variance, per_value, k)
    else:
        distance = abs(difference) / sqrt(variance + 1e-18 * (1 + mean * mean)) / wider
    z = _as_normal(distance / sqrt(1 + 1 / independent), independent - 1)
    # Of dependent tests there are fewer independent ones.
    allowed = bound * bound - 2 * log((2 - apart) / apart)
    found = z / sqrt(allowed if allowed > 1 else 1.0)
    if kinds[_WIDTH_OF, s] < 0 or count < _FEWEST_BEYOND or independent < _INDEPENDENT_BEYOND:
        return found
    low, high = past[k, _LOW, s], past[k, _HIGH, s]
    beyond: float = max(means[s] - high, low - means[s]) / wider
    beyond /= max(_BEYOND, _BEYOND_OF_FEW / independent) * (high - low) + 1e-9
    return max(found, beyond)


def _is_worth_a_test(
    past: Any, newest: Any, kinds: Any, ages: Any, difference: float, k: int, s: int
) -> bool:
    """Whether a mean may be a move: most are near the past ones, and the test is long."""
    count, away = past[k, _COUNT, s], abs(difference)
    limit = _NEAR * sqrt(past[k, _SQUARES, s] / (count if count > 1 else 1.0))
    # NaN, where it is not known, is no more than any limit.
    if not (away >= limit and away >= kinds[_LEAST, s]) or count < _FEWEST:
        return False
    if k < kinds[_FIRST_SCALE, s] or ages[0, s] < (_SOON if away >= _HUGE else ages[1, s]):
        return False
    if k and kinds[_FIRST_SCALE, s] > 0:  # what is asked of both halves is a move that lasts
        for half in range(2):
            off = newest[k - 1, half, s] - past[k, _MEAN, s]
            if not (off if difference > 0 else -off) > 0.5 * away:
                return False
    return True


def _wider(past: Any, newest: Any, means: Any, width: int, k: int) -> float:
    """By how much more widely than usual a series spreads at the time, as a logarithm.

    One block says little about it: that of the blocks just before it counts, if it is more.
    """
    if width < 0:
        return 0.0
    known, total, now = 0, 0.0, means[width]
    for block in range(_RECENT):
        if not isnan(newest[k, block, width]):
            known += 1
            total += newest[k, block, width]
    if known and not now >= total / known:
        now = total / known
    now -= past[k, _MEAN, width]
    if not now > 0:
        return 0.0
    return now if now < _WIDEST else _WIDEST


def _share_distance(
    count: float, mean: float, newest: float, variance: float, per_value: float, k: int
) -> float:
    """How unlikely the newest share is: the signed root of the deviance.

    Rare events have a skewed distribution, for which standard deviations are no measure.
    """
    size = per_value * float(1 << k)
    events = count * size
    share = (mean * events + 0.5) / (events + 1)
    chance = share * (1 - share) / size  # variance of independent events
    deviance = 2 * (_surprise(newest, share) + _surprise(1 - newest, 1 - share))
    variance = variance if variance > chance else chance
    distance = sqrt((deviance if deviance > 0 else 0.0) * share * (1 - share) / variance)
    return distance / (1 + _CLUSTERS * (1 - chance / variance))


def _surprise(share: float, expected: float) -> float:
    return share * log((share if share > 1e-300 else 1e-300) / expected)


def _as_normal(t: float, freedom: float) -> float:
    """The normal quantile of the same chance as a quantile of Student's t (Wallace 1959)."""
    freedom = freedom if freedom > 0.5 else 0.5
    exact = sqrt(freedom * log1p(t * t / freedom))
    return exact * (8 * freedom + 1) / (8 * freedom + 3)


def _remember(past: Any, newest: Any, lag: int, k: int, s: int, mean: float) -> None:
    """Keep the newest mean; one that is old enough belongs to the past from now on."""
    old = newest[k, lag, s]
    for block in range(newest.shape[1] - 1, 0, -1):
        newest[k, block, s] = newest[k, block - 1, s]
    newest[k, 0, s] = mean
    if isnan(old):
        return
    count, difference = past[k, _COUNT, s], old - past[k, _MEAN, s]
    if count > 0:
        step = old - past[k, _LAST, s]
        past[k, _STEPS, s] += step * step
    past[k, _COUNT, s] = count + 1
    past[k, _MEAN, s] += difference / (count + 1)
    past[k, _SQUARES, s] += difference * (old - past[k, _MEAN, s])
    past[k, _LAST, s] = old
    past[k, _LOW, s] = old if old < past[k, _LOW, s] else past[k, _LOW, s]
    past[k, _HIGH, s] = old if old > past[k, _HIGH, s] else past[k, _HIGH, s]
