"""Explained observations that are kept, with the model's answers of that time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
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


class RecentIce:
    """The last ICE curves, target by target.

    Those with the same points are put together once, for all targets.

    Parameters
    ----------
    records
        The curves of all targets, newest last.
    n_outputs
        How many outputs there are by now; classes that had not been met then are 0.
    """

    def __init__(self, records: Sequence[IceRecord], n_outputs: int) -> None:
        self._n, self._n_outputs = len(records), n_outputs
        self._parts: list[tuple[slice, Layout, FloatArray, FloatArray]] = []
        start = 0
        for layout, same in groupby(records, key=lambda record: record.layout):
            group = list(same)
            values = np.zeros((n_outputs, len(group), layout.n_points))
            for k, record in enumerate(group):
                values[: len(record.values), k] = record.values
            positions = np.stack([record.positions[0] for record in group])
            rows = slice(start, start + len(group))
            self._parts.append((rows, layout, values, positions))
            start += len(group)

    def of(self, number: int, keys: Sequence[Key]) -> tuple[FloatArray, FloatArray]:
        """Those of one target at some of its points, (n_outputs, n_ice, n), and their positions.

        Without the observations that were not asked about any of these points.
        """
        ice = np.full((self._n_outputs, self._n, len(keys)), np.nan)
        positions = np.full((self._n, len(keys)), np.nan)
        asked: tuple[Key, ...] | None = None
        there, at = np.empty(0, dtype=int), np.empty(0, dtype=int)
        for rows, layout, values, places in self._parts:
            if layout.keys_of(number) is not asked:
                asked = layout.keys_of(number)
                place = {key: k for k, key in enumerate(asked)}
                there = np.array([k for k, key in enumerate(keys) if key in place], dtype=int)
                at = np.array([place[key] for key in keys if key in place], dtype=int)
            columns = layout.columns_of(number).start + at
            ice[:, rows, there] = values.take(columns, axis=2)
            positions[rows, there] = places.take(columns, axis=1)
        known = ~np.isnan(positions).all(axis=1)
        return ice[:, known], positions[known]


class Explained(NamedTuple):
    """Some explained observations with the same points, one after the other: a list of each."""

    positions: list[FloatArray]  # (n_axes, n_points)
    values: list[FloatArray]  # (n_outputs, n_points)
    own: list[list[Any]]  # the values of their features
    w: list[float]
    t: list[float]

    def weighty(self) -> Explained:
        """Those whose weight is not 0."""
        if all(self.w):
            return self
        parts: list[Any] = [[v for v, w in zip(part, self.w, strict=True) if w] for part in self]
        return Explained(*parts)


class Record(NamedTuple):
    """One explained observation, where the model was evaluated, and its outputs."""

    n: int  # its number, from 1
    t: float  # on the clock of the stream
    x: Observation
    layout: Layout  # which columns belong to which target
    positions: FloatArray  # (n_axes, n_points)
    values: FloatArray  # (n_outputs, n_points)


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
    schema.must_fit("positions", record.positions, (n_axes, n_points), finite=False)
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
