"""Moves of what no curve shows: of the data under one model, and of regions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ipdp
from ipdp.monitor.explained import watch


def correlated(t, rng):
    """Features that go together up to 8,000, and do not from then on; each looks the same."""
    r = 0.95 if t < 8_000 else 0.0
    a, noise, c = rng.normal(size=3).tolist()
    return {"a": a, "b": r * a + (1 - r * r) ** 0.5 * noise, "c": c}


def penalised(X):
    return X[:, 0] + X[:, 2] + 2 * np.maximum(np.abs(X[:, 0] - X[:, 1]) - 1, 0) ** 2


def monitor_of(model=penalised):
    return ipdp.Monitor(ipdp.IncrementalPDP(ipdp.models.engine(model, takes="array"), seed=1))


def test_data_that_move_together_otherwise_are_reported():
    rng, monitor = np.random.default_rng(1), monitor_of()
    for t in range(11_000):
        monitor.explain_one(correlated(t, rng))
        if t == 10_300:  # it has been seen once, and waits for a second look
            assert monitor._watch.explained.pending == 10_240
            saved, explained = monitor.state, monitor.pdp.state
            monitor = monitor_of()
            monitor.pdp.state, monitor.state = explained, saved
    [change] = monitor.changes
    assert change.kind == "virtual"
    assert change.explained[1] - max(change.explained[0], 0) > 0.2
    assert 7_900 < change.began < 8_300
    assert change.feature in ("a", "b")
    said = change.summary()
    assert said.startswith(f"{change.feature}: data moved since 8,")
    assert "the curves now tell" in said


def test_values_that_wander_are_not_reported():
    """What curves tell wanders with them: here from a fifth to nearly all, and back."""
    rng, monitor = np.random.default_rng(63_000), monitor_of()
    walks = 0.02 * rng.normal(size=(14_000, 3)).cumsum(axis=0)
    for row in walks.tolist():
        monitor.explain_one(dict(zip("abc", row, strict=True)))
    assert [change for change in monitor.changes if change.statistic == "explained"] == []


def test_categories_are_alike_by_their_shares():
    one = ["x"] * 60 + ["y"] * 40
    assert watch._shares_apart(one, ["x"] * 4 + ["y"] * 6) == pytest.approx(0.2)
    assert watch._apart([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]) == 0.5


def test_a_state_of_before_opens():
    monitor = monitor_of()
    rng = np.random.default_rng(1)
    for t in range(100):
        monitor.explain_one(correlated(t, rng))
    state = monitor.state
    del state["watch"]["hidden"]
    other = monitor_of()
    other.pdp.state, other.state = monitor.pdp.state, state
    assert other._watch.explained.pending is None


@pytest.mark.parametrize(
    "damage",
    [
        {"pending": -math.inf},
        {"pending": 2.5},
        {"reported": None},
        {"splits": [["a", "b"]]},
        {"splits": [["a", "b", math.inf, None, 0]]},
    ],
)
def test_a_damaged_state_is_refused(damage):
    monitor = monitor_of()
    rng = np.random.default_rng(1)
    for t in range(100):
        monitor.explain_one(correlated(t, rng))
    state, other = monitor.state, monitor_of()
    state["watch"]["hidden"].update(damage)
    other.pdp.state = monitor.pdp.state
    with pytest.raises(ValueError, match=r"damaged|must be"):
        other.state = state


def test_a_split_by_another_feature_is_reported():
    by = ["b"]

    def model(x):
        return x["a"] * (1 if x[by[0]] > 0 else -1) + 0.5 * x["d"]

    monitor = ipdp.Monitor(ipdp.IncrementalRegions(model, seed=1))
    rng = np.random.default_rng(1)
    for t in range(6_200):
        by[0] = "b" if t < 3_500 else "c"
        row = rng.normal(size=4).tolist()
        monitor.explain_one(dict(zip("abcd", row, strict=True)))
        if t == 4_500:  # what was seen of the splits is in the state
            other = ipdp.Monitor(ipdp.IncrementalRegions(model, seed=1))
            other.pdp.state, other.state = monitor.pdp.state, monitor.state
            monitor = other
    [change] = [c for c in monitor.changes if c.split is not None]
    assert (change.feature, change.split, change.is_interaction) == ("a", ("b", "c"), True)
    assert change.summary() == (
        "a: model changed since 3,497: its effect now differs by c (by b before)"
    )
