"""Explained observations that are kept, with the model's answers of that time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ipdp.core import jsonable, schema
from ipdp.core.jsonable import decode_name, decode_value, encode_name, encode_values
from ipdp.core.typing import FloatArray, Label, Observation, State
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target
from ipdp.grid.base import Key


class IceRecord(NamedTuple):
    """One ICE curve of all targets, kept for plotting."""

    layout: Layout
    positions: FloatArray  # (n_axes, n_points)
    values: FloatArray  # (n_outputs at that time, n_points)


NOTHING = IceRecord(Layout(), np.zeros((1, 0)), np.zeros((0, 0)))
"""What the model said of an observation that is not known yet to stay."""


class RecentIce:
    """The last ICE curves, target by target.

    Parameters
    ----------
    records
        The curves of all targets, newest last.
    n_outputs
        How many outputs there are by now; classes that had not been met then are 0.
    """

    def __init__(self, records: Sequence[IceRecord], n_outputs: int) -> None:
        self._layouts = [record.layout for record in records]
        sizes = [layout.n_points for layout in self._layouts]
        # All of them side by side, and where each begins.
        self._starts = [0, *accumulate(sizes)]
        self._values = np.zeros((n_outputs, self._starts[-1]))
        self._positions = np.empty(self._starts[-1])
        for record, start, size in zip(records, self._starts, sizes, strict=False):
            own = slice(start, start + size)
            self._values[: len(record.values), own] = record.values
            self._positions[own] = record.positions[0]

    def of(self, number: int, keys: Sequence[Key]) -> tuple[FloatArray, FloatArray]:
        """Those of one target at some of its points, (n_outputs, n_ice, n), and their positions.

        Without the observations that were not asked about any of these points.
        """
        asked: tuple[Key, ...] | None = None
        places: list[FloatArray] = []
        starts: list[int] = []
        for layout, first in zip(self._layouts, self._starts, strict=False):
            place = layout.place_of(number)
            if place is None:
                continue
            own = layout.keys[place]
            if own is not asked:  # most often they are those of the last one
                asked, column = own, {key: j for j, key in enumerate(own)}
                at = np.array([column.get(key, -1) for key in keys], dtype=int)
            places.append(at)
            starts.append(first + layout.probes[place].start)
        columns = np.array(places, dtype=int).reshape(len(places), len(keys))
        there = columns >= 0
        columns += np.array(starts, dtype=int)[:, None]
        if not there.all():
            known = there.any(axis=1)
            columns, there = columns[known], there[known]
            columns[~there] = 0
        ice, positions = self._values.take(columns, axis=1), self._positions.take(columns)
        if not there.all():
            ice[:, ~there] = positions[~there] = np.nan
        return ice, positions


class Explained(NamedTuple):
    """Some explained observations with the same points, one after the other."""

    positions: FloatArray  # (n, n_axes, n_points), or (1, n_axes, n_points) if they stay the same
    values: FloatArray  # (n, n_outputs, n_points)
    own: list[list[Any]]  # the values of their features
    w: list[float]
    t: list[float]

    @classmethod
    def of(cls, observations: Sequence[tuple[Any, ...]]) -> Explained:
        """Those that begin with these positions, values, own values, weights and times."""
        positions, values, own, w, t, *_ = map(list, zip(*observations, strict=True))
        first = positions[0]
        same = len(set(map(id, positions))) == 1
        return cls(
            first[None] if same else np.concatenate(positions).reshape(len(t), *first.shape),
            np.concatenate(values).reshape(len(t), *values[0].shape),
            own,
            w,
            t,
        )

    def part(self, part: slice) -> Explained:
        """Some neighbours among them."""
        if part.stop - part.start == len(self.t):
            return self
        positions = self.positions if len(self.positions) == 1 else self.positions[part]
        return Explained(positions, self.values[part], self.own[part], self.w[part], self.t[part])

    def weighty(self) -> Explained:
        """Those whose weight is not 0."""
        there = [k for k, w in enumerate(self.w) if w]
        parts: list[list[Any]] = [self.own, self.w, self.t]
        own, w, t = ([part[k] for k in there] for part in parts)
        positions = self.positions if len(self.positions) == 1 else self.positions[there]
        return Explained(positions, self.values[there], own, w, t)

    def places(self, k: int) -> FloatArray:
        """The positions of one of them on the first axis."""
        return np.asarray(self.positions[min(k, len(self.positions) - 1), 0])


class Record(NamedTuple):
    """One explained observation, where the model was evaluated, and its outputs."""

    n: int  # its number, from 1
    t: float  # on the clock of the stream
    x: Observation
    layout: Layout  # which columns belong to which target
    positions: FloatArray  # (n_axes, n_points)
    values: FloatArray  # (n_outputs, n_points)


class Kept(NamedTuple):
    """A record, and what the model said of it when it was last asked."""

    record: Record
    latest: FloatArray  # (n_outputs, n_points), at the record's places
    reading: (
        float  # at which reading that was; between two of them for one that was not asked again
    )
    # What the curves left of its prediction when it came, by output; empty: not known, or not yet.
    rest: list[float]


AnyRecord = TypeVar("AnyRecord", IceRecord, Record)


def with_outputs(record: AnyRecord, known: list[Label], wanted: list[Label]) -> AnyRecord:
    """The record with its outputs in another order; classes that had not been met are 0."""
    values = np.zeros((len(wanted), record.values.shape[1]))
    for label, row in zip(known, record.values, strict=False):
        values[wanted.index(label)] = row
    return record._replace(values=values)


def state_of(records: Sequence[Record]) -> State:
    """Records, JSON-safe. What several of them share is written once."""
    layouts = list(dict.fromkeys(record.layout for record in records))
    keys = [record.positions.tobytes() for record in records]  # a grid often stays as it is
    positions = {key: record.positions for key, record in zip(keys, records, strict=True)}
    names = list(dict.fromkeys(tuple(record.x) for record in records))
    place = {key: k for k, key in enumerate(positions)}
    return {
        "layouts": [layout.state for layout in layouts],
        "names": encode_name(tuple(names)),
        "positions": joined(positions.values()),
        "values": joined(record.values for record in records),
        "records": [
            [
                record.n,
                record.t,
                layouts.index(record.layout),
                place[key],
                names.index(tuple(record.x)),
                encode_values(record.x),
            ]
            for key, record in zip(keys, records, strict=True)
        ],
    }


def restored(state: State, targets: Sequence[Target]) -> list[Record]:
    """The records that gave this state; the targets are those of the explainer."""
    layouts = [Layout.restored(targets, saved) for saved in state["layouts"]]
    names = decode_name(state["names"])
    positions, values = parted(state["positions"]), parted(state["values"])
    records = []
    n_axes = max((len(target.names) for target in targets), default=1)
    for k, saved in enumerate(state["records"]):
        n, t, layout, place, known, x = saved
        schema.check({"n": n, "t": t}, n=schema.count, t=schema.number)
        schema.check({"at": [layout, place, known]}, at=schema.each(schema.count))
        own = dict(zip(names[known], map(decode_value, x), strict=True))
        record = Record(n, t, own, layouts[layout], positions[place], values[k])
        must_fit(record, n_axes)
        records.append(record)
    return records


def must_fit(record: IceRecord | Record, n_axes: int) -> None:
    """Raise unless there is a position and an answer for each point, all of them finite."""
    n_points = record.layout.n_points
    own = max((len(probe.names) for probe in record.layout.probes), default=1)
    # What was asked before a pair was followed has fewer axes.
    if own <= len(record.positions) <= n_axes:
        n_axes = len(record.positions)
    schema.must_fit("positions", record.positions, (n_axes, n_points))
    schema.must_fit("values", record.values, (len(record.values), n_points))


def joined(arrays: Iterable[FloatArray]) -> State:
    """Arrays of two dimensions, one after the other."""
    listed = list(arrays)
    flat = np.concatenate([np.empty(0), *(array.ravel() for array in listed)])
    return {"shapes": [list(array.shape) for array in listed], "all": jsonable.pack_floats(flat)}


def parted(state: State) -> list[FloatArray]:
    """The arrays that `joined` put one after the other."""
    shapes = state["shapes"]
    schema.check(state, shapes=schema.each(schema.each(schema.count, 2)))
    ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
    parts = np.split(jsonable.unpack_floats(state["all"]), ends) if shapes else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def restored_rests(state: State, records: Sequence[Record]) -> list[list[float]]:
    """What curves left of predictions; states of earlier versions do not have it."""
    if "rests" not in state:
        return [[] for _ in records]
    schema.check(state, rests=schema.each(schema.each(schema.value), len(records)))
    for rest, record in zip(state["rests"], records, strict=True):
        if rest and len(rest) != len(record.values):
            raise ValueError("the state is damaged: a prediction has parts without an output")
    return [list(rest) for rest in state["rests"]]
