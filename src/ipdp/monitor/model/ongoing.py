"""A change of the model that goes on, and how the next change is distinguished from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from ipdp.core import schema

# A learning model adapts to one change without a pause. What comes so many observations after the
# difference was last larger than ever, and makes it so many times as large, is another change,
_PAUSE, _TIMES = 128, 2.0
# if that was seen at so many checks in between,
_QUIET = 2
# within so many observations, as a gradual change seems to pause, too,
_SOON = 512
# and at so many checks in a row.
_CHECKS = 2
# The difference is larger than ever by this share at least, or it is about the same.
_LARGER = 1.1

_COUNTS = ("n", "output", "first", "last", "peak_n", "n_quiet", "base_n", "n_above")


@dataclass
class OngoingChange:
    """A change that has been found, until the model has settled."""

    n: int  # number of the observation at which it was found
    output: int  # number of the monitored output
    first: int  # numbers of the first and last observation before it that are compared
    last: int
    peak: float = 0.0  # the largest difference so far, in standard deviations of the output
    peak_n: int = 0  # number of the observation at which it was found to be larger than ever
    n_quiet: int = 0  # number of checks since
    base: float | None = None  # the peak before a pause, while it grows again
    base_n: int = 0  # number of the observation at which it began to
    n_above: int = 0  # number of checks in a row at which it was much larger than that

    def is_followed(self, n: int, size: float, least: float) -> bool:
        """Take the difference at a check, NaN if unknown; whether another change has begun since.

        An increase of less than `least` is none.
        """
        if math.isnan(size):
            return False
        has_paused = self.n_quiet >= _QUIET and n - max(self.peak_n, self.n) >= _PAUSE
        self.n_quiet += 1
        if self.base is not None and n - self.base_n > _SOON:
            self.base = None
        if size > _LARGER * self.peak:
            if has_paused:
                self.base, self.base_n = self.peak, n
            self.peak_n, self.n_quiet = n, 0
        self.peak = max(self.peak, size)
        if self.base is None or size < max(_TIMES * self.base, self.base + least):
            self.n_above = 0
            return False
        self.n_above += 1
        return self.n_above >= _CHECKS

    @classmethod
    def restored(cls, values: Sequence[Any]) -> OngoingChange:
        """What gave this list."""
        change = cls(*values)
        count, number = schema.count, schema.number
        schema.check(
            vars(change), peak=number, base=schema.maybe(number), **dict.fromkeys(_COUNTS, count)
        )
        return change

    def to_list(self) -> list[Any]:
        """JSON-safe; its arguments."""
        return list(astuple(self))
