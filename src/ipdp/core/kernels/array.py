"""The steps that every observation goes through, as operations on arrays.

For where `loop.py` is not compiled. What numpy has no better way for is taken from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.kernels import loop
from ipdp.core.kernels.loop import (
    Extremes,
    QuantileSpan,
    Sample,
    Versions,
    Watch,
    draw,
    is_whole,
    numbers_of,
    take_in,
)
from ipdp.core.typing import FloatArray

__all__ = [
    "EvenPoints",
    "Extremes",
    "QuantileSpan",
    "Sample",
    "Versions",
    "Watch",
    "are_below",
    "draw",
    "fold_at",
    "fold_in",
    "is_whole",
    "numbers_of",
    "take_in",
]


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


def fold_at(smoothing: Any, values: FloatArray, columns: list[int], decay: float, w: float) -> None:
    """Fold an observation into some columns of a smoothing; the others only age."""
    n_more = len(columns) - values.shape[1]
    if values.shape[0] != len(smoothing.mean) or n_more < 0:
        raise ValueError("the rows have another shape than those before")
    if n_more:
        values = np.hstack([values, np.zeros((len(values), n_more))])
    there = [k for k, column in enumerate(columns) if column >= 0]
    at = [columns[k] for k in there]
    smoothing._weight *= decay
    smoothing._squares *= decay * decay
    smoothing.spread *= decay
    weight = smoothing._weight[at]
    total = weight + w
    delta = values[:, there] - smoothing.mean[:, at]
    step = delta * (w / total)
    smoothing.mean[:, at] += step
    step *= delta
    step *= weight
    smoothing.spread[:, at] += step
    smoothing._weight[at] = total
    smoothing._squares[at] += w * w


def are_below(values: FloatArray, limit: float) -> bool:
    """Whether all values are numbers of a size below the limit."""
    flat = values.ravel()
    # The sum of squares, which one operation gives, is larger than any of them; NaN is not smaller.
    return bool(np.vdot(flat, flat) < limit * limit or (np.abs(values) < limit).all())


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
