"""The steps that every observation goes through, number by number: fast when compiled.

This file is compiled as it is, into `_loop`, with the types in `_loop.pxd`, and so are `sums.py`,
`bins.py` and `storages.py`, whose names it has too. Where they are not, `array.py` does the same by
operations on arrays under the same names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if cython.compiled:
    from ipdp.core.kernels import _bins as bins  # type: ignore[attr-defined]
    from ipdp.core.kernels import _spread as spread  # type: ignore[attr-defined]
    from ipdp.core.kernels import _storages as storages  # type: ignore[attr-defined]
    from ipdp.core.kernels import _sums as sums  # type: ignore[attr-defined]
else:
    from ipdp.core.kernels import bins, spread, storages, sums

Locator = bins.Locator
CountWatch, GrowthWatch = storages.CountWatch, storages.GrowthWatch
Versions, Watch = storages.Versions, storages.Watch
Extremes, Sample, QuantileSpan = storages.Extremes, storages.Sample, storages.QuantileSpan
RandomBlock, draw = storages.RandomBlock, storages.draw
count_in, is_whole, take_in = storages.count_in, storages.is_whole, storages.take_in
are_below = sums.are_below
close_block, close_stratum, join_strata = sums.close_block, sums.close_stratum, sums.join_strata
fold_at, fold_in, fold_many = sums.fold_at, sums.fold_in, sums.fold_many
fold_groups, SmoothingStep = sums.fold_groups, sums.SmoothingStep


# One observation.


class FoldStep:
    """Folds observations into means, and into how far their curves are from these.

    The arrays of both are looked at once.

    Parameters
    ----------
    means
        Has a `smoothing`, and `blocks`.
    spreads
        Have a `SpreadStep` each.
    """

    def __init__(self, means: Any, spreads: Sequence[Any]) -> None:
        self.means, self.spreads = means, tuple(spreads)
        self.smoothing = sums.SmoothingStep(means.smoothing)
        self.steps = [each._step for each in spreads]
        self.are_alike = all(isinstance(step, spread.SpreadStep) for step in self.steps)

    def serves(self) -> bool:
        """Whether the arrays, and the points, are still those of the means."""
        means, spreads, steps = self.means, self.spreads, self.steps
        if not self.are_alike or not self.smoothing.serves(means.smoothing):
            return False
        for k in range(len(steps)):
            each = spreads[k]
            if each._step is not steps[k] or each.layout is not means.layout or each._fresh:
                return False
        return True

    def fold(self, observations: list[tuple[Any, ...]]) -> int:
        """Fold observations in, one after the other, as long as there is no more to do.

        Parameters
        ----------
        observations
            Of each its positions, outputs, own values, weight and time, and a list that takes what
            the last of the spreads leaves of its prediction, or None.

        Returns
        -------
        How many were folded in: all before one with other outputs, with points that have strayed,
        of another block of time or without weight.
        """
        n = 0
        until, positions_of = self.means.blocks.until, None
        for one in observations if self.serves() else ():
            if one[0] is not positions_of:  # most often they are those of the last one
                positions_of = positions = one[0]
            _, values, own, w, t, rest = one
            if t >= until or not w or not self.takes(values, positions):
                break
            self.smoothing.fold(positions, values, w, t)
            is_known = self.fold_spreads(values, positions, own, w, t)
            if rest is not None and is_known:
                found = self.steps[len(self.steps) - 1].rest.tolist()
                if not math.isnan(sum(found)):
                    rest[:] = found
            n += 1
        return n

    def takes(self, values: FloatArray, positions: FloatArray) -> bool:
        """Whether all spreads take these."""
        for k in range(len(self.steps)):
            step = self.steps[k]
            if not step.takes(values, positions):
                return False
        return True

    def fold_spreads(
        self, values: FloatArray, positions: FloatArray, own: list[Any], w: float, t: float
    ) -> bool:
        """Fold one in; whether the last of the spreads can tell the prediction."""
        is_known = False
        for k in range(len(self.steps)):
            each, step = self.spreads[k], self.steps[k]
            gap = t - (t - 1 if each.t is None else each.t)
            decay = each._decay if gap == 1 else each._decay**gap
            is_known = step.fold(values, positions[0], own, decay, w)
            each.n += 1
            each.t = t
        return is_known


# Columns.


def side_by_side(parts: Sequence[tuple[Any, ...]], columns: Any) -> tuple[FloatArray, ...]:
    """Some columns of smoothings that stand side by side; a number below 0 is an empty one.

    Parameters
    ----------
    parts
        Of each smoothing its means and spreads, (n_rows, n_columns), its weights and squares, one
        number or one for each column, and what is left of them now.
    columns
        Their numbers, as `np.intp`.

    Returns
    -------
    Weights and squares, one number each if all columns have the same, means and spreads.
    """
    n, n_rows = columns.shape[0], parts[0][0].shape[0]
    weights, all_squares = np.zeros(max(n, 1)), np.zeros(max(n, 1))
    means, spreads = np.zeros((n_rows, n)), np.zeros((n_rows, n))
    # As numbers in C.
    to_weight, to_squares, to_mean, to_spread = weights, all_squares, means, spreads
    first = 0
    for mean, spread, weight, squares, left in parts:
        size, n_weights = mean.shape[1], weight.shape[0]
        fits = mean.shape[0] == n_rows and spread.shape[0] == n_rows and spread.shape[1] == size
        if not fits or n_weights not in (1, size) or squares.shape[0] != n_weights:
            raise ValueError("the smoothing is damaged: its arrays differ in shape")
        for k in range(n):
            at = columns[k] - first
            if at < 0 or at >= size or columns[k] < 0:
                continue
            to_weight[k] = left * weight[at if n_weights > 1 else 0]
            to_squares[k] = left * left * squares[at if n_weights > 1 else 0]
            for row in range(n_rows):
                to_mean[row, k] = mean[row, at]
                to_spread[row, k] = left * spread[row, at]
        first += size
    is_even = True
    for k in range(n):
        if columns[k] >= first:
            raise IndexError("there is no such column")
        same = to_weight[k] == to_weight[0] and to_squares[k] == to_squares[0]
        is_even = is_even and same
    if is_even:
        return weights[:1].copy(), all_squares[:1].copy(), means, spreads
    return weights, all_squares, means, spreads


# Points.


class EvenPoints:
    """Equidistant points in several ranges, side by side in one row.

    A range has `ends()`, and a `version` that changes when these do; `columns` are, for each range,
    its first column and the one after its last.
    """

    def __init__(self, spans: list[Any], columns: list[tuple[int, int]]) -> None:
        self.spans = spans
        self.columns = columns
        self.versions = [-1] * len(spans)
        self.lows = [0.0] * len(spans)
        self.highs = [0.0] * len(spans)

    def moved(self) -> bool:
        """Whether any range may have moved since this was last asked."""
        versions, moved = self.versions, False
        for k in range(len(self.spans)):
            span = self.spans[k]
            version = span.version
            if version != versions[k]:
                versions[k] = version
                self.lows[k], self.highs[k] = span.ends()
                moved = True
        return moved

    def write(self, row: FloatArray) -> None:
        """Write the points into their columns."""
        # x_min + (k - 1) / (m - 1) (x_max - x_min), the paper's model evaluation point.
        for number in range(len(self.columns)):
            first, stop = self.columns[number]
            low, high = self.lows[number], self.highs[number]
            if first < 0 or stop > row.shape[0]:
                raise ValueError("the points do not fit into the row")
            steps = stop - first - 1
            for k in range(stop - first):
                row[first + k] = (high - low) * (k / steps) + low


def take_in_many(  # noqa: PLR0917  (called for each block: by position)
    values: list[list[Any]],
    asked: list[bool],
    part: tuple[int, int],
    takers: tuple[list[Any], list[Any]],
    points: tuple[Any, Any, Any],
    positions: list[Any],
) -> int:
    """Let storages take some observations, one after the other.

    Where one is asked about, the positions of the points come before it.

    Parameters
    ----------
    values, asked
        The values of each, as `take_in` has them, and whether it is asked about.
    part
        Number of the first of them, and of the one after the last.
    takers
        The storages and the updates, as `take_in` has them.
    points
        The `Versions` of points that may come and go, which are looked at; the `EvenPoints`, or
        None; the positions at the beginning, of shape (n_axes, n_points), which stay as they are.
    positions
        Takes the positions of each that is asked about.

    Returns
    -------
    The number of the one after the last that was taken: the next is to be asked about when other
    points may have come, gone or moved.
    """
    first, stop = part
    storages_of, updates = takers
    versions, even, latest = points
    for k in range(first, stop):
        if asked[k]:
            if k > first and versions.changed():
                return k
            if even is not None and even.moved():
                latest = latest.copy()
                even.write(latest[0])
            positions.append(latest)
        storages.take_in(values[k], storages_of, updates)
    return stop


# Values.


def numbers_of(x: Mapping[Any, Any], names: Sequence[Any], limit: float) -> list[Any] | None:
    """The values of some features; None unless all are floats or ints of a size below the limit."""
    values = []
    is_dict = type(x) is dict
    own: Any = x if is_dict else None  # as a dict of C
    for name in names:
        value = own.get(name) if is_dict else x.get(name)
        if type(value) is not float and type(value) is not int:
            if not isinstance(value, float):
                return None
            value = float(value)  # numpy's numbers of 64 bits
        if not -limit < value < limit:  # NaN is not, either
            return None
        values.append(value)
    return values


def are_numbers(values: list[Any], limit: float) -> bool:
    """Whether all values are floats or ints of a size below the limit."""
    for value in values:
        if type(value) is float or type(value) is int:
            if not -limit < value < limit:  # NaN is not, either
                return False
        else:
            return False
    return True
