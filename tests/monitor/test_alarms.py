"""A fast version of the table of `benchmarks/alarms.py`: truth known, few seeds, short streams."""

import sys
from pathlib import Path

import numpy as np
import pytest

import ipdp
from ipdp import Change, Curve

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import alarms  # it lies beside the package

sys.path.pop(0)


def ours(name, seed, before, after):
    return alarms.run(alarms.SCENARIOS[name], seed, ("ours",), before, after)["ours"]


@pytest.mark.parametrize("name", ["no drift, curved", "no drift, tree"])
def test_no_alarm_without_drift(name):
    for seed in (0, 1):
        assert ours(name, seed, 6_000, 0).early == 0


@pytest.mark.parametrize(
    ("name", "after", "delay"),
    [
        ("slope", 1_500, 1_500),
        ("bend", 300, 200),
        ("gradual", 3_000, 3_000),
        ("virtual", 300, 200),
        ("both", 300, 200),
        ("linear", 500, 300),
    ],
)
def test_one_drift_is_found_named_and_placed(name, after, delay):
    before = 4_000 if name in ("virtual", "both") else 2_500  # data are learnt for longer
    scores = [ours(name, seed, before, after) for seed in (0, 1)]
    for score in scores:
        assert score.early_false == 0
        assert score.delay <= delay
        assert score.kind
        assert score.others == 0
    if alarms.SCENARIOS[name].difference is not None:  # most runs say where it is
        assert any(score.place for score in scores)


def test_a_learning_tree_that_meets_a_drift():
    score = ours("hyperplane", 1, 3_000, 600)
    assert score.delay <= 600
    assert score.kind


def test_the_papers_way_cannot_tell():
    scores = alarms.run(alarms.SCENARIOS["no drift, curved"], 0, ("ours", "paper"), 5_000, 0)
    assert scores["ours"].early == 0
    assert scores["paper"].early >= 1


def placed(first, last):
    """A change at a stretch of the axis; its knots are 0, 1, ..., 10."""
    knots = np.arange(11.0)
    curve = Curve("a", ("prediction",), [knots], np.zeros((1, 11)), np.zeros((1, 11)), 9, knots)
    return Change("a", "prediction", 9, 5, curve, curve, where=(first, last))


def test_what_a_right_place_is():
    # |x - 5| >= 2.5 at both ends: the true places are [0, 2.5] and [7.5, 10].
    def line(x):
        return x

    assert alarms.is_place(placed(0.0, 2.5), line)
    assert alarms.is_place(placed(6.5, 10.0), line)  # 2.5 of 3.5 in common
    assert not alarms.is_place(placed(0.0, 10.0), line)
    assert not alarms.is_place(placed(4.0, 6.0), line)
    assert not alarms.is_place(placed(0.0, 1.0), line)
    assert not alarms.is_place(placed(0.0, 0.0), line)


class Steps:
    """A model of one feature that changes from look to look."""

    def __init__(self):
        self.height = 0.0

    def __call__(self, x):
        return self.height * (x["a"] > 0.5)


def test_what_a_curve_was_before_is_a_mean_over_time():
    model = Steps()
    pdp = ipdp.IncrementalPDP(model, ["a"], grid=ipdp.grid.Fixed([0.0, 0.4, 0.6, 1.0]))
    places = alarms.Places(pdp, "a", 1_200)
    for t in range(1, 1_301):
        # In the last 1,000 before the drift the model is 0 and 4 in turn; before that it is 50.
        model.height = 50.0 if t < 200 else 4.0 * (t // 100 % 2)
        if t > 1_200:
            model.height = 10.0
        x = {"a": t % 10 / 10}
        pdp.explain_one(x)
        places.update(t, x, alarm=t in (700, 1_300))
    assert len(places.before) == 11
    assert set(places.now) == {1_300}
    # Five of the eleven looks, at 200, 300, ..., 1,200, are at 4.
    expected = (10 - 4 * 5 / 11) * np.array([0, 0, 1, 1])
    assert places.difference(1_300)(np.array([0.0, 0.4, 0.6, 1.0])) == pytest.approx(expected)
