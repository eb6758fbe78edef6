"""Whether what was saved can be what ipdp wrote: checked before anything is taken from it.

A checksum says that a state is whole, not who wrote it. So types, signs, sizes and the relations
between arrays are checked where a state is read, with the words of this file.
"""

from __future__ import annotations

import math
import struct
import sys
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.jsonable import decode_name
from ipdp.core.typing import FloatArray, State
from ipdp.core.words import shown

_COUNTS = 2**62  # more are not counted in a lifetime
_LARGEST, _SQUARED = sys.float_info.max, 1e150
LARGEST_MEAN, LARGEST_WEIGHT, LARGEST_SQUARES = 1e75, 1e154, 1e307
"""What the numbers of a state stay below: means of what is below 1e70, weights, sums of squares.

What follows from such numbers, or goes on from them, can be saved as well.
"""
_LONGEST = 120  # letters of what was wrong that are repeated
_TOLD = ("damaged", "made with", "version")  # one of them is in what is said of a state already
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


class Kind(NamedTuple):
    """A kind of values: what it is called, and whether a value is one."""

    words: str
    fits: Callable[[Any], bool]
    floats: tuple[float, float] | None = None
    """All finite floats from one to the other are of this kind: many are checked at once."""


@contextmanager
def intact(what: str) -> Iterator[None]:
    """Say in one sentence that something that was saved is not as it was written.

    Examples
    --------
    >>> with intact("the state"):
    ...     {}["seen"]
    Traceback (most recent call last):
    ...
    ValueError: the state is damaged: 'seen' is missing from it
    """
    try:
        yield
    except _DAMAGE as error:
        text = " ".join(str(error).split()) or type(error).__name__
        is_told = any(words in text for words in _TOLD) and len(text) <= 3 * _LONGEST
        if is_told and type(error) is ValueError:
            raise
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        missing = " is missing from it" if isinstance(error, LookupError) else ""
        raise ValueError(f"{what} is damaged: {text}{missing}") from error


def check(state: Mapping[str, Any], /, **kinds: Kind) -> None:
    """Raise unless each of these parts of a state that is there is of its kind.

    Examples
    --------
    >>> check({"n": 3, "t": None}, n=count, t=maybe(number))
    >>> check({"n": -1}, n=count)
    Traceback (most recent call last):
    ...
    ValueError: the state is damaged: n is -1, and not a count
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"the state is damaged: {shown(state)} stands where named parts belong")
    for name, kind in kinds.items():
        if name in state and not kind.fits(state[name]):
            raise ValueError(
                f"the state is damaged: {name} is {shown(state[name])}, and not {kind.words}"
            )


def must_be_version(what: str, given: Any, wanted: int) -> None:
    """Raise unless what was saved is of the version that is read.

    Examples
    --------
    >>> must_be_version("a curve", 7, 1)
    Traceback (most recent call last):
    ...
    ValueError: this is a curve of version 7; this ipdp reads version 1
    """
    if given != wanted:
        raise ValueError(
            f"this is {what} of version {shown(given)}; this ipdp reads version {wanted}"
        )


# Kinds of values.


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _COUNTS


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


count = Kind("a count", _is_count)
power = Kind("a power of two", lambda v: _is_count(v) and v.bit_count() == 1)
number = Kind("a finite number", _is_number, (-_LARGEST, _LARGEST))
end = Kind("a number, or infinity", lambda v: v == math.inf or _is_number(v))
value = Kind(
    "a number that can be squared",
    lambda v: _is_number(v) and abs(v) <= _SQUARED,
    (-_SQUARED, _SQUARED),
)
weight = Kind("a finite number of at least 0", lambda v: _is_number(v) and v >= 0, (0.0, _LARGEST))
flag = Kind("true or false", lambda v: isinstance(v, bool))
text = Kind("a text", lambda v: isinstance(v, str))
name = Kind(
    "a name",
    lambda v: isinstance(v, Hashable) and not (isinstance(v, float) and not math.isfinite(v)),
)
category = Kind("a category", lambda v: name.fits(v) and not isinstance(v, tuple))
parts = Kind("a list", lambda v: isinstance(v, (list, tuple)))


def maybe(kind: Kind) -> Kind:
    """The same, or nothing."""
    return Kind(kind.words, lambda v: v is None or kind.fits(v))


def each(kind: Kind, n: int | None = None) -> Kind:
    """A list of such values, of some length if it is given."""
    words = f"a list of {'' if n is None else f'{n} times '}{kind.words}"

    def are_they(items: Any) -> bool:
        is_list = isinstance(items, (list, tuple)) and (n is None or len(items) == n)
        return is_list and (_all_between(items, kind.floats) or all(map(kind.fits, items)))

    return Kind(words, are_they)


def _all_between(items: Sequence[Any], ends: tuple[float, float] | None) -> bool:
    """Whether they are floats between two numbers; False may be that they need a closer look."""
    if ends is None or set(map(type, items)) != {float}:
        return False
    # A sum is finite only if all of them are; it may be infinite all the same.
    return math.isfinite(sum(items)) and ends[0] <= min(items) and max(items) <= ends[1]


def one_of(*values: str | None) -> Kind:
    """One of these words."""
    words = f"one of {', '.join(map(repr, values))}"
    return Kind(words, lambda v: (v is None or isinstance(v, str)) and v in values)


def below(n: int) -> Kind:
    """The number of one of n things."""
    return Kind(f"a number below {n}", lambda v: _is_count(v) and v < n)


# Times.


def goes_back(earlier: float, later: float) -> bool:
    """Whether a time that should be the later one is not; whole numbers may have been rounded.

    Examples
    --------
    >>> goes_back(3, 3), goes_back(2**53 + 1, float(2**53)), goes_back(2**53 + 1, 2**53)
    (False, False, True)
    """
    if isinstance(earlier, int) and isinstance(later, int):
        return later < earlier
    return float(later) < float(earlier)


def must_ascend(times: Iterable[float | None]) -> None:
    """Raise if one of these times is before another one; None is not known, and passed over.

    What decays from one to the next would grow without bound.

    Examples
    --------
    >>> must_ascend([None, 1, 2.5, 2.5])
    >>> must_ascend([3, 1])
    Traceback (most recent call last):
    ...
    ValueError: the state is damaged: its times go back from 3 to 1
    """
    known = [t for t in times if t is not None]
    for earlier, later in pairwise(known):
        if goes_back(earlier, later):
            before, after = shown(earlier), shown(later)
            raise ValueError(f"the state is damaged: its times go back from {before} to {after}")


# Categories and arrays.


def categories(state: Mapping[str, Any], part: str) -> list[Any]:
    """Categories of a state, which `encode_name` wrote.

    Examples
    --------
    >>> categories({"recent": ["u", 3]}, "recent")
    ['u', 3]
    """
    check(state, **{part: parts})
    read = [decode_name(item) for item in state[part]]
    check({part: read}, **{part: each(category)})
    return read


def array(state: State, name: str, shape: Sequence[int | None], kind: str = "f") -> Any:
    """An array of a state, finite and of this shape, where None is any length.

    Examples
    --------
    >>> array({"mean": [[1.0, 2.0]]}, "mean", (1, 2))
    array([[1., 2.]])
    """
    given: Any = np.asarray(state[name])
    if given.size == 0:
        given = np.zeros([n or 0 for n in shape])
    fits = given.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, given.shape, strict=True)
    )
    wanted = {"f": "iuf", "i": "iu", "b": "b"}[kind]
    if not fits or (given.size and given.dtype.kind not in wanted):
        raise ValueError(f"the state is damaged: {name} does not have the shape {_lengths(shape)}")
    if kind == "f":
        given = given.astype(float)
        if not np.isfinite(given).all():
            raise ValueError(f"the state is damaged: {name} is not finite")
        return given
    return given.astype(int if kind == "i" else bool)


def must_fit(
    name: str,
    values: FloatArray,
    shape: Sequence[int],
    *,
    finite: bool = True,
    most: float = math.inf,
) -> None:
    """Raise unless an array has this shape, and finite numbers whose sizes are below `most`."""
    if values.shape != tuple(shape):
        raise ValueError(
            f"the state is damaged: {name} has the shape {values.shape}, not {tuple(shape)}"
        )
    if finite and not (np.abs(values) < most).all():
        kind = "finite" if most == math.inf else f"below {most:g}"
        raise ValueError(f"the state is damaged: {name} is not {kind}")


def _lengths(shape: Sequence[int | None]) -> str:
    return "x".join("n" if n is None else str(n) for n in shape)
