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

from ipdp.core import kernels, schema
from ipdp.core.jsonable import pack_floats, unpack_floats
from ipdp.core.typing import Array, FloatArray, State

N_SCALES = 10
"""Blocks are of 1, 2, 4, ..., 512 values."""

# Newest block means that are not compared with yet, at the first scale and at all: a series that
# has just moved must not be compared with itself.
_LAG_FIRST, _LAG = 4, 2
# Which number of a series' past is which.
_MEAN, _LOW, _HIGH = 1, 5, 6


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
        self.bound = bound
        self.n = 0  # values so far
        self.has_moved = False  # whether any series did, at the newest value
        # How many values of each series there are, and from how many on it is tested.
        self._ages: FloatArray = np.array([np.zeros(self.n_series), self.n_series * [warm_up]])
        self.age, self.warm_up = self._ages
        self._kinds: FloatArray = np.array(series, dtype=float)
        lags = [max(_LAG, _LAG_FIRST >> scale) for scale in range(N_SCALES)]
        self._lags = np.array(lags, dtype=np.intp)
        # What is kept of the past: number, mean and sum of squares of the block means, of their
        # steps, the last, the lowest and the highest one. Of open blocks: sum, known values, all.
        self._past = np.zeros((N_SCALES, 7, self.n_series))
        self._open = np.zeros((N_SCALES, 3, self.n_series))
        # The newest block means, newest first; NaN where there is none.
        self._newest = np.empty((N_SCALES, _LAG_FIRST + 1, self.n_series))
        self._means = np.empty(self.n_series)  # of the blocks that are complete now
        self.restart(np.arange(self.n_series), warm_up)

    def restart(self, series: Array, warm_up: float) -> None:
        """Forget the past of some series, and test them again after so many values."""
        self._past[:, :, series] = self._open[:, :, series] = 0.0
        self._past[:, _LOW, series], self._past[:, _HIGH, series] = np.inf, -np.inf
        self._newest[:, :, series] = np.nan
        self.age[series], self.warm_up[series] = 0.0, warm_up

    def update(self, values: FloatArray) -> tuple[FloatArray, Array]:
        """Take one more value of each series, NaN where it is not known.

        Returns
        -------
        How far each series has moved against what is allowed, above 1 it is a move, and at which
        scale that is.
        """
        self.n += 1
        ratio, scale = np.empty(self.n_series), np.empty(self.n_series, dtype=np.intp)
        self.has_moved = bool(kernels.moves_kernel().advance(self, values, ratio, scale))
        return ratio, scale

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
        self.n = state["n"]
        ages = [schema.array(state, name, (self.n_series,)) for name in ("age", "warm_up")]
        self._ages = np.array(ages)
        self.age, self.warm_up = self._ages
        self._past, self._open, self._newest = past, opened, newest
