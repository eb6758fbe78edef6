"""How a model's answers differ from its earlier ones, by numpy.

The steps of `differences.py`, under the same names, for where they are not compiled: to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.kernels import differences as rules
from ipdp.core.typing import Array, FloatArray

# What was asked at a check.


def gather(records: Any, columns: Array, at: FloatArray, earlier: FloatArray) -> None:
    """Write where the points in some columns were, (n, n_columns), and what the model said there.

    `records` are positions (n_axes, n_points) and values (n_labels_then, n_points) of each
    observation; what it said is of shape (n, n_labels, n_columns), 0 for a label not known then.
    """
    earlier[:] = 0.0
    for k, (positions, values) in enumerate(records):
        at[k], earlier[k, : len(values)] = positions[0, columns[k]], values[:, columns[k]]


def count_in(
    numbers: Array, newest: int, since: Any, renewed: Any, limits: Any, ages: Array, counts: Array
) -> None:
    """Write the age of each answer, (n, n_features), and let only those count that may.

    An answer counts for a feature that was stored after the observation of the number in `since`;
    if it was `renewed` then, it is that old. `limits` are the least and the largest age.
    """
    own, begun = numbers[:, None], np.array(since)
    ages[:] = newest - np.where(renewed, np.maximum(own, begun), own)
    counts &= ((own > begun) | renewed) & (ages >= limits[0]) & (ages <= limits[1])


def compare(
    earlier: FloatArray,
    answer: FloatArray,
    cells: Array,
    outputs: Array,
    weights: FloatArray,
    rows: Array,
    difference: FloatArray,
    then: FloatArray,
    counts: Array,
) -> None:
    """Write how answers differ from earlier ones, each curve centred, and the earlier ones.

    Answers are of shape (n, n_labels, n_columns); a column belongs to one of n_features x width
    `cells`. Of the `outputs` they are written by feature, (n_all, n_outputs, n_features, width),
    into so many `rows`. Where one is not finite, it counts no more for its feature, and is 0.
    """
    earlier, answer = earlier[:, outputs], answer[:, outputs]
    moved = answer - earlier
    # Functions of arrays round a row differently beside others.
    rounding = rules._ROUNDING * np.abs(earlier).max(axis=(0, 2), keepdims=True, initial=0.0)
    moved[np.abs(moved) <= rounding] = 0.0
    shape = len(rows), len(outputs), *weights.shape
    parts = np.zeros((2, *shape[:2], weights.size))
    parts[:, :, :, cells] = moved, earlier
    own, own_then = parts.reshape(2, *shape)
    fine = counts[rows].astype(bool) & np.isfinite(own + own_then).all(axis=(1, 3))
    if not fine.all():
        for part in (own, own_then):
            part[~np.broadcast_to(fine[:, None, :, None], part.shape)] = 0.0
    level = (own * weights).sum(axis=3, keepdims=True)
    difference[rows], then[rows], counts[rows] = (own - level) * (weights > 0), own_then, fine


def sum_up(
    difference: FloatArray,
    counts: Array,
    ages: Array,
    is_young: Array,
    recent: int,
    n: FloatArray,
    sums: FloatArray,
) -> tuple[bool, bool]:
    """Add up what counts of a check: differences, and their squares; whether any are, and count.

    First over the rows that are not young, then over those of at most so `recent` answers: `n` is
    of shape (2, n_features), `sums` (2, 2, n_outputs, n_features, width).
    """
    counted = counts.astype(bool)
    old = counted & ~is_young.astype(bool)[:, None]
    picked = np.array([old, counted & (ages <= recent)], dtype=float)
    bounded = np.clip(difference, -rules.LARGEST_ANSWER, rules.LARGEST_ANSWER)
    moments = np.array([bounded, bounded * bounded])
    n[:] = picked.sum(axis=1)
    sums[:] = (picked[:, None, :, None, :, None] * moments).sum(axis=2)
    return bool(difference.any()), bool(counted.any())


def fold_outputs(
    then: FloatArray,
    counts: Array,
    weights: FloatArray,
    share: float,
    moments: FloatArray,
    std: FloatArray,
) -> None:
    """Let mean and mean square of the outputs, (2, n_features, n_outputs), follow a check.

    Their standard deviations are written, too.
    """
    counted = counts.astype(bool)
    n = counted.sum(axis=0)
    each = counted[:, :, None] * weights / np.maximum(n, 1)[:, None]
    mean = then * each[:, None]
    now = np.array([mean.sum(axis=(0, 3)).T, (mean * then).sum(axis=(0, 3)).T])
    moments += np.where(n[:, None] > 0, share, 0.0) * (now - moments)
    mean, square = moments
    std[:] = np.sqrt(np.maximum(square - mean**2, 0.0)) + 1e-12 * np.sqrt(square) + 1e-300


# A closer look.


def read_at(
    records: Any,
    columns: Array,
    sizes: Array,
    answer: FloatArray,
    places: FloatArray,
    then: FloatArray,
    now: FloatArray,
) -> None:
    """Read curves over numbers at some places, as `numpy.interp` does.

    `records` are positions and values of each observation; its curve has so many points as `sizes`
    says, in the first of its `columns`, and `answer` is what the model says there now, (n,
    n_labels, n_columns). What it said is 0 for a label that was not known then.
    """
    then[:] = 0.0
    for k, (positions, values) in enumerate(records):
        own = columns[k, : sizes[k]]
        axis, known = positions[0, own], len(values)
        then[k, :known] = [np.interp(places, axis, row) for row in values[:, own]]
        now[k] = [np.interp(places, axis, row) for row in answer[k, :, : len(own)]]


# Several checks.


def add_windows(
    kept_n: FloatArray, kept: FloatArray, ages: Array, windows: Any, n: FloatArray, sums: FloatArray
) -> None:
    """Add up the newest checks, of which there are `kept_n` and `kept` as `sum_up` makes them.

    `ages` are the places of the checks, newest first; of each window it is said how many of them
    it has, and which of the two sums: `n` is of shape (n_windows, n_features), `sums` (n_windows,
    2, n_outputs, n_features, width).
    """
    for k, (n_checks, which) in enumerate(windows):
        own = ages[:n_checks]
        n[k], sums[k] = kept_n[own, which].sum(axis=0), kept[own, which].sum(axis=0)


def measure(
    n: FloatArray, sums: FloatArray, weights: FloatArray, std: FloatArray, sizes: FloatArray
) -> None:
    """Write sizes in standard deviations of the outputs, (n_features, n_outputs).

    `sizes` is of shape (3, n_windows, n_features, n_outputs): of the mean difference, of single
    ones, and the largest mean difference in standard errors; 0 of too few observations.
    """
    several = np.maximum(n, 2)[:, None, :, None]
    mean, square = sums[:, 0] / several, sums[:, 1] / several
    squared = mean * mean
    # Of the mean, whose square is too large by it.
    error = np.maximum(square - squared, 0.0) / (several - 1)
    distance = np.abs(mean)
    # Outputs may all have been 0 until now.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        errors = distance / np.sqrt(error)
        errors = np.where(distance > 1e-12 * std.T[:, :, None], errors, 0.0)
        # (2, n_windows, n_features, n_outputs), over the knots
        squares = (np.array([squared - error, square]) * weights).sum(axis=4)
        sizes[:2] = np.sqrt(np.maximum(squares.swapaxes(2, 3), 0.0)) / std
    sizes[:2] = np.minimum(sizes[:2], rules._MOST_STD)
    sizes[2] = errors.max(axis=3).swapaxes(1, 2)
    sizes[:, n < rules.FEWEST] = 0.0
