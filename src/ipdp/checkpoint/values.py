"""Python's plain values as JSON takes them, and back with their types.

JSON has no tuples, no keys but strings, no dates and no NaN; these are written as a dict of one
entry, whose name says what it is. There are no names for anything else.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_AS_THEY_ARE = (str, int, bool, type(None))


def encode(value: Any) -> Any:
    """A plain value, JSON-safe.

    Examples
    --------
    >>> encode({"a": (1, 2.5)})
    {'dict': [['a', {'tuple': [1, 2.5]}]]}
    >>> encode(print)
    Traceback (most recent call last):
    ...
    TypeError: a builtin_function_or_method cannot be saved without pickle
    """
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [encode(item) for item in value]
    if kind is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if kind in _ENCODERS:
        name, encoder = _ENCODERS[kind]
        return {name: encoder(value)}
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return {"numpy": [value.dtype.str, encode(value.item())]}
    # Its name only: to show a thing, such as a confusion matrix, can change it.
    raise TypeError(f"a {kind.__name__} cannot be saved without pickle")


def decode(value: Any) -> Any:
    """The value that `encode` was given.

    Examples
    --------
    >>> decode(encode({"a": (1, float("-inf"))}))
    {'a': (1, -inf)}
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((name, item),) = value.items()
    if name not in _DECODERS:
        raise ValueError(f"there are no values of the kind {name!r}")
    return _DECODERS[name](item)


def _items(values: Any) -> list[Any]:
    return [encode(value) for value in values]


def _sorted(values: Any) -> list[Any]:
    # The order of a set is not the same in another process; that of the file should be.
    return _items(sorted(values, key=repr))


def _numpy(item: Any) -> Any:
    kind = np.dtype(str(item[0]))
    if kind.kind not in "biufU":
        raise ValueError(f"there are no numbers of the kind {item[0]!r}")
    return kind.type(decode(item[1]))


_ENCODERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    float: ("float", str),
    tuple: ("tuple", _items),
    set: ("set", _sorted),
    frozenset: ("frozenset", _sorted),
    dt.datetime: ("datetime", lambda d: [d.isoformat(), d.fold]),
    dt.date: ("date", dt.date.isoformat),
    dt.timedelta: ("timedelta", lambda d: [d.days, d.seconds, d.microseconds]),
}

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
    "float": float,
    "tuple": lambda items: tuple(map(decode, items)),
    "set": lambda items: set(map(decode, items)),
    "frozenset": lambda items: frozenset(map(decode, items)),
    "datetime": lambda parts: dt.datetime.fromisoformat(parts[0]).replace(fold=parts[1]),
    "date": dt.date.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "numpy": _numpy,
}
