"""Arguments that are checked in many places, with the same words everywhere."""

from __future__ import annotations

import operator


def whole_number(name: str, value: int, *, least: int = 1) -> int:
    """A whole number that is not too small, or an error.

    Examples
    --------
    >>> whole_number("window", 100)
    100
    >>> whole_number("window", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: window must be a whole number of at least 1, got 2.5
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number
