"""Numbers, counts, lists and days as people read them: few digits, plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

# From here on a number is rounded to its first three digits; below, as with years, it is whole.
_LARGE = 10_000


def few_digits(value: float, span: float | None = None) -> str:
    """A number with three digits, or as many as a whole number below 10,000 has.

    Of a range that is `span` wide, to a thousandth of it, or to one. The page does the same
    (`ipdp.number` in base.js), and so does every text, table and figure.

    Examples
    --------
    >>> [few_digits(v) for v in (0.063134, 1987, 102_389, -2.5, 4.06e-6, 3.2e12)]
    ['0.0631', '1,987', '102,000', '-2.5', '4.06e-06', '3.2e+12']
    >>> few_digits(4.063e-06, span=99), few_digits(37.12345, span=0.1)
    ('0', '37.1234')
    """
    if not math.isfinite(value):
        return "unknown"
    if span and 1e-6 <= abs(span) < 1e12 and abs(value) < 1e12:
        return _in_full(value, max(0, 3 - math.ceil(math.log10(abs(span)))))
    value = float(f"{value:.3g}") if not 100 <= abs(value) < _LARGE else round(value)
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:g}"
    return _in_full(value, 6)


def brief(value: float) -> str:
    """A number with two digits, where room is scarce.

    Examples
    --------
    >>> [brief(v) for v in (0.063134, 1987, 4.06e-6)]
    ['0.063', '2,000', '4.1e-06']
    """
    return few_digits(float(f"{value:.2g}"))


def ends_text(low: float, high: float) -> tuple[str, str]:
    """The two ends of a range.

    Examples
    --------
    >>> ends_text(4.063e-06, 99.0)
    ('0', '99')
    """
    return few_digits(low, high - low), few_digits(high, high - low)


def signed(value: float) -> str:
    """A difference, with its sign.

    Examples
    --------
    >>> signed(0.25), signed(-1200.0), signed(0.0)
    ('+0.25', '-1,200', '0')
    """
    return f"{'+' if value > 0 else ''}{few_digits(value)}"


def _in_full(value: float, decimals: int) -> str:
    value = round(value, decimals) + 0.0  # adding 0.0 makes a rounded -0.0 a 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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


def in_points(share: float) -> str:
    """A difference of shares of one, in percentage points.

    Examples
    --------
    >>> [in_points(s) for s in (0.123, -0.2, 0.004, 0.0)]
    ['+12 pts', '-20 pts', '+0.4 pts', '0 pts']
    """
    digits = 1 if 0 < abs(share) < 0.0095 else 0
    text = f"{100 * share:+.{digits}f}"
    return f"{'0' if float(text) == 0 else text} pts"


def along_axis(values: Sequence[float], say: Callable[[float], str]) -> list[str]:
    """Numbers along an axis: as many digits as they need, and all with the same decimals.

    Examples
    --------
    >>> along_axis([12.0, 12.25, 12.5], few_digits), along_axis([102_500, 105_000], few_digits)
    (['12.00', '12.25', '12.50'], ['102,500', '105,000'])
    >>> along_axis([0.85, 0.875, 0.9], percent)
    ['85.0 %', '87.5 %', '90.0 %']
    """
    scale, unit = (100, " %") if say is percent else (1, "")
    numbers = [scale * float(value) for value in values]
    span = max(numbers) - min(numbers) if numbers else 0.0
    if say not in (few_digits, percent) or not (span >= 1e-6 and max(map(abs, numbers)) < 1e9):
        return [
            say(value) for value in values
        ]  # names and dates, one number, or tiny and huge ones
    decimals = max(0, 3 - math.ceil(math.log10(span)))
    texts = [f"{round(number, decimals) + 0.0:,.{decimals}f}" for number in numbers]
    while "." in texts[0] and all(text[-1] in "0." for text in texts):
        texts = [text[:-1] for text in texts]
    return [f"{text}{unit}" for text in texts]


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


def listed(names: Iterable[object], most: int = 4) -> str:
    """Names in a row; of many the first ones, and how many others there are.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", 3, "d", "e"])
    ('a', 'a and b', 'a, b, 3 and 2 others')
    """
    said = list(map(str, names))
    if len(said) > most:
        rest = len(said) - most + 1
        return f"{', '.join(said[: most - 1])} and {rest} others"
    return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)


def quoted(names: Iterable[object], most: int = 10) -> str:
    """Names of columns in a row, as they are written in code.

    Examples
    --------
    >>> quoted(["a", 1])
    "'a' and 1"
    """
    return listed(map(repr, names), most)


def unbroken(text: str) -> str:
    r"""A text in which no line ends between a number and its percent sign.

    Examples
    --------
    >>> unbroken("from 55 % to 81 %")
    'from 55\xa0% to 81\xa0%'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def day_text(day: datetime, now: datetime) -> str:
    """A day as it is spoken of at another one.

    Examples
    --------
    >>> from datetime import UTC
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


def harmless(text: object, but: str = "\n\t") -> str:
    r"""A text without what a terminal would obey, and with no line breaks but those of ours.

    Examples
    --------
    >>> harmless("red\x1b[31m"), harmless("two\nlines", but="")
    ('red\\x1b[31m', 'two\\nlines')
    """
    return "".join(c if c.isprintable() or c in but else repr(c)[1:-1] for c in str(text))


def shown(value: Any, most: int = 40) -> str:
    """A value for a sentence: short, and with nothing that a terminal would obey.

    Examples
    --------
    >>> shown("x" * 1_000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    try:
        text = repr(value)
    except ValueError:  # a number of too many digits
        return "a number of very many digits"
    except RecursionError:
        return "something of very many levels"
    return text if len(text) <= most else f"{text[: most - 4]}...{text[-1]}"
