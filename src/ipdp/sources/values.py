"""From what a file holds to a value: the rules for types, the same for every kind of source.

A column is of one kind: number, bool or text. Its first value that is not missing decides, unless
the user has said it. From then on a value of another kind is an error of its row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

Kind = Literal["number", "bool", "text"]
"""What the values of a column are."""

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"})
"""Texts that stand for a missing value; in a column that was declared text only "" does."""

_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_LARGEST = 2**63


class BadRecord(Exception):
    """A record that cannot be an observation; the text says why."""


def checked_kinds(types: Mapping[str, str] | None) -> dict[str, Kind]:
    """The kinds of columns that the user has said."""
    kinds: dict[str, Kind] = {}
    for name, kind in (types or {}).items():
        if kind not in get_args(Kind):
            raise ValueError(
                f"the type of {name!r} must be {', '.join(get_args(Kind))}, got {kind!r}"
            )
        kinds[name] = kind  # type: ignore[assignment]  # it is one of them
    return kinds


def number_of(text: str) -> int | float | None:
    """The number that a text stands for; None if it stands for none.

    Examples
    --------
    >>> number_of("7"), number_of("-2.5e3"), number_of("seven"), number_of("1_000")
    (7, -2500.0, None, None)
    """
    if "_" in text or not text.isascii():  # Python's own spellings, not those of data
        return None
    try:
        number = float(text)  # which also takes every whole number, and is quick to say no
    except ValueError:
        return None
    if text.lstrip("+-").isdecimal() and abs(number) <= _LARGEST:
        integer = int(text)
        return integer if -_LARGEST <= integer < _LARGEST else number
    return number


def typed_text(
    text: str, kind: Kind | None, *, is_declared: bool = False
) -> tuple[Any, Kind | None]:
    """The value of a text in a column of a kind, and the kind of the column from now on.

    Examples
    --------
    >>> typed_text("3", None), typed_text("3", "text"), typed_text("?", "number")
    ((3, 'number'), ('3', 'text'), (None, 'number'))
    """
    if kind == "number" or kind is None:
        number = number_of(text)
        if number is not None:
            return (None, kind) if math.isnan(number) else (number, "number")
    if text in MISSING and not (is_declared and kind == "text" and text):
        return None, kind
    if kind is None or kind == "bool":
        truth = _BOOLS.get(text)
        if truth is not None:
            return truth, "bool"
    if kind is None or kind == "text":
        return text, "text"
    raise BadRecord(f"{shown(text)} is not a {kind}")


def typed_value(value: Any, kind: Kind | None, *, is_declared: bool) -> tuple[Any, Kind | None]:
    """The same for a value that comes with a type of its own, as in JSON.

    A text in a column that was declared to be of another kind is read as that kind.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, kind
    own = _kind_of(value)
    if own == kind or kind is None:
        return _within_range(value) if own == "number" else value, own
    if is_declared and kind == "text" and own != "text":
        return str(value), kind
    if is_declared and own == "text":
        return typed_text(value.strip(), kind)
    raise BadRecord(f"{shown(value)} is not a {kind}")


def _kind_of(value: Any) -> Kind:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    names: dict[type, str] = {dict: "an object", list: "a list", bytes: "bytes"}
    raise BadRecord(f"holds {names.get(type(value), type(value).__name__)}, which is not a value")


def _within_range(value: Any) -> Any:
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def shown(value: Any, width: int = 40) -> str:
    """A value for a sentence: short, and with nothing that a terminal would obey."""
    text = repr(value)
    return text if len(text) <= width else f"{text[: width - 4]}...{text[-1]}"
