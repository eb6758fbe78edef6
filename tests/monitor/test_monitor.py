"""Alarms when something changes, none when nothing does, and the truth about which kind."""

import copy
import logging
import math

import numpy as np
import pytest
from river import drift

from ipdp import IncrementalPDP, models
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.monitor import Change, Monitor

NAMES = ["a", "b", "c"]


class Model:
    """A function of an array that can be changed in between: curved in a, linear in b with c."""

    def __init__(self):
        self.curve, self.slope = 1.0, 1.0

    def __call__(self, X):
        return self.curve * X[:, 0] ** 2 + self.slope * X[:, 1] + X[:, 1] * X[:, 2]


def watched(model=None, *, estimator="pointwise", grid=None, every=1, n_ice=1, **setup):
    pdp = IncrementalPDP(
        models.engine(model or Model(), takes="array"),
        NAMES,
        grid=grid or Auto(size=8, window=300),
        estimator=estimator,
        every=every,
        n_ice=n_ice,
        seed=1,
    )
    return Monitor(pdp, **{"warm_up": 400} | setup)


def rows(n, seed=1, shift=0.0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    X[:, 0] += shift
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


def uniform_rows(n, seed=1):
    X = np.random.default_rng(seed).uniform(size=(n, 3))
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


def fed(monitor, observations):
    for x in observations:
        monitor.explain_one(x)
    return monitor


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("grid", [Auto(size=8, window=300), QuantileRange(8, window=300)])
def test_no_alarm_when_nothing_changes(estimator, grid):
    assert fed(watched(estimator=estimator, grid=grid), rows(5_000)).changes == []


def test_the_papers_way_raises_alarms_when_nothing_changes():
    monitor = watched(statistic="importance", detector=drift.ADWIN(delta=1e-5))
    assert len(fed(monitor, rows(5_000)).changes) > 3
    assert {change.kind for change in monitor.changes} == {"unclear"}


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_a_real_change_is_found_named_and_placed(estimator):
    model = Model()
    monitor = fed(watched(model, estimator=estimator, grid=Auto(size=8)), rows(2_000))
    model.slope = -1.0
    fed(monitor, rows(600, seed=2))
    (change,) = monitor.changes
    assert (change.feature, change.kind) == ("b", "real")
    # One check takes place every 32 observations; the shift is of two standard deviations.
    assert change.t - 2_000 <= 96
    # Stored observations show when the model changed: the last 64 are kept one by one or every 2nd.
    assert abs(change.began - 2_000) <= 2
    assert "reversed" in change.summary()
    assert change.shares == {"real": 1.0, "virtual": 0.0}
    slopes = [
        np.polyfit(c.grid_values[0], c.average[0], 1)[0] for c in (change.before, change.after)
    ]
    # Both are means over the same rows, so that their difference is exact at the points; the slope
    # of one ICE curve has a standard deviation of 1, that of 100 of them one of 0.1.
    assert slopes[0] - slopes[1] == pytest.approx(2.0, abs=0.01)
    assert slopes[0] == pytest.approx(1.0, abs=0.4)
    assert change.n_asked == change.before.n_samples >= 64
    assert change.size_in_errors > 4


def test_where_on_the_axis():
    bend = {"at": 0.0}

    def f(X):
        return X[:, 1] + bend["at"] * np.maximum(X[:, 1] - 1, 0) + 0.2 * X[:, 1] * X[:, 2]

    monitor = fed(watched(f), rows(2_000))
    bend["at"] = 4.0
    fed(monitor, rows(600, seed=2))
    change = monitor.changes[0]
    assert change.feature == "b"
    # Centred curves differ most at the upper end; knots are half a unit apart.
    assert change.where[0] >= 0.9
    assert "above" in change.summary()


def test_a_place_between_two_knots():
    bump = {"height": 0.0}

    def f(X):
        at = np.maximum(1 - np.abs(X[:, 0] - 0.3) / 0.1, 0)
        return X[:, 1] + bump["height"] * at + 0.2 * X[:, 0] * X[:, 1]

    points = np.linspace(0, 1, 11)  # of which 0.3 is one; knots are drawn in, none is at 0.3
    monitor = fed(watched(f, grid=Fixed(points)), uniform_rows(1_000))
    bump["height"] = 2.0
    fed(monitor, uniform_rows(300, seed=2))
    (change,) = monitor.changes
    # Half of the bump's height is reached at 0.25 and 0.35; centring takes a little.
    assert change.where == pytest.approx((0.25, 0.35), abs=0.01)


@pytest.mark.parametrize("seed", [3, 5, 7])
def test_a_place_at_an_end_of_a_range_that_wanders(seed):
    steep = {"by": 0.0}

    def f(X):
        end = X[:, 0] + 40 * np.maximum(X[:, 0] - 0.9, 0)
        return X[:, 1] + steep["by"] * end + X[:, 0] * X[:, 1]

    monitor = fed(watched(f, grid=MinMax(11, window=30)), uniform_rows(1_000, seed))
    steep["by"] = 0.3
    # The range ends a little earlier than it did: the last point of before is out of it.
    fed(monitor, [x | {"a": 0.02 + 0.96 * x["a"]} for x in uniform_rows(300, seed + 100)])
    change = monitor.changes[0]
    assert (change.feature, change.kind) == ("a", "real")
    assert change.where[0] > 0.7
    assert "above" in change.summary()


def test_a_virtual_change_of_a_frozen_curved_model():
    monitor = fed(watched(), rows(2_000) + rows(600, seed=2, shift=4.0))
    (change,) = monitor.changes
    assert (change.feature, change.kind) == ("a", "virtual")
    assert change.range_after[1] > change.range_before[1] + 2
    assert change.where is None
    assert "data moved" in change.summary()
    assert change.shares == {"real": 0.0, "virtual": 1.0}


def test_both_at_once():
    model = Model()
    monitor = fed(watched(model), rows(2_000))
    model.curve = -1.0
    fed(monitor, rows(300, seed=2, shift=4.0))
    change = monitor.changes[0]
    assert (change.feature, change.kind) == ("a", "both")
    assert change.shares["real"] + change.shares["virtual"] == pytest.approx(1.0)
    assert 0 < change.shares["real"] < 1


def test_a_gradual_change():
    model = Model()
    monitor = fed(watched(model), rows(2_000))
    for t, x in enumerate(rows(3_000, seed=2)):
        model.slope = 1 - 2 * t / 3_000
        monitor.explain_one(x)
    assert {change.feature for change in monitor.changes} == {"b"}
    assert {change.kind for change in monitor.changes} == {"real"}


def test_a_change_below_the_tolerance_is_no_alarm():
    model = Model()
    monitor = fed(watched(model, tolerance=0.5), rows(2_000))
    model.slope = 1.3
    assert fed(monitor, rows(2_000, seed=2)).changes == []


def test_the_level_is_reported_and_no_alarm():
    def f(X):
        return level["is"] + X[:, 1] * slope["is"] + X[:, 1] * X[:, 2]

    level, slope = {"is": 0.0}, {"is": 1.0}
    monitor = fed(watched(f), rows(2_000))
    level["is"] = 50.0
    fed(monitor, rows(200, seed=2))
    assert monitor.changes == []
    slope["is"] = 3.0
    fed(monitor, rows(200, seed=3))
    (change,) = monitor.changes
    assert change.feature == "b"
    # The answers of then are those at 0 and some of the last 200 at 50; all of now are at 50.
    assert 25 < change.level < 50


def test_categories():
    effect = {"red": 0.0, "green": 1.0, "blue": 2.0}
    rng = np.random.default_rng(1)
    pdp = IncrementalPDP(
        lambda x: effect.get(x["colour"], 0.0) * (1 + x["b"]),
        grid={"colour": Categories(window=300)},
        n_ice=1,
    )
    monitor = Monitor(pdp, warm_up=400)
    for t in range(1_600):
        if t == 1_200:
            effect["red"] = 4.0
        colour = ["red", "green", "blue"][rng.integers(3)]
        monitor.explain_one({"colour": colour, "b": rng.normal()})
    # The slope of b changes with it.
    assert {change.feature for change in monitor.changes} <= {"colour", "b"}
    change = next(change for change in monitor.changes if change.feature == "colour")
    assert (change.kind, change.where[-1]) == ("real", "red")
    for _ in range(400):
        colour = ["red", "pink", "brown"][rng.integers(3)]
        monitor.explain_one({"colour": colour, "b": rng.normal()})
    assert any(c.kind in ("virtual", "both") and "pink" in c.range_after for c in monitor.changes)


@pytest.mark.parametrize("grid", [MinMax(5), QuantileRange(5), Quantiles(5), Fixed([0, 1])])
def test_a_column_of_booleans_on_a_grid_of_numbers(grid):
    slope = {"is": 1.0}
    pdp = IncrementalPDP(
        lambda x: slope["is"] * x["flag"] * (1 + x["b"]), ["flag", "b"], grid={"flag": grid}
    )
    monitor = Monitor(pdp, warm_up=300)
    for t, x in enumerate(rows(1_200)):
        slope["is"] = 1.0 if t < 1_000 else -3.0
        monitor.explain_one({"flag": x["a"] > 0.2, "b": x["b"]})
    assert ("flag", "real") in [(change.feature, change.kind) for change in monitor.changes]


def test_a_whole_number_beyond_the_floats_is_no_value():
    monitor = watched(Model(), warm_up=60)
    for t, x in enumerate(rows(200)):
        monitor.pdp.explain_one(x)
        assert monitor.update({**x, "a": 10**400} if t % 50 == 45 else x) == []


def test_classes_and_missing_values():
    def f(x):
        p = 1 / (1 + np.exp(-sign["is"] * (x["a"] or 0.0) + 0.3 * x["b"]))
        return {True: p, False: 1 - p}

    sign = {"is": 2.0}
    monitor = Monitor(IncrementalPDP(f, ["a", "b"], n_ice=1), warm_up=300)
    for t, x in enumerate(rows(1_500)):
        if t == 1_300:
            sign["is"] = -2.0
        monitor.explain_one({**x, "a": None if t % 7 == 0 else x["a"]})
    change = monitor.changes[0]
    assert (change.feature, change.output, change.kind) == ("a", True, "real")
    assert "effect on the chance of True reversed" in change.summary()


@pytest.mark.parametrize(
    ("named", "effect_on"),
    [
        (lambda p: p, "the prediction"),
        (lambda p: {"price": p}, "the predicted price"),  # between 0 and 1, and yet no probability
        (lambda p: {"price": 300 * p, "rent": 0.0}, "the predicted price"),
        (lambda p: {"yes": p, "no": 1 - p}, "the chance of yes"),
        (lambda p: {"yes": p, "no": 0.9 * (1 - p), "maybe": 0.1 * (1 - p)}, "the chance of yes"),
    ],
)
def test_targets_are_called_by_their_names_and_classes_are_probabilities(named, effect_on):
    sign = {"is": 2.0}
    model = lambda x: named(float(1 / (1 + np.exp(-sign["is"] * x["a"] + 0.3 * x["b"]))))  # noqa: E731
    monitor = Monitor(IncrementalPDP(model, ["a", "b"]), warm_up=300)
    for t, x in enumerate(rows(1_200)):
        sign["is"] = 2.0 if t < 1_000 else -2.0
        monitor.explain_one(x)
    change = monitor.changes[0]
    assert f": effect on {effect_on} reversed" in change.summary()
    assert Change.from_dict(change.to_dict()).summary() == change.summary()


def test_after_a_change_the_reference_is_new():
    model = Model()
    monitor = fed(watched(model, cool_down=500), rows(2_000))
    model.slope = -1.0
    fed(monitor, rows(1_500, seed=2))
    assert len(monitor.changes) == 1
    model.slope = 1.0
    fed(monitor, rows(600, seed=3))
    assert [change.feature for change in monitor.changes] == ["b", "b"]


def test_during_the_cool_down_only_larger_changes_are_reported():
    model = Model()
    monitor = fed(watched(model, cool_down=100_000), rows(2_000))
    model.slope = -1.0
    fed(monitor, rows(400, seed=2))
    model.slope = 0.0
    fed(monitor, rows(800, seed=3))
    assert len(monitor.changes) == 1
    model.slope = 6.0
    fed(monitor, rows(400, seed=4))
    assert len(monitor.changes) == 2


def test_a_real_change_does_not_hide_that_the_range_moves_soon_after():
    model = Model()
    monitor = fed(watched(model), rows(2_000))
    model.curve = -1.0
    fed(monitor, rows(200, seed=2))
    fed(monitor, rows(300, seed=3, shift=4.0))
    assert [(c.feature, c.kind) for c in monitor.changes] == [("a", "real"), ("a", "virtual")]


def test_few_are_asked_about_while_the_model_hardly_changes():
    model, sizes = Model(), []
    monitor = fed(watched(model), rows(1_500))
    ice_again = monitor.pdp.engine.ice_again
    monitor.pdp.engine.ice_again = lambda X, *rest: sizes.append(len(X)) or ice_again(X, *rest)
    fed(monitor, rows(320, seed=2))
    assert sum(sizes) == 4 * 10  # at ten checks
    model.curve = 1.03  # far below the tolerance
    fed(monitor, rows(1_000, seed=2))
    assert max(sizes) <= 6
    assert monitor.changes == []


def test_only_the_newest_changes_are_kept():
    model, reported = Model(), []
    monitor = fed(watched(model, n_changes=2, cool_down=1, handlers=reported.append), rows(1_000))
    for k in range(4):
        model.slope = (-3.0) ** (k + 1)
        fed(monitor, rows(600, seed=2 + k))
    assert len(reported) > 2
    assert [change.t for change in monitor.changes] == [change.t for change in reported[-2:]]


@pytest.mark.parametrize("statistic", ["importance", "l2", "derivative", "sign", "shape"])
def test_every_statistic_with_a_detector_of_river(statistic):
    model = Model()
    detector = drift.ADWIN(delta=1e-4)
    monitor = fed(watched(model, statistic=statistic, detector=detector), rows(1_200))
    n_before = len(monitor.changes)
    model.slope = -6.0
    fed(monitor, rows(1_200, seed=2))
    late = [change for change in monitor.changes[n_before:] if change.feature == "b"]
    assert late
    assert late[0].statistic == statistic
    assert detector.width == 0  # clones were fed, not the pattern


def test_handlers_are_called_and_cannot_stop_the_stream(caplog):
    model, reported = Model(), []

    def broken(_):
        raise RuntimeError("no paper")

    monitor = fed(watched(model, handlers=[broken, reported.append]), rows(1_000))
    model.slope = -1.0
    with caplog.at_level(logging.ERROR, logger="ipdp.monitor"):
        fed(monitor, rows(300, seed=2))
    assert [change.t for change in reported] == [change.t for change in monitor.changes]
    assert len(reported) == 1
    assert "no paper" in caplog.text
    assert monitor.pdp.n_seen == 1_300


def test_a_model_that_cannot_be_evaluated_again_does_not_stop_the_stream(caplog):
    model = Model()
    monitor = fed(watched(model), rows(1_000))
    model.slope = -1.0
    call = monitor.pdp.engine.call

    def only_one_observation(X):
        if len(X) > 30:
            raise RuntimeError("too many rows")
        return call(X)

    monitor.pdp.engine.call = only_one_observation
    fed(monitor, rows(300, seed=2))
    assert "could not be evaluated again" in caplog.text
    assert monitor.changes == []


def test_a_restored_monitor_keeps_its_own_detectors():
    model = Model()
    setup = {"statistic": "l2", "detector": drift.ADWIN(delta=1e-4)}
    monitor = fed(watched(model, **setup), rows(600))
    again = watched(model, **setup)
    again.pdp.state = monitor.pdp.state
    again.state = monitor.state
    fed(again, rows(600, seed=2))
    model.slope = -6.0
    fed(again, rows(600, seed=3))
    assert {change.statistic for change in again.changes} == {"l2"}


def test_a_clock_of_ones_own():
    model = Model()
    monitor = watched(model)
    for k, x in enumerate(rows(1_200)):
        model.slope = 1.0 if k < 1_000 else -1.0
        monitor.explain_one(x, t=60.0 * k)
    (change,) = monitor.changes
    assert abs(change.began - 60 * 1_000) <= 60 * 64
    assert change.n_since == round((change.t - change.began) / 60)
    assert f"since {change.began:,.0f}" in change.summary()


def test_state_comes_with_its_changes_and_is_checked():
    model = Model()
    monitor = fed(watched(model), rows(1_000))
    model.slope = -1.0
    fed(monitor, rows(200, seed=2))
    other = watched()
    with pytest.raises(ValueError, match="the explainer its state first"):
        other.state = monitor.state
    other.pdp.state = monitor.pdp.state
    other.state = copy.deepcopy(monitor.state)
    assert [c.summary() for c in other.changes] == [c.summary() for c in monitor.changes]
    with pytest.raises(ValueError, match="version None"):
        other.state = {}
    with pytest.raises(ValueError, match="made with statistic = 'shape'"):
        watched(statistic="l2").state = monitor.state


def test_the_observations_are_copied_and_left_as_they_are():
    monitor, x = watched(), {"a": 1.0, "b": 2.0, "c": 3.0}
    for _ in range(30):
        monitor.explain_one(x)
    assert x == {"a": 1.0, "b": 2.0, "c": 3.0}
    x["a"] = 7.0
    assert monitor._history.newest(1)[0].x["a"] == 1.0


def test_pairs_are_left_out_and_a_new_class_starts_new():
    def f(x):
        return {"yes": 0.5, "no": 0.5} if x["t"] < 600 else {"yes": 0.5, "no": 0.3, "maybe": 0.2}

    pdp = IncrementalPDP(f, ["a", ("a", "b")], n_ice=1)
    monitor = Monitor(pdp, warm_up=100)
    for t, x in enumerate(rows(1_000)):
        monitor.explain_one({**x, "t": t})
    assert monitor.changes == []


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        ({"statistic": "variance"}, "statistic must be one of shape"),
        ({"delta": 0}, "delta must be in"),
        ({"tolerance": -1}, "tolerance must not be negative"),
        ({"tolerance": math.nan}, "tolerance must not be negative"),
        ({"tolerance": math.inf}, "tolerance must not be negative"),
        ({"clock": 0}, "clock must be a whole number of at least 1"),
        ({"cool_down": 0}, "cool_down must be a whole number of at least 1"),
        ({"n_changes": 0}, "n_changes must be a whole number of at least 1"),
    ],
)
def test_wrong_settings(setup, says):
    with pytest.raises(ValueError, match=says):
        watched(**setup)


def test_wrong_explainers_and_detectors():
    with pytest.raises(TypeError, match="watches an IncrementalPDP, got str"):
        Monitor("pdp")
    with pytest.raises(ValueError, match="n_ice must be at least 1"):
        Monitor(IncrementalPDP(lambda x: 0.0, n_ice=0))
    with pytest.raises(TypeError, match="one of river's drift detectors"):
        fed(watched(detector="ADWIN"), rows(30))


def test_pairs_alone_are_explained_and_nothing_is_reported_of_them(caplog):
    pdp = IncrementalPDP(lambda x: x["a"] * x["b"], [("a", "b")], seed=1)
    with pytest.warns(UserWarning, match="follows single features: of pairs alone it reports no"):
        monitor = Monitor(pdp)
    rng = np.random.default_rng(0)
    for _ in range(600):
        monitor.explain_one({"a": rng.normal(), "b": rng.normal()})
    assert monitor.changes == []
    assert caplog.text == ""
    with pytest.warns(UserWarning, match="pairs alone"):
        again = Monitor(pdp.from_bytes(pdp.state_bytes()))
    again.state = monitor.state
    again.explain_one({"a": 1.0, "b": 1.0})
