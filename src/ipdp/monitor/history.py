"""Stored observations with the model's outputs, on which it can be evaluated again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from ipdp.core.typing import State
from ipdp.explainers.state import records
from ipdp.monitor.features import Record, Target

__all__ = ["PER_LEVEL", "History", "Record"]

PER_LEVEL = 32
"""Records found at each density; all of the newest ones, therefore."""

# Number of densities: each is half as dense as the one before, so that the last 32 * 2^11
# observations are covered by some 200 records.
_LEVELS = 12
# Of one density, every 16th observation, more are kept for a closer look: the last 4,096 evenly.
_CLOSE_LEVEL, _CLOSE = 4, 256


class History:
    """A sample of past observations, denser where they are recent."""

    def __init__(self) -> None:
        self._levels: list[deque[Record]] = [
            deque(maxlen=_CLOSE if k == _CLOSE_LEVEL else PER_LEVEL) for k in range(_LEVELS)
        ]

    def update(self, record: Record) -> None:
        """Add the newest record: every one to the first level, every second to the next, ..."""
        k = record.n - 1
        for level in self._levels:
            level.append(record)
            if k & 1:
                break
            k >>= 1

    def newest(self, n: int) -> list[Record]:
        """The newest n records, oldest first; at most `PER_LEVEL`."""
        return list(self._levels[0])[-n:] if n else []

    def between(self, first: int, last: int, *, at_most: int, closer: bool = False) -> list[Record]:
        """The newest records with first <= n <= last, newest first; all that are kept if closer."""
        size = _CLOSE if closer else PER_LEVEL
        found = {
            record.n: record
            for level in self._levels
            for record in islice(reversed(level), size)
            if first <= record.n <= last
        }
        return [found[n] for n in sorted(found, reverse=True)[:at_most]]

    def evenly(self, first: int, last: int, *, at_most: int, closer: bool = False) -> list[Record]:
        """Records from all of first <= n <= last, denser towards the end, newest first."""
        found = self.between(first, last, at_most=PER_LEVEL * _LEVELS + _CLOSE, closer=closer)
        if len(found) <= at_most:
            return found
        return [found[k * (len(found) - 1) // (at_most - 1)] for k in range(at_most)]

    def all(self) -> list[Record]:
        """All records, oldest first."""
        found = {record.n: record for level in self._levels for record in level}
        return [found[n] for n in sorted(found)]

    def replace(self, records: Sequence[Record]) -> None:
        """Put other records in the place of those of the same numbers."""
        by_number = {record.n: record for record in records}
        for k, level in enumerate(self._levels):
            own = [by_number.get(record.n, record) for record in level]
            self._levels[k] = deque(own, maxlen=level.maxlen)

    @property
    def state(self) -> State:
        """All records, JSON-safe."""
        return records.state_of(self.all())

    @classmethod
    def restored(cls, state: State, targets: Sequence[Target]) -> History:
        """The history that gave this state; the targets are those of the explainer."""
        history = cls()
        # Oldest first, so that each finds the levels that it was in.
        for record in records.restored(state, targets):
            history.update(record)
        return history
