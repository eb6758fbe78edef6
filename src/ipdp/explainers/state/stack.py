"""Observations that wait to be asked about together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from ipdp.core import kernels
from ipdp.core.observations import Block, arranged
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
        # Observations; where there is a block their numbers in it.
        self._rows: list[Any] = []
        self._block: Block | None = None
        self._positions: list[FloatArray] = []
        self._own: list[list[Any]] = []
        self._weights: list[float] = []
        self._times: list[float] = []

    def explain(
        self, rows: Sequence[Observation], w: Sequence[float], t: Sequence[float], every: int
    ) -> None:
        """Take observations as they come, each with the points that there are then.

        Only every so many of them are asked about; the storages have them all.
        """
        memory, own, n = self.memory, self.memory.admit_many(rows), self.memory.seen
        asked = [bool(weight) and not k % every for k, weight in enumerate(w, start=n + 1)]
        given: Sequence[Any]
        if isinstance(rows, Block) and self.engine.by_column:
            self.flush()
            self._block, given = rows.arranged(memory.columns), range(len(rows))
        else:
            given = [self._arranged(x) for x in rows]
        for layout, part, positions in memory.take_in_many(own, asked, w, t):
            if positions and layout.targets:
                which = asked[part]
                some = (list(compress(all_[part], which)) for all_ in (given, own, w, t))
                self._put(layout, positions, *some)
        if self._block is not None:
            self.flush()
            self._block = None

    def add(self, x: Observation, own: list[Any], w: float, t: float) -> None:
        """Take one more; those before it are folded in first if their slots were others.

        `own` are its values as the memory admits them.
        """
        layout = self.memory.layout_now()
        if layout.targets:
            positions = self.memory.positions.now()
            self._put(layout, [positions], [self._arranged(x)], [own], [w], [t])

    def _arranged(self, x: Observation) -> Observation:
        return arranged(x, self.memory.columns) if self.engine.ordered else x

    def _put(
        self, layout: Layout, positions: list[FloatArray], rows: list[Any], *more: list[Any]
    ) -> None:
        """Let some observations wait; `more` are their own values, weights and times."""
        if layout is not self._layout and layout != self._layout:
            self.flush()
            self._layout = layout
        self._positions += positions
        self._rows += rows
        self._own += more[0]
        self._weights += more[1]
        self._times += more[2]
        if len(self._rows) * layout.n_points >= _MOST_POINTS:
            self.flush()

    def flush(self) -> None:
        """Ask the model and fold the answers in."""
        n, most = len(self._rows), max(1, _MOST_POINTS // max(1, self._layout.n_points))
        for start in range(0, n, most):
            self._ask(slice(start, start + most))
        self._positions, self._rows = [], []
        self._own, self._weights, self._times = [], [], []

    def _ask(self, part: slice) -> None:
        positions = self._positions[part]
        rows: Sequence[Any] = self._rows[part]
        if self._block is not None:
            rows = self._block if len(rows) == len(self._block) else self._block.take(rows)
        places = np.concatenate(positions).reshape(len(rows), *positions[0].shape)
        answer = self.engine.ice(rows, self._layout.probes, places)
        if not kernels.current.are_below(answer.values, LARGEST):
            raise ValueError(NOT_FINITE)
        answers = self.memory.aligned(answer, self._layout, positions)
        own, w, t = self._own[part], self._weights[part], self._times[part]
        self.memory.fold_in(answers, rows, own, w, t)
