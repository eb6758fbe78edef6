"""`IncrementalPDP` against an oracle in plain Python that keeps everything and shares no code.

Tolerance: an average comes from some hundred updates, each with a few roundings of 1e-16 relative
to outputs of at most about 20, so that 1e-9 leaves several orders of magnitude. A standard error
also divides by 1 - 1 / n_effective, which is above 1e-5 in these streams: five digits more.
"""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explainers import oracle

from ipdp import IncrementalPDP, grid, models


# Errors are those of independent observations until there are blocks enough; what blocks say has
# an oracle of its own in test_errors_of_curves.py.
@pytest.fixture(autouse=True, scope="module")
def independent():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ipdp.explainers.state.errors.FEWEST", math.inf)
        yield


PROPERTY = settings(deadline=None, derandomize=True, max_examples=150)
NUMBERS = {
    "minmax": ("MinMax", {"size": 5, "window": 12, "warm_up": 4}),
    "minmax, whole": ("MinMax", {"size": 4, "window": 9, "warm_up": 2, "integers": True}),
    "minmax, not whole": ("MinMax", {"size": 3, "window": 30, "warm_up": 3, "integers": False}),
    "minmax, missing": ("MinMax", {"size": 4, "window": 15, "warm_up": 5, "missing": True}),
    "range, all kept": ("QuantileRange", {"size": 4, "window": 20, "warm_up": 6}),
    "range, oldest": (
        "QuantileRange",
        {"size": 5, "lower": 0.1, "upper": 0.8, "window": 25, "storage_size": 8, "warm_up": 3},
    ),
    "range, uniform": (
        "QuantileRange",
        {"size": 3, "window": 20, "storage_size": 7, "select": "uniform", "warm_up": 4},
    ),
    "range, age": (
        "QuantileRange",
        {"size": 3, "window": 20, "storage_size": 7, "select": "age", "warm_up": 4, "seed": 5},
    ),
    "quantiles": ("Quantiles", {"size": 5, "window": 30, "storage_size": 10, "warm_up": 5}),
    "quantiles, missing": ("Quantiles", {"size": 3, "window": 11, "warm_up": 1, "missing": True}),
    "fixed": ("Fixed", {"values": (2.5, -1, 0.5)}),
    "fixed, missing": ("Fixed", {"values": (3, 1, 2), "missing": True}),
    "auto": ("Auto", {"size": 6, "window": 25, "warm_up": 7}),
}
CATEGORIES = {
    "categories": ("Categories", {"window": 12, "warm_up": 3}),
    "few of them": ("Categories", {"size": 2, "window": 10, "warm_up": 3}),
    "missing": ("Categories", {"window": 15, "warm_up": 4, "missing": True}),
    "fixed": ("Fixed", {"values": ("z", "x", "w")}),
    "fixed, missing": ("Fixed", {"values": ("z", "u"), "missing": True}),
    "auto": ("Auto", {"size": 4, "window": 12, "warm_up": 6}),
    "auto of extremes": ("Auto", {"size": 4, "window": 12, "ends": "extremes", "warm_up": 6}),
    "auto, missing": ("Auto", {"size": 4, "window": 12, "warm_up": 6, "missing": True}),
}


def both(model, features, grids, *, seed=7, **settings):
    """The explainer and its oracle; `grids` gives (name of the grid, its settings) by feature."""
    pdp = IncrementalPDP(
        model,
        features,
        grid={name: getattr(grid, kind)(**given) for name, (kind, given) in grids.items()},
        estimator="pointwise",
        seed=seed,
        **settings,
    )
    rules = {name: getattr(oracle, kind)(**given) for name, (kind, given) in grids.items()}
    return pdp, oracle.Oracle(model, features, rules, seed=seed, **settings)


def follow(pdp, expected, rows, *, weights=None, times=None, look_every=15):
    """Let both see the stream, and compare every now and then."""
    weights = weights or [1.0] * len(rows)
    times = times or [None] * len(rows)
    for i, (x, w, t) in enumerate(zip(rows, weights, times, strict=True), start=1):
        pdp.explain_one(x, w, t=t)
        expected.see(x, w, t)
        if i % look_every == 0 or i == len(rows):
            assert_agree(pdp, expected)


def assert_agree(pdp, expected):
    explained = {feature for record in expected.explained for feature in record.curves}
    assert set(pdp.curves) == explained
    assert pdp.n_seen == expected.seen
    for feature, curve in pdp.curves.items():
        assert_same(curve, expected.curve(feature))


def assert_same(curve, wanted):
    assert curve.outputs == wanted.outputs
    assert curve.n_samples == wanted.n_samples
    assert curve.t == wanted.t
    assert curve.categorical == wanted.categorical
    for axis, values, is_category in zip(
        curve.grid_values, wanted.axes, wanted.categorical, strict=True
    ):
        if is_category:
            assert axis.tolist() == values
        else:
            close(axis, values)
    close(curve.average, wanted.average)
    close(curve.std_error, wanted.std_error)
    close(curve.n_effective_points, wanted.n_effective)
    close(curve.n_effective, wanted.median_n_effective)
    assert_same_ice(curve, wanted)
    for got, value in (
        (curve.missing, wanted.missing),
        (curve.missing_std_error, wanted.missing_std_error),
    ):
        assert (got is None) == (value is None)
        if got is not None:
            close(got, value)


def assert_same_ice(curve, wanted):
    if not wanted.outputs:
        return
    if not wanted.ice[0]:
        assert curve.ice is None or curve.ice.shape[1] == 0
        return
    assert curve.ice.shape[:2] == (len(wanted.outputs), len(wanted.ice[0]))
    close(curve.ice, wanted.ice)
    if len(wanted.axes) == 1 and not curve.categorical[0]:
        close(curve.ice_grid_values[0], wanted.ice_places)


def close(got, wanted):
    wanted = np.array(wanted, dtype=float)
    assert np.size(got) == wanted.size
    np.testing.assert_allclose(
        got, wanted.reshape(np.shape(got)), rtol=1e-9, atol=1e-11, equal_nan=True
    )


@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("case", NUMBERS)
def test_grids_of_numbers(case, every, alpha):
    kind = NUMBERS[case]
    pdp, expected = both(
        oracle.classifier,
        ["a", "n"],
        {"a": kind, "n": kind},
        alpha=alpha,
        every=every,
        n_ice=6,
    )
    follow(pdp, expected, oracle.stream(seed=1))


@pytest.mark.parametrize("kind", ["MinMax", "QuantileRange", "Quantiles"])
def test_whole_numbers_that_are_to_be_spread_as_any_others(kind):
    given = {"size": 4, "window": 10, "warm_up": 3, "integers": False}
    pdp, expected = both(oracle.regressor, ["n"], {"n": (kind, given)}, alpha=0.05)
    follow(pdp, expected, oracle.stream(seed=1, n=30))


@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("case", CATEGORIES)
def test_grids_of_categories(case, every, alpha):
    pdp, expected = both(
        oracle.classifier, ["c"], {"c": CATEGORIES[case]}, alpha=alpha, every=every, n_ice=30
    )
    follow(pdp, expected, oracle.stream(seed=2))


@pytest.mark.parametrize("alpha", [0.05, None])
def test_auto_chooses_for_every_kind_of_value(alpha):
    auto = ("Auto", {"size": 3, "window": 20, "warm_up": 8})
    pdp, expected = both(oracle.regressor, list("ankcb"), dict.fromkeys("ankcb", auto), alpha=alpha)
    rows = oracle.stream(seed=3)
    follow(pdp, expected, rows)
    # The few whole numbers have become many, and a range; the rest is as it was chosen.
    assert [pdp.curve(name).categorical for name in "ankcb"] == [
        (False,),
        (False,),
        (False,),
        (True,),
        (True,),
    ]


def test_a_few_whole_numbers_are_categories_until_they_are_many():
    pdp, expected = both(
        oracle.regressor, ["k"], {"k": ("Auto", {"size": 3, "warm_up": 5})}, alpha=0.05
    )
    rows = oracle.stream(seed=4)
    follow(pdp, expected, rows[:45])
    assert pdp.curve("k").categorical == (True,)
    follow(pdp, expected, rows[45:])
    assert pdp.curve("k").categorical == (False,)


def test_a_few_whole_numbers_are_categories_until_one_is_not_whole():
    pdp, expected = both(
        oracle.regressor, ["k"], {"k": ("Auto", {"size": 3, "warm_up": 4})}, alpha=0.05
    )
    values = [0, 1, 2, 1, 0, 1, 2, 2, 0.5, 1, 2, 0]
    rows = [{"k": k, "clock": i} for i, k in enumerate(values)]
    follow(pdp, expected, rows[:8], look_every=1)
    assert pdp.curve("k").categorical == (True,)
    follow(pdp, expected, rows[8:], look_every=1)
    assert pdp.curve("k").categorical == (False,)


@pytest.mark.parametrize("kind", ["MinMax", "Quantiles"])
def test_booleans_are_whole_numbers_to_a_grid_of_numbers(kind):
    given = {"size": 3, "window": 10, "warm_up": 3}
    pdp, expected = both(oracle.regressor, ["b"], {"b": (kind, given)}, alpha=0.05)
    follow(pdp, expected, oracle.stream(seed=5, n=30))


@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("model", [oracle.classifier, oracle.two_targets, oracle.regressor])
@pytest.mark.parametrize("seed", range(3))
def test_features_and_pairs_in_one_pass(seed, model, alpha):
    pdp, expected = both(
        model,
        ["a", ("a", "c"), "n", ("c", "n"), ("a", "b")],
        {
            "a": NUMBERS["range, oldest"],
            "n": ("Fixed", {"values": (1, 4, 9)}),
            "c": CATEGORIES["few of them"],
            "b": ("Auto", {"warm_up": 10}),
        },
        alpha=alpha,
        n_ice=8,
    )
    follow(pdp, expected, oracle.stream(seed), look_every=30)


@pytest.mark.parametrize("alpha", [0.05, None])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_weights_and_times_of_the_user(seed, every, alpha):
    draws = random.Random(seed)
    rows = oracle.stream(seed)
    weights = [draws.choice([0, 0.25, 1, 1, 2.5]) for _ in rows]
    # A clock of its own: it may stand still, jump, and be no whole number.
    now, times = -3.0, []
    for _ in rows:
        now += draws.choice([0, 0.5, 1, 3])
        times.append(now)
    pdp, expected = both(
        oracle.classifier,
        ["a", "c"],
        {"a": NUMBERS["minmax, missing"], "c": CATEGORIES["categories"]},
        alpha=alpha,
        every=every,
    )
    follow(pdp, expected, rows, weights=weights, times=times)


def test_the_user_may_stop_giving_times():
    rows = oracle.stream(seed=5, n=30)
    times = [*(10.0 + 2 * i for i in range(15)), *[None] * 15]
    pdp, expected = both(oracle.regressor, ["a"], {"a": NUMBERS["minmax"]}, alpha=0.1)
    follow(pdp, expected, rows, times=times)
    assert pdp.t == 53


def test_alpha_one_keeps_the_last_observation_only():
    rows = oracle.stream(seed=6, n=40)
    pdp, expected = both(
        oracle.regressor,
        ["a", "n"],
        {"a": NUMBERS["minmax"], "n": NUMBERS["quantiles"]},
        alpha=1,
    )
    follow(pdp, expected, rows)
    curve = pdp.curve("a")
    np.testing.assert_allclose(curve.average[0], curve.ice[0, -1], rtol=1e-14)
    assert np.isnan(curve.std_error).all()


@pytest.mark.parametrize("n_ice", [0, 1, 200])
def test_the_last_ice_curves_are_kept(n_ice):
    pdp, expected = both(
        oracle.classifier,
        ["a", "c", ("c", "a")],
        {"a": NUMBERS["minmax"], "c": CATEGORIES["few of them"]},
        alpha=0.05,
        n_ice=n_ice,
    )
    follow(pdp, expected, oracle.stream(seed=7))


def test_a_category_goes_on_from_its_decayed_weight_when_it_comes_back():
    grids = {"c": ("Categories", {"window": 3, "warm_up": 1})}
    pdp, expected = both(oracle.regressor, ["c"], grids, alpha=0.1)
    rows = [{"c": c, "a": i % 5, "clock": i} for i, c in enumerate("xyxyzzzzzzyyzx")]
    follow(pdp, expected, rows, look_every=1)
    back = pdp.curve("c")
    assert back.grid_values[0].tolist() == ["x", "y", "z"][1:]
    # More than the one observation since it came back, fewer than had it never been away.
    y, z = back.n_effective_points
    assert 1 < y < z


def test_categories_that_stay_away_for_long_are_forgotten():
    # One point at a time, and room for four more that are away: the fifth goes.
    grids = {"c": ("Categories", {"window": 1, "warm_up": 1})}
    for visitors, n_remembered in (("xqrstxx", 2), ("xqrstuxx", 1)):
        pdp, expected = both(oracle.regressor, ["c"], grids, alpha=None)
        rows = [{"c": c, "clock": i} for i, c in enumerate(visitors)]
        follow(pdp, expected, rows, look_every=1)
        assert pdp.curve("c").n_effective == n_remembered


def test_a_class_had_probability_zero_before_it_appeared():
    answers = [{}, {"old": 1.0}, {"old": 0.5, "new": 0.5}]
    pdp, expected = both(
        lambda x: answers[x["clock"]], ["a"], {"a": ("Fixed", {"values": (0, 1)})}, alpha=None
    )
    follow(pdp, expected, [{"a": 0, "clock": i} for i in range(3)], look_every=2)
    curve = pdp.curve("a")
    assert curve.outputs == ("new", "old")
    np.testing.assert_allclose(curve.average, [[0.5 / 3] * 2, [0.5] * 2], rtol=1e-12)


@pytest.mark.parametrize("lost", [None, math.nan, math.inf, -math.inf, "absent"])
def test_a_missing_value_enters_no_storage_and_is_explained_all_the_same(lost):
    pdp, expected = both(
        oracle.regressor,
        ["a", "n"],
        {"a": NUMBERS["minmax"], "n": NUMBERS["quantiles"]},
        alpha=0.05,
    )
    rows = oracle.stream(seed=8, n=30)
    for x in rows[5::3]:
        x["a"] = lost
        if lost == "absent":
            del x["a"]
    follow(pdp, expected, rows, look_every=5)
    known = [x["a"] for x in rows if not oracle.is_missing(x.get("a"))]
    assert pdp.curve("a").rug[0].tolist() == sorted(known)


def test_the_axes_of_a_pair_ascend_as_those_of_a_single_feature_do():
    # Two whole numbers at first, three further down later: the third point was never further up.
    grids = {
        "n": ("MinMax", {"size": 3, "window": 2, "warm_up": 1}),
        "a": ("Fixed", {"values": (0.0, 1.0)}),
    }
    pdp, expected = both(oracle.regressor, ["n", ("n", "a")], grids, alpha=0.05)
    values = [0, 1, 0, 1, 0, 1, -10, -8, -10, -8]
    follow(pdp, expected, [{"n": n, "a": 0.5, "clock": i} for i, n in enumerate(values)])
    assert (np.diff(pdp.curve(("n", "a")).grid_values[0]) > 0).all()


def test_a_model_of_arrays_is_asked_the_same():
    def of_array(X):
        columns = ("a", "n", "clock")
        return [oracle.regressor(dict(zip(columns, row, strict=True))) for row in X.tolist()]

    def of_dict(x):
        return oracle.regressor({name: x.get(name) for name in ("a", "n", "clock")})

    rows = [{"a": x.get("a"), "n": x.get("n"), "clock": x["clock"]} for x in oracle.stream(seed=9)]
    grids = {"a": NUMBERS["minmax, missing"], "n": NUMBERS["minmax"]}
    features = ["a", "n", ("a", "n")]
    _, expected = both(of_dict, features, grids, alpha=0.05)
    pdp, _ = both(models.engine(of_array, takes="array"), features, grids, alpha=0.05)
    for x in rows[:60]:
        pdp.explain_one(x)
        expected.see(x)
    assert_same(pdp.curve("a"), expected.curve("a"))
    assert_same(pdp.curve("n"), expected.curve("n"))


def test_ice_curves_outlive_the_memory_that_a_model_answers_in():
    answer = np.empty(2)

    def model(X):
        np.add(X[:, 0], X[:, 1], out=answer)
        return answer

    pdp = IncrementalPDP(models.engine(model, takes="array"), ["a"], grid=grid.Fixed([0.0, 1.0]))
    for b in (1.0, 2.0, 3.0):
        pdp.explain_one({"a": 0.0, "b": b})
    assert pdp.curve("a").ice.tolist() == [[[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]]


def test_a_curve_is_independent_of_the_explainer():
    pdp, _ = both(
        oracle.classifier,
        ["a", "c"],
        {"a": NUMBERS["minmax, missing"], "c": CATEGORIES["categories"]},
        alpha=0.05,
    )
    rows = oracle.stream(seed=10, n=60)
    for x in rows[:40]:
        pdp.explain_one(x)
    curves = pdp.curves
    before = [curve.to_dict() for curve in curves.values()]
    for x in rows[40:]:
        pdp.explain_one(x)
    assert [curve.to_dict() for curve in curves.values()] == before


# Any settings, any stream. Values are multiples of 1/4, so that there are ties and trends.

lost = st.sampled_from([None, math.nan])
numbers = st.integers(-12, 12).map(lambda k: k / 4)
values = st.fixed_dictionaries(
    {
        "a": numbers | numbers | lost,
        "n": st.integers(-3, 6) | lost,
        "c": st.sampled_from("xyzw") | lost,
    }
)
# The length is drawn first: a list of its own would be short as a rule.
observations = st.integers(1, 30).flatmap(lambda n: st.lists(values, min_size=n, max_size=n))


@PROPERTY
@given(
    rows=observations,
    weights=st.lists(st.sampled_from([0, 0.5, 1, 2]), min_size=30, max_size=30),
    numbers=st.sampled_from(sorted(NUMBERS)),
    categories=st.sampled_from(sorted(CATEGORIES)),
    model=st.sampled_from([oracle.classifier, oracle.two_targets]),
    alpha=st.sampled_from([0.02, 0.1, None]),
    every=st.integers(1, 3),
    seed=st.integers(0, 100),
)
def test_any_stream(*, rows, weights, numbers, categories, model, alpha, every, seed):
    pdp, expected = both(
        model,
        ["a", "c", ("a", "c"), "n"],
        {"a": NUMBERS[numbers], "c": CATEGORIES[categories], "n": NUMBERS[numbers]},
        alpha=alpha,
        every=every,
        seed=seed,
    )
    rows = [{**x, "clock": 8 + 2 * i} for i, x in enumerate(rows)]
    follow(pdp, expected, rows, weights=weights[: len(rows)])
