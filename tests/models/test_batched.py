"""One observation in one call, against the same observation among others."""

import math
import tracemalloc

import numpy as np
import pytest

from ipdp.models import batched
from ipdp.models.base import Probe
from ipdp.models.batched import ArrayEngine, FrameEngine


def categories(*values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


PROBES = {
    "numbers": [Probe(("a",), 0, 3, (False,), (None,))],
    "whole": [Probe(("a",), 0, 3, (True,), (None,))],
    "missing": [Probe(("a",), 0, 3, (False,), (None,), missing=True)],
    "categories": [Probe(("b",), 0, 3, (False,), (categories(1, 2.5, 7),))],
    "missing category": [Probe(("b",), 0, 3, (False,), (categories(1, 7, None),), missing=True)],
    "words": [Probe(("b",), 0, 3, (False,), (categories("x", "y", "z"),))],
    "pair": [Probe(("a", "b"), 0, 3, (False, False), (None, None))],
    "mixed pair": [Probe(("a", "b"), 0, 3, (False, False), (None, categories(1, 1, 2)))],
}
PROBES["all"] = [
    probe._replace(start=3 * k, stop=3 * k + 3)
    for k, (probe,) in enumerate(list(PROBES.values())[:5])
]


@pytest.mark.parametrize(
    ("kind", "n_axes"), [*((kind, 2) for kind in PROBES), ("numbers", 1), ("all", 1)]
)
def test_the_rows_of_one_observation_are_those_of_many(kind, n_axes):
    probes, seen = PROBES[kind], []

    def call(rows):
        seen.append(np.array(rows, dtype=object))
        return np.zeros(len(rows))

    engine, x = ArrayEngine(call), {"a": 1.5, "b": 2, "c": -3.0}
    positions = np.arange(1.0, 1 + n_axes * probes[-1].stop).reshape(1, n_axes, -1)
    engine.ice([x], probes, positions)
    engine.ice([x, x], probes, np.repeat(positions, 2, axis=0))
    one, two = seen
    assert one.shape == (probes[-1].stop, 3)
    for mine, theirs in zip([*one.ravel(), *one.ravel()], two.ravel(), strict=True):
        both_missing = mine is None or (isinstance(mine, float) and math.isnan(mine))
        assert mine == theirs or both_missing


@pytest.mark.parametrize("kind", PROBES)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_points_of_one_observation_are_cut_where_they_are_too_many(kind, n, most, monkeypatch):
    probes, sizes = tuple(PROBES[kind]), []

    def call(rows):
        sizes.append(len(rows))
        table = np.asarray(rows, dtype=object).tolist()
        texts = [[v if isinstance(v, str) else str(np.array(v, float)) for v in r] for r in table]
        return np.array([float(int.from_bytes("|".join(t).encode()) % 2**53) for t in texts])

    x, n_points = {"a": 1.5, "b": 2, "c": -3.0}, probes[-1].stop
    positions = np.arange(1.0, 1 + n * 2 * n_points).reshape(n, 2, n_points)
    for make in (ArrayEngine, FrameEngine):
        whole = [make(call).ice([x], probes, positions[k : k + 1]).values for k in range(n)]
        sizes.clear()
        with monkeypatch.context() as patch:
            patch.setattr(batched, "MAX_CELLS", 3 * most)
            cut = [make(call).ice([x], probes, positions[k : k + 1]).values for k in range(n)]
            both = make(call).ice([x] * n, probes, positions)
        assert max(sizes) <= most
        np.testing.assert_array_equal(cut, whole)
        np.testing.assert_array_equal(both.values, np.concatenate(whole))


def test_a_wide_observation_takes_bounded_memory():
    d, n = 2_000, 16
    probes = tuple(Probe((k,), n * k, n * k + n, (False,), (None,)) for k in range(d))
    positions = np.random.default_rng(0).normal(size=(1, 1, n * d))
    weights, x = np.arange(1.0, d + 1), dict.fromkeys(range(d), 0.0)
    engine = ArrayEngine(lambda rows: rows @ weights)
    tracemalloc.start()
    try:
        values = engine.ice([x], probes, positions).values
        assert tracemalloc.get_traced_memory()[1] < 80e6  # 512 MB as one table
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(values[0, 0], np.repeat(weights, n) * positions[0, 0])
