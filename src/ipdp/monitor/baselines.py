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
from ipdp.monitor.feature_series import FeatureSeries
from ipdp.monitor.features import smoothed

Statistic = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], float]
"""From positions and values of a curve, and of its reference, to a number."""


def importance(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> float:
    """Standard deviation of the curve over its points; the reference does not matter."""
    del positions, at, reference
    # The same as values.std(ddof=1), which takes three times as long for ten values.
    deviation = values - values.mean()
    return math.sqrt(float(deviation @ deviation) / max(len(values) - 1, 1))


def l2(positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray) -> float:
    """Root mean square of the difference to the reference, on their common support."""
    _, now, then = _common(positions, values, at, reference)
    return float(np.sqrt(((now - then) ** 2).mean())) if len(now) else 0.0


def derivative(
    positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray
) -> float:
    """Root mean square of the difference of the slopes."""
    now, then = _slopes(positions, values, at, reference)
    return float(np.sqrt(((now - then) ** 2).mean())) if len(now) else 0.0


def sign(positions: FloatArray, values: FloatArray, at: FloatArray, reference: FloatArray) -> float:
    """Share of the common support where the slope has changed its sign."""
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


class Detectors:
    """Clones of a drift detector that follow one number of each curve.

    Parameters
    ----------
    statistic
        "shape": the centred ICE values at the knots; else one of `STATISTICS`, of the smoothed
        curve.
    detector
        The one to clone; None is the paper's ADWIN.
    series
        Whose features and outputs are followed.
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
        self._clones: list[list[list[Any]]] = []
        self._references: list[tuple[FloatArray, FloatArray] | None] = []
        for row in range(len(series.numbers)):
            self._clones.append([])
            self._references.append(None)
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
            for output, (detectors, values) in enumerate(
                zip(self._clones[row], numbers, strict=True)
            ):
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
        if reference is None or reference[1].shape[1] != len(reference[0]):
            reference = self._references[row] = (positions.copy(), values.copy())
        statistic = STATISTICS[self.statistic]
        return [
            [statistic(positions, own, reference[0], then)]
            for own, then in zip(values, reference[1], strict=True)
        ]
