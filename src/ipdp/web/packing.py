"""Numbers on their way to the page: small, and still the log's numbers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

# Single precision is taken where it moves no value by more than this share of the values' spread:
# a hundredth of a pixel of any screen.
_TOLERANCE = 1e-6


def pack(values: Any) -> str:
    """Numbers as text: a letter for their type, then their bytes in base 64.

    "f" is single precision, "d" double precision where single would show, "b" a byte. NaN and
    infinities stay what they are. `unpack` in page/base.js reads it.

    Examples
    --------
    >>> pack([0.0, 0.5, 1.0])
    'fAAAAAAAAAD8AAIA/'
    >>> pack([1e9, 1e9 + 1])[0]
    'd'
    >>> unpack(pack([1e9, 1e9 + 1])).tolist()
    [1000000000.0, 1000000001.0]
    """
    array = np.asarray(values)
    if array.dtype == bool:
        return "b" + _text(array.astype(np.uint8))
    array = array.astype("<f8")
    with np.errstate(over="ignore"):
        single = array.astype("<f4")
    return "f" + _text(single) if _is_enough(single, array) else "d" + _text(array)


def unpack(text: str) -> Any:
    """The numbers that gave this text, as one flat array."""
    kinds = {"f": "<f4", "d": "<f8", "b": "u1"}
    return np.frombuffer(base64.b64decode(text[1:]), dtype=kinds[text[0]])


def _text(array: Any) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def _is_enough(single: Any, array: Any) -> bool:
    known = array[np.isfinite(array)]
    if not known.size:
        return True
    moved = np.abs(single[np.isfinite(array)].astype(float) - known).max()
    if not np.isfinite(moved):  # too large for single precision
        return False
    return bool(moved <= _TOLERANCE * np.ptp(known))
