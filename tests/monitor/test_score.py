"""What changes did to the mean prediction."""

from dataclasses import replace

import numpy as np
import pytest

import ipdp
from ipdp.monitor import Monitor


@pytest.fixture(scope="module")
def changes():
    """A slope from 1 to 2 at 2,500, and values that move by 1 at 4,000."""
    slope = {"a": 1.0}

    def model(x):
        return slope["a"] * x["a"] + x["b"]

    monitor = Monitor(ipdp.IncrementalPDP(model))
    rng = np.random.default_rng(5)
    for t in range(4_100):
        slope["a"] = 1.0 if t < 2_500 else 2.0
        monitor.explain_one({"a": rng.uniform(), "b": rng.uniform() + (t >= 4_000)})
    return monitor.changes


def test_of_the_model_on_the_same_observations(changes):
    (change,) = [each for each in changes if each.kind == "real"]
    # The mean of some 150 uniform values is within 0.07 of a half.
    assert change.score == pytest.approx(0.5, abs=0.07)
    assert 0.5 < change.severity < 1.5
    assert "; this moved the mean prediction by +0." in change.summary()


def test_of_the_data_by_the_curve(changes):
    change = next(each for each in changes if each.kind == "virtual")
    # Some 20 values of the new place are known when it is found: their mean is within 0.2.
    assert change.score == pytest.approx(1.0, abs=0.2)
    assert change.summary().endswith(f"by +{change.score:.3g}")


def test_it_is_in_json_and_older_ones_are_without(changes):
    state = changes[0].to_dict()
    assert ipdp.Change.from_dict(state).score == changes[0].score
    del state["score"], state["severity"]
    older = ipdp.Change.from_dict(state)
    assert older.score is None
    assert "moved the mean" not in older.summary()


def test_an_interaction_does_not_say_that_the_mean_moved(changes):
    (change,) = [each for each in changes if each.kind == "real"]
    text = replace(change, is_interaction=True).summary()
    assert "the same on average" in text
    assert "moved the mean" not in text


def test_a_change_is_on_the_scale_of_the_link():
    at = {"slope": 1.0}

    def model(x):
        p = 1 / (1 + np.exp(5 - at["slope"] * x["a"]))
        return {"no": 1 - p, "yes": p}

    monitor = Monitor(ipdp.IncrementalPDP(model, ["a"], link="logit"))
    rng = np.random.default_rng(6)
    for t in range(1_800):
        at["slope"] = 1.0 if t < 1_200 else 2.0
        monitor.explain_one({"a": rng.uniform()})
    change = next(each for each in monitor.changes if each.kind == "real")
    axis = change.before.grid_values[0].astype(float)
    row = {"no": -1.0, "yes": 1.0}[change.output]
    np.testing.assert_allclose(change.before.average[0], row * (axis - 5), atol=0.01)
    np.testing.assert_allclose(change.after.average[0], row * (2 * axis - 5), atol=0.01)
    assert f"effect on the log-odds of {change.output} grew" in change.summary()
    assert change.score == pytest.approx(row * 0.5, abs=0.1)
    assert ipdp.Change.from_dict(change.to_dict()).before.link == "logit"
