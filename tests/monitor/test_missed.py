"""Changes of a model on streams with memory, and changes that differ between observations."""

import numpy as np
import pytest
from scipy.signal import lfilter

from ipdp import IncrementalPDP, Monitor, models

NAMES = ["a", "b", "c"]


def with_memory(rho, n, seed):
    """Rows of three autoregressive columns with a variance of 1."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 3)) * np.sqrt(1 - rho**2)
    noise[0] = rng.normal(size=3)
    return lfilter([1.0], [1.0, -rho], noise, axis=0)


def watched(model, **setup):
    pdp = IncrementalPDP(models.engine(model, takes="array"), NAMES, alpha=0.005, n_ice=32)
    return Monitor(pdp, **{"warm_up": 500} | setup)


@pytest.mark.parametrize("seed", [6, 8, 9, 11])
def test_a_reversal_after_many_moves_of_the_data(seed):
    now = {"slope": 1.0}
    monitor = watched(lambda X: now["slope"] * X[:, 0] + X[:, 1] * X[:, 2])
    X = with_memory(0.99, 6_000, seed)
    monitor.explain_many(X[:3_000], names=NAMES)
    assert not [change for change in monitor.changes if change.kind != "virtual"]
    now["slope"] = -1.0
    monitor.explain_many(X[3_000:], names=NAMES)
    found = [change for change in monitor.changes if change.kind != "virtual"]
    assert {change.feature for change in found} == {"a"}


@pytest.mark.parametrize("seed", range(4))
def test_a_change_that_differs_between_observations(seed):
    now = {"slope": 0.0}
    monitor = watched(lambda X: X[:, 0] + X[:, 1] + now["slope"] * X[:, 0] * (0.6 + X[:, 2]))
    X = np.random.default_rng(seed).normal(size=(6_000, 3))
    monitor.explain_many(X[:2_000], names=NAMES)
    assert monitor.changes == []
    now["slope"] = 1.0
    monitor.explain_many(X[2_000:], names=NAMES)
    found = {change.feature: change for change in monitor.changes}
    assert set(found) == {"a", "c"}
    assert not found["a"].is_interaction
    assert found["c"].is_interaction  # its effect is a times what it was not before
    assert all(change.t - 2_000 < 200 for change in found.values())


@pytest.mark.parametrize(("before", "after"), [(1.0, -1.0), (0.0, 2.0)])
def test_an_interaction_that_turns_while_every_mean_stays(before, after):
    now = {"weight": before}
    monitor = watched(lambda X: X[:, 2] + now["weight"] * X[:, 0] * X[:, 1])
    X = with_memory(0.9, 3_000, seed=1)
    monitor.explain_many(X[:2_000], names=NAMES)
    now["weight"] = after
    monitor.explain_many(X[2_000:], names=NAMES)
    found = [change for change in monitor.changes if change.kind != "virtual"]
    assert {change.feature for change in found} == {"a", "b"}
    assert "another for single rows" in found[0].summary()
    assert found[0].where is None


def test_one_class_of_several():
    now = {"weight": 0.3}

    def model(x):
        rare = 0.3 + now["weight"] * np.tanh(x["a"])
        return {"often": 0.6 - 0.6 * rare, "rare": rare, "other": 0.4 - 0.4 * rare}

    monitor = Monitor(IncrementalPDP(model, ["a", "b"]), warm_up=300)
    rng = np.random.default_rng(1)
    for t in range(1_200):
        now["weight"] = 0.3 if t < 1_000 else -0.3
        monitor.explain_one({"a": rng.normal(), "b": rng.normal()})
    (change,) = monitor.changes
    assert (change.feature, change.kind) == ("a", "real")


def test_a_change_that_goes_on_is_one_change_and_says_what_it_came_to():
    now = {"slope": 1.0}
    monitor = watched(lambda X: now["slope"] * X[:, 0] + X[:, 1] * X[:, 2], cool_down=100)
    X = np.random.default_rng(2).normal(size=(6_000, 3))
    monitor.explain_many(X[:2_000], names=NAMES)
    said = []
    for t in range(2_000, 5_000, 32):
        now["slope"] = max(1 - 2 * (t - 2_000) / 1_500, -1)
        monitor.explain_many(X[t : t + 32], names=NAMES)
        said.append([change.summary() for change in monitor.changes])
    (change,) = monitor.changes
    assert "reversed" not in next(filter(None, said))[0]
    assert "reversed" in change.summary()
    assert change.t < 2_700 < change.ended
    # What is drawn is what was compared: a slope of 1 then, and of -1 now.
    rise = [np.ptp(curve.average[0]) for curve in (change.before, change.after)]
    assert rise[0] == pytest.approx(rise[1], rel=0.7)


def test_a_reversal_right_after_the_warm_up():
    sign = {"is": 1.0}
    engine = models.engine(lambda X: sign["is"] * X[:, 0] + X[:, 1], takes="array")
    monitor = Monitor(IncrementalPDP(engine, ["a", "b"], n_ice=32), warm_up=300)
    X = np.random.default_rng(1).normal(size=(700, 2))
    monitor.explain_many(X[:360], names=["a", "b"])
    sign["is"] = -1.0
    monitor.explain_many(X[360:], names=["a", "b"])
    assert [(change.feature, change.kind) for change in monitor.changes] == [("a", "real")]
    assert monitor.changes[0].t <= 460


def test_a_change_right_after_another_one_is_compared_on_all_that_is_stored():
    now = {"slope": 1.0}
    monitor = watched(lambda X: now["slope"] * X[:, 0] + X[:, 1] * X[:, 2])
    X = np.random.default_rng(3).normal(size=(3_400, 3))
    for t in range(0, len(X), 32):
        if t >= 2_000 and now["slope"] == 1.0:
            now["slope"] = -1.0
        if monitor.changes and monitor.changes[0].ended:
            now["slope"] = 3.0
        monitor.explain_many(X[t : t + 32], names=NAMES)
    first, second = monitor.changes
    assert second.feature == "a"
    assert first.ended < second.t < first.ended + 150
    assert second.n_asked > 100
    rise = [np.ptp(curve.average[0]) for curve in (second.before, second.after)]
    assert rise[1] == pytest.approx(3 * rise[0], rel=0.3)  # the slope was -1, and is 3


def test_candidates_that_were_rejected_do_not_make_a_feature_deaf(monkeypatch):
    now, looks = {"slope": 1.0}, []
    monitor = watched(lambda X: now["slope"] * X[:, 0] + X[:, 1] + X[:, 2])

    def never(watch, row, compared):
        looks.append(monitor.pdp.n_seen)
        return False, False

    monkeypatch.setattr("ipdp.monitor.model.watch.ModelWatch.is_real", never)
    X = np.random.default_rng(0).normal(size=(4_000, 3))
    monitor.explain_many(X[:1_000], names=NAMES)
    monitor._watch.model._rejected = [20, 20, 20]
    now["slope"] = 2.0
    monitor.explain_many(X[1_000:], names=NAMES)
    assert len(looks) >= 3
    # After 32 checks of 32 observations, and those in which it is conspicuous again.
    assert max(np.diff(looks)) <= 1_024 + 128
