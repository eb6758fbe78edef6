"""The points of stored observations that are nearest to the knots, by brute force."""

import numpy as np
import pytest

from ipdp import IncrementalPDP, Monitor, models
from ipdp.monitor.knots import data_shares
from ipdp.monitor.model.nearest import Nearest
from ipdp.monitor.model.rechecks import Rechecks

COLOURS = ["red", "blue"]


def watched(model, features, n=300, **setup):
    pdp = IncrementalPDP(model, features, **setup)
    monitor = Monitor(pdp)
    rng = np.random.default_rng(1)
    for k in range(n):
        a, b = rng.normal(size=2).tolist()
        x = {"a": a + k / 100, "colour": COLOURS[int(rng.integers(2))], "count": int(10 * b)}
        monitor.explain_one(x)
    return pdp, monitor._history


def linear(x):
    return x["a"] + (x["colour"] == "red") * x["count"]


def test_the_nearest_points_by_brute_force():
    features = ["a", "colour", "count"]
    _, history = watched(linear, features)
    records = history.between(100, 300, at_most=1000)
    places = [np.linspace(0.0, 2.0, 5), np.array(COLOURS, dtype=object), np.array([-5.0, 0.0, 5.0])]
    nearest = Nearest(range(3), features, places)
    columns, within = nearest.find(records)
    positions = [record.positions[0, own] for record, own in zip(records, columns, strict=True)]
    assert columns.shape == (len(records), 10)
    assert len({tuple(own) for own in columns.tolist()}) > 1
    for record, own, at, is_within in zip(records, columns, positions, within, strict=True):
        for number, knots, part in ((0, places[0], slice(0, 5)), (2, places[2], slice(7, 10))):
            axis = record.positions[0, record.layout.columns_of(number)]
            distance = np.abs(axis[:, None] - knots).min(axis=0)
            np.testing.assert_allclose(np.abs(at[part] - knots), distance, atol=1e-12)
            slack = 0.05 * (axis[-1] - axis[0])
            there = axis[0] - slack <= knots[0] and knots[-1] <= axis[-1] + slack
            assert is_within[number] == there
        keys = [key[0] for key in record.layout.keys_of(1)]
        first = record.layout.columns_of(1)[0]
        assert is_within[1]
        assert [keys[column - first] for column in own[5:7]] == COLOURS


def test_a_category_that_was_not_known_is_not_compared():
    _, history = watched(linear, ["colour"])
    places = [np.array([*COLOURS, "pink"], dtype=object)]
    _, within = Nearest([0], ["colour"], places).find(history.newest(3))
    assert not within.any()


@pytest.mark.parametrize("features", [["a", "count"], ["count", ("a", "count"), "a"]])
def test_at_a_check_no_more_points_are_asked_about_than_are_compared(features):
    asked = []

    def model(X):
        asked.append(len(X))
        return X[:, 0].astype(float) * X[:, 2]

    engine = models.engine(model, takes="array")
    pdp, history = watched(engine, features)
    numbers = [k for k, feature in enumerate(features) if isinstance(feature, str)]
    names = [features[k] for k in numbers]
    rechecks = Rechecks(pdp, numbers, names, history, labels=["prediction"], outputs=[0])
    newest = history.newest(1)[0]
    rechecks.renew_knots(newest, [0, 0])
    asked.clear()
    read = rechecks.ask(newest, [0, 0], [False, False], is_moving=False)
    assert sum(asked) == 4 * sum(len(places) for places in rechecks.knots.places)
    assert not read.asked.difference.any()
    assert read.asked.counts.any(axis=0).all()
    np.testing.assert_allclose(read.weights.sum(axis=1), 1.0)


def test_shares_of_the_data_by_hand():
    places = np.array([0.0, 1.0, 3.0])
    values = [0.1] * 30 + [1.9] * 15 + [2.1] * 10 + [99.0] * 5
    np.testing.assert_allclose(data_shares(places, values), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(data_shares(places, values[:10]), [1 / 3] * 3)
    names = np.array(COLOURS, dtype=object)
    values = ["red"] * 45 + ["blue"] * 15 + ["pink", None, ["list"]]
    np.testing.assert_allclose(data_shares(names, values), [0.75, 0.25])
