"""Arguments that are checked in many places, with the same words everywhere."""

from __future__ import annotations

import difflib
import math
import numbers
import operator
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from ipdp.core.times import moment_seconds
from ipdp.core.words import shown

# Sums of squared weights have to be numbers, too.
_HEAVIEST = 1e150
_MOST = 2**63  # of anything that is counted


def whole_number(name: str, value: int, *, least: int = 1, most: int = _MOST - 1) -> int:
    """A whole number that is neither too small nor too large, or an error."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    if number > most:
        limit = "less than 2**63" if most == _MOST - 1 else f"at most {most:,}"
        raise ValueError(f"{name} must be {limit}, got {shown(value)}")
    return number


def sample_weight(w: float) -> float:
    """The weight of an observation, or an error."""
    weight = float(_number("a sample weight", w))
    if not weight >= 0:
        raise ValueError(f"a sample weight must be a number of at least 0, got {w}")
    if weight > _HEAVIEST:
        raise ValueError(f"a sample weight must be at most {_HEAVIEST:g}, got {w}")
    return weight


def next_time(t: float | None, last: float | None) -> float:
    """The time of the next observation, or an error; without a clock they are counted.

    Datetimes are in seconds since 1970.
    """
    if t is None:
        return 1 if last is None else last + 1
    t = _number("a time", moment_seconds(t))
    if last is not None and t < last:
        raise ValueError(f"time must not go back: got t = {t} after {last}")
    return t


def _number(what: str, value: Any) -> float:
    """A finite number as one of Python, which can be saved, or an error; arrays are none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (numbers.Real, Decimal)):
        try:
            number = float(value)
        except (OverflowError, ValueError):  # a signalling NaN of decimals is one
            number = math.inf
        if math.isfinite(number):
            return value if isinstance(value, int) else number
        raise ValueError(f"{what} must be a finite number, got {_shown(value)}")
    raise TypeError(f"{what} must be a number, got {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, int):  # too many digits for Python to write
        return f"a whole number of {value.bit_length():,} bits"
    return shown(value, 60)


def as_number(value: Any) -> float:
    """A number as one of Python's; NaN, which is within no bounds, for whatever is none.

    Examples
    --------
    >>> 0 < as_number(0.5) < 1, 0 < as_number("0.5") < 1, as_number(10**400)
    (True, False, inf)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is float or not isinstance(value, (numbers.Real, Decimal)):
        return value if type(value) is float else math.nan
    try:
        number = float(value)
    except (OverflowError, ValueError):  # a decimal may be a signalling NaN
        return math.inf if isinstance(value, int) and value > 0 else math.nan
    return value if isinstance(value, int) else number


def checked_level(level: float) -> float:
    """A probability that is neither 0 nor 1, or an error."""
    number = as_number(level)
    if not 0 < number < 1:
        raise ValueError(f"level must be in (0, 1), got {shown(level)}")
    return number


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """What an argument lists, or an error."""
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a list, got {shown(values)}")
    return list(values)


def is_name(value: object) -> bool:
    """Whether it can be a key, as names of features and categories are."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def must_be_like(name: str, value: object, attribute: str, what: str) -> None:
    """Refuse a thing of another kind, which has not that attribute."""
    if not hasattr(value, attribute):
        raise TypeError(f"{name} must be {what}, got {shown(value)}")


def must_be_dict(name: str, value: object) -> None:
    """Refuse what is no dict."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, got {shown(value)}")


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """The question which name was meant; an empty text if none is like it."""
    texts = [str(k) for k in known]
    close = [text for text in texts if text.casefold() == str(name).casefold()]
    close = close or difflib.get_close_matches(str(name), texts, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def unknown(what: str, name: object, known: Sequence[object]) -> str:
    """A sentence about a name that is not there, with the one that may have been meant."""
    hint = did_you_mean(name, known)
    hint = f" ({hint})" if hint else ""
    listed = ", ".join(shown(k) for k in list(known)[:20]) + (", ..." if len(known) > 20 else "")
    return f"there is no {what} {shown(name)}{hint}; there are: {listed}"
