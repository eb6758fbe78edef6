"""Which old snapshots go: the older they are, the fewer are kept."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from ipdp.core.typing import State
from ipdp.core.words import shown

_MOST = 10**15  # of which the log's tables can hold the double many times


@dataclass(frozen=True)
class Retention:
    """Keep the recent past whole and thin out the rest by its age.

    What is younger than `recent` observations is kept. Of what is older, at most `per_doubling`
    snapshots (and one) are kept of each doubling of the age, evenly spaced, so that a log grows
    with the logarithm of the run's length. Snapshots at changes, the first and the last one stay.

    The rule looks at n alone: when a snapshot is written it is clear how old it will become.

    Parameters
    ----------
    recent
        Age in observations up to which everything is kept.
    per_doubling
        How many snapshots to keep of each doubling of the age beyond that.

    Examples
    --------
    A thousand million observations with a snapshot every 100 are ten million snapshots:

    >>> Retention(recent=100_000, per_doubling=250).bound(1_000_000_000, every=100)
    4517
    """

    recent: int = 100_000
    per_doubling: int = 250

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
                most = f" (at most {_MOST:,})"
                raise ValueError(f"{name} must be a positive integer, got {shown(value)}{most}")

    @property
    def width(self) -> int:
        """Width of the narrowest buckets; those of each further doubling are twice as wide."""
        return -(-self.recent // self.per_doubling)

    def expires(self, n: int, previous: int | None) -> int | None:
        """When the snapshot at n may go, by the n of the one before it (None: the first); or never.

        The first snapshot of a bucket stands for it. One that is the first in its bucket for r
        widths in a row lives until it is `recent` * 2^r observations old.
        """
        if previous is None:
            return None
        width, life = self.width, self.recent
        while n // width != previous // width:
            width, life = 2 * width, 2 * life
        return n + life

    def bound(self, n: int, every: int = 1) -> int:
        """The most snapshots kept after n observations with one `every` so many, changes aside."""
        doublings = max(0, math.ceil(math.log2(max(n, 1) / self.recent)))
        # The first and the last one, and a snapshot at both ends of the recent past.
        return min(n, self.recent) // every + 1 + doublings * (self.per_doubling + 1) + 2

    def to_dict(self) -> State:
        """A JSON-safe dict; `Retention(**dict)` gives the rule back."""
        return asdict(self)
