"""Whoever calls, and however many observations at once: the monitor sees the same."""

import numpy as np
import pytest
from river import drift
from tests.monitor.test_monitor import NAMES, Model, fed, rows, watched


def test_update_after_explain_one_is_the_same_and_every_is_respected():
    model, other = Model(), Model()
    monitor, by_hand = watched(model, every=2), watched(other, every=2)
    for t, x in enumerate(rows(2_600)):
        model.slope = other.slope = 1.0 if t < 2_000 else -1.0
        monitor.explain_one(x)
        by_hand.pdp.explain_one(x)
        found = by_hand.update(x)
        assert by_hand.changes[len(by_hand.changes) - len(found) :] == found
    assert [c.to_dict() for c in monitor.changes] == [c.to_dict() for c in by_hand.changes]
    assert monitor.changes


@pytest.mark.parametrize(
    "setup",
    [{}, {"every": 3, "warm_up": 100}, {"n_ice": 7}, {"detector": drift.ADWIN(delta=1e-4)}],
)
def test_many_at_once_are_the_same_as_one_by_one(setup):
    one, many = Model(), Model()
    single, stacked = watched(one, **setup), watched(many, **{"n_ice": 20} | setup)
    times = np.arange(1.0, 1_401.0) ** 1.1
    X = rows(1_400)
    for first in range(0, 1_400, 200):
        one.slope = many.slope = 1.0 if first < 1_000 else -1.0
        part = slice(first, first + 200)
        weights = [1.0, 1.0, 0.0, 2.0] * 50
        for x, w, t in zip(X[part], weights, times[part], strict=True):
            single.explain_one(x, w, t=t)
        stacked.explain_many(X[part], weights, t=times[part])
    assert single.state == stacked.state
    assert [c.feature for c in stacked.changes] == ["b"]


def test_many_at_once_with_a_statistic_of_the_smoothed_curve():
    frame = np.random.default_rng(1).normal(size=(600, 3))
    setup = {"statistic": "l2", "detector": drift.ADWIN(delta=0.01)}
    single, stacked = watched(**setup), watched(**setup)
    fed(single, [dict(zip(NAMES, row, strict=True)) for row in frame.tolist()])
    stacked.explain_many(frame, names=NAMES)
    assert single.state["n"] == stacked.state["n"] == 580
    assert [c.to_dict() for c in single.changes] == [c.to_dict() for c in stacked.changes]
    with pytest.raises(ValueError, match="w has 1 values for 600 rows"):
        stacked.explain_many(frame, [1.0], names=NAMES)
