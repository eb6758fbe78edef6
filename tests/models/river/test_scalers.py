"""Points are scaled as river scales observations."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from river import preprocessing

from ipdp.models import Probe
from ipdp.models.river.compose import through
from ipdp.models.trees.points import Columns


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(-50, 50)), min_size=1, max_size=8),
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5),
)
@example(rows=[(0.0, b) for b in (2, 2, 2, -15, -16, 22, 22, -37)], values=[0.0, 0.0])
def test_points_are_standardized_as_river_does_it(rows, values):
    scaler = preprocessing.StandardScaler()
    for a, b in rows:
        scaler.learn_one({"a": a, "b": b, "constant": 3.0})
    n = len(values)
    probes = tuple(
        Probe((name,), k * n, (k + 1) * n, (False,), (None,), False)
        for k, name in enumerate(("a", "constant", "never seen"))
    )
    x = {"a": 1.0, "b": 2, "constant": 3.0, "never seen": 4.0}
    positions = np.array([[sorted(values) * 3]])
    ours = through([scaler], Columns(probes).points(x, positions))
    assert ours.x == scaler.transform_one(x)
    assert not ours.unordered
    for column in range(3 * n):
        name, value = ours.columns.name_of[column], float(positions[0, 0, column])
        assert ours.numbers[column] == scaler.transform_one({name: value})[name]
