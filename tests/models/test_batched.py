"""One observation in one call, against the same observation among others."""

import math

import numpy as np
import pytest

from ipdp.models.base import Probe
from ipdp.models.batched import ArrayEngine


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
