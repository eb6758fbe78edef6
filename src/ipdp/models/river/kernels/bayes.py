"""Naive Bayes with normal densities, number by number.

This file is compiled as it is, into `_bayes`; the types are in `_bayes.pxd`. In Python the same is
done with arrays, see `array.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.river.kernels.linear import Order

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import exp, log, sqrt

_SQRT_TAU = math.sqrt(math.tau)
# What river adds to each density before it takes the logarithm.
_LEAST = 10e-10


class Density:
    """The normal density of a feature in one class; a `deviation` of 0 stands for none."""

    def __init__(self, gaussian: Any) -> None:
        self.mean = 0.0
        self.deviation = 0.0
        if gaussian is not None:
            var = gaussian._var
            n, ddof = var.mean.n, var.ddof
            if n > ddof:
                variance = var._S / (n - ddof)
                if variance > 0.0:
                    self.mean = var.mean._mean
                    self.deviation = sqrt(variance)

    def term(self, value: float) -> float:
        """The logarithm of the density, as river has it."""
        if not self.deviation:
            return log(_LEAST)
        distance = (value - self.mean) / self.deviation
        return log(_LEAST + exp(-0.5 * distance * distance) / _SQRT_TAU / self.deviation)


def bayes(
    x: dict[FeatureName, Any],
    order: Order,
    gaussians: Sequence[dict[FeatureName, Any]],
    priors: Sequence[float],
    numbers: FloatArray,
) -> FloatArray:
    """The sums of the logarithms of prior and densities, of shape (n_classes, n_points).

    There are Gaussians, by feature, and a logarithm of the prior for each class.
    """
    names, places = order
    sums = np.empty((len(gaussians), len(numbers)))
    totals = sums  # as numbers in C
    n = len(names)
    terms = np.empty(n)
    at_x = terms
    after = np.empty(n + 1)
    rest = after
    rest[n] = 0.0
    for row in range(len(gaussians)):
        own = gaussians[row]
        densities = [Density(own.get(names[k])) for k in range(n)]
        for k in range(n - 1, -1, -1):
            density = densities[k]
            at_x[k] = density.term(x[names[k]]) if names[k] in x else 0.0
            rest[k] = rest[k + 1] + at_x[k]
        prior = priors[row]
        for column in range(len(numbers)):
            totals[row, column] = prior + rest[0]
        before, done = 0.0, 0
        for place in range(len(places)):
            at, lo, hi = places[place]
            while done < at:
                before += at_x[done]
                done += 1
            density = densities[at]
            for column in range(lo, hi):
                totals[row, column] = prior + before + density.term(numbers[column]) + rest[at + 1]
    return sums
