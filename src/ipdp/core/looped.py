"""Loops over numbers that every observation goes through, fast when compiled.

This file is compiled as it is, into `_looped`, with the types in `_looped.pxd`. Where it is not,
operations on arrays do the same, to the last bit: see `loops.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ipdp.typing import FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core import uncompiled as cython
if not cython.compiled:
    from math import isfinite


def fold_in(smoothing: Any, values: FloatArray, decay: float, w: float) -> None:
    """Fold an observation into a smoothing.

    Parameters
    ----------
    smoothing
        A `Smoothing`.
    values
        The observation, of shape (n_rows, n_columns).
    decay
        By what the past is multiplied.
    w
        Weight of the observation.
    """
    mean, spread = smoothing.mean, smoothing.spread
    # One number for all columns, or one for each.
    weights, squares = smoothing._weight, smoothing._squares
    for k in range(weights.shape[0]):
        weights[k] *= decay
    weight, share = weights[0], w / (weights[0] + w)
    for column in range(mean.shape[1]):
        if weights.shape[0] > 1:
            weight, share = weights[column], w / (weights[column] + w)
        for row in range(mean.shape[0]):
            delta = values[row, column] - mean[row, column]
            step = delta * share
            mean[row, column] += step
            spread[row, column] = spread[row, column] * decay + step * delta * weight
    for k in range(weights.shape[0]):
        weights[k] += w
    for k in range(squares.shape[0]):
        squares[k] = decay * decay * squares[k] + w * w


def are_numbers(values: list[Any], limit: float) -> bool:
    """Whether all values are floats or ints, and of a size below the limit."""
    for value in values:
        if type(value) is float or type(value) is int:
            if not -limit < value < limit:  # NaN is not, either
                return False
        else:
            return False
    return True


def is_finite(values: FloatArray) -> bool:
    """Whether there is neither NaN nor infinity among the values, of three dimensions."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            for k in range(values.shape[2]):
                if not isfinite(values[i, j, k]):
                    return False
    return True


def spread_out(
    points: FloatArray, spans: Sequence[tuple[int, int]], ends: Sequence[tuple[float, float]]
) -> None:
    """Write equidistant points into the columns of each range.

    Parameters
    ----------
    points
        Takes them, one a column.
    spans
        The columns of each range: the first, and the one after the last.
    ends
        The two ends of each range.
    """
    for (first, stop), (low, high) in zip(spans, ends, strict=True):
        steps = stop - first - 1
        for k in range(stop - first):
            points[first + k] = (high - low) * (k / steps) + low
