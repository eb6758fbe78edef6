"""Values that stay the same for too long, and columns that only grow."""

from __future__ import annotations

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.typing import Array, FloatArray, State

# Values that usually change: there have been so many runs of equal values,
_MANY_RUNS = 50
# and a run that is this many times as long as the longest before, and so much longer, is stuck.
_TIMES, _LONGER = 4, 32
# With other evidence, from the place or the width, this is enough.
_TIMES_TOO, _LONGER_TOO = 2, 8
# A column that has changed so often, over so many blocks, and never fallen, only grows.
_STEPS, _BLOCKS = 24, 96


class Repeats:
    """Runs of equal values, and directions, of some features."""

    def __init__(self, n_features: int) -> None:
        self._last = np.full(n_features, np.nan)  # newest known values
        self.run = np.zeros(n_features, dtype=np.intp)  # how long the newest value has lasted
        self.longest = np.zeros(n_features, dtype=np.intp)  # of the runs that ended
        self._n_runs = np.zeros(n_features, dtype=np.intp)
        self._n_steps = np.zeros((2, n_features), dtype=np.intp)  # down and up
        self._n_blocks = np.zeros(n_features, dtype=np.intp)

    def update(self, values: FloatArray) -> bool:
        """Take a block of values, of shape (n, n_features); a missing one ends a run.

        Whether any feature may be stuck, or may have gone one way so far.
        """
        parts = self._last, self.run, self.longest, self._n_runs, self._n_steps
        self._n_blocks += 1
        return bool(kernels.moves_kernel().count_runs(values, *parts))

    def is_stuck(self) -> Array:
        """Which features have had the same value for too long."""
        usual = self._n_runs >= _MANY_RUNS
        return np.asarray(usual & (self.run >= _TIMES * self.longest + _LONGER))

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
        is_long = (self._n_steps.sum(axis=0) >= _STEPS) & (self._n_blocks >= _BLOCKS)
        return np.where(is_long, self.direction(), 0)

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
        self.run, self.longest, self._n_runs, self._n_blocks = (
            schema.array(state, name, (n,), "i")
            for name in ("run", "longest", "n_runs", "n_blocks")
        )
        self._n_steps = schema.array(state, "n_steps", (2, n), "i")
