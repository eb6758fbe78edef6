"""Curves, importances, changes and names as bytes and text, and back, bit for bit."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import Array, Feature, State
from ipdp.log.files import LogError
from ipdp.monitor.change import Change

RUG_SIZE = 50
"""As many values of a rug are logged at most."""

_LENGTH = struct.Struct("<I")
_CURVES = ("before", "after")
# What the header of a blob begins with: the version of a curve, or what else it is.
_CURVE, _IMPORTANCE = 2, "importance 1"
# The arrays of a curve of version 1, in their order; since version 2 they are called by name.
_ARRAYS_1 = ("average", "std_error", "n_effective_points", "missing", "missing_std_error")
# Of a curve, what is not in the log, or has a place of its own in the header.
_NOT_BY_NAME = {"feature", "ice", "ice_grid_values"} | {
    "n_samples",
    "t",
    "outputs",
    "categorical",
    "grid_values",
    "rug",
}
_NUMBERS_OF_IMPORTANCE = ("value", "std_error", "n_samples", "n_effective", "t")
# Arrays of these kinds are their bytes; others (objects, text) are lists.
_NUMBERS = "biufcmM"
# In bytes: a complex number of long doubles, a text of 16,384 letters. A word for a type is short.
_LARGEST_NUMBER, _LONGEST_TEXT, _LONGEST_DTYPE = 32, 4 * 16_384, 16
_ONE_DTYPE = re.compile(r"[<>|=]?[A-Za-z][0-9]*(\[[0-9A-Za-z]+\])?", re.ASCII)


def name_text(name: Any) -> str:
    """The name of a feature as JSON, which keeps its type."""
    return json.dumps(_plain(name))


def _plain(name: Any) -> Any:
    try:
        return encode_name(name)
    except TypeError:
        raise TypeError(
            f"{name!r} cannot be logged: names and categories must be strings, numbers, booleans "
            "or tuples of them"
        ) from None


def name_of(text: str) -> Feature:
    """The name that gave this text."""
    with whole("a name"):
        name: Feature = decode_name(json.loads(text))
    return name


def object_of(text: str) -> State:
    """A JSON object: settings, or metrics."""
    with whole("what is said of the run"):
        return dict(json.loads(text))


_DAMAGE = (
    struct.error,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)


@contextmanager
def whole(what: str) -> Iterator[None]:
    """Say that something in the log is not what was written."""
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{what} is damaged in the log: verify() says what else is") from None


def result_blob(result: Result) -> bytes:
    """What an explainer says of a feature as bytes, whose header tells what it is."""
    if isinstance(result, Curve):
        return curve_blob(result)
    if not isinstance(result, Importance):
        raise TypeError(f"a Curve or an Importance can be logged, not a {type(result).__name__}")
    numbers = [encode_name(getattr(result, name)) for name in _NUMBERS_OF_IMPORTANCE]
    return _with_header([_IMPORTANCE, *numbers])


def result_of(feature: Feature, blob: bytes) -> Result:
    """The curve or importance that gave these bytes."""
    with whole(f"a curve of {feature!r}"):
        start = _LENGTH.size + _LENGTH.unpack_from(blob)[0]
        kind, *header = json.loads(blob[_LENGTH.size : start])
        if kind in (1, _CURVE):
            return _curve(feature, header, _Taker(blob, start))
        if kind == _IMPORTANCE:
            numbers = zip(_NUMBERS_OF_IMPORTANCE, map(decode_name, header), strict=True)
            return Importance(feature, **dict(numbers))
        raise LogError(
            f"a curve of {feature!r} has version {kind!r}; this ipdp reads version 1 and {_CURVE}"
        )


def curve_blob(curve: Curve) -> bytes:
    """A curve as bytes: a length, a JSON header of that length, and the numbers.

    The feature's name is not in it, nor are ICE curves; the rug is thinned.
    """
    parts: list[bytes] = []
    header = [
        _CURVE,
        int(curve.n_samples),
        encode_name(curve.t),
        [_plain(label) for label in curve.outputs],
        [bool(flag) for flag in curve.categorical],
        [_put(axis, parts) for axis in curve.grid_values],
        [_put(thinned(values), parts) for values in curve.rug],
        {name: _put(value, parts) for name, value in _named(curve) if value is not None},
    ]
    return _with_header(header, *parts)


def _named(curve: Curve) -> list[tuple[str, Any]]:
    names = [item.name for item in fields(curve) if item.name not in _NOT_BY_NAME]
    if curve.kind == "pdp":  # as in every log before there were others
        names.remove("kind")
    names.remove("times")
    times = [("times", np.array(curve.times))] if curve.times else []
    return [*((name, getattr(curve, name)) for name in names), *times]


def curve_of(feature: Feature, blob: bytes) -> Curve:
    """The curve that gave these bytes."""
    result = result_of(feature, blob)
    if not isinstance(result, Curve):
        raise LogError(f"a curve of {feature!r} is damaged in the log: it is none")
    return result


def _with_header(header: list[Any], *parts: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((_LENGTH.pack(len(text)), text, *parts))


def _curve(feature: Feature, header: list[Any], take: _Taker) -> Curve:
    n_samples, t, outputs, categorical, axes, rug, arrays = header
    if isinstance(arrays, list):
        arrays = dict(zip(_ARRAYS_1, arrays, strict=True))
    # In the order in which they were written.
    grids = [take(axis) for axis in axes]
    rugs = [take(values) for values in rug]
    named = {name: take(array) for name, array in arrays.items()}
    named["times"] = tuple(bool(flag) for flag in named.get("times", ()))
    curve = Curve(
        feature=feature,
        outputs=tuple(decode_name(label) for label in outputs),
        n_samples=n_samples,
        t=decode_name(t),
        categorical=tuple(categorical),
        grid_values=grids,
        rug=rugs,
        **named,
    )
    grid = tuple(len(axis) for axis in curve.grid_values)
    shapes = curve.average.shape, curve.std_error.shape, curve.n_effective_points.shape
    if shapes != ((len(outputs), *grid), (len(outputs), *grid), grid):
        raise ValueError("the arrays do not fit the grid")
    return curve


def as_logged(results: Mapping[Feature, Result]) -> dict[Feature, Result]:
    """Results with no more of the recent values than a log keeps: it says the same of them.

    The values tell where a curve has data behind it.
    """
    return {
        feature: replace(found, rug=[thinned(values) for values in found.rug])
        if isinstance(found, Curve)
        else found
        for feature, found in results.items()
    }


def thinned(values: Array) -> Array:
    """At most `RUG_SIZE` values, evenly spaced in their order, both ends among them."""
    return values if len(values) <= RUG_SIZE else values[_evenly(len(values))]


@lru_cache(maxsize=16)
def _evenly(size: int) -> Array:
    return np.linspace(0, size - 1, RUG_SIZE).round().astype(np.intp)


def change_text(change: Change) -> str:
    """What a change holds besides its curves, as JSON."""
    values = {item.name: getattr(change, item.name) for item in fields(change)}
    shares = {name: encode_name(share) for name, share in values.pop("shares").items()}
    plain = {name: _plain(value) for name, value in values.items() if name not in _CURVES}
    return json.dumps({**plain, "shares": shares})


def change_of(text: str, before: bytes, after: bytes) -> Change:
    """The change that gave this text and these curves."""
    with whole("a change"):
        state = json.loads(text)
        shares = {name: decode_name(share) for name, share in state.pop("shares").items()}
        values = {name: decode_name(value) for name, value in state.items()}
        for name, blob in zip(_CURVES, (before, after), strict=True):
            values[name] = curve_of(values["feature"], blob)
        return Change(**values, shares=shares)


def _put(array: Array | bool | str, parts: list[bytes]) -> Any:
    """What the header says of an array, whose bytes go to the parts."""
    if isinstance(array, (bool, str)):
        return array
    if array.dtype.kind in _NUMBERS:
        parts.append(array.tobytes())
        return [array.dtype.str, *array.shape]
    return {"dtype": array.dtype.str, "values": [_plain(value) for value in array.tolist()]}


class _Taker:
    """Reads arrays from a blob, one after the other."""

    def __init__(self, blob: bytes, start: int) -> None:
        self.blob, self.start = blob, start

    def __call__(self, said: Any) -> Any:
        if said is None or isinstance(said, (bool, str)):
            return said
        if isinstance(said, dict):
            return _objects(**said)
        name, *shape = said
        dtype = _dtype(name, _NUMBERS, _LARGEST_NUMBER)
        if not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError(f"no shape: {shape}")
        count = math.prod(shape)
        # A copy: a view of the bytes would be read-only and keep the whole blob alive.
        array = np.frombuffer(self.blob, dtype, count, self.start).reshape(shape).copy()
        self.start += count * dtype.itemsize
        return array


def _objects(dtype: str, values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=_dtype(dtype, "OU", _LONGEST_TEXT))
    for k, value in enumerate(values):  # at once, tuples would become rows
        array[k] = decode_name(value)
    return array


def _dtype(name: str, kinds: str, largest: int) -> np.dtype[Any]:
    """A type of arrays that curves have, however long the word for it is."""
    # One type, as numpy writes it: from words with commas numpy would make a record of several.
    if len(name) > _LONGEST_DTYPE or not _ONE_DTYPE.fullmatch(name):
        raise ValueError("no type of numbers")
    dtype = np.dtype(name)
    if dtype.kind not in kinds or dtype.itemsize > largest:
        raise ValueError(f"curves have no arrays of {dtype}")
    return dtype
