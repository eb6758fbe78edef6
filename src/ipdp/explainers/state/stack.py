"""Observations that wait to be asked about together."""

from __future__ import annotations

import numpy as np

from ipdp.core.observations import arranged
from ipdp.core.typing import FloatArray, Observation
from ipdp.explainers.state.means import Fold, IceRecord
from ipdp.explainers.state.points import Layout
from ipdp.models import Engine


class Stack:
    """Observations with the same slots, waiting to be asked about in one call.

    Parameters
    ----------
    fold
        What the answers are folded into.
    engine
        Whom to ask.
    n_ice
        Number of recent ICE curves that the fold keeps.
    """

    def __init__(self, fold: Fold, engine: Engine, n_ice: int) -> None:
        self.fold = fold
        self.engine = engine
        self.n_ice = n_ice
        self._layout: Layout = fold.layout
        self._rows: list[Observation] = []
        self._positions: list[FloatArray] = []
        self._weights: list[float] = []
        self._times: list[float] = []

    def add(self, x: Observation, w: float, t: float) -> None:
        """Take one more; those before it are folded in first if their slots were others."""
        layout = self.fold.layout_now()
        if not layout.effects:
            return
        if layout is not self._layout and layout != self._layout:
            self.flush()
            self._layout = layout
            self.fold.adopt(layout)
        self._rows.append(arranged(x, self.fold.columns) if self.engine.ordered else x)
        self._positions.append(self.fold.positions.now())
        self._weights.append(w)
        self._times.append(t)

    def flush(self) -> None:
        """Ask the model and fold the answers in."""
        n = len(self._rows)
        if not n:
            return
        fold, layout = self.fold, self._layout
        positions = np.array(self._positions)
        answer = self.engine.ice(self._rows, layout.probes, positions)
        outputs, ice = fold.checked(answer)
        fold.add_outputs(outputs, answer.labels is not None)
        values = np.concatenate([positions, ice], axis=1)
        fold.smoothing.update_many(values, np.array(self._weights), np.array(self._times, float))
        fold.count(layout, n)
        for row in range(max(0, n - self.n_ice), n):
            fold.recent.append(IceRecord(layout, positions[row], ice[row]))
        self._rows, self._positions, self._weights, self._times = [], [], [], []
