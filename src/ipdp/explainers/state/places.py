"""Where the points of today are in what is kept of the past, whose points were others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.points import Layout
from ipdp.grid.base import Key


def places_of(wanted: Layout, layouts: Sequence[Layout]) -> Array:
    """Where the points of a layout are in each of some others, (n, n_points); -1: nowhere."""
    distinct = list({id(layout): layout for layout in layouts}.values())
    places = np.full((len(distinct), wanted.n_points), -1)
    for probe, number, keys in zip(wanted.probes, wanted.targets, wanted.keys, strict=True):
        column = {key: k for k, key in enumerate(keys)}
        # Most of them have the same points of this target: these are looked up once.
        known: dict[int, list[int]] = {}
        own, starts = [], []
        for layout in distinct:
            place = layout.place_of(number)
            its_keys = () if place is None else layout.keys[place]
            found = known.get(id(its_keys))
            if found is None:
                found = known[id(its_keys)] = _indices(column, its_keys)
            own.append(found)
            starts.append(0 if place is None else layout.probes[place].start)
        table = np.array(own)
        places[:, probe.start : probe.stop] = np.where(
            table < 0, -1, table + np.array(starts)[:, None]
        )
    row = {id(layout): k for k, layout in enumerate(distinct)}
    return places[[row[id(layout)] for layout in layouts]]


def _indices(column: dict[Key, int], among: Sequence[Key]) -> list[int]:
    """Where the key of each column stands among others; -1 if it does not."""
    found = [-1] * len(column)
    for k, key in enumerate(among):
        if (at := column.get(key)) is not None:
            found[at] = k
    return found


def weights_of(layout: Layout) -> FloatArray:
    """What each point of an observation counts: one over the probability that it was asked."""
    if not layout.chances:
        return np.ones(layout.n_points)
    sizes = [len(keys) for keys in layout.keys]
    return np.repeat(1 / np.array(layout.chances), sizes)


def side_by_side(layouts: Sequence[Layout], places: Array) -> tuple[Array, Array]:
    """Where points are if layouts stand side by side, both (n, n_points), and whether they are."""
    sizes = np.array([layout.n_points for layout in layouts])
    return places + (np.cumsum(sizes) - sizes)[:, None], places >= 0


def gather(parts: Sequence[FloatArray], n_rows: int, columns: Array, there: Array) -> FloatArray:
    """What n tables, side by side, have in some columns, (n, n_rows, n_points); 0 for nothing."""
    found = joined(parts, n_rows).take(columns, axis=1, mode="clip")
    if not there.all():
        found[:, ~there] = 0.0
    return found.transpose(1, 0, 2)


def joined(parts: Sequence[FloatArray], n_rows: int) -> FloatArray:
    """Tables of several columns as one of so many rows; 0 where one has fewer."""
    if {*map(len, parts)} == {n_rows}:
        return np.concatenate(parts, axis=1)
    table = np.zeros((n_rows, sum(part.shape[1] for part in parts)))
    start = 0
    for part in parts:
        table[: len(part), start : start + part.shape[1]] = part
        start += part.shape[1]
    return table
