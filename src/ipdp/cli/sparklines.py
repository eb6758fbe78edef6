"""Curves in a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.-=+*#@"


def sparkline(
    values: Sequence[float],
    low: float | None = None,
    high: float | None = None,
    *,
    plain: bool = False,
) -> str:
    """Numbers as a row of bars; a gap where there is none.

    Parameters
    ----------
    values
        The numbers; NaN is a gap.
    low, high
        What the lowest and the highest bar stand for; the extremes of the values by default.
    plain
        Whether to use ASCII characters only.

    Examples
    --------
    >>> sparkline([0.0, 1.0, 2.0, float("nan"), 7.0])
    '▁▂▃ █'
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return " " * len(values)
    bars = _PLAIN if plain else _BLOCKS
    low = min(known) if low is None else low
    high = max(known) if high is None else high
    width = high - low

    def bar(value: float) -> str:
        if not math.isfinite(value):
            return " "
        share = (value - low) / width if width > 0 else 0.0
        return bars[min(max(int(share * len(bars)), 0), len(bars) - 1)]

    return "".join(map(bar, values))


def thinned(values: Sequence[float], width: int) -> list[float]:
    """At most so many of the values, evenly spaced, the last one included.

    Examples
    --------
    >>> thinned([0, 1, 2, 3, 4, 5, 6], 3)
    [0, 3, 6]
    """
    if len(values) <= width:
        return list(values)
    step = (len(values) - 1) / max(width - 1, 1)
    return [values[round(k * step)] for k in range(width)]
