"""What curves tell of a model, by stored observations, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ipdp
from ipdp.log.blobs import change_of, change_text, curve_blob
from ipdp.monitor.change import Change
from ipdp.monitor.explained.share import FEWEST, explained_share


def watched(model, rows):
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(model, seed=1))
    for row in rows:
        monitor.explain_one(row)
    return monitor


def normal(n, names="abc", seed=1):
    rng = np.random.default_rng(seed)
    return [dict(zip(names, row, strict=True)) for row in rng.normal(size=(n, len(names))).tolist()]


def brute_force(model, rows, names):
    """The share by plain calls: the curve of a feature at each own value is a mean over all."""
    said = np.array([model(x) for x in rows])
    curves = [
        [np.mean([model({**other, name: x[name]}) for other in rows]) for x in rows]
        for name in names
    ]
    left = said - sum(np.array(curve) - np.mean(curve) for curve in curves)
    return 1 - left.var() / said.var()


@pytest.mark.parametrize(("weight", "seed"), [(0.0, 1), (0.5, 2), (2.0, 3)])
def test_the_share_is_that_of_plain_calls(weight, seed):
    def model(x):
        return x["a"] + np.sin(2 * x["c"]) + weight * x["a"] * x["b"]

    monitor = watched(model, normal(600, seed=seed))
    records = monitor._history.all()[-200:]
    told = explained_share(records, (0, 1, 2), 0)
    # Lines between points are not the model itself.
    assert told.share == pytest.approx(brute_force(model, [r.x for r in records], "abc"), abs=0.02)
    assert told.differs[2] < 0.02  # the effect of c is the same for all
    assert (told.differs[1] > 0.9) == (weight > 0)


def test_categories_and_missing_values():
    def model(x):
        return (x["n"] or 0.0) * (1 if x["c"] == "up" else -1)

    rng = np.random.default_rng(1)
    rows = [
        {
            "n": None if rng.random() < 0.2 else float(rng.normal()),
            "c": str(rng.choice(["up", "down"])),
        }
        for _ in range(500)
    ]
    monitor = watched(model, rows)
    records = monitor._history.all()
    told = explained_share(records, (0, 1), 0)
    by_calls = brute_force(model, [r.x for r in records], ("n", "c"))
    # Nothing is told of missing values, a fifth of all, though all curves say 0 there.
    assert told.share == pytest.approx(by_calls, abs=0.1)
    assert told.differs[0] > 0.5


def test_too_few_and_a_constant_say_nothing():
    records = watched(lambda x: 1.0, normal(300))._history.all()
    assert explained_share(records, (0, 1), 0) is None
    assert explained_share(records[: FEWEST - 1], (0,), 0) is None
    assert explained_share(records, (), 0) is None
    assert explained_share(records, (0,), 7) is None


@pytest.fixture(scope="module")
def changed():
    """The model gains an interaction after 2,500 observations; its curves stay."""
    weight = [0.0]
    monitor = ipdp.Monitor(
        ipdp.IncrementalPDP(lambda x: x["a"] + x["c"] + weight[0] * x["a"] * x["b"], seed=1)
    )
    for t, x in enumerate(normal(3_200)):
        weight[0] = 2.0 * (t >= 2_500)
        monitor.explain_one(x)
    return monitor


def test_a_change_says_what_curves_tell_before_and_after(changed):
    by_feature = {change.feature: change for change in changed.changes}
    assert by_feature.keys() == {"a", "b"}
    before, after = by_feature["a"].explained
    assert before > 0.95
    # 2 of a and c, of 2 + 4.
    assert after == pytest.approx(1 / 3, abs=0.15)
    said = by_feature["a"].summary()
    assert "the curves now tell" in said
    assert "features interact more" in said
    assert "its effect differs more between rows:" in said


def test_it_is_kept_by_states_and_logs(changed):
    change = changed.changes[0]
    for again in (
        Change.from_dict(change.to_dict()),
        change_of(change_text(change), *map(curve_blob, (change.before, change.after))),
    ):
        assert again.explained == pytest.approx(change.explained)
        assert again.differs == pytest.approx(change.differs)
        assert again.summary() == change.summary()
    # Of before there was such a thing.
    old = {k: v for k, v in change.to_dict().items() if k not in ("explained", "differs", "split")}
    assert Change.from_dict(old).explained is None


def test_shares_that_hardly_moved_are_not_told(changed):
    change = replace(changed.changes[0], explained=(0.5, 0.55), differs=(0.5, 0.45))
    assert "curves" not in change.summary()
    assert "rows:" not in change.summary()
    less = replace(change, explained=(-0.4, 0.8))
    assert "tell 80 % of what the model does (0 % before): features interact less" in less.summary()
