"""`--since`: from when on, by date or as so long ago."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import numpy as np

from ipdp.core.times import is_wall_clock, seconds
from ipdp.core.words import shown

if TYPE_CHECKING:
    from ipdp.log import LogReader

_UNITS = {"m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*(m|min|h|d|w)")


def first_n(reader: LogReader, since: str) -> int:
    """Number of observations that were made before a time, such as 2024-06-01, 7d or 12h ago.

    Of a run with a clock (`--time`) it is that of the data, and "ago" is before the last
    observation; of others it is when observations were processed, and before now.
    """
    taken = reader.snapshots()
    if not taken:
        return 0
    has_clock = bool(reader.settings.get("time"))
    moment = _moment(since.strip(), taken[-1].time if has_clock else time.time())
    times = np.maximum.accumulate([info.time for info in taken])
    before = int(np.searchsorted(times, moment, side="left"))
    return 0 if before == 0 else taken[before - 1].n


def _moment(since: str, now: float) -> float:
    if (ago := _AGO.fullmatch(since)) is not None:
        return now - float(ago[1]) * _UNITS[ago[2]]
    moment = seconds(since)
    if moment is None or not is_wall_clock(moment):
        known = "a date (2024-06-01), or so long ago (7d, 12h, 30min)"
        raise ValueError(f"--since must be {known}, got {shown(since)}")
    return moment
