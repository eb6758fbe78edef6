"""Points in time as numbers, and back: an axis of time is one of numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, Literal

import numpy as np

Kind = Literal["naive", "aware", "date"]
"""What a time is: without a time zone, with one, or a day."""


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
    kind: Kind
    if isinstance(x, datetime):  # pandas' Timestamp too
        kind = "naive" if x.tzinfo is None else "aware"
        seconds = (x.replace(tzinfo=UTC) if x.tzinfo is None else x).timestamp()
    elif isinstance(x, date):
        kind, seconds = "date", datetime(x.year, x.month, x.day, tzinfo=UTC).timestamp()
    else:
        return None
    moment = Moment(seconds)
    moment.kind = kind
    return moment


def time_at(seconds: float, kind: Kind) -> datetime | date | None:
    """The time that a number stands for; None for NaN.

    Examples
    --------
    >>> time_at(86400.0, "naive")
    datetime.datetime(1970, 1, 2, 0, 0)
    """
    if seconds != seconds:  # noqa: PLR0124  (NaN)
        return None
    time = datetime.fromtimestamp(seconds, tz=UTC)
    if kind == "date":
        return time.date()
    return time if kind == "aware" else time.replace(tzinfo=None)
