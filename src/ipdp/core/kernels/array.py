"""The steps that every observation goes through, as operations on arrays.

For where `loop.py` is not compiled. What numpy has no better way for is taken from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ipdp.core.kernels import bins, loop, sums
from ipdp.core.kernels.loop import (
    CountWatch,
    Extremes,
    FoldStep,
    GrowthWatch,
    QuantileSpan,
    RandomBlock,
    Sample,
    Versions,
    Watch,
    are_numbers,
    count_in,
    draw,
    is_whole,
    numbers_of,
    take_in,
    take_in_many,
)
from ipdp.core.typing import FloatArray

__all__ = [
    "CountWatch",
    "EvenPoints",
    "Extremes",
    "FoldStep",
    "GrowthWatch",
    "Locator",
    "QuantileSpan",
    "RandomBlock",
    "Sample",
    "SmoothingStep",
    "Versions",
    "Watch",
    "are_below",
    "are_numbers",
    "close_block",
    "close_stratum",
    "count_in",
    "draw",
    "fold_at",
    "fold_groups",
    "fold_in",
    "fold_many",
    "is_whole",
    "join_strata",
    "numbers_of",
    "side_by_side",
    "take_in",
    "take_in_many",
]


def side_by_side(parts: Sequence[tuple[Any, ...]], columns: Any) -> tuple[FloatArray, ...]:
    """Some columns of smoothings that stand side by side; see `loop.side_by_side`."""
    sizes = [mean.shape[1] for mean, *_ in parts]
    means, spreads, weights, squares, left = zip(*parts, strict=True)
    aged = np.repeat(left, sizes)
    each = [
        np.concatenate([np.full(size, w) for size, w in zip(sizes, own, strict=True)])
        for own in (weights, squares)
    ]
    rows = [
        aged * each[0],
        aged * aged * each[1],
        np.concatenate(means, axis=1),
        aged * np.concatenate(spreads, axis=1),
    ]
    empty = np.flatnonzero(columns < 0)
    if len(aged):
        rows = [row.take(columns, axis=-1) for row in rows]
    else:
        rows = [np.zeros((*row.shape[:-1], len(columns))) for row in rows]
    for row in rows if len(empty) else ():
        row[..., empty] = 0.0
    weight, square = rows[:2]
    if not len(columns):
        weight, square = np.zeros(1), np.zeros(1)
    elif (weight == weight[0]).all() and (square == square[0]).all():
        weight, square = weight[:1].copy(), square[:1].copy()
    return weight, square, rows[2], rows[3]


def fold_in(
    smoothing: Any, parts: Sequence[FloatArray], decay: float, w: float | FloatArray
) -> None:
    """Fold an observation into a smoothing; the weight may be one for each column here."""
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if values.shape != smoothing.mean.shape:
        raise ValueError("the rows have another shape than those before")
    weight = decay * smoothing._weight
    total = weight + w
    # 0 / 0 where a column has no weight yet, and gets none: then the share does not matter.
    share = w / (np.where(total > 0, total, 1.0) if isinstance(w, np.ndarray) else total)
    # A single value, whose own spread is zero.
    delta = values - smoothing.mean
    step = delta * share
    smoothing.mean += step
    step *= delta
    step *= weight
    smoothing.spread *= decay
    smoothing.spread += step
    smoothing._weight = total
    smoothing._squares = decay * decay * smoothing._squares + w * w


def fold_many(
    smoothing: Any, parts: Sequence[FloatArray], decays: list[float], w: list[float]
) -> None:
    """Fold several observations in at once; the same as one after the other, to rounding."""
    n = len(decays)
    whole = [part if len(part) == n else np.repeat(part, n, axis=0) for part in parts]
    values = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1)
    if values.shape[1:] != smoothing.mean.shape:
        raise ValueError("the rows have another shape than those before")
    left = np.multiply.accumulate([1.0, *decays[:0:-1]])[::-1]  # of each at the end
    k = left * w
    total, aged = k.sum(), left[0] * decays[0]
    weight = aged * smoothing._weight
    if total <= 0:  # weights of zero, or a past that has been forgotten: nothing to fold in
        smoothing._weight, smoothing.spread = weight, aged * smoothing.spread
        smoothing._squares = aged * aged * smoothing._squares
        return
    # Around the first value, so that a constant stays what it is to the last bit.
    mean = values[0] + np.tensordot(k, values - values[0], axes=1) / total
    delta = mean - smoothing.mean
    share = total / (weight + total)
    smoothing.spread *= aged
    smoothing.spread += np.tensordot(k, (values - mean) ** 2, axes=1)
    smoothing.spread += weight * share * delta**2
    smoothing.mean += share * delta
    smoothing._weight = weight + total
    smoothing._squares = aged * aged * smoothing._squares + k @ k


class SmoothingStep(sums.SmoothingStep):
    """See `sums.SmoothingStep`."""

    def _fold(self, positions: FloatArray, values: FloatArray, decay: float, w: float) -> None:
        fold_in(self.smoothing, (positions, values), decay, w)


def fold_at(
    smoothing: Any, values: FloatArray, columns: Any, decays: list[float], w: list[float]
) -> None:
    """Fold observations into some columns of a smoothing each; the others only age."""
    n_more = columns.shape[1] - values.shape[2]
    if values.shape[1] != len(smoothing.mean) or n_more < 0:
        raise ValueError("the rows have another shape than those before")
    if n_more:
        values = np.concatenate([values, np.zeros((*values.shape[:2], n_more))], axis=2)
    for own, slots, decay, weight in zip(values, columns, decays, w, strict=True):
        there = slots >= 0
        _fold_columns(smoothing, own[:, there], slots[there], decay, weight)


def _fold_columns(smoothing: Any, values: FloatArray, at: Any, decay: float, w: float) -> None:
    """Let all columns age, and fold the values of one observation into some of them."""
    smoothing._weight *= decay
    smoothing._squares *= decay * decay
    smoothing.spread *= decay
    weight = smoothing._weight[at]
    total = weight + w
    delta = values - smoothing.mean[:, at]
    step = delta * (w / total)
    smoothing.mean[:, at] += step
    step *= delta
    step *= weight
    smoothing.spread[:, at] += step
    smoothing._weight[at] = total
    smoothing._squares[at] += w * w


def fold_groups(sums: Any, batch: list[tuple[Any, ...]], base: float) -> None:
    """Fold observations into the sums of groups, those of the same points at once; to rounding."""
    for _, some in groupby(sorted(batch, key=itemgetter(5)), key=lambda one: id(one[3])):
        _fold_groups(sums, list(some), base)


def _fold_groups(sums: Any, batch: list[tuple[Any, ...]], base: float) -> None:
    """Fold observations in whose columns are the same."""
    at = batch[0][3]
    batch = [(*each[:3], *each[4:]) for each in batch]
    listed, positions, outputs, w, t = map(np.array, zip(*batch, strict=True))
    order = np.argsort(listed, kind="stable")
    listed, w, t = listed[order], w[order], t[order]
    starts = np.flatnonzero(np.diff(listed, prepend=-1))
    groups, counts = listed[starts], np.diff(np.append(starts, len(listed)))
    owner = np.repeat(np.arange(len(groups)), counts)
    last = t[starts + counts - 1]
    values = np.concatenate([positions, outputs], axis=1)[order]
    k = w * base ** (last[owner] - t)
    scale = sums.scale[groups]
    left = scale * base ** np.where(scale > 0, last - sums.t[groups], 0.0)
    every, moved, spread = sums.weight[groups], sums.mean[groups], sums.spread[groups]
    squares = sums.squares[groups] * (left * left)[:, None]
    every *= left[:, None]
    spread *= left[:, None, None]
    weight = every.take(at, axis=1)
    # Around what is known, or else the first value, so that a constant stays what it is.
    mean = np.where(weight[:, None] > 0, moved.take(at, axis=2), values[starts])
    away = values - mean[owner]
    pull = k[:, None, None] * away
    pulls, squared = (np.add.reduceat(a, starts, axis=0) for a in (pull, pull * away))
    total = weight + np.add.reduceat(k, starts)[:, None]
    step = pulls / np.where(total > 0, total, 1.0)[:, None]
    moved[:, :, at] = mean + step
    spread[:, :, at] += np.maximum(squared - pulls * step, 0.0)
    every[:, at] = total
    squares[:, at] += np.add.reduceat(k * k, starts)[:, None]
    sums.mean[groups], sums.spread[groups] = moved, spread
    sums.weight[groups], sums.squares[groups], sums.t[groups] = every, squares, last
    sums.scale[groups] = 1.0


def close_block(
    now: tuple[FloatArray, FloatArray],
    start: tuple[FloatArray, FloatArray],
    block: tuple[FloatArray, FloatArray],
    aged: float,
    left: float,
) -> None:
    """Work out the weights and means of a block from those at its start and now."""
    (weight, mean), (start_weight, start_mean) = now, start
    gained = weight - start_weight * aged
    some = gained > 1e-12 * weight
    share = np.where(some, weight / np.where(some, gained, 1.0), 0.0)
    block[0][:] = np.where(some, gained, 0.0) * left
    block[1][:] = start_mean + (mean - start_mean) * share


def are_below(values: FloatArray, limit: float) -> bool:
    """Whether all values are numbers of a size below the limit."""
    flat = values.ravel()
    # The sum of squares, which one operation gives, is larger than any of them; NaN is not smaller.
    return bool(np.vdot(flat, flat) < limit * limit or (np.abs(values) < limit).all())


def close_stratum(
    weights: FloatArray, n: int, factors: tuple[float, float], last: tuple[float, float]
) -> tuple[int, float]:
    """Let n strata age and put another one, the last, behind them; see `loop.close_stratum`."""
    weights[:, :n] *= np.array(factors)[:, None]
    weights[:, n] = last
    second = weights[1, : n + 1]
    at = int((second[:-1] + second[1:]).argmin()) if n else 0
    # One after the other, as the compiled loop adds them up.
    return at, float(np.add.accumulate(second)[-1])


def join_strata(weights: FloatArray, n: int, at: int) -> None:
    """Make one of two neighbours, the first of which is that number, among n strata."""
    weights[:, at] += weights[:, at + 1]
    weights[:, at + 1 : n - 1] = weights[:, at + 2 : n]


class EvenPoints(loop.EvenPoints):
    """Equidistant points in several ranges; see `loop.EvenPoints`.

    One operation of numpy costs as much for eighty numbers as for ten.
    """

    def __init__(self, spans: list[Any], columns: list[tuple[int, int]]) -> None:
        super().__init__(spans, columns)
        sizes = [stop - start for start, stop in columns]
        self._columns = np.concatenate([np.arange(start, stop) for start, stop in columns])
        # For each column: whose range it is in, and which share of the range lies below it.
        self._owner = np.repeat(np.arange(len(columns)), sizes)
        self._fractions = np.concatenate([np.arange(size) / (size - 1) for size in sizes])

    def write(self, row: FloatArray) -> None:
        """Write the points into their columns."""
        low = np.array(self.lows, dtype=float)
        points = (np.array(self.highs, dtype=float) - low)[self._owner]
        points *= self._fractions
        points += low[self._owner]
        row[self._columns] = points


class Locator(bins.Locator):
    """Which bins the values of an observation are in; see `bins.Locator`.

    Single numbers are read faster from lists.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        for name in ("points", "starts", "firsts", "counts"):
            setattr(self, name, getattr(self, name).tolist())
