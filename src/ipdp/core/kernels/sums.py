"""Sums over many observations, number by number: fast when compiled.

Compiled as it is into `_sums`, with the types in `_sums.pxd`; `array.py` does the same by
operations on arrays: to the last bit, but several observations at once to rounding.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

from ipdp.core.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython  # noqa: F401

# So many observations are folded in side by side.
_TOGETHER = 16
# Below it the sums of a group are multiplied by their scale: they stay near what they stand for.
_LEAST_SCALE = 0.5


def fold_in(smoothing: Any, parts: Sequence[FloatArray], decay: float, w: float) -> None:
    """Multiply a `Smoothing`'s past by `decay`, and fold in rows of shape (n, n_columns) each."""
    fold_many(smoothing, tuple([part[None] for part in parts]), [decay], [w])


def fold_many(
    smoothing: Any, parts: Sequence[FloatArray], decays: list[float], w: list[float]
) -> None:
    """Do so with several observations, one after the other.

    The parts have shape (n, n_rows, n_columns), or (1, n_rows, n_columns) if all have the same.
    """
    mean, spread = smoothing.mean, smoothing.spread
    # One number for all columns, or one for each.
    weights, squares = smoothing._weight, smoothing._squares
    n_columns, n_weights = mean.shape[1], weights.shape[0]
    fits = spread.shape[0] == mean.shape[0] and spread.shape[1] == n_columns
    if not fits or squares.shape[0] != n_weights or n_weights not in (1, n_columns):
        raise ValueError("the smoothing is damaged: its arrays differ in shape")
    n, first = len(decays), 0
    for values in parts:
        first += values.shape[1]
        if values.shape[2] != n_columns or values.shape[0] not in (1, n):
            raise ValueError("the rows have another shape than those before")
    if first != mean.shape[0] or len(w) != n:
        raise ValueError("the rows have another shape than those before")
    # The weights before each observation, and its share of all columns; of some at a time, which
    # stay in the cache.
    room = array("d", bytes(16 * min(n, _TOGETHER) * max(n_columns, 1)))
    shares = room
    for start in range(0, n, _TOGETHER):
        stop = min(start + _TOGETHER, n)
        for k in range(start, stop):
            at = 2 * (k - start) * n_columns
            _share_out(weights, squares, shares, at, n_columns, decays[k], w[k])
        first = 0
        for values in parts:
            for k in range(start, stop):
                one, at = k if values.shape[0] > 1 else 0, 2 * (k - start) * n_columns
                _fold_rows(mean, spread, shares, at, values[one], first, decays[k])
            first += values.shape[1]


class SmoothingStep:
    """Folds observations into a `Smoothing` one by one; its arrays are looked at once.

    `serves` says whether they are still those of the smoothing.
    """

    def __init__(self, smoothing: Any) -> None:
        self.smoothing = smoothing
        self.mean, self.spread = smoothing.mean, smoothing.spread
        self.weight, self.squares = smoothing._weight, smoothing._squares
        n_columns, n_weights = self.mean.shape[1], self.weight.shape[0]
        fits = self.spread.shape == self.mean.shape and self.squares.shape == self.weight.shape
        if not fits or n_weights not in (1, n_columns):
            raise ValueError("the smoothing is damaged: its arrays differ in shape")
        # The weights before an observation, and its share of all columns.
        self.shares = array("d", bytes(16 * max(n_columns, 1)))
        # As numbers in C.
        self.v_mean, self.v_spread, self.v_shares = self.mean, self.spread, self.shares
        self.v_weight, self.v_squares = self.weight, self.squares

    def serves(self, smoothing: Any) -> bool:
        """Whether the arrays are those that a smoothing has now."""
        is_same = smoothing is self.smoothing and smoothing.mean is self.mean
        is_same = is_same and smoothing.spread is self.spread
        is_same = is_same and smoothing._weight is self.weight
        return is_same and smoothing._squares is self.squares

    def fold(self, positions: FloatArray, values: FloatArray, w: float, t: float) -> None:
        """Fold an observation in, whose rows are positions and values, (n, n_columns) each."""
        smoothing, before = self.smoothing, self.smoothing.t
        gap = t - (t - 1 if before is None else before)
        decay = smoothing._decay if gap == 1 else smoothing._decay**gap
        self._fold(positions, values, decay, w)
        smoothing.n += 1
        smoothing.t = t

    def _fold(self, positions: FloatArray, values: FloatArray, decay: float, w: float) -> None:
        n_columns, n_axes = self.v_mean.shape[1], positions.shape[0]
        fits = positions.shape[1] == n_columns and values.shape[1] == n_columns
        if not fits or n_axes + values.shape[0] != self.v_mean.shape[0]:
            raise ValueError("the rows have another shape than those before")
        shares = self.v_shares
        _share_out(self.v_weight, self.v_squares, shares, 0, n_columns, decay, w)
        _fold_rows(self.v_mean, self.v_spread, shares, 0, positions, 0, decay)
        _fold_rows(self.v_mean, self.v_spread, shares, 0, values, n_axes, decay)


def _share_out(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
    weights: Any, squares: Any, shares: Any, start: int, n: int, decay: float, w: float
) -> None:
    """Let weights age, write them and the shares of an observation of weight w, and add that."""
    for k in range(weights.shape[0]):
        weights[k] *= decay
        squares[k] = decay * decay * squares[k] + w * w
    if weights.shape[0] == n:
        weight, share = 0.0, 0.0
        for k in range(n):
            # To divide takes longest, and those of neighbours are often the same.
            if k == 0 or weights[k] != weight:
                weight = weights[k]
                share = w / (weight + w) if w else 0.0
            shares[start + k] = weight
            shares[start + n + k] = share
    elif weights.shape[0]:
        share = w / (weights[0] + w) if w else 0.0
        for k in range(n):
            shares[start + k] = weights[0]
            shares[start + n + k] = share
    for k in range(weights.shape[0]):
        weights[k] += w


def _fold_rows(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
    mean: Any, spread: Any, shares: Any, start: int, values: Any, first: int, decay: float
) -> None:
    """Fold the rows of one observation in, the first of which is that number of the smoothing's."""
    n = values.shape[1]
    for row in range(values.shape[0]):
        for column in range(n):
            delta = values[row, column] - mean[first + row, column]
            step = delta * shares[start + n + column]
            mean[first + row, column] += step
            spread[first + row, column] = (
                spread[first + row, column] * decay + step * delta * shares[start + column]
            )


def fold_at(
    smoothing: Any, values: FloatArray, columns: Any, decays: list[float], w: list[float]
) -> None:
    """The same with values, (n, n_rows, n_values), of some columns, (n, n_columns); -1 for none.

    The values of columns after the n_values-th are 0.
    """
    mean, spread = smoothing.mean, smoothing.spread
    weights, squares = smoothing._weight, smoothing._squares
    n_rows, n_columns, n_values = mean.shape[0], mean.shape[1], values.shape[2]
    fits = spread.shape[0] == n_rows and spread.shape[1] == n_columns
    if not fits or weights.shape[0] != n_columns or squares.shape[0] != n_columns:
        raise ValueError("the smoothing is damaged: its arrays differ in shape")
    fits = values.shape[0] == columns.shape[0] and n_values <= columns.shape[1]
    for one in range(columns.shape[0]):
        for k in range(columns.shape[1]):
            fits = fits and columns[one, k] < n_columns
    if values.shape[1] != n_rows or not fits:
        raise ValueError("the rows have another shape than those before")
    for one in range(values.shape[0]):
        _fold_columns(
            mean, spread, weights, squares, values[one], columns[one], decays[one], w[one]
        )


def _fold_columns(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
    mean: Any,
    spread: Any,
    weights: Any,
    squares: Any,
    values: Any,
    columns: Any,
    decay: float,
    w: float,
) -> None:
    """Let all columns age, and fold the values of one observation into some of them."""
    n_rows, n_columns, n_values = mean.shape[0], mean.shape[1], values.shape[1]
    for k in range(n_columns):
        weights[k] *= decay
        squares[k] *= decay * decay
    for row in range(n_rows):
        for k in range(n_columns):
            spread[row, k] *= decay
    for k in range(columns.shape[0]):
        column = columns[k]
        if column < 0:
            continue
        weight, share = weights[column], w / (weights[column] + w)
        for row in range(n_rows):
            delta = (values[row, k] if k < n_values else 0.0) - mean[row, column]
            step = delta * share
            mean[row, column] += step
            spread[row, column] += step * delta * weight
        weights[column] += w
        squares[column] += w * w


def fold_groups(  # noqa: PLR0912  (one loop in C)
    sums: Any, batch: list[tuple[Any, ...]], base: float
) -> None:
    """Fold observations into the sums of groups, each into those of its own.

    Parameters
    ----------
    sums
        With `mean` and `spread`, (n_groups, n_rows, n_columns), `weight` and `squares`, (n_groups,
        n_columns), `t` and `scale`, (n_groups,); see `GroupSums`.
    batch
        For each observation its group, positions and outputs, of shape (n, n_points) each, the
        columns of the points, weight and time.
    base
        What is left of a weight after one unit of time.
    """
    mean, spread, weights, squares = sums.mean, sums.spread, sums.weight, sums.squares
    times, scale = sums.t, sums.scale
    n_groups, n_rows = mean.shape[0], mean.shape[1]
    if not _fit(mean, spread, weights, squares, times, scale):
        raise ValueError("the sums of the groups are damaged: their arrays differ in shape")
    positions_of = columns_of = None
    for one in batch:
        g, values, w, t = one[0], one[2], one[4], one[5]
        if one[1] is not positions_of:  # most often they are those of the last one
            positions_of = positions = one[1]
            n_axes = positions.shape[0]
        if one[3] is not columns_of:
            columns_of = at = one[3]
            n = at.shape[0]
            if not _are_columns(at, mean.shape[2]):
                raise ValueError("there is no such column")
        if positions.shape[1] != n or values.shape[1] != n or n_axes + values.shape[0] != n_rows:
            raise ValueError("the rows have another shape than those before")
        if g < 0 or g >= n_groups:
            raise ValueError("there is no such group")
        _age(times, scale, g, t, base)
        if scale[g] < _LEAST_SCALE:
            _write_out(mean, spread, weights, squares, scale, g)
        w /= scale[g]
        last, share = 0.0, 1.0
        for j in range(n):
            k = at[j]
            weight = weights[g, k]
            if weight != last:  # most columns have the same
                last, share = weight, w / (weight + w)
            weights[g, k] = weight + w
            squares[g, k] += w * w
            for row in range(n_axes):
                delta = positions[row, j] - mean[g, row, k]
                if delta != 0.0:  # most points stay where they are
                    step = delta * share
                    mean[g, row, k] += step
                    spread[g, row, k] += step * delta * weight
            for row in range(n_axes, n_rows):
                delta = values[row - n_axes, j] - mean[g, row, k]
                step = delta * share
                mean[g, row, k] += step
                spread[g, row, k] += step * delta * weight


def _fit(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
    mean: Any, spread: Any, weights: Any, squares: Any, times: Any, scale: Any
) -> bool:
    """Whether the arrays of sums of groups fit each other."""
    n_groups, n_rows, n_columns = mean.shape[0], mean.shape[1], mean.shape[2]
    fits = spread.shape[0] == n_groups and spread.shape[1] == n_rows
    fits = fits and spread.shape[2] == n_columns and weights.shape[0] == n_groups
    fits = fits and weights.shape[1] == n_columns and squares.shape[0] == n_groups
    fits = fits and squares.shape[1] == n_columns and times.shape[0] == n_groups
    return bool(fits and scale.shape[0] == n_groups)


def _are_columns(at: Any, n_columns: int) -> bool:
    """Whether these are numbers of columns, of which there are so many."""
    for j in range(at.shape[0]):  # noqa: SIM110  (a loop in C)
        if not 0 <= at[j] < n_columns:
            return False
    return True


def _age(times: Any, scale: Any, g: int, t: float, base: float) -> None:
    """Let a group be of a later time; one with nothing in it has no age."""
    if scale[g] > 0.0:
        gap = t - times[g]
        scale[g] *= base if gap == 1.0 else base**gap
    times[g] = t


def _write_out(  # noqa: PLR0917
    mean: Any, spread: Any, weights: Any, squares: Any, scale: Any, g: int
) -> None:
    """Multiply the sums of a group by its scale, which is 1 then."""
    left = scale[g]
    for k in range(mean.shape[2]):
        weights[g, k] *= left
        squares[g, k] *= left * left
    for row in range(mean.shape[1]):
        for k in range(mean.shape[2]):
            spread[g, row, k] *= left
    scale[g] = 1.0


def close_block(
    now: tuple[FloatArray, FloatArray],
    start: tuple[FloatArray, FloatArray],
    block: tuple[FloatArray, FloatArray],
    aged: float,
    left: float,
) -> None:
    """Work out the weights and means of a block from those at its start and now.

    Each is a pair of weights, (n_columns,), and means, (n_rows, n_columns). `aged` is what is left
    now of a weight at the start, `left` what will be left at the end of the block of a weight now.
    """
    weight, mean = now
    start_weight, start_mean = start
    block_weight, block_mean = block
    n_rows, n_columns = mean.shape[0], mean.shape[1]
    fits = weight.shape[0] == start_weight.shape[0] == block_weight.shape[0] == n_columns
    for one in (start_mean, block_mean):
        fits = fits and one.shape[0] == n_rows and one.shape[1] == n_columns
    if not fits:
        raise ValueError("the blocks have another shape than the smoothing")
    for column in range(n_columns):
        gained = weight[column] - start_weight[column] * aged
        some = gained > 1e-12 * weight[column]
        share = weight[column] / gained if some else 0.0
        block_weight[column] = gained * left if some else 0.0
        for row in range(n_rows):
            before = start_mean[row, column]
            block_mean[row, column] = before + (mean[row, column] - before) * share


def are_below(values: FloatArray, limit: float) -> bool:
    """Whether all values, of three dimensions, are numbers of a size below the limit."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for k in range(values.shape[2]):
                if not -limit < values[i, j, k] < limit:  # NaN is not, either
                    return False
    return True


def close_stratum(
    weights: FloatArray, n: int, factors: tuple[float, float], last: tuple[float, float]
) -> tuple[int, float]:
    """Let n strata age and put another one, the last, behind them.

    `weights` has a column for each stratum, and two rows, with a factor each.

    Returns
    -------
    The number of the first of the two neighbours that weigh least together, and the sum of all;
    both by the second row.
    """
    factor, other_factor = factors
    for k in range(n):
        weights[0, k] *= factor
        weights[1, k] *= other_factor
    weights[0, n], weights[1, n] = last
    at, least, total = 0, math.inf, weights[1, 0]
    for k in range(n):
        total += weights[1, k + 1]
        both = weights[1, k] + weights[1, k + 1]
        if both < least:
            at, least = k, both
    return at, total


def join_strata(weights: FloatArray, n: int, at: int) -> None:
    """Make one of two neighbours, the first of which is that number, among n strata."""
    for row in range(2):
        weights[row, at] += weights[row, at + 1]
        for k in range(at + 1, n - 1):
            weights[row, k] = weights[row, k + 1]
