"""The axis of time: observations that are counted, or a wall clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from ipdp.core.times import moment, time_text
from ipdp.core.typing import FloatArray

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS = (
    *(_MINUTE * k for k in (1, 2, 5, 10, 30)),
    *(_HOUR * k for k in (1, 2, 3, 6, 12)),
    *(_DAY * k for k in (1, 2, 7, 14, 30, 91, 182, 365, 730, 1826, 3652)),
)
_MOST = 6


def is_clock(times: Any) -> bool:
    """Whether these are times of a wall clock, in seconds since 1970."""
    known = np.asarray(times, dtype=float)
    return bool(len(known)) and all(moment(t) is not None for t in (known.min(), known.max()))


def axis_label(times: Any) -> str:
    """What the axis is called."""
    return "time (UTC)" if is_clock(times) else "observations"


def clock_ticks(first: float, last: float) -> tuple[list[float], list[str]]:
    """Where to write a time on an axis from one time to another, and what.

    Examples
    --------
    >>> ticks, texts = clock_ticks(1_718_000_000, 1_718_400_000)
    >>> texts
    ['11 Jun', '12 Jun', '13 Jun', '14 Jun']
    """
    span = max(last - first, 1.0)
    step = next((step for step in _STEPS if span / step <= _MOST), _STEPS[-1])
    ticks = np.arange(np.ceil(first / step) * step, last + 1, step)
    if not len(ticks):
        ticks = np.array([first])
    return ticks.tolist(), [_text(t, step, span) for t in ticks.tolist()]


def _text(t: float, step: float, span: float) -> str:
    when = datetime.fromtimestamp(t, UTC)
    if step < _DAY:
        is_midnight = (when.hour, when.minute) == (0, 0)
        return f"{when:%d %b}" if is_midnight and span > _HOUR else f"{when:%H:%M}"
    return f"{when:%d %b}" if span < 300 * _DAY else f"{when:%b %Y}"


def point_text(t: float) -> str:
    """One time."""
    when = moment(t)
    return time_text(t) if when is None else f"{when:%Y-%m-%d %H:%M}"


def on_clock(log: Any, n: Any) -> FloatArray:
    """Numbers of observations as times, if the run of a log has a clock; else as they are."""
    counts = np.asarray(n, dtype=float)
    if not getattr(log, "settings", {}).get("time"):
        return counts
    taken = log.snapshots()
    if not taken:
        return counts
    times: FloatArray = np.interp(counts, [i.n for i in taken], [i.time for i in taken])
    return times
