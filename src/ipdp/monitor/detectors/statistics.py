"""Detectors of river on one number for each curve: the ways that the default is compared with.

`importance` is the paper's: the deviation of the curve from its mean. `l2`, `derivative` and `sign`
compare the curve with a reference on their common support, as in Profile Drift Detection (Dar and
Cavus 2024). All of them are functions of a *smoothed* curve, which is autocorrelated: detectors for
independent values raise alarms on them when nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.detectors.series import FeatureSeries
from ipdp.monitor.features import smoothed

Line = tuple[FloatArray, FloatArray]
"""Positions and values of a curve, of shape (n_points,) each."""

Statistic = Callable[[Line, Line], float]
"""From a curve and its reference to a number."""


def importance(curve: Line, reference: Line) -> float:
    """Standard deviation of the curve over its points; the reference does not matter."""
    del reference
    # The same as values.std(ddof=1), which takes three times as long for ten values.
    deviation = curve[1] - curve[1].mean()
    return math.sqrt(float(deviation @ deviation) / max(len(deviation) - 1, 1))


def l2(curve: Line, reference: Line) -> float:
    """Root mean square of the difference to the reference, on their common support."""
    _, now, then = _common(curve, reference)
    return _root_mean_square(now - then)


def derivative(curve: Line, reference: Line) -> float:
    """Root mean square of the difference of the slopes."""
    now, then = _slopes(curve, reference)
    return _root_mean_square(now - then)


def sign(curve: Line, reference: Line) -> float:
    """Share of the common support where the slope has changed its sign."""
    now, then = _slopes(curve, reference)
    return float((np.sign(now) != np.sign(then)).mean()) if len(now) else 0.0


STATISTICS: dict[str, Statistic] = {
    "importance": importance,
    "l2": l2,
    "derivative": derivative,
    "sign": sign,
}


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean())) if len(values) else 0.0


def _common(curve: Line, reference: Line) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Places of the reference that the curve covers, and both curves there."""
    inside = (reference[0] >= curve[0][0]) & (reference[0] <= curve[0][-1])
    places = reference[0][inside]
    return places, np.interp(places, *curve), reference[1][inside]


def _slopes(curve: Line, reference: Line) -> tuple[FloatArray, FloatArray]:
    """The slopes of both curves between their common places; none if there are fewer than two."""
    places, now, then = _common(curve, reference)
    steps = np.diff(places)
    apart = steps > 0
    return np.diff(now)[apart] / steps[apart], np.diff(then)[apart] / steps[apart]


class Detectors:
    """Clones of a drift detector, None for the paper's ADWIN, that follow one number of each curve.

    For "shape" these are the centred ICE values at the knots, else one of `STATISTICS`, of the
    smoothed curve.
    """

    def __init__(self, statistic: str, detector: Any, series: FeatureSeries) -> None:
        if detector is None:
            from river.drift import ADWIN

            # river's detectors have no types.
            detector = ADWIN(delta=1e-5, grace_period=2000)  # type: ignore[no-untyped-call]
        if not (hasattr(detector, "update") and hasattr(detector, "clone")):
            raise TypeError(
                f"detector must be one of river's drift detectors, got {type(detector).__name__}"
            )
        self.statistic = statistic
        self.detector = detector
        n_series = series.n_points if statistic == "shape" else 1
        self._shape = (len(series.outputs), n_series)
        n_features = len(series.numbers)
        self._clones: list[list[list[Any]]] = [[]] * n_features
        self._references: list[tuple[FloatArray, FloatArray] | None] = [None] * n_features
        for row in range(n_features):
            self.restart(row)

    def must_fit(self, other: Detectors) -> None:
        """Raise an error if others cannot take the place of these."""
        if not isinstance(other, Detectors):
            raise TypeError(f"monitor.detectors was expected, got {type(other).__name__}")
        own, others = (
            (d.statistic, type(d.detector).__name__, len(d._clones), d._shape)
            for d in (self, other)
        )
        if own != others:
            raise ValueError(f"these detectors are of another monitor: {others}, not {own}")

    def restart(self, row: int) -> None:
        """Start again with one feature: fresh detectors, a new reference."""
        n_outputs, n_series = self._shape
        self._references[row] = None
        self._clones[row] = [
            [self.detector.clone() for _ in range(n_series)] for _ in range(n_outputs)
        ]

    def update(self, pdp: IncrementalPDP, series: FeatureSeries) -> list[tuple[int, int]]:
        """Feed all detectors; the alarms as pairs of feature row and output number."""
        alarms = []
        is_shape = self.statistic == "shape"
        curves = series.centred().tolist() if is_shape else smoothed(pdp, series.numbers)
        for row, curve in enumerate(curves):
            if not series.has_reference(row):
                continue
            numbers = curve if is_shape else self._of_curve(row, curve[0], curve[1][series.outputs])
            pairs = zip(self._clones[row], numbers, strict=True)
            for output, (detectors, values) in enumerate(pairs):
                for detector, value in zip(detectors, values, strict=True):
                    detector.update(value)
                if any(detector.drift_detected for detector in detectors):
                    alarms.append((row, output))
                    break
        return alarms

    def _of_curve(self, row: int, positions: FloatArray, values: FloatArray) -> list[list[float]]:
        """The statistic of each output of a smoothed curve."""
        if positions.size and not np.any(positions):  # categories have no positions
            positions = np.arange(len(positions), dtype=float)
        reference = self._references[row]
        if reference is None:
            reference = self._references[row] = (positions.copy(), values.copy())
        statistic = STATISTICS[self.statistic]
        return [
            [statistic((positions, own), (reference[0], then))]
            for own, then in zip(values, reference[1], strict=True)
        ]
