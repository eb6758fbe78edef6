"""Observations that wait to be asked about together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core import kernels
from ipdp.core.observations import arranged
from ipdp.core.typing import FloatArray, Observation
from ipdp.explainers.state.curve_memory import NOT_FINITE, CurveMemory
from ipdp.explainers.state.points import Layout
from ipdp.grid.base import LARGEST
from ipdp.models import Engine

# They are asked about when they have so many points together, 8 MB of positions.
_MOST_POINTS = 1_000_000


class Stack:
    """Observations with the same slots, waiting to be asked about in one call."""

    def __init__(self, memory: CurveMemory, engine: Engine) -> None:
        self.memory = memory
        self.engine = engine
        self._layout: Layout = memory.means.layout
        self._rows: list[Observation] = []
        self._positions: list[FloatArray] = []
        self._weights: list[float] = []
        self._times: list[float] = []
        self._own: list[list[Any]] = []

    def add(self, x: Observation, own: list[Any], w: float, t: float) -> None:
        """Take one more; those before it are folded in first if their slots were others.

        `own` are its values as the memory admits them.
        """
        layout = self.memory.layout_now()
        if not layout.targets:
            return
        if layout is not self._layout and layout != self._layout:
            self.flush()
            self._layout = layout
        self._rows.append(arranged(x, self.memory.columns) if self.engine.ordered else x)
        self._positions.append(self.memory.positions.now())
        self._weights.append(w)
        self._times.append(t)
        self._own.append(own)
        if len(self._rows) * layout.n_points >= _MOST_POINTS:
            self.flush()

    def flush(self) -> None:
        """Ask the model and fold the answers in."""
        if not self._rows:
            return
        answer = self.engine.ice(self._rows, self._layout.probes, np.array(self._positions))
        if not kernels.current.are_below(answer.values, LARGEST):
            raise ValueError(NOT_FINITE)
        answers = self.memory.aligned(answer, self._layout, self._positions)
        self.memory.fold_in(answers, self._rows, self._own, self._weights, self._times)
        self._rows, self._positions, self._weights, self._times = [], [], [], []
        self._own = []
