"""A run that was stopped and restored ends bit for bit like one that was not."""

import datetime as dt
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import drift

from ipdp import IncrementalPDP, models
from ipdp.grid import Auto, Categories, QuantileRange
from ipdp.monitor import Monitor

DRIFT, END = 700, 1_000


class Model:
    """Curved in a, linear in b with c, a jump for each colour; turned over by the drift."""

    def __init__(self):
        self.sign = 1.0

    def __call__(self, X):
        a, b, c, colour = X.T
        return a**2 + self.sign * b * (1 + np.nan_to_num(c)) + colour * b


def stream():
    """Missing values, a range that moves, colours that come and go, times that are not regular."""
    rng = np.random.default_rng(4)
    t = 0.0
    for k in range(END):
        t += float(rng.exponential())
        a, b, c = rng.normal(size=3).tolist()
        colours = [0, 1] if k < 850 else [0, 3]
        x = {"a": a + 3 * (k >= 800), "b": b, "c": None if k % 11 == 0 else c}
        yield {**x, "colour": colours[int(rng.integers(2))]}, t


STREAM = list(stream())


def make(model, *, grid=None, every=1, **setup):
    pdp = IncrementalPDP(
        models.engine(model, takes="array"),
        ["a", "b", "c", "colour"],
        grid=grid
        or {
            "a": Auto(6, window=200, ends="extremes"),
            "b": Auto(ends="extremes"),
            "c": Auto(ends="extremes"),
            "colour": Categories(window=100),
        },
        estimator="pointwise",
        every=every,
        n_ice=1,
        seed=1,
    )
    return Monitor(pdp, **{"warm_up": 150, "cool_down": 150} | setup)


def go(monitor, model, first, last):
    for k in range(first, last):
        model.sign = 1.0 if k < DRIFT else -1.0
        x, t = STREAM[k]
        monitor.explain_one(x, t=t)
    return monitor


def through_json(state):
    return json.loads(json.dumps(state, allow_nan=False))


def assert_resumes(cut, *, with_detectors=False, **setup):
    model = Model()
    whole = go(make(model, **setup), model, 0, cut)
    again = make(model, **setup)
    again.pdp.state = through_json(whole.pdp.state)
    again.state = through_json(whole.state)
    if with_detectors:
        again.detectors = pickle.loads(pickle.dumps(whole.detectors))
    go(whole, model, cut, END)
    go(again, model, cut, END)
    assert again.state == whole.state
    assert [c.to_dict() for c in again.changes] == [c.to_dict() for c in whole.changes]
    return whole


def test_the_stream_has_changes_of_all_kinds():
    model = Model()
    changes = go(make(model), model, 0, END).changes
    assert {"b", "a"} <= {change.feature for change in changes}
    assert {"real", "virtual"} <= {change.kind for change in changes}


@pytest.mark.parametrize("cut", [0, 1, 19, 21, 300, 320, 699, 700, 701, 731, 768, 850, END])
def test_exactly_at_places_around_the_drift(cut):
    assert_resumes(cut)


@given(st.integers(0, END), st.integers(1, 70), st.sampled_from([1, 3]), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=12)
def test_exactly_wherever_it_is_cut(cut, clock, every, quantiles):
    grid = {"colour": Categories(window=100), "b": QuantileRange(5)} if quantiles else None
    assert_resumes(cut, clock=clock, every=every, grid=grid)


@pytest.mark.parametrize(
    ("statistic", "detector"),
    [
        ("shape", drift.ADWIN(delta=0.01)),
        ("importance", drift.ADWIN(delta=0.01)),
        ("importance", drift.KSWIN(seed=1)),
        ("l2", drift.PageHinkley(threshold=1.0)),
    ],
)
def test_detectors_of_river_are_kept_beside_the_state(statistic, detector):
    for cut in (200, 720):
        whole = assert_resumes(cut, statistic=statistic, detector=detector, with_detectors=True)
    assert not whole.state["is_whole"]


def test_detectors_that_start_again_say_so(caplog):
    model = Model()
    setup = {"statistic": "l2", "detector": drift.ADWIN()}
    monitor, again = go(make(model, **setup), model, 0, 400), make(model, **setup)
    with pytest.raises(ValueError, match="its state first"):
        again.detectors = monitor.detectors
    again.pdp.state, again.state = monitor.pdp.state, monitor.state
    with pytest.raises(TypeError, match=r"monitor\.detectors was expected, got str"):
        again.detectors = "ADWIN"
    other = go(make(model, statistic="l2", detector=drift.KSWIN(seed=1)), model, 0, 400)
    with pytest.raises(ValueError, match="of another monitor"):
        again.detectors = other.detectors
    go(again, model, 400, 500)
    assert caplog.text.count("start again") == 1


def test_a_state_that_does_not_fit_changes_nothing():
    model = Model()
    monitor = go(make(model), model, 0, 760)
    before = monitor.state
    with pytest.raises(ValueError, match="made with clock = 32, this monitor has 16"):
        make(model, clock=16).state = before
    for part in ("records", "watch", "changes"):
        damaged = {name: value for name, value in before.items() if name != part}
        with pytest.raises(ValueError, match=f"the state is damaged: '{part}'"):
            monitor.state = damaged
        assert monitor.state == before
    with pytest.raises(ValueError, match="version 1; this ipdp reads version 5"):
        monitor.state = {**before, "version": 1}


@pytest.mark.parametrize("version", [2, 3])
def test_a_state_of_the_version_before_keeps_its_changes(caplog, version):
    model = Model()
    monitor = go(make(model), model, 0, 760)
    before = monitor.state
    monitor.state = {"version": version, "n": 760, "changes": before["changes"]}
    assert monitor.state["changes"] == before["changes"]
    assert monitor.state["n"] == 0
    assert "the monitor starts anew" in caplog.text
    go(monitor, model, 760, 800)
    assert monitor.state["n"] == 40


def test_the_state_stays_small():
    names = [f"x{k}" for k in range(8)]
    pdp = IncrementalPDP(models.engine(lambda X: X @ X.T[:, 0], takes="array"), names, n_ice=1)
    monitor = Monitor(pdp, warm_up=100)
    X = np.random.default_rng(1).normal(size=(3_000, 8)).tolist()
    for row in X:
        monitor.explain_one(dict(zip(names, row, strict=True)))
    # 8 features x 10 points, as random as can be: 200 ICE curves and the buckets.
    assert len(json.dumps(monitor.state)) < 700_000


@pytest.mark.parametrize("large", [1e20, 1e60])
def test_answers_that_were_all_0_and_are_large_then(large):
    """Differences in standard deviations are not infinite: such a state could not be read."""
    slope = 0.0
    pdp = IncrementalPDP(lambda x: slope * x["a"], ["a"], n_past=32, seed=1)
    monitor = Monitor(pdp, warm_up=50)
    for k in range(130):
        slope = 0.0 if k < 60 else large * (1 + k / 100)
        monitor.explain_one({"a": k * 0.37 % 1})
    again = Monitor(pdp._twin(), warm_up=50)
    again.pdp.state = json.loads(json.dumps(pdp.state, allow_nan=False))
    again.state = json.loads(json.dumps(monitor.state, allow_nan=False))
    assert again.state == monitor.state


@pytest.mark.parametrize("setup", [{}, {"statistic": "importance", "detector": drift.ADWIN()}])
def test_classes_may_have_names_that_json_has_not(setup):
    day = dt.date(2026, 11, 18)
    names = ("a", ("a", 1), math.inf, day)

    def model(x):
        return dict(zip(names, [1.0, 2 * x["a"], 3 * x["a"], 0.0], strict=True))

    def make():
        grid = {"a": Auto(4), "day": Categories()}
        return Monitor(IncrementalPDP(model, ["a", "day"], grid=grid, n_ice=1), **setup)

    whole, again = make(), make()
    rows = [{"a": (k * 7 % 10) / 3, "day": day + dt.timedelta(k % 2)} for k in range(80)]
    for x in rows[:40]:
        whole.explain_one(x)
    again.pdp.state = through_json(whole.pdp.state)
    again.state = through_json(whole.state)
    for x in rows[40:]:
        whole.explain_one(x)
        again.explain_one(x)
    assert again.state == whole.state
