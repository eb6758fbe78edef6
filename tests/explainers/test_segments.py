"""Segments against plain weighted means, and against the curves of all observations."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import ipdp
from ipdp.core import kernels
from ipdp.explainers.segments.labels import OTHERS, Labels

NAMES = ["a", "b", "c", "k"]
FEATURES = ["a", "b", "c", "k", ("a", "b")]


def model(x):
    sign = 1.0 if x["g"] == "AT" else -1.0
    return x["a"] * x["b"] + sign * x["c"] + (x["k"] == "u")


def stream(n, seed=1, groups=("AT", "DE", None, "x", "y", "z")):
    """Autoregressive, a category that stays for a while, groups of different sizes."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(groups) + 1)
    x, k = rng.normal(size=3), "u"
    for _ in range(n):
        x = 0.9 * x + rng.normal(size=3) * np.sqrt(1 - 0.81)
        k = rng.choice(list("uvw")) if rng.random() < 0.05 else k
        group = groups[rng.choice(len(groups), p=shares / shares.sum())]
        yield {**dict(zip("abc", x.tolist(), strict=True)), "k": str(k), "g": group}


def made(n_groups=3, **settings):
    settings = {"by": "g", "n_groups": n_groups, "alpha": 0.01, **settings}
    return ipdp.IncrementalPDP(model, FEATURES, **settings)


def must_be_the_whole(pdp):
    """All groups together are all observations."""
    together = pdp.segment(*pdp.segments)
    for feature in FEATURES:
        one, other = together.curve(feature), pdp.curve(feature)
        np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-12)
        assert one.n_samples == other.n_samples
        for mine, theirs in zip(one.grid_values, other.grid_values, strict=True):
            if mine.dtype == object:
                assert mine.tolist() == theirs.tolist()
            else:
                np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.05, None])
def test_a_segment_is_the_weighted_mean_of_its_observations(alpha):
    rows = list(stream(300))
    rng = np.random.default_rng(2)
    weights, times = rng.uniform(0.5, 2, size=300), np.cumsum(rng.integers(1, 4, size=300))
    pdp = ipdp.IncrementalPDP(model, "c", by="g", alpha=alpha, grid=ipdp.grid.Fixed([-1, 2]))
    for x, w, t in zip(rows, weights, times, strict=True):
        pdp.explain_one(x, w=w, t=float(t))
    left = weights * (1 - (alpha or 0.0)) ** (times[-1] - times)
    for group in ("AT", "DE", None):
        own = np.array([x["g"] == group for x in rows])
        said = np.array([[model({**x, "c": c}) for c in (-1, 2)] for x in rows])
        expected = (left * own) @ said / (left * own).sum()
        curve = pdp.segment(group).curve("c")
        np.testing.assert_allclose(curve.average[0], expected, rtol=0, atol=1e-12)
        assert curve.n_samples == own.sum()
        worth = (left * own).sum() ** 2 / ((left * own) ** 2).sum()
        np.testing.assert_allclose(curve.n_effective_points, worth)


def test_groups_merge_to_the_whole_while_points_come_and_go():
    pdp, plain = made(), ipdp.IncrementalPDP(model, FEATURES, alpha=0.01)
    seen = set()
    for n, x in enumerate(stream(900)):
        pdp.explain_one(x)
        plain.explain_one(x)
        if n in {30, 100, 400, 899}:
            must_be_the_whole(pdp)
            seen.add(tuple(pdp.curve("a").grid_values[0]))
    assert len(seen) > 1  # points did come
    for feature in FEATURES:
        one, other = pdp.curve(feature), plain.curve(feature)
        np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-13)


def test_many_at_once_is_the_same():
    rows = list(stream(500))
    one, many = made(), made()
    for x in rows:
        one.explain_one(x)
    many.explain_many(rows[:200])
    many.explain_many(rows[200:])
    assert list(one.segments) == list(many.segments)
    for group in one.segments:
        mine, theirs = one.segment(group).curve("a"), many.segment(group).curve("a")
        np.testing.assert_allclose(mine.average, theirs.average, rtol=0, atol=1e-12)


def test_a_group_that_arrives_late_takes_the_place_of_a_rare_one():
    pdp = made(n_groups=2, alpha=0.02)
    early = list(stream(300, groups=("AT", "x")))
    late = [{**x, "g": "late"} for x in stream(300, seed=3)]
    for x in early + late:
        pdp.explain_one(x)
    must_be_the_whole(pdp)
    assert next(iter(pdp.segments)) == "late"
    assert OTHERS in pdp.segments
    assert len(pdp.segments) == 3
    # What came before it had a place is with the others, and nothing is lost.
    assert sum(segment.n_seen for segment in pdp.segments.values()) == pdp.curve("a").n_samples


def test_the_number_of_groups_is_bounded():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], by="id", n_groups=3)
    for n in range(500):
        pdp.explain_one({"a": float(n % 7), "id": n})
    assert len(pdp.segments) == 4
    assert len(pdp.memory.groups.labels.waiting) <= 48  # sixteen a place


def test_counting_forgets():
    labels = Labels(1, alpha=0.5)
    assert labels.place("a", 1.0, 0.0, dict).row == 0
    found = labels.place("b", 1.0, 20.0, lambda: {"a": 0.0})
    assert found.replaced == "a"
    assert list(labels.rows) == [OTHERS, "b"]


def test_a_group_that_took_a_place_keeps_it():
    """What it had before counts: else it would be the rarest, and lose its place at once."""
    groups = [f"g{k}" for k in range(60)]
    rows = list(stream(1_500, groups=groups))
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], by="g", n_groups=6, alpha=None)
    moves, known = 0, set()
    for x in rows:
        pdp.explain_one(x)
        now = set(pdp.memory.groups.labels.rows)
        moves, known = moves + bool(known - now), now
    counts = Counter(x["g"] for x in rows)
    # Each of the six most frequent ones has to take a place once at most, and some that are nearly
    # as frequent do in between; without credit there were 63 moves.
    assert moves <= 12
    own = [counts.pop(g) for g in pdp.segments if g != OTHERS]
    assert own == sorted(own, reverse=True)
    assert max(counts.values()) <= 2 * min(own) + 1


def test_a_table_has_its_most_frequent_groups_whatever_comes_first():
    rows = [{"a": float(k % 5), "g": "rare"} for k in range(4)]
    rows += [{"a": float(k % 7), "g": "xyz"[k % 3]} for k in range(60)]
    rows.append({"a": 1.0, "g": None})

    def slope(x):
        return x["a"] * (2.0 if x["g"] == "x" else 1.0)

    grid = ipdp.grid.Fixed([0, 1])
    curves = ipdp.partial_dependence(slope, rows, "a", grid=grid, by="g", n_groups=3)
    found = {curve.feature: curve for curve in curves}
    named = [f"a, where g = {group}" for group in ("x", "y", "z", "missing", "others")]
    assert list(found) == ["a", *named]
    assert [found[name].average[0, 1] for name in named] == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert [found[name].n_samples for name in named] == [20, 20, 20, 1, 4]
    assert found["a"].average[0, 1] == pytest.approx((20 * 2 + 45) / 65, abs=1e-12)
    assert found[named[0]].where == "g = x"
    with pytest.raises(ValueError, match="no column to group by 'h'"):
        ipdp.partial_dependence(slope, rows, "a", grid=grid, by="h")


def test_a_table_with_a_column_that_the_model_does_not_take():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 1.0, 0.0, 2.0], "g": list("uuvv")})
    fitted = LinearRegression().fit(X[["a", "b"]], X["a"] * 2 + X["b"])
    curves = ipdp.partial_dependence(fitted, X, by="g", grid=ipdp.grid.Fixed([0, 1]))
    averages = {curve.feature: curve.average[0, 0] for curve in curves}
    assert averages == pytest.approx(
        {"a": 1.0, "b": 3.0, "a, where g = u": 1.0, "b, where g = u": 1.0}
        | {"a, where g = v": 1.0, "b, where g = v": 5.0}
    )


@pytest.mark.parametrize("how", ["json", "bytes"])
def test_a_state_goes_on_as_if_nothing_had_been(how):
    rows = list(stream(600))
    pdp = made()
    pdp.explain_many(rows[:400])
    again = made()
    if how == "json":
        again.state = json.loads(json.dumps(pdp.state))
    else:
        again = made().from_bytes(pdp.state_bytes())
    for x in rows[400:]:
        pdp.explain_one(x)
        again.explain_one(x)
    must_be_the_whole(again)
    for group in pdp.segments:
        one, other = pdp.segment(group).curve("a"), again.segment(group).curve("a")
        np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-13)
        np.testing.assert_allclose(one.std_error, other.std_error, rtol=1e-9)


def test_a_damaged_state_is_refused():
    pdp = made()
    pdp.explain_many(list(stream(100)))
    state = pdp.state
    state["fold"]["groups"]["n"].pop()
    with pytest.raises(ValueError, match="damaged"):
        made().state = state
    with pytest.raises(ValueError, match="n_groups"):
        made(n_groups=7).state = pdp.state


@pytest.mark.parametrize("cut", [100, 450])
def test_segments_of_a_stream_merge_to_those_of_all_of_it(cut):
    rows = list(stream(900))
    whole, first = made(), made()
    whole.explain_many(rows)
    first.explain_many(rows[:cut])
    second = first.successor()
    second.explain_many(rows[cut:])
    both = first.merge(second)
    must_be_the_whole(both)
    assert list(both.segments) == list(whole.segments)
    for group in whole.segments:
        for feature in FEATURES:
            one, other = both.segment(group).curve(feature), whole.segment(group).curve(feature)
            np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-11)
            np.testing.assert_allclose(one.std_error, other.std_error, rtol=1e-6)


def test_other_explainers_can_be_merged_too():
    one, other = made(n_groups=2), made(n_groups=2)
    one.explain_many(list(stream(200, groups=("AT", "x"))))
    other.explain_many(list(stream(300, seed=5, groups=("DE", "y", None))))
    both = one.merge(other)
    must_be_the_whole(both)
    assert len(both.segments) == 4
    with pytest.raises(ValueError, match="by is"):
        one.merge(made(by="k"))


def test_by_a_function_of_an_observation():
    def is_high(x):
        return x["a"] > 0

    pdp = ipdp.IncrementalPDP(model, ["c"], by=is_high, grid=ipdp.grid.Fixed([0]))
    for x in stream(50):
        pdp.explain_one(x)
    assert set(pdp.segments) == {True, False}
    assert "c, where is_high = True" in pdp.results()
    again = ipdp.IncrementalPDP(model, ["c"], by=is_high, grid=ipdp.grid.Fixed([0]))
    again.state = json.loads(json.dumps(pdp.state))
    assert set(again.segments) == {True, False}


def test_a_function_that_raises_changes_nothing():
    pdp = ipdp.IncrementalPDP(model, ["c"], by=lambda x: x["h"], grid=ipdp.grid.Fixed([0]))
    x = next(stream(1))
    pdp.explain_one({**x, "h": 1})
    with pytest.raises(KeyError):
        pdp.explain_one(x)
    assert pdp.n_seen == 1


def test_a_model_does_not_get_a_column_that_it_cannot_take():
    def numbers(x):
        return sum(x.values())

    pdp = ipdp.IncrementalPDP(numbers, by="g")
    rows = [{"a": float(n % 5), "b": 1.0, "g": "xy"[n % 2]} for n in range(200)]
    for x in rows:
        pdp.explain_one(x)
    assert list(pdp.curves) == ["a", "b"]
    np.testing.assert_allclose(pdp.segment("x").curve("a").at(3.0), [4.0])
    again = ipdp.IncrementalPDP(numbers, by="g")
    again.state = pdp.state
    again.explain_one(rows[0])
    assert again.curve("a", now=True).n_samples == 181


def test_a_fitted_model_does_not_get_a_column_that_it_was_not_fitted_on():
    import pandas as pd
    from sklearn.linear_model import LinearRegression

    X = pd.DataFrame(np.random.default_rng(1).normal(size=(100, 2)), columns=["a", "b"])
    fitted = LinearRegression().fit(X, X["a"])
    pdp = ipdp.IncrementalPDP(fitted, by="g")  # warnings are errors
    pdp.explain_many(X.assign(g=["u", "v"] * 50))
    assert list(pdp.curves) == ["a", "b"]
    assert set(pdp.segments) == {"u", "v"}


def test_what_is_asked_wrongly_is_said_in_one_sentence():
    with pytest.raises(ValueError, match="give by"):
        _ = ipdp.IncrementalPDP(model).segments
    with pytest.raises(ValueError, match="n_groups"):
        made(n_groups=0)
    pdp = made()
    with pytest.raises(ipdp.NotEnoughSamples):
        pdp.segment("AT")
    with pytest.raises(ValueError, match="column to group by"):
        made(by="h").explain_one(next(stream(1)))
    pdp.explain_many(list(stream(100)))
    with pytest.raises(ValueError, match="group of g"):
        pdp.segment("nowhere")
    with pytest.raises(ValueError, match="not known of segments"):
        pdp.segment("AT").curve("a", now=True)
    with pytest.raises(TypeError, match="needs a group"):
        pdp.segment()


def test_segments_are_compared_like_any_other():
    pdp = ipdp.IncrementalPDP(model, ["a", "c"], by="g")
    pdp.explain_many(list(stream(1500, groups=("AT", "DE"))))
    found = ipdp.compare(pdp.segment("AT"), pdp.segment("DE"), names=("AT", "DE"))
    assert [each.feature for each in found.different] == ["c"]
    assert found["c"].kind == "data"


def test_results_have_the_groups_with_their_own_values():
    pdp = made()
    pdp.explain_many(list(stream(400)))
    results = pdp.results()
    curve = results["c, where g = AT"]
    np.testing.assert_array_equal(curve.average, pdp.segment("AT").curve("c").average)
    assert "c, where g = missing" in results
    assert ("a", "b, where g = others") in results
    own = [x["c"] for x in stream(400) if x["g"] == "AT"][-64:]
    np.testing.assert_allclose(curve.rug[0], own)


def test_a_feature_that_makes_no_difference_is_flat_in_all_groups():
    pdp = ipdp.IncrementalPDP(lambda x: x["c"], ["a", "c"], by="g", alpha=0.01)
    for x in stream(600):
        pdp.explain_one(x)
    for segment in pdp.segments.values():
        assert np.ptp(segment.curve("a").average) == 0


def test_bands_of_groups_know_dependence():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"], ["a"], by="g", alpha=0.002)
    pdp.explain_many(list(stream(3000, groups=("AT",))))
    own, whole = pdp.segment("AT").curve("a"), pdp.curve("a")
    # Blocks are twice as long, and half as many: the same to a factor of two.
    assert 0.5 < own.inflation[0] / whole.inflation[0] < 2
    assert own.inflation[0] > 5


@pytest.mark.parametrize("build", ["current", "array"])
def test_sums_of_groups_are_those_of_one_after_the_other(build):
    rng = np.random.default_rng(1)

    class Sums:
        mean, spread = np.zeros((3, 2, 6)), np.zeros((3, 2, 6))
        weight, squares = np.zeros((3, 6)), np.zeros((3, 6))
        scale, t = np.zeros(3), np.zeros(3)

    at = np.array([4, 0, 2], dtype=np.intp)
    batch = [
        (int(rng.integers(3)), rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), at, w, float(t))
        for t, w in enumerate(rng.uniform(0.5, 2, size=40), start=1)
    ]
    fold = kernels.current if build == "current" else kernels.array
    for start in range(0, 40, 8):
        fold.fold_groups(Sums, batch[start : start + 8], 0.9)
    for g in range(3):
        own = [each for each in batch if each[0] == g]
        k = np.array([w * 0.9 ** (own[-1][5] - t) for *_, w, t in own])
        values = np.array([np.vstack([p, v]) for _, p, v, *_ in own])
        mean = np.tensordot(k, values, 1) / k.sum()
        np.testing.assert_allclose(Sums.mean[g][:, at], mean, atol=1e-13)
        spread, scale = np.tensordot(k, (values - mean) ** 2, 1), Sums.scale[g]
        np.testing.assert_allclose(Sums.spread[g][:, at] * scale, spread, atol=1e-12)
        np.testing.assert_allclose(Sums.weight[g] * scale, [k.sum(), 0, k.sum(), 0, k.sum(), 0])
        np.testing.assert_allclose(Sums.squares[g][at] * scale**2, (k * k).sum())


def test_surfaces_of_groups_are_pairs_and_come_back():
    rng = np.random.default_rng(3)
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], ["a", ("a", "b")], by="g", seed=1)
    for k, (a, b) in enumerate(rng.normal(size=(80, 2)).tolist()):
        pdp.explain_one({"a": a, "b": b, "g": k % 2})
    name = ("a", "b, where g = 1")
    curve = pdp.results()[name]
    again = ipdp.Curve.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert again.feature == name
    assert again.where == "g = 1"
    assert set(curve.to_frame().columns) >= set(name)
    curve.plot()
