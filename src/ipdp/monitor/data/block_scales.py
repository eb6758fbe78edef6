"""Moves of series that are further than they always move at that time scale.

Every series is cut into blocks of 1, 2, 4, ... of its values. At each of these scales the newest
block mean is compared with the mean and the variance of the *past block means at the same scale*:
dependence, seasons and regimes that return are in that variance. Of each scale some numbers are
kept, so that memory grows with the logarithm of the stream's length.

Past block means that follow each other closely are worth fewer independent ones. With the
correlation r of successive means, c of them are worth c (1 - r) / (1 + r): a series that wanders is
worth few, and is compared with the quantiles of Student's t for few. For the same reason
tests that follow each other are fewer independent tests, which the bound takes into account.

A series that takes turns between a few levels varies widely, and never leaves its range. So a mean
that lies far beyond all past ones, against the range of these, is a move too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import pack_floats, unpack_floats
from ipdp.core.typing import Array, FloatArray, State

N_SCALES = 10
"""Blocks are of 1, 2, 4, ..., 512 values."""

# Newest block means that are not compared with yet, at the first scale and at all: a series that
# has just moved must not be compared with itself.
_LAG_FIRST, _LAG = 4, 2
# With fewer past block means at a scale, or fewer independent ones, there is no test.
_FEWEST, _FEWEST_INDEPENDENT = 6, 3.0
# The correlation of successive means is estimated too low, by about so much over their number.
_BIAS = 3.0
# Past every past block mean by this share of their range: a move. So much, or, of few independent
# ones, this number divided by them; of at least so many.
_BEYOND, _BEYOND_OF_FEW, _FEWEST_BEYOND, _INDEPENDENT_BEYOND = 0.6, 5.0, 64, 6.0
# Shares that vary more than independent events do come in clusters, and say so much less.
_CLUSTERS = 0.5
# A series that spreads more widely may vary by this more, as a logarithm; not by all that it does,
# or a series that becomes a thousand times as large would not have moved.
_WIDEST = 2.0
# How widely a series spreads is also seen in so many blocks before the newest.
_RECENT = 3
# A move that is this large, in units of the series, is believed sooner.
_HUGE, _SOON = 6.0, 32
# Nothing nearer to the past mean than so many standard deviations, and within the range, is a move.
_NEAR = 1.5

_COUNT, _MEAN, _SQUARES, _STEPS, _LAST, _LOW, _HIGH = range(7)
_SUM, _KNOWN, _ALL = range(3)


class Series(NamedTuple):
    """What the series are, of shape (n_series,) each."""

    is_share: Array  # means of events that happen or not, between 0 and 1
    least: FloatArray  # smaller moves do not matter
    first_scale: (
        Array  # shorter blocks are not looked at; from the second on both halves must agree
    )
    width: Array  # number of the series that says how wide this one spreads at the time, or -1


class BlockScales:
    """Moves of many series, at many time scales.

    A value of a share is the mean of `per_value` events. A series is tested after `warm_up` values;
    `bound` is how far beyond the past a mean must lie, in standard deviations of normal values.
    """

    def __init__(self, series: Series, *, per_value: int, warm_up: int, bound: float) -> None:
        self.series = series
        self.n_series = len(series.is_share)
        self.per_value = per_value
        self.warm_up: FloatArray = np.full(self.n_series, float(warm_up))
        self.bound = bound
        self.n = 0  # values so far
        self.age = np.zeros(self.n_series)
        self._lags = [max(_LAG, _LAG_FIRST >> scale) for scale in range(N_SCALES)]
        self._past = np.zeros((N_SCALES, 7, self.n_series))
        self._open = np.zeros((N_SCALES, 3, self.n_series))
        # The newest block means, newest first; NaN where there is none.
        self._newest = np.empty((N_SCALES, _LAG_FIRST + 1, self.n_series))
        self.restart(np.arange(self.n_series), warm_up)

    def restart(self, series: Array, warm_up: float) -> None:
        """Forget the past of some series, and test them again after so many values."""
        self.warm_up[series] = warm_up
        self._past[:, :, series] = self._open[:, :, series] = 0.0
        self._past[:, _LOW, series], self._past[:, _HIGH, series] = np.inf, -np.inf
        self._newest[:, :, series] = np.nan
        self.age[series] = 0

    def update(self, values: FloatArray) -> tuple[FloatArray, Array]:
        """Take one more value of each series, NaN where it is not known.

        Returns
        -------
        How far each series has moved against what is allowed, above 1 it is a move, and at which
        scale that is.
        """
        self.n += 1
        self.age += 1
        known = ~np.isnan(values)
        carried = np.array([np.where(known, values, 0.0), known, np.ones(self.n_series)])
        ratio, scale = np.zeros(self.n_series), np.zeros(self.n_series, dtype=int)
        for k in range(N_SCALES):
            self._open[k] += carried
            if self.n % 2**k:
                break
            carried = self._open[k].copy()
            self._open[k] = 0.0
            means = self._means(k, carried)
            own = self._test(k, means)
            scale[own > ratio] = k
            ratio = np.maximum(ratio, own)
            self._remember(k, means)
        return ratio, scale

    def _means(self, k: int, sums: FloatArray) -> FloatArray:
        """Means of complete blocks, of which at least half is known; else NaN."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums[_SUM] / sums[_KNOWN]
        is_whole = (sums[_ALL] == 2**k) & (sums[_KNOWN] * 2 >= 2**k)
        return means if is_whole.all() else np.where(is_whole, means, np.nan)

    def _test(self, k: int, means: FloatArray) -> FloatArray:
        """How far the newest means lie from the past ones, against what is allowed."""
        is_tested = self._is_worth_a_test(k, means)
        if not is_tested.any():
            return np.zeros(self.n_series)
        count, mean, squares, steps, _, low, high = self._past[k]
        is_share, _, first_scale, width = self.series
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            variance = squares / count
            # 1 - r, from the squares of the steps from one mean to the next
            apart = np.where(squares > 0, steps / np.maximum(count - 1, 1) / (2 * variance), 1.0)
            apart = np.minimum(apart, 1.0)
            apart = np.maximum(apart - _BIAS * (1 - apart) / count, 1e-6)
            independent = count * apart / (2 - apart)
            variance = variance * independent / (independent - 1)
            difference = means - mean
            wider = self._wider(k, means)
            distance = np.abs(difference) / np.sqrt(variance + 1e-18 * (1 + mean**2))
            distance = distance / np.exp(wider)
            distance = np.where(is_share, self._share_distance(k, means, variance), distance)
            z = _as_normal(distance / np.sqrt(1 + 1 / independent), independent - 1)
            # Of dependent tests there are fewer independent ones.
            bound = np.sqrt(np.maximum(self.bound**2 - 2 * np.log((2 - apart) / apart), 1.0))
            ratio = z / bound
            beyond = np.maximum(means - high, low - means) / np.exp(wider)
            allowed = np.maximum(_BEYOND, _BEYOND_OF_FEW / independent) * (high - low) + 1e-9
            is_bounded = (width >= 0) & (count >= _FEWEST_BEYOND)
            is_bounded &= independent >= _INDEPENDENT_BEYOND
            ratio = np.maximum(ratio, np.where(is_bounded, beyond / allowed, 0.0))
            is_tested &= independent >= _FEWEST_INDEPENDENT
            if k:  # what is asked of both halves is a move that lasts
                halves = (self._newest[k - 1, :2] - mean) * np.sign(difference)
                lasts = halves.min(axis=0) > 0.5 * np.abs(difference)
                is_tested &= lasts | (first_scale == 0)
        return np.where(is_tested, ratio, 0.0)

    def _wider(self, k: int, means: FloatArray) -> FloatArray:
        """By how much more widely than usual each series spreads at the time, as a logarithm.

        One block says little about it: that of the blocks just before it counts, if it is more.
        """
        width = self.series.width
        recent = self._newest[k, :_RECENT][:, width]
        known = ~np.isnan(recent)
        mean = np.where(known, recent, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        mean = np.where(known.any(axis=0), mean, -np.inf)
        now = np.fmax(means[width], mean) - self._past[k, _MEAN, width]
        return np.where(width < 0, 0.0, np.clip(np.nan_to_num(now), 0.0, _WIDEST))

    def _is_worth_a_test(self, k: int, means: FloatArray) -> Array:
        """Which means may be moves: most are near the past ones, and the test is long."""
        count, mean, squares = self._past[k, :3]
        difference = np.abs(means - mean)  # NaN where it is not known, which no limit allows
        # Together, as most are near.
        limits = np.maximum(self.series.least, _NEAR * np.sqrt(squares / np.maximum(count, 1.0)))
        is_worth = (difference >= limits) & (count >= _FEWEST) & (k >= self.series.first_scale)
        if is_worth.any():
            is_worth &= self.age >= np.where(difference >= _HUGE, _SOON, self.warm_up)
        return np.asarray(is_worth)

    def _share_distance(self, k: int, means: FloatArray, variance: FloatArray) -> FloatArray:
        """How unlikely the newest shares are: the signed root of the deviance.

        Rare events have a skewed distribution, for which standard deviations are no measure.
        """
        count, mean = self._past[k, _COUNT], self._past[k, _MEAN]
        events = count * self.per_value * 2**k
        share = (mean * events + 0.5) / (events + 1)
        chance = share * (1 - share) / (self.per_value * 2**k)  # variance of independent events
        deviance = 2 * (_surprise(means, share) + _surprise(1 - means, 1 - share))
        variance = np.maximum(np.nan_to_num(variance), chance)
        distance = np.sqrt(np.maximum(deviance, 0.0) * share * (1 - share) / variance)
        return np.asarray(distance / (1 + _CLUSTERS * (1 - chance / variance)))

    def _remember(self, k: int, means: FloatArray) -> None:
        """Keep the newest means; those that are old enough belong to the past from now on."""
        newest = self._newest[k]
        old = newest[self._lags[k]].copy()
        newest[1:] = newest[:-1].copy()
        newest[0] = means
        known = ~np.isnan(old)
        if known.all():
            self._past[k] = _followed(self._past[k], old)
        elif known.any():
            self._past[k][:, known] = _followed(self._past[k][:, known], old[known])

    def past_mean(self, series: int, scale: int = 0) -> float:
        """The mean of a series so far, without the newest blocks."""
        return float(self._past[scale, _MEAN, series])

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "n": self.n,
            "age": self.age.tolist(),
            "warm_up": self.warm_up.tolist(),
            "past": pack_floats(self._past),
            "open": pack_floats(self._open),
            "newest": pack_floats(self._newest),
        }

    @state.setter
    def state(self, state: State) -> None:
        past, opened, newest = (unpack_floats(state[name]) for name in ("past", "open", "newest"))
        if (past.shape, opened.shape, newest.shape) != (
            self._past.shape, self._open.shape, self._newest.shape
        ):  # fmt: skip
            raise ValueError("the state has other series than the monitor")
        schema.check(state, n=schema.count)
        self.n, self.age = state["n"], schema.array(state, "age", self.age.shape)
        self.warm_up = schema.array(state, "warm_up", self.warm_up.shape)
        self._past, self._open, self._newest = past, opened, newest


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


def _surprise(share: FloatArray, expected: FloatArray) -> FloatArray:
    return np.asarray(share * np.log(np.maximum(share, 1e-300) / expected))


def _as_normal(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """The normal quantile of the same chance as a quantile of Student's t (Wallace 1959)."""
    freedom = np.maximum(freedom, 0.5)
    exact = np.sqrt(freedom * np.log1p(t**2 / freedom))
    return np.asarray(exact * (8 * freedom + 1) / (8 * freedom + 3))
