"""Columns that look like an id or a clock are left out, unless they are asked for."""

from __future__ import annotations

import random
import warnings
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import ipdp

START = datetime(2024, 1, 1)


def rows(n: int = 300, **more):
    draws = random.Random(1)
    return [
        {
            "a": draws.gauss(0, 1),
            "id": f"{draws.getrandbits(64):x}",
            "row": k,
            "when": START + timedelta(minutes=k // 2),
            **{name: make(k) for name, make in more.items()},
        }
        for k in range(n)
    ]


def model(x):
    return x["a"]


@pytest.mark.parametrize(
    "explainer", [ipdp.IncrementalPDP, ipdp.IncrementalALE, ipdp.IncrementalRegions]
)
def test_ids_and_clocks_are_named_once_and_left_out(explainer):
    asked = []

    def counting(x):
        asked.append(x)
        return model(x)

    pdp = explainer(counting, alpha=0.05)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x in rows():
            pdp.explain_one(x)
        pdp.explain_many(rows(500)[300:])
    assert len(said) == 1
    text = str(said[0].message)
    assert "'id'" in text
    assert "'row' and 'when'" in text
    assert "features=" in text
    assert said[0].filename == __file__
    assert list(pdp.curves) == ["a"]
    with pytest.raises(ipdp.NotEnoughSamples, match="'id' looks like an id"):
        pdp.curve("id")
    with pytest.raises(ipdp.NotEnoughSamples, match=r"'row' looks like a clock.*features="):
        pdp.curve("row")
    n = len(asked)
    alone = explainer(counting, ["a"], alpha=0.05)
    for x in rows():
        alone.explain_one(x)
    alone.explain_many(rows(500)[300:])
    assert n == len(asked) - n


def test_they_are_followed_if_they_are_asked_for():
    # With one that is neither: if all of them were left out, all would be followed anyway.
    pdp = ipdp.IncrementalPDP(model, ["a", "id", "row", "when"], alpha=0.05)
    for x in rows(60):
        pdp.explain_one(x)
    assert list(pdp.curves) == ["a", "id", "row", "when"]
    grids = {"row": ipdp.grid.MinMax(5)}
    pdp = ipdp.IncrementalPDP(model, grid=grids, alpha=0.05)
    with pytest.warns(ipdp.ColumnWarning):
        pdp.explain_many(rows(120))
    assert "row" in pdp.curves


def test_what_ceases_to_grow_is_followed_from_then_on():
    """The half-hour of the day grows 48 times, and begins again."""
    pdp = ipdp.IncrementalPDP(lambda x: x["hour"], alpha=0.05)
    days = [{"a": x["a"], "hour": x["hour"]} for x in rows(200, hour=lambda k: k % 48 / 48)]
    for k, x in enumerate(days):  # and nothing is said of it: a day is too short
        pdp.explain_one(x)
        if k == 40:
            with pytest.raises(ipdp.NotEnoughSamples, match="'hour' looks like a clock"):
                pdp.curve("hour")
    assert pdp.curve("hour").n_samples == 200 - 49
    assert pdp.curve("hour").overall_importance > 0.2


def test_many_categories_are_no_id_once_they_come_back():
    draws = random.Random(3)
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ipdp.ColumnWarning)
        for _ in range(600):
            pdp.explain_one({"a": draws.gauss(0, 1), "city": f"c{draws.randrange(150)}"})
    assert pdp.curve("city").n_samples > 100


def test_a_stream_of_nothing_but_clocks_is_followed():
    pdp = ipdp.IncrementalPDP(lambda x: x["k"], alpha=0.05)
    for k in range(60):
        pdp.explain_one({"k": k / 7})
    assert pdp.curve("k").n_samples == 40


def test_the_doubt_is_kept_in_states_and_segments():
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    with pytest.warns(ipdp.ColumnWarning):
        list(map(pdp.explain_one, rows(120)))
    later = pdp.successor()
    for known in (pdp.from_bytes(pdp.state_bytes()), later):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ipdp.ColumnWarning)
            for x in rows(200)[120:]:
                known.explain_one(x)
    assert list(pdp.merge(later).curves) == ["a"]
    restored = pdp.from_bytes(pdp.state_bytes())
    assert list(restored.curves) == ["a"]


@pytest.mark.parametrize("how", [ipdp.partial_dependence, ipdp.accumulated_local_effects])
def test_a_table_has_no_order_of_time(how):
    X = pd.DataFrame(rows()).sort_values("a")
    X["row"] = np.arange(len(X))
    with pytest.warns(ipdp.ColumnWarning, match="'id'.*'row'"):
        curves = how(lambda x: x["a"], X)
    # Sorted by a number, but that is no clock.
    assert [curve.feature for curve in curves] == ["a", "when"]
    assert [c.feature for c in how(lambda x: x["a"], X, ["id", "row"])] == ["id", "row"]


def importances(asked, features=None, **settings):
    def loss(y, prediction):
        return abs(y - prediction)

    def counting(x):
        asked.append(x)
        return model(x)

    return ipdp.IncrementalPFI(counting, features, loss=loss, alpha=0.05, seed=1, **settings)


def explained(pfi, some):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x in some:
            pfi.explain_one(x, x["a"])
    return said


def test_permutation_importance_leaves_them_out_too():
    asked, alone = [], []
    pfi, other = importances(asked), importances(alone, ["a"])
    said = explained(pfi, rows())
    explained(other, rows())
    assert len(said) == 1
    assert "'id'" in str(said[0].message)
    assert "'row' and 'when'" in str(said[0].message)
    assert said[0].filename == __file__
    assert list(pfi.importance) == list(pfi.variance) == list(pfi.std_error) == ["a"]
    assert pfi.importance == other.importance  # that of a feature does not depend on the others
    # Only during the warm-up of 20 are they asked: 3 more rows each time, but for the first.
    assert len(asked) - len(alone) == 3 * 19
    asked_for = importances([], ["id", "a"])
    assert not explained(asked_for, rows())
    assert list(asked_for.importance) == ["id", "a"]


def test_importance_of_what_ceases_to_grow_is_measured_from_then_on():
    days = rows(200, hour=lambda k: k % 48 / 48)
    pfi = importances([])
    explained(pfi, days[:45])
    assert list(pfi.importance) == ["a"]
    explained(pfi, days[45:])
    assert list(pfi.importance) == ["a", "hour"]
    assert pfi.importance["hour"] == 0.0  # the model does not use it


def test_importance_remembers_what_it_leaves_out():
    pfi = importances([])
    assert len(explained(pfi, rows(120))) == 1
    later = pfi.successor()
    for known in (pfi.from_bytes(pfi.state_bytes()), later):
        assert not explained(known, rows(200)[120:])  # it was said
        assert list(known.importance) == ["a"]
    assert list(pfi.merge(later).importance) == ["a"]


def test_a_stream_of_nothing_but_clocks_has_importances():
    pfi = importances([])
    assert not explained(pfi, [{"a": k / 7} for k in range(60)])
    assert pfi.importance["a"] > 0
