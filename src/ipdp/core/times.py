"""Times: as they stand in files and frames, as numbers of seconds, and back as people read them."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any, Literal

import numpy as np

from ipdp.core.observations import is_na

WALL_CLOCK = 631_152_000, 4_102_444_800
"""Seconds since 1970 between these, 1990 and 2100, are moments, and no counts of observations."""

# A number that is no time between 1990 and 2100 in seconds is one in thousandths, millionths, ...
# of them, if that gives such a time.
_UNITS = (1.0, 1e3, 1e6, 1e9)
# What people write beside ISO 8601; the day comes first where it can be told.
_FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d")
_FAR = 5 * 86_400.0
_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{8}T")

Kind = Literal["naive", "aware", "date"]
"""What a time is: without a time zone, with one, or a day."""


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
    if isinstance(value, dt.date):  # datetimes are dates
        return None if is_na(value) else _of_date(value)
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


def _of_date(value: dt.date) -> float:
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).timestamp()


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


def moment(t: float | None) -> dt.datetime | None:
    """The moment that a time of the stream is, in UTC; None if it is a count of observations."""
    if t is None or not is_wall_clock(t):
        return None
    return dt.datetime.fromtimestamp(round(t), dt.UTC)


def time_text(t: float) -> str:
    """A time on the clock of the stream; of seconds since 1970 date and time of day, in UTC.

    Examples
    --------
    >>> time_text(5_140.0), time_text(1_718_000_000.0)
    ('5,140', '2024-06-10 06:13 UTC')
    """
    when = moment(t)
    return f"{t:,.10g}" if when is None else f"{when:%Y-%m-%d %H:%M} UTC"


def date_text(seconds: float, span: float) -> str:
    """A time among others: with the time of day, unless they are far apart.

    Examples
    --------
    >>> date_text(1_718_000_000.0, 1e8), date_text(1_718_000_000.0, 3_600.0)
    ('2024-06-10', '2024-06-10 06:13')
    """
    when = dt.datetime.fromtimestamp(round(seconds), dt.UTC)
    return f"{when:%Y-%m-%d}" if span > _FAR else f"{when:%Y-%m-%d %H:%M}"


class Moment(float):
    """Seconds since 1970 that stand for a time of some kind."""

    kind: Kind


def moment_of(x: Any) -> Moment | None:
    """A time as a number; None for anything else.

    Times without a zone are taken for those of UTC.

    Examples
    --------
    >>> from datetime import date
    >>> moment_of(date(1970, 1, 2)), moment_of(3.0)
    (86400.0, None)
    """
    if isinstance(x, np.datetime64):
        x = x.astype("datetime64[us]").item()
    if not isinstance(x, dt.date):
        return None
    found = Moment(_of_date(x))
    found.kind = "date"
    if isinstance(x, dt.datetime):  # pandas' Timestamp too
        found.kind = "naive" if x.tzinfo is None else "aware"
    return found


def time_at(seconds: float, kind: Kind) -> dt.datetime | dt.date | None:
    """The time that a number stands for; None for NaN.

    Examples
    --------
    >>> time_at(86400.0, "naive")
    datetime.datetime(1970, 1, 2, 0, 0)
    """
    if seconds != seconds:  # noqa: PLR0124  (NaN)
        return None
    time = dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
    if kind == "date":
        return time.date()
    return time if kind == "aware" else time.replace(tzinfo=None)
