"""The metrics of a run, by name, and what they remember.

A metric of river is an object of numbers, counters and further such objects. `take` writes down
the values, and `give` puts them into an object of the same make. All classes come from that object,
which the user made; the file gives values only, so that it can name nothing to import or to call.
"""

from __future__ import annotations

import copy
import functools
import types
from collections import Counter, UserList, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ipdp.core.jsonable import decode, encode
from ipdp.core.words import few_digits, shown

# What belongs to the make of an object, and not to what it remembers.
_FIXED = (type, types.FunctionType, types.BuiltinFunctionType, functools.partial, types.MethodType)
_MAPPINGS = (dict, defaultdict, Counter)


class Scores:
    """A metric of river, a sum or a list of them, or a dict by name; None for none."""

    def __init__(self, metric: Any) -> None:
        self.replace(_by_name(metric))

    def replace(self, by_name: dict[str, Any]) -> None:
        """Take other metrics instead."""
        self.by_name = by_name
        wants = [bool(getattr(m, "requires_labels", True)) for m in self.by_name.values()]
        self.wants_labels = all(wants)
        # Beside a metric of probabilities, one of labels gets the most probable class.
        self._updates = [
            (m.update, label and not self.wants_labels)
            for m, label in zip(self.by_name.values(), wants, strict=True)
        ]

    def __bool__(self) -> bool:
        return bool(self.by_name)

    def update(self, y: Any, y_pred: Any) -> None:
        """Count one prediction; the answer of an unfitted model that it has none is left out."""
        if y_pred is None or y_pred == {}:
            return
        for update, wants_label in self._updates:
            if wants_label and isinstance(y_pred, dict):
                update(y, max(y_pred, key=y_pred.__getitem__))
            else:
                update(y, y_pred)

    @property
    def values(self) -> dict[str, float]:
        """The metrics that are a number, as they stand."""
        values = {}
        for name, metric in self.by_name.items():
            try:
                values[name] = float(metric.get())
            except (TypeError, ValueError, NotImplementedError, ZeroDivisionError):
                continue  # a table, or nothing to say yet
        return values


def scores_text(values: Mapping[str, float], *, recent: str = "{} over the last {:,}") -> list[str]:
    """Metrics in words; that of the last observations stands behind the one of all.

    Examples
    --------
    >>> scores_text({"Accuracy": 0.82913, "Accuracy_1000": 0.766, "F1": 0.5})
    ['Accuracy 0.829 (0.766 over the last 1,000)', 'F1 0.5']
    >>> scores_text({"Accuracy": 0.5, "Accuracy_1000": 0.5})  # of 660 observations
    ['Accuracy 0.5']
    """
    said = {name: f"{name} {few_digits(value)}" for name, value in values.items()}
    for name, value in values.items():
        whole, _, width = name.rpartition("_")
        if whole in values and width.isdecimal():
            del said[name]
            if value != values[whole]:  # as it is until there are more than the last ones
                said[whole] += f" ({recent.format(few_digits(value), int(width))})"
    return list(said.values())


def numbered(given: Any, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """A thing, several, or a dict of them, by name; a name that is taken gets a number."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): item for name, item in given.items()}
    by_name: dict[str, Any] = {}
    for item in given if isinstance(given, (list, tuple, UserList)) else [given]:
        name = name_of(item)
        by_name[name if name not in by_name else f"{name}_{len(by_name) + 1}"] = item
    return by_name


def _by_name(metric: Any) -> dict[str, Any]:
    given = numbered(metric, _name)
    for item in given.values():
        if isinstance(item, type):
            raise TypeError(f"{item.__name__} is a class: give a metric, {item.__name__}()")
        if not (hasattr(item, "update") and hasattr(item, "get")):
            raise TypeError(f"metric must be a metric of river, got {shown(item)}")
    return given


def _name(metric: Any) -> str:
    inner = getattr(metric, "obj", None)  # of river's Rolling
    if inner is None:
        return metric.__name__ if isinstance(metric, type) else type(metric).__name__
    width = getattr(metric, "window_size", getattr(metric, "period", ""))
    return f"{type(inner).__name__}_{width}"


class MetricStates:
    """The metrics of a run, to be saved without pickle where that can be done."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._fresh: Any = copy.deepcopy(scores.by_name)
        self._is_open: bool | None = None

    @property
    def state(self) -> dict[str, Any] | None:
        """What they remember, JSON-safe; None if that cannot be known from outside."""
        if self._is_open is False:
            return None
        try:
            state = {name: take(metric) for name, metric in self._scores.by_name.items()}
        except TypeError:
            self._is_open = False
            return None
        if self._is_open is None:
            self._is_open = self._comes_back(state)
        return state if self._is_open else None

    def _comes_back(self, state: Mapping[str, Any]) -> bool:
        """Whether metrics that are given the state have it; tried once, on a copy."""
        twins, self._fresh = self._fresh, None
        try:
            for name, twin in twins.items():
                give(twin, state[name])
            return {name: take(twin) for name, twin in twins.items()} == state
        except Exception:  # whatever a metric of another make does
            return False


def take(thing: Any) -> Any:
    """What an object remembers, JSON-safe; TypeError if that cannot be known from outside."""
    return {(kind := _kind(thing)): _TAKEN[kind](thing)}


def _kind(thing: Any) -> str:
    """How what an object remembers is written down."""
    if isinstance(thing, _FIXED):
        return "fixed"
    if type(thing) in _MAPPINGS:
        return "items"
    if type(thing) in (list, deque):
        return "sequence"
    if isinstance(thing, np.ndarray):
        return "array"
    return "attributes" if _is_open(thing) else "value"


_TAKEN: dict[str, Callable[[Any], Any]] = {
    "fixed": lambda _: None,
    "items": lambda thing: [[encode(key), take(item)] for key, item in thing.items()],
    "sequence": lambda thing: [take(item) for item in thing],
    "array": lambda thing: [thing.dtype.str, list(thing.shape), encode(thing.ravel().tolist())],
    "attributes": lambda thing: {name: take(getattr(thing, name)) for name in _attributes(thing)},
    "value": encode,
}


def give(thing: Any, state: Any) -> None:
    """Bring an object, in place, to what another one of the same make remembered."""
    if not isinstance(state, dict) or list(state) != ["attributes"]:
        raise ValueError("this is not a state of an object: attributes are missing from it")
    for name, saved in state["attributes"].items():
        if name not in _attributes(thing):
            raise ValueError(f"a {type(thing).__name__} has no {name!r}")
        setattr(thing, name, _given(getattr(thing, name), saved))


def _given(there: Any, state: Any) -> Any:
    """The value that belongs where `there` is now; objects are changed in place."""
    ((kind, saved),) = state.items()
    # What is not there yet may become anything that needs no object.
    if kind not in ("value", "sequence", "items") if there is None else kind != _kind(there):
        raise ValueError(f"a {type(there).__name__} remembers nothing of the kind {kind!r}")
    if kind == "value":
        return _value(there, decode(saved))
    if kind == "fixed":
        return there
    if kind == "attributes":
        give(there, state)
        return there
    if kind == "sequence":
        return _sequence(there, saved)
    if kind == "items":
        return _mapping(there, saved)
    return np.array(decode(saved[2]), dtype=there.dtype).reshape(saved[1])


def _value(there: Any, saved: Any) -> Any:
    """A plain value, if it is of the type of the one that is there."""
    wanted = (int, float) if isinstance(there, (int, float)) else type(there)
    if there is not None and not isinstance(saved, wanted):
        raise ValueError(f"a {type(there).__name__} cannot become a {type(saved).__name__}")
    return saved


def _sequence(there: Any, saved: list[Any]) -> Any:
    # Objects in a list, one for each threshold for instance, are there from the start.
    old = list(there or ())
    old += [None] * (len(saved) - len(old))
    items = [_given(item, state) for item, state in zip(old, saved, strict=False)]
    return deque(items, there.maxlen) if isinstance(there, deque) else items


def _mapping(there: Any, saved: list[Any]) -> Any:
    there = {} if there is None else there
    old, make = dict(there), getattr(there, "default_factory", None) or (lambda: None)
    there.clear()
    for key, state in saved:
        name = decode(key)
        there[name] = _given(old[name] if name in old else make(), state)
    return there


def _is_open(thing: Any) -> bool:
    """Whether all that an object remembers are its attributes: it is written in Python."""
    kind: Any = type(thing)
    return (hasattr(thing, "__dict__") or hasattr(thing, "__slots__")) and (
        kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and not hasattr(kind, "__setstate__")
    )


def _attributes(thing: Any) -> Iterator[str]:
    names = dict.fromkeys(getattr(thing, "__dict__", {}))
    for base in type(thing).__mro__:
        slots = base.__dict__.get("__slots__", ())
        names.update(dict.fromkeys([slots] if isinstance(slots, str) else slots))
    return (
        name for name in names if name not in ("__dict__", "__weakref__") and hasattr(thing, name)
    )
