"""How far a long run is, a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ipdp.paper.experiment import Say

T = TypeVar("T")


def aloud(line: str) -> None:
    """Write a line to stderr, which leaves stdout to the table."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def counted(
    items: Iterable[T], total: int, say: Say, *, what: str = "observations", every: float = 5.0
) -> Iterator[tuple[int, T]]:
    """Number items from 1, up to `total` of them, and say now and then how far it is.

    Parameters
    ----------
    items
        What to go through.
    total
        How many of them to take.
    say
        Takes the lines.
    what
        What the items are called.
    every
        Seconds between lines.
    """
    started = said = time.monotonic()
    for t, item in zip(range(1, total + 1), items, strict=False):
        yield t, item
        now = time.monotonic()
        if now - said >= every or (t == total and now - started >= every):
            said = now
            rate = t / (now - started)
            left = (total - t) / rate
            digits = 1 if rate < 10 else 0
            say(f"{t:,} of {total:,} {what}, {rate:,.{digits}f}/s, {left:,.0f} s left")
