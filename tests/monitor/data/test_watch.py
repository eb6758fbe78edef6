"""Moves of the data as changes: with curves, together with changes of the model, with a history."""

import json

import numpy as np
import pytest

from ipdp import IncrementalPDP, models
from ipdp.grid import MinMax
from ipdp.log.blobs import change_of, change_text, curve_blob
from ipdp.monitor import Change, Monitor

NAMES = ["a", "b"]


class Model:
    """Curved in a, which can be turned over."""

    sign = 1.0

    def __call__(self, X):
        X = np.nan_to_num(X.astype(float))
        return self.sign * X[:, 0] ** 2 + X[:, 1] * (1 + X[:, 0])


def watched(model, **setup):
    engine = models.engine(model, takes="array")
    pdp = IncrementalPDP(engine, NAMES, grid=MinMax(6, window=300), n_ice=32, seed=1)
    return Monitor(pdp, **{"warm_up": 300} | setup)


def rows(n, seed=1, shift=0.0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[:, 0] += shift
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


def told(monitor):
    return [(c.feature, c.kind, c.move and c.move.aspect) for c in monitor.changes]


def test_a_move_has_the_curves_of_where_the_data_were_and_are():
    monitor = watched(Model())
    monitor.explain_many(rows(2_000))
    monitor.explain_many(rows(400, seed=2, shift=6.0))
    (change,) = monitor.changes
    assert told(monitor) == [("a", "virtual", "level")]
    assert (change.began, change.statistic) == (2_001, "values")
    assert change.range_before[1] < 3 < change.range_after[0] + 1
    before, after = change.before, change.after
    # The mean over b of a^2 + b (1 + a), at the points of each time; b has variance 1.
    for curve in (before, after):
        places = curve.grid_values[0]
        error = np.abs(1 + places) / np.sqrt(curve.n_effective_points)
        assert (np.abs(curve.average[0] - places**2) <= 5 * error + 0.3).all()
    assert after.grid_values[0][-1] > before.grid_values[0][-1] + 2
    assert change.plot().ax_.get_title().startswith("data moved: a lies")


def test_where_the_model_changed_too_it_is_both():
    model = Model()
    monitor = watched(model)
    monitor.explain_many(rows(2_000))
    model.sign = -1.0
    monitor.explain_many(rows(400, seed=2, shift=4.0))
    change = monitor.changes[0]
    assert told(monitor)[0] == ("a", "both", "level")
    assert sum(change.shares.values()) == pytest.approx(1.0)
    assert "effect on the prediction" in change.summary()
    assert change.move.text() in change.summary()


def test_further_moves_are_written_into_the_change_and_not_reported():
    reported = []
    monitor = watched(Model(), handlers=reported.append)
    monitor.explain_many(rows(2_000))
    monitor.explain_many(rows(2_000, seed=2, shift=6.0))
    monitor.explain_many(rows(400, seed=3, shift=12.0))
    assert len(reported) == 1
    (change,) = monitor.changes
    assert change.move.earlier[0][1] == reported[0].move.text()
    assert change.range_after[0] > 9
    assert "(it has moved 2 times since 2,001)" in change.summary()


def test_only_what_is_to_be_reported_is():
    reported = {}
    for report in (None, ["real"], ["virtual"], ["level"], ["missing"]):
        monitor = watched(Model(), report=report)
        monitor.explain_many(rows(2_000))
        monitor.explain_many(rows(100, seed=2, shift=6.0))
        reported[str(report)] = told(monitor)
    found = [("a", "virtual", "level")]
    assert list(reported.values()) == [found, [], found, found, []]


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ({"report": ["reel"]}, "report must be a list of some of real, virtual"),
        ({"report": "real"}, "report must be a list"),
        ({"false_alarms_per": 0.5}, "false_alarms_per must be a number of at least 1"),
        ({"period": 1}, "period must be more than 1"),
        ({"period": {"a": float("nan")}}, "period must be more than 1"),
    ],
)
def test_settings_that_make_no_sense(setup, said):
    with pytest.raises(ValueError, match=said):
        watched(Model(), **setup)


def test_a_period_belongs_to_the_state():
    monitor = watched(Model(), period={"a": 24})
    monitor.explain_many(rows(100))
    other = watched(Model())
    other.pdp.state = monitor.pdp.state
    with pytest.raises(ValueError, match="made with period"):
        other.state = monitor.state


def test_logs_and_states_keep_the_move():
    monitor = watched(Model())
    monitor.explain_many(rows(2_000))
    monitor.explain_many(rows(100, seed=2, shift=6.0))
    (change,) = monitor.changes
    for again in (
        Change.from_dict(json.loads(json.dumps(change.to_dict(), allow_nan=False))),
        change_of(change_text(change), *map(curve_blob, (change.before, change.after))),
    ):
        assert again.move == change.move
        assert again.summary() == change.summary()


def test_a_change_of_an_older_log_has_no_move():
    state = {**_virtual().to_dict()}
    del state["move"]
    assert "data moved since 2,001: range from" in Change.from_dict(state).summary()


def _virtual():
    monitor = watched(Model())
    monitor.explain_many(rows(2_000))
    monitor.explain_many(rows(100, seed=2, shift=6.0))
    return monitor.changes[0]
