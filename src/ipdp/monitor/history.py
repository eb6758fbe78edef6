"""Stored observations with the model's outputs, on which it can be evaluated again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import jsonable
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import FeatureName, FloatArray, Observation, State
from ipdp.monitor.features import Layout, Target

PER_LEVEL = 32
"""Records found at each density; all of the newest ones, therefore."""

# Number of densities: each is half as dense as the one before, so that the last 32 * 2^11
# observations are covered by some 200 records.
_LEVELS = 12
# Of one density, every 16th observation, more are kept for a closer look: the last 4,096 evenly.
_CLOSE_LEVEL, _CLOSE = 4, 256


class Record(NamedTuple):
    """One explained observation, where the model was evaluated, and its outputs."""

    n: int  # its number, from 1
    t: float  # on the clock of the stream
    x: Observation
    layout: Layout  # which columns belong to which effect
    positions: FloatArray  # (n_axes, n_points)
    values: FloatArray  # (n_outputs, n_points)


class History:
    """A sample of past observations, denser where they are recent."""

    def __init__(self) -> None:
        self._levels: list[deque[Record]] = [
            deque(maxlen=_CLOSE if k == _CLOSE_LEVEL else PER_LEVEL) for k in range(_LEVELS)
        ]

    def update(self, record: Record) -> None:
        """Add the newest record: every one to the first level, every second to the next, ..."""
        k = record.n - 1
        for level in self._levels:
            level.append(record)
            if k & 1:
                break
            k >>= 1

    def newest(self, n: int) -> list[Record]:
        """The newest n records, oldest first; at most `PER_LEVEL`."""
        return list(self._levels[0])[-n:] if n else []

    def between(self, first: int, last: int, *, at_most: int, closer: bool = False) -> list[Record]:
        """The newest records with first <= n <= last, newest first; all that are kept if closer."""
        size = _CLOSE if closer else PER_LEVEL
        found = {
            record.n: record
            for level in self._levels
            for record in islice(reversed(level), size)
            if first <= record.n <= last
        }
        return [found[n] for n in sorted(found, reverse=True)[:at_most]]

    def evenly(self, first: int, last: int, *, at_most: int, closer: bool = False) -> list[Record]:
        """Records from all of first <= n <= last, denser towards the end, newest first."""
        found = self.between(first, last, at_most=PER_LEVEL * _LEVELS + _CLOSE, closer=closer)
        if len(found) <= at_most:
            return found
        return [found[k * (len(found) - 1) // (at_most - 1)] for k in range(at_most)]

    @property
    def state(self) -> State:
        """All records, JSON-safe. What several of them share is written once."""
        found = {record.n: record for level in self._levels for record in level}
        records = [found[n] for n in sorted(found)]
        layouts = list(dict.fromkeys(record.layout for record in records))
        keys = [record.positions.tobytes() for record in records]  # a grid often stays as it is
        positions = {key: record.positions for key, record in zip(keys, records, strict=True)}
        names = list(dict.fromkeys(tuple(record.x) for record in records))
        place = {key: k for k, key in enumerate(positions)}
        return {
            "layouts": [
                {
                    "effects": list(layout.targets),
                    "keys": encode_name(layout.keys),
                    "whole": encode_name(layout.whole),
                }
                for layout in layouts
            ],
            "names": encode_name(tuple(names)),
            "positions": _joined(positions.values()),
            "values": _joined(record.values for record in records),
            "records": [
                [
                    record.n,
                    record.t,
                    layouts.index(record.layout),
                    place[key],
                    names.index(tuple(record.x)),
                    [_encode_value(name, value) for name, value in record.x.items()],
                ]
                for key, record in zip(keys, records, strict=True)
            ],
        }

    @classmethod
    def restored(cls, state: State, targets: Sequence[Target]) -> History:
        """The records that gave this state; the targets are those of the explainer."""
        layouts = [
            Layout.of(targets, s["effects"], decode_name(s["keys"]), decode_name(s["whole"]))
            for s in state["layouts"]
        ]
        names = decode_name(state["names"])
        positions, values = _parted(state["positions"]), _parted(state["values"])
        history = cls()
        # Oldest first, so that each finds the levels that it was in.
        for k, (n, t, layout, place, known, x) in enumerate(state["records"]):
            own = dict(zip(names[known], map(_decode_value, x), strict=True))
            history.update(Record(n, t, own, layouts[layout], positions[place], values[k]))
        return history


def _encode_value(name: FeatureName, value: Any) -> Any:
    """A value of a column, which need not be one that is explained: dates and lists too."""
    try:
        return encode_name(value)
    except TypeError:
        try:
            return {"value": jsonable.encode(value)}
        except TypeError as error:
            raise TypeError(f"column {name!r}: {error}") from None


def _decode_value(saved: Any) -> Any:
    is_encoded = isinstance(saved, dict) and "value" in saved
    return jsonable.decode(saved["value"]) if is_encoded else decode_name(saved)


def _joined(arrays: Any) -> State:
    """Arrays of two dimensions, one after the other."""
    listed = list(arrays)
    flat = np.concatenate([np.empty(0), *(array.ravel() for array in listed)])
    return {"shapes": [list(array.shape) for array in listed], "all": jsonable.pack_floats(flat)}


def _parted(state: State) -> list[FloatArray]:
    shapes = state["shapes"]
    ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
    parts = np.split(jsonable.unpack_floats(state["all"]), ends) if shapes else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
