"""Where the points of today are in what is kept of the past, against looking for each of them."""

from __future__ import annotations

import random

import numpy as np

import ipdp
from ipdp.explainers.state.places import gather, places_of, side_by_side


def test_points_are_found_where_they_were():
    draws = random.Random(1)
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + len(x["c"]), alpha=0.01, n_past=40, seed=1)
    for k in range(1_500):
        pdp.explain_one({"a": draws.gauss(k / 200, 1), "b": k % 3, "c": "xyz"[: 1 + k // 600]})
    wanted, kept = pdp.memory.means.layout, pdp.memory.pool.kept
    layouts = [one.record.layout for one in kept]
    places = places_of(wanted, layouts)
    expected = [
        [layout.slots.index(slot) if slot in layout.slots else -1 for slot in wanted.slots]
        for layout in layouts
    ]
    assert places.tolist() == expected
    assert (places < 0).any()
    assert len({id(layout) for layout in layouts}) > 2
    values = [one.record.values for one in kept]
    found = gather(values, 1, *side_by_side(layouts, places))
    for own, row, at in zip(values, found[:, 0], expected, strict=True):
        assert row.tolist() == [0.0 if k < 0 else own[0, k] for k in at]


def test_tables_with_fewer_rows_have_zeros():
    [layout] = {one.record.layout for one in _kept()}
    places = places_of(layout, [layout, layout])
    few, more = np.ones((1, layout.n_points)), np.full((2, layout.n_points), 2.0)
    found = gather([few, more], 2, *side_by_side([layout, layout], places))
    assert found[0].tolist() == [[1.0] * layout.n_points, [0.0] * layout.n_points]
    assert found[1].tolist() == more.tolist()


def _kept():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1, 2]), n_past=10)
    for k in range(50):
        pdp.explain_one({"a": k % 3})
    return pdp.memory.pool.kept
