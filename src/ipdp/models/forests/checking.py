"""Comparing the walk's answers with those of the library, at some points."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import FloatArray, Observation
from ipdp.models.base import Probe
from ipdp.models.batched import BatchedEngine

Cell = tuple[int, int]
"""An observation and a column."""


_UNUSUAL = (np.isnan, np.isinf)


class Asked(NamedTuple):
    """What an engine was asked, and the same as the trees compare it."""

    observations: Sequence[Observation]
    probes: Sequence[Probe]
    positions: FloatArray
    X: FloatArray
    points: FloatArray

    def changed(self, row: int, column: int) -> dict[Any, Any]:
        """An observation as it is in a column."""
        probe = next(p for p in self.probes if p.start <= column < p.stop)
        changed = dict(self.observations[row])
        for axis, name in enumerate(probe.names):
            changed[name] = probe.values(self.positions[row], axis)[column - probe.start]
        return changed


class Checker:
    """Compares some answers with those of the library.

    After the first observation it compares when as many again have passed, and from `every` on each
    time that so many have. `n_cells` points are compared in one call. Values that are new, as the
    first missing one, are compared at once.

    Parameters
    ----------
    plain
        The engine that asks the library.
    every, n_cells
        As above.
    """

    def __init__(self, plain: BatchedEngine, *, every: int = 2048, n_cells: int = 32) -> None:
        self.plain = plain
        self.every = every
        self.n_cells = n_cells
        self._random = random.Random(0)
        self.begin()

    def begin(self) -> None:
        """The trees were read: compare soon."""
        self._seen = self._next = 0
        # Kinds of unusual values that were compared: np.isnan, np.isinf.
        self._known: set[Any] = set()

    def agrees(self, asked: Asked, values: FloatArray, tolerance: float) -> bool:
        """Whether the answer is that of the library where it is compared."""
        cells: list[Cell] = []
        total = float(asked.X.sum()) + float(asked.points.sum())
        unusual = [] if total - total == 0.0 else [k for k in _UNUSUAL if k not in self._known]
        for kind in unusual:
            cells += self._where(kind, asked)
        self._seen += len(values)
        if self._seen > self._next:
            self._next = self._seen + min(self._seen, self.every) - 1
            cells += self._some(range(len(values)), values.shape[2], self.n_cells)
        if not cells:
            return True
        theirs = self.plain.predict([asked.changed(*cell) for cell in cells]).values[:, :, 0]
        rows, columns = np.array(cells).T
        if not _close(values[rows, :, columns], theirs, tolerance):
            return False
        self._known.update(k for k in unusual if k(asked.X).any() or k(asked.points).any())
        return True

    def _some(self, rows: Sequence[int], n_columns: int, n: int) -> list[Cell]:
        below = self._random.random
        return [(rows[int(below() * len(rows))], int(below() * n_columns)) for _ in range(n)]

    def _where(self, kind: Any, asked: Asked) -> list[Cell]:
        """Some points where values are missing, or infinite."""
        cells: list[Cell] = []
        rows = np.flatnonzero(kind(asked.X).any(axis=1)).tolist()
        if rows:
            cells += self._some(rows, asked.probes[-1].stop, self.n_cells)
        if kind(asked.points).any():
            cells += [(0, k) for probe in asked.probes for k in (probe.start, probe.stop - 1)]
        return cells


def _close(ours: FloatArray, theirs: FloatArray, tolerance: float) -> bool:
    size = np.abs(theirs)
    size = size + size.max(initial=0.0, where=np.isfinite(size))
    with np.errstate(invalid="ignore"):
        close = np.abs(ours - theirs) <= tolerance * size
    # What is not finite has to be the same.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return bool(np.where(np.isfinite(ours) & np.isfinite(theirs), close, same).all())
