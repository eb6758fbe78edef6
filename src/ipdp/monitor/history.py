"""Stored observations with the model's outputs, on which it can be evaluated again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice, pairwise

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
        self._by_level: list[deque[Record]] = [
            deque(maxlen=_CLOSE if k == _CLOSE_LEVEL else PER_LEVEL) for k in range(_LEVELS)
        ]
        # The newest ones, which are sorted into the levels together.
        self._new: list[Record] = []

    def update(self, record: Record) -> None:
        """Add the newest record: every one to the first level, every second to the next, ..."""
        self._new.append(record)
        if len(self._new) >= PER_LEVEL:
            self._sort_in()

    def _sort_in(self) -> None:
        new, self._new = self._new, []
        for k, level in enumerate(self._by_level):
            level.extend(new)
            new = [record for record in new if not (record.n - 1) >> k & 1]

    @property
    def _levels(self) -> list[deque[Record]]:
        if self._new:
            self._sort_in()
        return self._by_level

    def newest(self, n: int) -> list[Record]:
        """The newest n records, oldest first; at most `PER_LEVEL`."""
        return list(self._levels[0])[-n:] if n else []

    def between(self, first: int, last: int, *, at_most: int, closer: bool = False) -> list[Record]:
        """The newest records with first <= n <= last, newest first; all that are kept if closer."""
        found: list[Record] = []
        size, oldest = _CLOSE if closer else PER_LEVEL, last + 1
        for k, level in enumerate(self._levels):
            if not level or oldest <= first:
                break
            # Their numbers are 2^k apart. What is in a level, and newer, is in those before, too.
            newest = level[-1].n
            start, stop = ((newest - oldest) >> k) + 1, min(((newest - first) >> k) + 1, size)
            if stop > start and (part := list(islice(reversed(level), max(start, 0), stop))):
                found += part
                oldest = part[-1].n
        return found[:at_most]

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
        for k, level in enumerate(history._levels):
            numbers = [record.n for record in level]
            if any(later - n != 1 << k for n, later in pairwise(numbers)):
                raise ValueError(
                    "the state is damaged: its observations are not those that are kept"
                )
        return history
