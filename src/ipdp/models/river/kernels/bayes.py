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
        return _term(value, self.mean, self.deviation)


class ClassDensities:
    """The densities of one class as they were read, and their logarithms at the points."""

    def __init__(self, n_features: int, n_columns: int) -> None:
        self.own: Any = None
        self.count = -1.0
        self.means, self.deviations = np.zeros(n_features), np.zeros(n_features)
        self.terms = np.zeros(n_columns)
        # As numbers in C.
        self.v_means, self.v_deviations, self.v_terms = self.means, self.deviations, self.terms


class BayesStep:
    """Sums of logarithms of priors and densities at points, each of which replaces one feature.

    A class that has learned nothing since it was read has the densities that it had: its count
    says so.

    Parameters
    ----------
    order
        The features, and which of them are replaced where.
    n_columns
        Number of points.
    """

    def __init__(self, order: Order, n_columns: int) -> None:
        self.names, places = order
        self.places = np.array(places, dtype=np.intp).reshape(-1, 3)
        self.known: list[ClassDensities] = []
        self.numbers, self.at_x = np.full(n_columns, math.nan), np.zeros(len(self.names))
        self.rest = np.zeros(len(self.names) + 1)
        # As numbers in C.
        self.v_places, self.v_numbers = self.places, self.numbers
        self.v_at_x, self.v_rest = self.at_x, self.rest

    def sums(
        self,
        x: dict[FeatureName, Any],
        gaussians: Sequence[dict[FeatureName, Any]],
        counts: Sequence[float],
        priors: Sequence[float],
        numbers: FloatArray,
    ) -> FloatArray:
        """The sums, of shape (n_classes, n_points).

        There are Gaussians, by feature, a count and a logarithm of the prior for each class.
        """
        n_columns = self.v_numbers.shape[0]
        if numbers.shape[0] != n_columns:
            raise ValueError("these are not the points of the step")
        is_same = True
        for column in range(n_columns):
            if self.v_numbers[column] != numbers[column]:
                self.v_numbers[column], is_same = numbers[column], False
        while len(self.known) < len(gaussians):
            self.known.append(ClassDensities(len(self.names), n_columns))
        sums = np.empty((len(gaussians), n_columns))
        totals = sums  # as numbers in C
        for row in range(len(gaussians)):
            known = self.known[row]
            has_learned = known.own is not gaussians[row] or known.count != counts[row]
            if has_learned:
                self._read(known, gaussians[row], counts[row])
            if has_learned or not is_same:
                self._fill(known)
            self._add_up(known, x, row, priors[row], totals)
        return sums

    def _read(self, known: ClassDensities, own: Any, count: float) -> None:
        known.count = -1.0  # until all is read
        for k in range(len(self.names)):
            density = Density(own.get(self.names[k]))
            known.v_means[k], known.v_deviations[k] = density.mean, density.deviation
        known.own, known.count = own, count

    def _fill(self, known: ClassDensities) -> None:
        """Compute the logarithms of the densities at the points."""
        places = self.v_places
        for place in range(places.shape[0]):
            at, lo, hi = places[place, 0], places[place, 1], places[place, 2]
            mean, deviation = known.v_means[at], known.v_deviations[at]
            for column in range(lo, hi):
                known.v_terms[column] = _term(self.v_numbers[column], mean, deviation)

    def _add_up(
        self, known: ClassDensities, x: dict[FeatureName, Any], row: int, prior: float, totals: Any
    ) -> None:
        places, at_x, rest = self.v_places, self.v_at_x, self.v_rest
        n = len(self.names)
        rest[n] = 0.0
        for k in range(n - 1, -1, -1):
            at_x[k] = 0.0
            if self.names[k] in x:
                at_x[k] = _term(x[self.names[k]], known.v_means[k], known.v_deviations[k])
            rest[k] = rest[k + 1] + at_x[k]
        for column in range(totals.shape[1]):
            totals[row, column] = prior + rest[0]
        before, done = 0.0, 0
        for place in range(places.shape[0]):
            at, lo, hi = places[place, 0], places[place, 1], places[place, 2]
            while done < at:
                before += at_x[done]
                done += 1
            for column in range(lo, hi):
                totals[row, column] = prior + before + known.v_terms[column] + rest[at + 1]


def _term(value: float, mean: float, deviation: float) -> float:
    """The logarithm of a density, as river has it."""
    if deviation == 0.0:
        return log(_LEAST)
    distance = (value - mean) / deviation
    return log(_LEAST + exp(-0.5 * distance * distance) / _SQRT_TAU / deviation)


def softmax(sums: FloatArray) -> None:
    """Turn sums of logarithms, of shape (n_classes, n_points), into shares, in place."""
    n_classes = sums.shape[0]
    for column in range(sums.shape[1]):
        highest = sums[0, column]
        for k in range(1, n_classes):
            highest = max(highest, sums[k, column])
        total = 0.0
        for k in range(n_classes):
            sums[k, column] = exp(sums[k, column] - highest)
            total += sums[k, column]
        for k in range(n_classes):
            sums[k, column] /= total
