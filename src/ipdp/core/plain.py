"""Names and values as JSON takes them, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """A feature's name or value, JSON-safe; numbers that JSON does not have are written out.

    Examples
    --------
    >>> as_plain(("a", float("inf")))
    ['a', {'float': 'inf'}]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, tuple):
        return [as_plain(item) for item in value]
    if value is not None and not isinstance(value, (str, int, float, bool)):
        raise TypeError(
            f"{value!r} cannot be saved: observations must hold strings, numbers and booleans"
        )
    return value


def from_plain(value: Any) -> Any:
    """The value that `as_plain` was given.

    Examples
    --------
    >>> from_plain(as_plain(("a", float("inf"))))
    ('a', inf)
    """
    if isinstance(value, list):
        return tuple(from_plain(item) for item in value)
    return float(value["float"]) if isinstance(value, dict) else value
