"""Quantiles of Student's t, without scipy."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ipdp.core.typing import FloatArray


def student_quantile(p: float, degrees: FloatArray | float) -> FloatArray:
    """Quantile of Student's t by its expansion around the normal one (Abramowitz-Stegun 26.7.5).

    Off by less than 1 % for five degrees of freedom and p = 0.975, and negligibly from
    twenty on; scipy would be a heavy import for that.

    Examples
    --------
    >>> student_quantile(0.975, np.array([10.0, 1e9])).round(2)
    array([2.23, 1.96])
    """
    z = NormalDist().inv_cdf(p)
    n = np.maximum(degrees, 1.0)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return np.asarray(z + first / n + second / n**2 + third / n**3)
