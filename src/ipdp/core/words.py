"""Numbers, counts, lists and moments as people read them: few digits, plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

WALL_CLOCK = 631_152_000, 4_102_444_800
"""Seconds since 1970 between these, 1990 and 2100, are moments, and no counts of observations."""

# From here on a number is rounded to its first three digits; below, as with years, it is whole.
_LARGE = 10_000


def few_digits(value: float) -> str:
    """A number with three digits, or as many as a whole number below 10,000 has.

    Examples
    --------
    >>> [few_digits(v) for v in (0.063134, 1987, 102_389, -2.5, 4.06e-6, 3.2e12)]
    ['0.0631', '1,987', '102,000', '-2.5', '4.06e-06', '3.2e+12']
    """
    if not math.isfinite(value):
        return "unknown"
    size = abs(value)
    sign = "-" if value < 0 else ""
    if size and (size < 1e-4 or size >= 1e9):
        return f"{sign}{float(f'{size:.3g}'):g}"
    if size >= _LARGE:
        digits = 3 - len(str(int(size)))
        return f"{sign}{round(size, digits):,.0f}"
    if size >= 100:
        return f"{sign}{size:,.0f}"
    return f"{sign}{float(f'{size:.3g}'):g}"


def percent(share: float) -> str:
    """A share of one in per cent.

    Examples
    --------
    >>> [percent(s) for s in (0.873, 0.9985, 0.004, 0.0, 1.0)]
    ['87 %', '99.9 %', '0.4 %', '0 %', '100 %']
    """
    if not math.isfinite(share):
        return "unknown"
    near_an_end = 0 < share < 0.0095 or 0.9905 < share < 1
    digits = 1 if near_an_end else 0
    return f"{100 * share:.{digits}f} %".replace("100.0", "99.9")


def times(n: int) -> str:
    """How often: once, twice, 3 times."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def counted(n: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> counted(1, "feature"), counted(1_200, "observation"), counted(2, "class")
    ('1 feature', '1,200 observations', '2 classes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 'es' if noun.endswith('s') else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a row; of many the first ones, and how many others there are.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b and 2 others')
    """
    if len(names) > most:
        rest = len(names) - most + 1
        return f"{', '.join(names[: most - 1])} and {rest} others"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def quoted(names: Iterable[object], most: int = 10) -> str:
    """Names of columns in a row, as they are written in code.

    Examples
    --------
    >>> quoted(["a", 1])
    "'a' and 1"
    """
    return listed([repr(name) for name in names], most)


def moment(t: float | None) -> datetime | None:
    """The moment that a time of the stream is, in UTC; None if it is a count of observations."""
    if t is None or not WALL_CLOCK[0] <= t < WALL_CLOCK[1]:
        return None
    return datetime.fromtimestamp(round(t), UTC)


def day_text(day: datetime, now: datetime) -> str:
    """A day as it is spoken of at another one.

    Examples
    --------
    >>> now = datetime(2024, 6, 13, 12, tzinfo=UTC)
    >>> [day_text(datetime(2024, 6, d, tzinfo=UTC), now) for d in (13, 12, 10, 1)]
    ['today', 'yesterday', 'on Monday', 'on 1 June']
    >>> day_text(datetime(2023, 12, 31, tzinfo=UTC), now)
    'on 31 December 2023'
    """
    # Names of days and months are English, whatever the machine speaks.
    weekday, month = _DAYS[day.weekday()], _MONTHS[day.month - 1]
    passed = (now.date() - day.date()).days
    if passed in (0, 1):
        return ("today", "yesterday")[passed]
    if 1 < passed < 7:
        return f"on {weekday}"
    year = "" if day.year == now.year else f" {day.year}"
    return f"on {day.day} {month}{year}"
