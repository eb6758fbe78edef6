"""One number for a curve, to be fed to a change detector at every step.

`importance` is the paper's: the deviation of the curve from its mean. The others compare the curve
with a reference on their common support, as in Profile Drift Detection (Dar and Cavus 2024). All of
them are functions of a *smoothed* curve, which is autocorrelated: detectors for independent
values raise alarms on them when nothing changes. They are here to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ipdp.core.typing import FloatArray

Statistic = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], float]
"""From positions and values of a curve, and of its reference, to a number."""


def importance(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> float:
    """Standard deviation of the curve over its points; the reference does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> importance(x, 3 * x, x, x)
    3.0
    """
    del positions, at, reference
    # The same as values.std(ddof=1), which takes three times as long for ten values.
    deviation = values - values.mean()
    return math.sqrt(float(deviation @ deviation) / max(len(values) - 1, 1))


def l2(positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray) -> float:
    """Root mean square of the difference to the reference, on their common support.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> l2(x, x + 3, x, x)
    3.0
    """
    _, now, then = _common(positions, values, at, reference)
    return float(np.sqrt(((now - then) ** 2).mean())) if len(now) else 0.0


def derivative(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> float:
    """Root mean square of the difference of the slopes.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> derivative(x, 3 * x + 7, x, x)
    2.0
    """
    now, then = _slopes(positions, values, at, reference)
    return float(np.sqrt(((now - then) ** 2).mean())) if len(now) else 0.0


def sign(positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray) -> float:
    """Share of the common support where the slope has changed its sign.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> sign(x, np.abs(x - 1), x, x)
    0.5
    """
    now, then = _slopes(positions, values, at, reference)
    return float((np.sign(now) != np.sign(then)).mean()) if len(now) else 0.0


STATISTICS: dict[str, Statistic] = {
    "importance": importance,
    "l2": l2,
    "derivative": derivative,
    "sign": sign,
}


def _common(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Places of the reference that the curve covers, and both curves there."""
    inside = (at >= positions[0]) & (at <= positions[-1])
    places = at[inside]
    return places, np.interp(places, positions, values), reference[inside]


def _slopes(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> tuple[FloatArray, FloatArray]:
    places, now, then = _common(positions, values, at, reference)
    if len(places) < 2:
        return np.empty(0), np.empty(0)
    steps = np.diff(places)
    apart = steps > 0
    return np.diff(now)[apart] / steps[apart], np.diff(then)[apart] / steps[apart]
