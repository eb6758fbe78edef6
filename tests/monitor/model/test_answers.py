"""What the model said then and says now, against evaluating it by hand."""

import numpy as np
import pytest

from ipdp import IncrementalPDP, Monitor, models
from ipdp.grid import Categories, MinMax
from ipdp.monitor.model.answers import ask_about, renewed

NAMES = ["a", "b"]


def watched(model, features, n=200, grid=None, **setup):
    pdp = IncrementalPDP(model, features, grid=grid or MinMax(5, window=30), **setup)
    monitor = Monitor(pdp)
    rng = np.random.default_rng(1)
    for _ in range(n):
        a, b = rng.normal(size=2).tolist()
        monitor.explain_one({"a": a, "b": b, "colour": ["red", "blue"][int(rng.integers(2))]})
    return pdp, monitor._history.between(0, n, at_most=n)


def test_about_one_feature_by_hand():
    slope = {"is": 1.0}
    pdp, records = watched(lambda x: slope["is"] * x["a"] + x["a"] ** 2 * x["b"], NAMES)
    slope["is"] = 3.0
    answers = ask_about(pdp.engine, records, 0, ["prediction"], (-0.5, 0.5))
    assert (answers.places[0], answers.places[-1]) == (-0.5, 0.5)
    assert (np.diff(answers.numbers) > 0).all()
    by_number = {record.n: record for record in records}
    for k, n in enumerate(answers.numbers.tolist()):
        record = by_number[n]
        axis = record.positions[0, record.layout.columns_of(0)]
        x = record.x
        now = np.interp(answers.places, axis, 3 * axis + axis**2 * x["b"])
        then = np.interp(answers.places, axis, axis + axis**2 * x["b"])
        np.testing.assert_allclose(answers.now[k, 0], now, atol=1e-12)
        np.testing.assert_allclose(answers.then[k, 0], then, atol=1e-12)
    # A line stays a line, interpolated or not: twice the place is what it is now more.
    rise = 2 * (answers.places - answers.places.mean())
    np.testing.assert_allclose(answers.difference[0, 0], rise, atol=1e-12)


def test_a_model_that_stays_the_same_says_the_same():
    pdp, records = watched(models.engine(lambda X: X[:, 0] ** 2 * X[:, 1], takes="array"), NAMES)
    assert not ask_about(pdp.engine, records, 1, ["prediction"], None).difference.any()


def test_categories_that_came_later_are_not_compared():
    effect = {"red": 1.0, "blue": 2.0}
    pdp, records = watched(
        lambda x: effect[x["colour"]] * x["a"], ["colour"], grid=Categories(window=200)
    )
    effect["red"] = 5.0
    answers = ask_about(pdp.engine, records, 0, ["prediction"], None)
    assert sorted(answers.places) == ["blue", "red"]
    x = {record.n: record.x for record in records}[int(answers.numbers[-1])]
    red = answers.places.tolist().index("red")
    assert answers.now[-1, 0, red] - answers.then[-1, 0, red] == pytest.approx(4 * x["a"])


def test_a_class_not_known_then_had_no_probability():
    classes = {"known": {"yes": 0.4, "no": 0.6}}
    pdp, records = watched(lambda x: classes["known"], ["a"])
    classes["known"] = {"yes": 0.3, "no": 0.5, "maybe": 0.2}
    answers = ask_about(pdp.engine, records, 0, ["yes", "no", "maybe"], None)
    assert answers.then[0, :, 0] == pytest.approx([0.4, 0.6, 0.0])
    assert answers.now[0, :, 0] == pytest.approx([0.3, 0.5, 0.2])


def test_without_common_places_nothing_is_compared():
    pdp, records = watched(lambda x: x["a"], ["a"])
    assert ask_about(pdp.engine, records, 0, ["prediction"], (50.0, 60.0)) is None
    assert ask_about(pdp.engine, [], 0, ["prediction"], None) is None


def test_answered_anew_about_one_feature():
    slope = {"is": 1.0}
    pdp, records = watched(lambda x: slope["is"] * x["a"] + x["b"], NAMES)
    earlier = [record.values.copy() for record in records]
    slope["is"] = 3.0
    again = renewed(pdp.engine, records, [0], ["prediction"])
    assert not ask_about(pdp.engine, again, 0, ["prediction"], None).difference.any()
    assert len(again) == len(records)
    for new, old, values in zip(again, records, earlier, strict=True):
        a, b = new.layout.columns_of(0), new.layout.columns_of(1)
        np.testing.assert_allclose(new.values[0, a], 3 * new.positions[0, a] + new.x["b"])
        assert (new.values[:, b] == values[:, b]).all()
        assert (old.values == values).all()  # which others may share


def test_what_was_answered_anew_is_of_then():
    pdp, records = watched(lambda x: x["a"], ["a"])
    answers = ask_about(pdp.engine, records, 0, ["prediction"], None, renewed_at=(150, 150.0))
    assert set(answers.numbers) == {150, *(r.n for r in records if r.n > 150)} & set(
        answers.numbers
    )
    assert answers.numbers.min() == answers.times.min() == 150
    assert (answers.numbers == 150).sum() > 20


def test_answered_anew_with_a_class_not_known_then():
    classes = {"known": {"yes": 0.4, "no": 0.6}}
    pdp, records = watched(lambda x: classes["known"], ["a"])
    classes["known"] = {"yes": 0.3, "no": 0.5, "maybe": 0.2}
    again = renewed(pdp.engine, records, [0], ["yes", "no", "maybe"])
    assert again[0].values[:, 0] == pytest.approx([0.3, 0.5, 0.2])


def test_observations_with_other_numbers_of_points_are_asked_about_together():
    """Points of one are there several times where another has more of them."""
    calls = []

    def model(X):
        calls.append(len(X))
        return X[:, 0].astype(float) * factor[0] + X[:, 1].astype(float)

    factor = [1.0]
    pdp = IncrementalPDP(models.engine(model, takes="array"), ["a", "b"], seed=1)
    monitor = Monitor(pdp)
    rng = np.random.default_rng(1)
    for k in range(400):
        monitor.explain_one({"a": rng.normal() * (1 + k / 50), "b": float(rng.integers(5))})
    records = monitor._history.all()
    assert len({r.layout.n_points for r in records}) > 1
    factor[0] = -1.0
    calls.clear()
    again = renewed(pdp.engine, records, [0, 1], ["prediction"])
    assert len(calls) <= 4
    for old, new in zip(records, again, strict=True):
        at_a, at_b = (list(old.layout.columns_of(number)) for number in (0, 1))
        expected = np.empty(old.layout.n_points)
        expected[at_a] = -old.positions[0, at_a] + old.x["b"]
        expected[at_b] = -old.x["a"] + old.positions[0, at_b]
        np.testing.assert_allclose(new.values[0], expected, atol=1e-12)
