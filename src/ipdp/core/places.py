"""The values of a feature as people read them: dates, names of categories, numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.times import date_text
from ipdp.core.words import few_digits


def is_time(curve: Curve, axis: int = 0) -> bool:
    """Whether the values of a feature are times, in seconds since 1970."""
    return len(curve.times) > axis and curve.times[axis]


def place_text(curve: Curve, axis: int = 0) -> Callable[[Any], str]:
    """How the values along an axis of a curve are written.

    Examples
    --------
    >>> curve = Curve("since", ("prediction",), [np.array([1.7e9, 1.8e9])], np.zeros((1, 2)),
    ...     np.zeros((1, 2)), 9, np.full(2, 9.0), times=(True,))
    >>> place_text(curve)(1_718_000_000.0)
    '2024-06-10'
    """
    if curve.categorical[axis]:
        return str
    span = float(np.ptp(curve.grid_values[axis])) if len(curve.grid_values[axis]) else 0.0
    return lambda value: (date_text if is_time(curve, axis) else few_digits)(float(value), span)
