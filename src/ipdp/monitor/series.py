"""Detectors of river, one for each series."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.detection import Watch
from ipdp.monitor.features import smoothed
from ipdp.monitor.statistics import STATISTICS


class Detectors:
    """Clones of a drift detector that follow one number of each curve.

    Parameters
    ----------
    statistic
        "shape": the centred ICE values at the knots; else one of `STATISTICS`, of the smoothed
        curve.
    detector
        The one to clone; None is the paper's ADWIN.
    watch
        Whose features and outputs are followed.
    """

    def __init__(self, statistic: str, detector: Any, watch: Watch) -> None:
        if detector is None:
            from river.drift import ADWIN

            # river says nothing of the types of its detectors.
            detector = ADWIN(delta=1e-5, grace_period=2000)  # type: ignore[no-untyped-call]
        if not (hasattr(detector, "update") and hasattr(detector, "clone")):
            raise TypeError(
                f"detector must be one of river's drift detectors, got {type(detector).__name__}"
            )
        self.statistic = statistic
        self.detector = detector
        n_series = watch.n_points if statistic == "shape" else 1
        self._shape = (len(watch.outputs), n_series)
        self._clones: list[list[list[Any]]] = []
        self._references: list[tuple[FloatArray, FloatArray] | None] = []
        for row in range(len(watch.numbers)):
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
        """Begin anew with one feature: fresh detectors, a new reference."""
        n_outputs, n_series = self._shape
        self._references[row] = None
        self._clones[row] = [
            [self.detector.clone() for _ in range(n_series)] for _ in range(n_outputs)
        ]

    def update(self, pdp: IncrementalPDP, watch: Watch) -> list[tuple[int, int]]:
        """Feed all detectors; the alarms as pairs of feature row and output number."""
        alarms = []
        is_shape = self.statistic == "shape"
        curves = watch.centred().tolist() if is_shape else smoothed(pdp, watch.numbers)
        for row, curve in enumerate(curves):
            if not watch.is_watching(row):
                continue
            series = curve if is_shape else self._of_curve(row, curve[0], curve[1][watch.outputs])
            for output, (detectors, numbers) in enumerate(
                zip(self._clones[row], series, strict=True)
            ):
                for detector, value in zip(detectors, numbers, strict=True):
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
