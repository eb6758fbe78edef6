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
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from ipdp.core.observations import is_na
from ipdp.core.typing import FloatArray, Observation, State
from ipdp.core.words import shown

# Of one array that is unpacked; unless it is small, it has at most so many times its packed bytes.
_MOST_BYTES, _RATIO, _SMALL = 2**27, 32, 2**16
_LONGEST_DTYPE = 16  # letters of a word for a type of numbers

_AS_THEY_ARE = (str, int, bool, type(None))
_PLAIN = frozenset((*_AS_THEY_ARE, float, np.float64, np.int64, np.bool_))
_NUMBERS, _IN_ARRAYS = "biufcUmM", "biuf"  # kinds of numpy's values


def encode(value: Any) -> Any:
    """A plain value, JSON-safe."""
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [encode(item) for item in value]
    if isinstance(value, (dt.datetime, dt.timedelta)) and kind not in _WRITTEN and not is_na(value):
        kind = next(base for base in kind.mro() if base in _WRITTEN)  # one of pandas' is one too
    if kind in _WRITTEN:
        name, write = _WRITTEN[kind]
        return {name: write(value)}
    if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS:
        item = int(value.astype(int)) if value.dtype.kind in "mM" else value.item()
        return {"numpy": [value.dtype.str, encode(item)]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _IN_ARRAYS:
        return {"array": [value.dtype.str, list(value.shape), encode(value.ravel().tolist())]}
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
    if name == "array":
        return _array(*item)
    if name not in _KINDS:
        raise ValueError(f"there are no values of the kind {shown(name)}")
    _, _, read = _KINDS[name]
    return read(item)


_NESTED = frozenset((list, dict))


def encode_name(value: Any) -> Any:
    """A name, class, category, number or time, JSON-safe; a tuple of them is a list."""
    kind = type(value)
    if kind in _AS_THEY_ARE or (kind is float and math.isfinite(value)):
        return value
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
            f"{shown(value)} cannot be saved: names, classes, categories and values of "
            "observations must be strings, numbers, booleans or times"
        )
    return value


def decode_name(value: Any) -> Any:
    """The value that `encode_name` was given."""
    if isinstance(value, list):
        if _NESTED.isdisjoint(map(type, value)):
            return tuple(value)
        return tuple([decode_name(item) for item in value])
    return decode(value) if isinstance(value, dict) else value


def encode_value(value: Any) -> Any:
    """A value of a column, which need not be one that is explained: lists and arrays too."""
    if is_na(value):
        return None
    try:
        return encode_name(value)
    except TypeError:
        return {"value": encode(value)}


def decode_value(saved: Any) -> Any:
    """The value that `encode_value` was given; None for one that was missing."""
    is_encoded = isinstance(saved, dict) and "value" in saved
    return decode(saved["value"]) if is_encoded else decode_name(saved)


def encode_values(x: Observation) -> list[Any]:
    """The values of an observation, JSON-safe, or an error that names the column."""
    written = []
    for name, value in x.items():
        try:
            written.append(encode_value(value))
        except TypeError as error:
            raise TypeError(
                f"column {name!r}: {error}; leave it out, or give it as text or numbers"
            ) from None
    return written


def must_be_savable(x: Observation) -> None:
    """Raise if a value of an observation cannot be saved: not at the next checkpoint, but at once.

    Examples
    --------
    >>> must_be_savable({"a": 1.0, "rule": max})
    Traceback (most recent call last):
    ...
    TypeError: column 'rule': a builtin_function_or_method cannot be saved without pickle; leave \
it out, or give it as text or numbers
    """
    if not _PLAIN.issuperset(map(type, x.values())):
        encode_values(x)


def readable(value: Any) -> Any:
    """A value for people and pages: what JSON does not have is null, or text."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
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
    whole = by_byte.tobytes()
    packed = zlib.compress(whole, 1)
    if len(whole) > _most(packed):  # which would not be read, lest few bytes ask for much memory
        packed = packed.ljust(-(-len(whole) // _RATIO), b"\0")
    return {"shape": list(array.shape), "floats": base64.b64encode(packed).decode("ascii")}


def _most(packed: bytes) -> int:
    """How many bytes may come out of an array that was packed."""
    return min(max(_SMALL, _RATIO * len(packed)), _MOST_BYTES)


def unpack_floats(state: State) -> FloatArray:
    """The array that `pack_floats` was given."""
    shape = state["shape"]
    sound = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    size = 8 * math.prod(shape) if sound else math.inf
    packed = base64.b64decode(state["floats"])
    if size > _most(packed):
        raise ValueError("the state is damaged: an array has no shape, or far too many numbers")
    unpacker = zlib.decompressobj()
    # No more than it should be, whatever it would unpack to.
    whole = unpacker.decompress(packed, int(size) + 1)
    if len(whole) != size or not unpacker.eof:
        raise ValueError(f"the state is damaged: an array does not have {size // 8} numbers")
    flat = np.frombuffer(whole, dtype=np.uint8)
    floats = np.ascontiguousarray(flat.reshape(8, -1).T).view("<f8")
    return floats.reshape(shape).astype(float)


def _items(values: Any) -> list[Any]:
    return [encode(value) for value in values]


def _sorted(values: Any) -> list[Any]:
    # The order of a set is not the same in another process; that of the file should be.
    return _items(sorted(values, key=repr))


def _numpy(kind: str, item: Any) -> Any:
    dtype = np.dtype(str(kind))
    if len(kind) > _LONGEST_DTYPE or dtype.kind not in _NUMBERS:
        raise ValueError(f"there are no numbers of the kind {shown(kind)}")
    if dtype.kind in "mM":
        return np.array(int(item)).astype(dtype)[()]
    return dtype.type(_number(decode(item)))


def _number(value: Any) -> Any:
    """A number as numpy has them: of a decimal with a large exponent it would never make one."""
    if not isinstance(value, (int, float, complex)):
        raise ValueError(f"{shown(value)} is no number of numpy")
    return value


def _fraction(text: str) -> Fraction:
    """What `str` writes of one; "1e999999999" is one, too, and would never be read."""
    top, _, bottom = text.partition("/")
    return Fraction(int(top), int(bottom or 1))


def _array(kind: str, shape: list[int], items: Any) -> Any:
    dtype = np.dtype(str(kind))
    if dtype.kind not in _IN_ARRAYS:
        raise ValueError(f"there are no arrays of the kind {shown(kind)}")
    return np.array([_number(item) for item in decode(items)], dtype=dtype).reshape(shape)


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
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, _fraction),
    "complex": (complex, lambda z: [str(z.real), str(z.imag)], lambda z: complex(*map(float, z))),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "uuid": (UUID, str, UUID),
    "time": (dt.time, dt.time.isoformat, dt.time.fromisoformat),
    "date": (dt.date, dt.date.isoformat, dt.date.fromisoformat),
    "timedelta": (
        dt.timedelta,
        lambda d: [d.days, d.seconds, d.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
}
_WRITTEN = {kind: (name, write) for name, (kind, write, _) in _KINDS.items()}
