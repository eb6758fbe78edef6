"""A member of a fleet that is put away after each micro-batch is one that never was."""

from __future__ import annotations

import numpy as np
import pytest
from river import tree

import ipdp
from ipdp.spark.fleet import Live, Member, made

NAMES = ["a", "b", "c"]


def rows(n=900, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        x = {
            "a": float(rng.normal()),
            "b": int(rng.integers(0, 30)),
            "c": str(rng.choice(["x", "y"])),
        }
        made.append((x, bool(x["a"] * (1 if i < 500 else -1) + 0.2 * rng.normal() > 0)))
    return made


def make():
    model = tree.HoeffdingTreeClassifier(grace_period=40)
    pdp = ipdp.IncrementalPDP(model, NAMES, alpha=0.01, n_ice=5, n_past=20, seed=1)
    return pdp, ipdp.Monitor(pdp, warm_up=100, cool_down=100)


def test_it_goes_on_bit_for_bit():
    stream = rows()
    whole, kept, changes = Member(make), None, []
    found = whole.take(stream, learn=True)
    for start in range(0, len(stream), 130):
        member = Member(make, kept)
        changes += member.take(stream[start : start + 130], learn=True)
        kept = member.kept()
    assert member.pdp.state == whole.pdp.state
    assert member.monitor.state == whole.monitor.state
    assert [c.summary() for c in changes] == [c.summary() for c in found]
    assert list(member.results([])) == list(whole.results([]))


def test_members_stay_live_while_spark_has_what_they_gave_it():
    stream, live = rows(300), Live(2)
    member = live.take("k", make, None)
    member.take(stream[:100], learn=True)
    kept = live.put("k", member)
    assert live.take("k", make, kept) is member
    member.take(stream[100:200], learn=True)
    # The batch failed: it is not put back, and Spark still has the one before.
    again = live.take("k", make, kept)
    assert again is not member
    assert again.pdp.n_seen == 100
    live.put("k", again)
    # Another worker was faster: Spark has a later one.
    later = Member(make, kept)
    later.take(stream[100:150], learn=True)
    assert live.take("k", make, later.kept()).pdp.n_seen == 150


def test_not_all_members_stay_live():
    live = Live(2)
    kept = {name: live.put(name, Member(make)) for name in "abc"}
    members = {name: live._members.get(name) for name in kept}
    assert [name for name, member in members.items() if member is not None] == ["b", "c"]


def test_results_are_rows():
    member = Member(make)
    member.take(rows(200), learn=True)
    results = list(member.results([]))
    assert [row[:3] for row in results] == [(200, f, o) for f in NAMES for o in ("False", "True")]
    curve = member.pdp.curve("c", now=True)
    assert results[-1][5] == ["x", "y"]
    assert results[-1][6] == curve.average[1].tolist()
    assert results[0][4] == member.pdp.curve("a", now=True).grid_values[0].tolist()


def test_a_model_that_does_not_learn_is_left_alone():
    member = Member(make)
    member.take(rows(60), learn=False)
    assert member.pdp.model.n_nodes is None


@pytest.mark.parametrize(
    "given",
    [lambda: 3, lambda: (make()[0], make()[1]), lambda: ipdp.IncrementalPFI(len, loss=max)],
)
def test_what_is_not_an_explainer_is_refused(given):
    with pytest.raises(TypeError, match="make must give an IncrementalPDP"):
        made(given)


def test_a_model_of_an_earlier_version_is_refused():
    member = Member(make)
    member.take(rows(100), learn=True)
    state, _ = member.kept()
    with pytest.raises(ValueError, match="of an earlier ipdp"):
        Member(make, (state, b"\x80\x05N."))


@pytest.mark.parametrize("kind", [tree.HoeffdingTreeClassifier, tree.HoeffdingTreeRegressor])
def test_a_lean_key_takes_at_most_40_kb(kind):
    """Up to 500 rows of ten features, with the settings that docs/spark.md names."""
    names = [f"x{k}" for k in range(10)]
    lean = {"n_ice": 0, "n_past": 0, "dependence": False, "estimator": "pointwise"}

    def make_lean():
        return ipdp.IncrementalPDP(kind(), names, grid=ipdp.grid.Auto(window=200), seed=1, **lean)

    member, rng = Member(make_lean), np.random.default_rng(0)
    for _ in range(5):
        X = rng.normal(size=(100, 10))
        y = X[:, 0] + X[:, 1]
        y = y > 0 if kind is tree.HoeffdingTreeClassifier else y
        own = [dict(zip(names, x, strict=True)) for x in X.tolist()]
        member.take([*zip(own, y.tolist(), strict=True)], learn=True)
        assert sum(map(len, member.kept())) <= 40_000
