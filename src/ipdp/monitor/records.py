"""Past observations with what the model said of them, to ask it again later."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.plain import as_plain, from_plain
from ipdp.effects import Effect
from ipdp.layout import Layout
from ipdp.typing import FloatArray, Observation, State

# Records kept at each density, and number of densities: each is half as dense as the one before,
# so that the last 32 * 2^11 observations are covered by fewer than 400 records.
_PER_LEVEL = 32
_LEVELS = 12
# So many of each density are in the state: it stays small, and there are still enough to ask about.
_SAVED = 8


class Record(NamedTuple):
    """One observation, where it was evaluated, and what the model said."""

    t: float
    x: Observation
    layout: Layout
    positions: FloatArray
    values: FloatArray


class Records:
    """A sample of past observations, denser where they are recent.

    Examples
    --------
    >>> records = Records()
    >>> for t in range(1_000):
    ...     records.update(Record(t, {}, None, None, None))
    >>> [record.t for record in records.between(100, 500, at_most=3)]
    [496, 480, 448]
    """

    def __init__(self) -> None:
        self._levels: list[deque[Record]] = [deque(maxlen=_PER_LEVEL) for _ in range(_LEVELS)]
        self._times: deque[float] = deque(maxlen=_PER_LEVEL << (_LEVELS - 1))
        self._n = 0

    def update(self, record: Record) -> None:
        """Add the newest record."""
        n = self._n
        self._times.append(record.t)
        for level in self._levels:
            level.append(record)
            if n & 1:
                break
            n >>= 1
        self._n += 1

    def between(self, first: float, last: float, *, at_most: int) -> list[Record]:
        """The newest records with first <= t <= last, newest first."""
        found: dict[int, Any] = {}
        for level in self._levels:
            for record in level:
                if first <= record.t <= last:
                    found[id(record)] = record
        return sorted(found.values(), key=lambda record: record.t, reverse=True)[:at_most]

    def spread(self, first: float, last: float, *, at_most: int) -> list[Record]:
        """Records from all of first <= t <= last, denser towards the end, newest first."""
        found = self.between(first, last, at_most=_PER_LEVEL * _LEVELS)
        if len(found) <= at_most:
            return found
        return [found[k * (len(found) - 1) // (at_most - 1)] for k in range(at_most)]

    def time_of(self, steps: int) -> float:
        """The time of the record so many steps ago; of the oldest if that is too long ago."""
        return self._times[max(-1 - steps, -len(self._times))]

    @property
    def state(self) -> State:
        """A part of the records, JSON-safe: the newest of each density."""
        kept = [list(level)[-_SAVED:] for level in self._levels]
        found = {id(record): record for level in kept for record in level}
        number = {key: k for k, key in enumerate(found)}
        return {
            "n": self._n,
            "times": _runs(self._times),
            "levels": [[number[id(record)] for record in level] for level in kept],
            "records": [
                {
                    "t": r.t,
                    "x": [[as_plain(name), as_plain(value)] for name, value in r.x.items()],
                    "effects": list(r.layout.effects),
                    "keys": [[as_plain(key) for key in keys] for keys in r.layout.keys],
                    "whole": [list(whole) for whole in r.layout.whole],
                    "positions": r.positions.tolist(),
                    "values": r.values.tolist(),
                }
                for r in found.values()
            ],
        }

    def restore(self, state: State, effects: Sequence[Effect]) -> None:
        """Go on from a state; the effects are those of the explainer."""
        records = [_record(saved, effects) for saved in state["records"]]
        self._n = state["n"]
        for first, step, n in state["times"]:
            self._times.extend(first + step * k for k in range(int(n)))
        for level, numbers in zip(self._levels, state["levels"], strict=True):
            level.extend(records[k] for k in numbers)


def _runs(times: Sequence[float]) -> list[list[float]]:
    """Times as runs of equal steps, first, step and number: one run as a rule, and not thousands.

    Examples
    --------
    >>> _runs([1, 2, 3, 10, 12])
    [[1, 1, 3], [10, 2, 2]]
    """
    runs: list[list[float]] = []
    for t in times:
        if runs:
            first, step, n = runs[-1]
            if n == 1:
                runs[-1] = [first, t - first, 2]
                continue
            if first + step * n == t:
                runs[-1][2] += 1
                continue
        runs.append([t, 0, 1])
    return runs


def _record(saved: State, effects: Sequence[Effect]) -> Record:
    layout = Layout.of(
        effects,
        saved["effects"],
        [tuple(from_plain(key) for key in keys) for keys in saved["keys"]],
        [tuple(whole) for whole in saved["whole"]],
    )
    x = {from_plain(name): from_plain(value) for name, value in saved["x"]}
    positions = np.array(saved["positions"], dtype=float).reshape(-1, layout.n_points)
    values = np.array(saved["values"], dtype=float).reshape(-1, layout.n_points)
    return Record(saved["t"], x, layout, positions, values)
