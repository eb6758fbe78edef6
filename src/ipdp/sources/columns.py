"""From what a record holds to an observation: which columns are used, and of which kind they are.

A column is of one kind: number, bool or text. Its first value that is not missing decides, unless
the user has said it. From then on a value of another kind is an error of its row. The rules are the
same for every source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from ipdp.core.validation import unknown
from ipdp.core.words import shown

Kind = Literal["number", "bool", "text"]
"""What the values of a column are."""

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"})
"""Texts that stand for a missing value; in a column that was declared text only "" does."""

DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
"""A number with a decimal comma."""

_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_LARGEST = 2**63


class BadRecord(Exception):
    """A record that cannot be an observation; the text says why."""


class Columns:
    """Makes observations of records; the parameters are those of `Source`."""

    def __init__(
        self,
        target: str | None,
        features: Sequence[str] | None,
        drop: Sequence[str],
        types: Mapping[str, str] | None,
    ) -> None:
        self.target = target
        self.features = None if features is None else tuple(features)
        self.drop = frozenset(drop)
        self.declared = _checked_kinds(types or {})
        self.kinds: dict[str, Kind | None] = dict(self.declared)
        self.names: tuple[str, ...] | None = None
        self.wanted: tuple[str, ...] = ()
        self._places: list[tuple[int, str]] = []
        self._keys: list[tuple[str, str]] = []

    def start(self, names: Iterable[str]) -> None:
        """Choose among the columns that there are."""
        there = list(names)
        places = {name: place for place, name in reversed([*enumerate(there)])}
        for name in (self.target, *(self.features or ()), *self.drop):
            if name is not None and name not in places:
                raise BadRecord(unknown("column", name, there))
        chosen = there if self.features is None else self.features
        self.names = tuple(n for n in chosen if n != self.target and n not in self.drop)
        if not self.names:
            raise BadRecord("there is no column left for x beside the target")
        self.wanted = self.names if self.target is None else (*self.names, self.target)
        self._places = [(places[name], name) for name in self.wanted]
        self._keys = [(name, name) for name in self.wanted]

    def of_texts(self, fields: Sequence[str]) -> tuple[dict[str, Any], Any]:
        """The observation of a row of texts in the order of the columns."""
        return self._observation(fields, self._places, typed_text)

    def of_values(self, record: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The observation of a record of values by name; the first one determines the columns."""
        if self.names is None:
            self.start(record)
        return self._observation(record, self._keys, typed_value)

    def _observation(
        self, record: Any, keys: list[tuple[Any, str]], typed: Callable[..., Any]
    ) -> tuple[dict[str, Any], Any]:
        kinds, declared = self.kinds, self.declared
        row: dict[str, Any] = {}
        decided: dict[str, Kind | None] = {}
        for key, name in keys:
            known = kinds.get(name)
            try:
                row[name], kind = typed(record[key], known, name in declared)
            except KeyError:
                raise BadRecord(f"there is no {name!r}; a missing value is null") from None
            except BadRecord as error:
                hint = ", and the values before it were (declare the column as text if not)"
                raise BadRecord(f"{name}: {error}{hint if known else ''}") from None
            if kind is not known:
                decided[name] = kind
        # Only now is the record known to be valid: an invalid one decides nothing.
        kinds.update(decided)
        y = None if self.target is None else row.pop(self.target)
        return row, y

    # For the position of a source.

    @property
    def state(self) -> dict[str, Any]:
        """Columns and kinds so far, JSON-safe."""
        names = None if self.names is None else list(self.names)
        return {"columns": names, "kinds": {n: k for n, k in self.kinds.items() if k}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with the columns and kinds of a `state`."""
        names = state["columns"]
        if self.names is not None and names is not None and list(self.names) != names:
            raise BadRecord(
                f"the columns are {', '.join(self.names)} now and were {', '.join(names)}"
            )
        if self.names is None and names is not None:
            self.start([*names, *([self.target] if self.target else []), *self.drop])
        self.kinds = {**state["kinds"], **self.declared}


def _checked_kinds(types: Mapping[str, Any]) -> dict[str, Kind]:
    for name, kind in types.items():
        if kind not in get_args(Kind):
            kinds = ", ".join(get_args(Kind))
            raise ValueError(f"the type of {shown(name)} must be {kinds}, got {shown(kind)}")
    return dict(types)


def typed_text(text: str, kind: Kind | None, is_declared: bool = False) -> tuple[Any, Kind | None]:
    """The value of a text in a column of a kind, and the kind of the column from now on."""
    text = text.strip()
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


def number_of(text: str) -> int | float | None:
    """The number that a text stands for; None if it stands for none."""
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


def typed_value(value: Any, kind: Kind | None, is_declared: bool) -> tuple[Any, Kind | None]:
    """The same for a value that comes with a type of its own, as in JSON.

    A text in a column that was declared to be of another kind is read as that kind.
    """
    if type(value) is float and kind == "number" and value == value:  # noqa: PLR0124  (no NaN)
        return value, kind  # as almost all are
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, kind
    own = _kind_of(value)
    if own == kind or kind is None:
        return _within_range(value) if own == "number" else value, own
    if is_declared and kind == "text":
        return str(value), kind
    if is_declared and own == "text":
        return typed_text(value, kind)
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
