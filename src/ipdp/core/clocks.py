"""Times as they stand in files: texts such as 2024-06-01 12:00, numbers since 1970, dates."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

from ipdp.core.words import WALL_CLOCK

# A number that is no time between 1990 and 2100 in seconds is one in thousandths, millionths, ...
# of them, if that gives such a time.
_UNITS = (1.0, 1e3, 1e6, 1e9)
# What people write beside ISO 8601; the day comes first where it can be told.
_FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d")
_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{8}T")


def seconds(value: Any) -> float | None:
    """A time in seconds since 1970, UTC unless it says otherwise; None if it is none.

    A number that is no time between 1990 and 2100 is taken as it is: a clock of the stream's own.

    Examples
    --------
    >>> seconds("2024-06-10 06:13:20"), seconds(1_718_000_000_000), seconds("31.12.2023")
    (1718000000.0, 1718000000.0, 1703980800.0)
    >>> seconds(17), seconds("soon")
    (17.0, None)
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _of_number(float(value))
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC).timestamp()
    if isinstance(value, str):
        return _of_text(value.strip())
    item = getattr(value, "item", None)  # of numpy's scalars
    if item is None:
        return None
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        value = value.astype("datetime64[us]")
        item = value.item
    return seconds(item())


def moment_seconds(t: Any) -> Any:
    """A datetime, a date or one of numpy's in seconds since 1970; anything else as it is."""
    is_moment = isinstance(t, dt.date) or getattr(getattr(t, "dtype", None), "kind", "") == "M"
    return seconds(t) if is_moment else t


def is_wall_clock(t: float) -> bool:
    """Whether a number of seconds is a time between 1990 and 2100, and no count."""
    return WALL_CLOCK[0] <= t < WALL_CLOCK[1]


def _of_number(number: float) -> float | None:
    if not math.isfinite(number):
        return None
    for unit in _UNITS:
        if is_wall_clock(number / unit):
            return number / unit
    return number


def _of_text(text: str) -> float | None:
    if not _LIKE_A_DATE.match(text):
        return None
    try:
        return seconds(dt.datetime.fromisoformat(text))
    except ValueError:
        pass
    for form in _FORMATS:
        try:
            return seconds(dt.datetime.strptime(text, form).replace(tzinfo=dt.UTC))
        except ValueError:
            continue
    return None
