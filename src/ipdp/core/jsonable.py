"""The one way from Python's values to JSON, and back.

JSON has no tuples, no keys but strings, no dates and no NaN. `encode` keeps all of these: it writes
a dict of one entry, whose name says what it is. `encode_name` is for names, classes and categories,
whose only containers are tuples, and writes those as lists. `readable` is for people and pages.
`pack_floats` writes arrays of numbers, bit for bit, as short strings.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray, State

_AS_THEY_ARE = (str, int, bool, type(None))


def encode(value: Any) -> Any:
    """A plain value, JSON-safe."""
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [encode(item) for item in value]
    if kind in _WRITTEN:
        name, write = _WRITTEN[kind]
        return {name: write(value)}
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return {"numpy": [value.dtype.str, encode(value.item())]}
    # Its name only: to show a thing, such as a confusion matrix, can change it.
    raise TypeError(f"a {kind.__name__} cannot be saved without pickle")


def decode(value: Any) -> Any:
    """The value that `encode` was given."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((name, item),) = value.items()
    if name == "numpy":
        return _numpy(*item)
    if name not in _KINDS:
        raise ValueError(f"there are no values of the kind {name!r}")
    _, _, read = _KINDS[name]
    return read(item)


def encode_name(value: Any) -> Any:
    """A name, class, category, number or time, JSON-safe; a tuple of them is a list."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.date):
        # One of pandas' is a datetime too; its nanoseconds are lost.
        as_plain = getattr(value, "to_pydatetime", None)
        return encode(value if as_plain is None else as_plain(warn=False))
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, tuple):
        return [encode_name(item) for item in value]
    if value is not None and not isinstance(value, (str, int, float, bool)):
        raise TypeError(
            f"{value!r} cannot be saved: names, classes, categories and the values of observations "
            "must be strings, numbers, booleans or times"
        )
    return value


def decode_name(value: Any) -> Any:
    """The value that `encode_name` was given."""
    if isinstance(value, list):
        return tuple(decode_name(item) for item in value)
    return decode(value) if isinstance(value, dict) else value


def readable(value: Any) -> Any:
    """A value for people and pages: what JSON does not have is null, or text."""
    if isinstance(value, Mapping):
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [readable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def pack_floats(array: FloatArray) -> State:
    """An array of floats, JSON-safe: a third as long as its digits, often less, and quicker."""
    little_endian = np.ascontiguousarray(array, dtype="<f8")
    # The first bytes of all numbers, then the second ones, ...: alike numbers become short.
    by_byte = little_endian.reshape(-1).view(np.uint8).reshape(-1, 8).T
    packed = base64.b64encode(zlib.compress(by_byte.tobytes(), 1))
    return {"shape": list(array.shape), "floats": packed.decode("ascii")}


def unpack_floats(state: State) -> FloatArray:
    """The array that `pack_floats` was given."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(state["floats"])), dtype=np.uint8)
    floats = np.ascontiguousarray(flat.reshape(8, -1).T).view("<f8")
    return floats.reshape(state["shape"]).astype(float)


def _items(values: Any) -> list[Any]:
    return [encode(value) for value in values]


def _sorted(values: Any) -> list[Any]:
    # The order of a set is not the same in another process; that of the file should be.
    return _items(sorted(values, key=repr))


def _numpy(kind: str, item: Any) -> Any:
    dtype = np.dtype(str(kind))
    if dtype.kind not in "biufU":
        raise ValueError(f"there are no numbers of the kind {kind!r}")
    return dtype.type(decode(item))


def _moment(text: str, fold: int) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(fold=fold)


# By name: the type, what is written of a value, and how it is read.
_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, str, float),
    "tuple": (tuple, _items, lambda items: tuple(decode(items))),
    "dict": (dict, lambda d: list(map(_items, d.items())), lambda pairs: dict(decode(pairs))),
    "set": (set, _sorted, lambda items: set(decode(items))),
    "frozenset": (frozenset, _sorted, lambda items: frozenset(decode(items))),
    "datetime": (dt.datetime, lambda d: [d.isoformat(), d.fold], lambda parts: _moment(*parts)),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "timedelta": (
        dt.timedelta,
        lambda d: [d.days, d.seconds, d.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
}
_WRITTEN = {kind: (name, write) for name, (kind, write, _) in _KINDS.items()}
