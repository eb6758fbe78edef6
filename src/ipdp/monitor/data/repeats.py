"""Values that stay the same for too long, and columns that only grow."""

from __future__ import annotations

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.typing import Array, FloatArray, State

# With other evidence, from the place or the width, so many runs of equal values before one that is
# this many times as long as the longest, and so much longer, are enough to call it stuck.
_MANY_RUNS, _TIMES_TOO, _LONGER_TOO = 50, 2, 8


class Repeats:
    """Runs of equal values, and directions, of some features."""

    def __init__(self, n_features: int) -> None:
        self._last = np.full(n_features, np.nan)  # newest known values
        self._counts = np.zeros((6, n_features), dtype=np.intp)
        self._name_counts()
        # Whether a feature is stuck, and whether it only grows: 1, or falls: -1.
        self._said = np.zeros((2, n_features), dtype=np.intp)

    def _name_counts(self) -> None:
        # How long the newest value has lasted, and the longest of the runs that ended,
        self.run, self.longest, self._n_runs = self._counts[:3]
        self._n_steps, self._n_blocks = self._counts[3:5], self._counts[5]  # down and up

    def update(self, values: FloatArray) -> bool:
        """Take a block of values, of shape (n, n_features); a missing one ends a run.

        Whether another feature than before is stuck, or only grows.
        """
        parts = self._last, self._counts, self._said
        return bool(kernels.moves_kernel().count_runs(values, *parts))

    def is_stuck(self) -> Array:
        """Which features have had the same value for too long."""
        return np.asarray(self._said[0] > 0)

    def may_be_stuck(self, row: int) -> bool:
        """Whether other evidence that a feature moved is better explained by that."""
        enough = _TIMES_TOO * self.longest[row] + _LONGER_TOO
        return bool(self._n_runs[row] >= _MANY_RUNS and self.run[row] >= enough)

    def direction(self) -> Array:
        """1 for features that have only gone up so far, -1 for those that only fell, else 0."""
        down, up = self._n_steps
        return np.where(down == 0, np.minimum(up, 1), np.where(up == 0, -1, 0))

    def only_grows(self) -> Array:
        """Which features have gone one way for long enough to be sure: 1 up, -1 down, else 0."""
        return np.array(self._said[1])

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        last = [None if np.isnan(value) else float(value) for value in self._last]
        return {
            "last": last,
            "run": self.run.tolist(),
            "longest": self.longest.tolist(),
            "n_runs": self._n_runs.tolist(),
            "n_steps": self._n_steps.tolist(),
            "n_blocks": self._n_blocks.tolist(),
        }

    @state.setter
    def state(self, state: State) -> None:
        n = len(self._last)
        schema.check(state, last=schema.each(schema.maybe(schema.number), n))
        self._last = np.array([np.nan if v is None else v for v in state["last"]], dtype=float)
        names = ("run", "longest", "n_runs", "n_blocks")
        run, longest, n_runs, n_blocks = (schema.array(state, name, (n,), "i") for name in names)
        steps = schema.array(state, "n_steps", (2, n), "i")
        self._counts = np.array([run, longest, n_runs, *steps, n_blocks], dtype=np.intp)
        self._name_counts()
