"""Points at which the trees of a model split."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.core.validation import whole_number
from ipdp.grid.base import LARGEST, numbered
from ipdp.grid.fixed import Fixed

# So far beyond the first and the last threshold the curve is drawn, as a share of their distance.
_BEYOND = 0.05


class Thresholds(Fixed):
    """The thresholds of a model's trees: one point for each step of its curve.

    Trees answer the same between two thresholds of a feature, so that a curve with all of them
    leaves nothing out, where equidistant points miss narrow steps. There is one point more on
    either side, beyond which nothing changes. `ipdp.models.thresholds` reads them off a model;
    those of a model that is trained again are others, and a new explainer is needed.

    Parameters
    ----------
    values
        The thresholds, in any order; one that comes several times is that of several splits.
    size
        The most that are taken: of more those that divide all splits evenly.
    missing
        Whether a missing value is a point of its own.

    Examples
    --------
    >>> Thresholds([3.0, 1.0, 1.0, 2.0]).points
    array([0.9, 1. , 2. , 3. , 3.1])
    >>> Thresholds(range(100), size=3).points
    array([ -4.95,   0.  ,  50.  ,  99.  , 103.95])
    """

    _settings = ("values", "size", "missing")

    def __init__(self, values: Iterable[float], size: int = 50, *, missing: bool = False) -> None:
        self.size = whole_number("size", size)
        chosen = _divided(_numbers(values), self.size)
        super().__init__(chosen.tolist(), missing=missing)
        low, high = chosen[0], chosen[-1]
        beyond = _BEYOND * (high - low or abs(high) or 1.0)
        # Of thresholds that are neighbours among the floats the share is nothing at all.
        first = min(low - beyond, np.nextafter(low, -np.inf))
        last = max(high + beyond, np.nextafter(high, np.inf))
        self._points = np.concatenate([[first], chosen, [last]])
        self._keys = numbered(len(self._points))


def _numbers(values: Iterable[float]) -> FloatArray:
    """Thresholds in ascending order, or an error."""
    try:
        numbers = np.sort(np.array(list(values), dtype=float))
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or not len(numbers) or not (np.abs(numbers) < LARGEST).all():
        raise ValueError(
            "values must be thresholds of one feature, finite numbers and at least one; "
            "ipdp.models.thresholds(model) has those of all features"
        )
    return numbers


def _divided(numbers: FloatArray, size: int) -> FloatArray:
    """All distinct ones if they are not too many, else some that divide them all evenly."""
    distinct = np.unique(numbers)
    if len(distinct) <= size:
        return distinct
    return np.unique(numbers[np.linspace(0, len(numbers) - 1, size).round().astype(int)])
