"""What goes wrong, what is said of it, and that nothing has changed afterwards.

Every failure is met twice: by `explain_one`, and by `explain_many` in the middle of good rows. Both
times the state must be bit for bit what it was, and the explainer goes on as if nothing had been.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import dummy, naive_bayes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from ipdp import IncrementalPDP, NotEnoughSamples, models
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles


def says(x):
    """A model that says what the observation tells it to, or fails with it."""
    if isinstance(x["says"], Exception):
        raise x["says"]
    return x["says"]


def rows(n=12, answer=1.0, start=0):
    """Good observations; categories come and go, so that a batch changes its layout on the way."""
    return [
        {"a": i / 4, "n": i % 7, "c": "uvwxyz"[i // 3 % 6], "says": answer}
        for i in range(start, start + n)
    ]


def explainer(model=says, **setup):
    setup = {
        "features": ["a", "n", "c", ("a", "c")],
        "grid": {
            "a": MinMax(3, 5, warm_up=2),
            "n": Quantiles(3, window=6, storage_size=4, warm_up=2),
            "c": Categories(window=4, warm_up=1),
        },
        "alpha": 0.1,
        "seed": 1,
    } | setup
    return IncrementalPDP(model, **setup)


def dumped(pdp):
    return json.dumps(pdp.state)


def assert_fails_and_leaves_no_trace(make, good, bad, error, match):
    """`make` gives an explainer, `good` its observations so far, `bad` the one that fails."""
    pdp, unharmed = make(), make()
    for x in good:
        pdp.explain_one(x)
        unharmed.explain_one(x)
    before = dumped(pdp)
    with pytest.raises(error, match=match):
        pdp.explain_one(bad)
    assert dumped(pdp) == before
    with pytest.raises(error):
        pdp.explain_many([*good[:7], bad, *good[7:]])
    assert dumped(pdp) == before
    for x in good:
        pdp.explain_one(x)
        unharmed.explain_one(x)
    assert dumped(pdp) == dumped(unharmed)


# The model.


@pytest.mark.parametrize(
    ("before", "now", "error", "match"),
    [
        (1.0, RuntimeError("no model today"), RuntimeError, "no model today"),
        (1.0, KeyError("b"), KeyError, "b"),
        (1.0, math.nan, ValueError, "NaN or infinity"),
        (1.0, math.inf, ValueError, "NaN or infinity"),
        (1.0, -math.inf, ValueError, "NaN or infinity"),
        (1.0, 1e308, ValueError, "cannot be averaged"),
        (1.0, -1e160, ValueError, "cannot be averaged"),
        (1.0, None, ValueError, "None"),
        (1.0, "yes", ValueError, "'yes'"),
        (1.0, [1.0, 2.0], ValueError, "2 outputs"),
        (1.0, {"yes": 1.0}, ValueError, "yes"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], ValueError, "3 outputs"),
        ([1.0, 2.0], [1.0], ValueError, "outputs"),
        ([1.0, 2.0], 1.0, ValueError, "outputs"),
        ([1.0, 2.0], [1.0, math.nan], ValueError, "NaN or infinity"),
        ([1.0, 2.0], [1.0, 1e308], ValueError, "cannot be averaged"),
        ({"yes": 1.0}, {"yes": 1e308}, ValueError, "cannot be averaged"),
        ([1.0, 2.0], {"yes": 1.0, "no": 2.0}, ValueError, "outputs"),
        ({"yes": 1.0}, 1.0, ValueError, "outputs"),
        ({"yes": 1.0}, [1.0, 2.0], ValueError, "2 outputs"),
        ({"yes": 1.0}, {"yes": math.nan}, ValueError, "NaN or infinity"),
        ({"yes": 1.0}, {"no": math.inf}, ValueError, "NaN or infinity"),
        ({"yes": 1.0}, {"no": "much"}, ValueError, "much"),
    ],
)
def test_a_model_of_dicts_that_fails(before, now, error, match):
    assert_fails_and_leaves_no_trace(
        explainer, rows(answer=before), {**rows()[-1], "says": now}, error, match
    )


def no_model(X):
    raise RuntimeError("no model today")


@pytest.mark.parametrize(
    ("answer", "error", "match"),
    [
        (no_model, RuntimeError, "no model today"),
        (lambda X: np.full((len(X), 2), math.nan), ValueError, "NaN or infinity"),
        (lambda X: X[:, 0], ValueError, "outputs"),
        (lambda X: X[:, [0, 0, 1]], ValueError, "3 outputs"),
        (lambda X: X[:-1, :2], ValueError, "rows"),
        (lambda X: X[:, :2, None], ValueError, "rows"),
        (lambda X: 1.0, ValueError, "rows"),
        (lambda X: pd.DataFrame(X[:, :2], columns=["yes", "no"]), ValueError, "yes"),
        (lambda X: np.full((len(X), 2), "yes"), ValueError, "yes"),
    ],
)
def test_a_model_of_arrays_that_fails(answer, error, match):
    def model(X):
        return answer(X) if X[:, 2].any() else X[:, :2]

    def make():
        engine = models.engine(model, takes="array")
        return explainer(engine, features=["a", "n"], grid=MinMax(3, warm_up=2))

    good = [{"a": i / 4, "n": i % 3, "fails": 0} for i in range(12)]
    assert_fails_and_leaves_no_trace(make, good, {**good[-1], "fails": 1}, error, match)


@pytest.mark.parametrize(
    "model", [LinearRegression(), LogisticRegression(), LinearRegression().predict]
)
def test_an_unfitted_model_of_scikit_learn(model):
    pdp = explainer(model, features=["a"], grid=Fixed([0, 1]))
    before = dumped(pdp)
    with pytest.raises(NotFittedError):
        pdp.explain_one({"a": 1.0})
    with pytest.raises(NotFittedError):
        pdp.explain_many(pd.DataFrame({"a": [1.0, 2.0]}))
    assert dumped(pdp) == before
    assert pdp.n_seen == 0


@pytest.mark.parametrize("features", [["a"], ["a", ("a", "b")]])
def test_an_unfitted_model_of_river_says_nothing_and_that_is_no_error(features):
    model = naive_bayes.GaussianNB()
    assert model.predict_proba_one({"a": 1.0, "b": 1.0}) == {}
    pdp = explainer(model, features=features, grid=Fixed([0.0, 1.0]), alpha=None)
    for feature in features:
        with pytest.raises(NotEnoughSamples):
            pdp.curve(feature)
    pdp.explain_one({"a": 1.0, "b": 2.0})
    pdp.explain_many([{"a": 1.0, "b": 2.0}])
    for feature in features:
        curve = pdp.curve(feature)
        assert (curve.outputs, curve.n_samples) == ((), 2)
        assert curve.average.shape == (0, *(2,) * len(curve.features))
    for x, y in [({"a": 1.0, "b": 2.0}, "yes"), ({"a": 0.0, "b": 1.0}, "no")]:
        model.learn_one(x, y)
    pdp.explain_one({"a": 1.0, "b": 2.0})
    curve = pdp.curve("a")
    assert curve.outputs == ("no", "yes")
    # Probabilities of 0 twice, and once two that sum to 1.
    np.testing.assert_allclose(curve.average.sum(axis=0), [1 / 3, 1 / 3])


def test_a_classifier_of_river_without_a_class_yet():
    model = dummy.NoChangeClassifier()
    pdp = explainer(models.engine(model, response="predict"), features=["a"], grid=Fixed([0, 1]))
    pdp.explain_one({"a": 1.0})
    model.learn_one({"a": 1.0}, "yes")
    pdp.explain_one({"a": 1.0})
    assert pdp.curve("a").outputs == ("yes",)


# The first observation.


def test_after_a_failed_first_observation_the_explainer_is_new():
    def model(X):
        return X @ np.array([1.0, 10.0])

    pdp = explainer(models.engine(model, takes="array"), features=["a"], grid=Fixed([1.0]))
    before = dumped(pdp)
    with pytest.raises(ValueError, match="mismatch"):
        pdp.explain_one({"a": 1.0})
    with pytest.raises(ValueError, match="mismatch"):
        pdp.explain_many([{"b": 2.0, "a": 1.0, "c": 0.0}])
    assert dumped(pdp) == before
    pdp.explain_one({"a": 5.0, "b": 2.0})
    assert pdp.curve("a").average.tolist() == [[21.0]]


@pytest.mark.parametrize("x", [{}, {"salary": 1.0, "agee": 3}])
def test_a_first_observation_without_the_feature(x):
    pdp = IncrementalPDP(says, ["age"])
    before = dumped(pdp)
    match = "'age'.*'agee'" if x else "'age'"
    with pytest.raises(ValueError, match=match):
        pdp.explain_one(x)
    with pytest.raises(ValueError, match=match):
        pdp.explain_many([x, {"age": 1.0}])
    assert dumped(pdp) == before


def test_a_first_observation_without_any_feature():
    with pytest.raises(ValueError, match="no features"):
        IncrementalPDP(says).explain_one({})


def test_unknown_names_get_the_close_one_proposed():
    with pytest.raises(ValueError, match=r"no feature 'salry'.*did you mean 'salary'"):
        IncrementalPDP(says, ["salry"]).explain_one({"salary": 1.0, "age": 2.0})
    with pytest.raises(ValueError, match=r"no feature 'agee'.*did you mean 'age'"):
        IncrementalPDP(says, [("salary", "agee")]).explain_one({"salary": 1.0, "age": 2.0})
    with pytest.raises(ValueError, match=r"no feature 'salry'.*did you mean 'salary'"):
        IncrementalPDP(says, ["salary"], grid={"salry": MinMax()})
    pdp = IncrementalPDP(says, grid={"salry": MinMax()})
    with pytest.raises(ValueError, match=r"no feature 'salry'.*did you mean 'salary'"):
        pdp.explain_one({"salary": 1.0, "age": 2.0})
    assert pdp.n_seen == 0


def test_a_curve_that_is_not_followed_and_one_that_is_not_there_yet():
    pdp = IncrementalPDP(says, ["salary", ("age", "salary")], grid=Auto(warm_up=2))
    for _ in range(3):
        with pytest.raises(ValueError, match=r"no curve for 'salry'.*did you mean 'salary'"):
            pdp.curve("salry")
        with pytest.raises(ValueError, match="no curve for 'age'"):
            pdp.curve("age")  # part of a pair, and not followed on its own
        with pytest.raises(ValueError, match="no curve for"):
            pdp.curve(("salary", "age"))
        for feature in ("salary", ("age", "salary")):
            if pdp.n_seen < 3:
                with pytest.raises(NotEnoughSamples):
                    pdp.curve(feature)
        pdp.explain_one({"salary": 1.5, "age": 2.5, "says": 1.0})
    assert list(pdp.curves) == ["salary", ("age", "salary")]
    assert pdp.curve(["age", "salary"]).feature == ("age", "salary")


# The values of a feature.


@pytest.mark.parametrize("lost", [None, math.nan, math.inf, -math.inf, np.float64("nan"), pd.NA])
@pytest.mark.parametrize(
    ("grid", "values"),
    [
        (MinMax(3, warm_up=2), [1.5, 2.5, 3.5]),
        (QuantileRange(3, warm_up=2), [1.5, 2.5, 3.5]),
        (Quantiles(3, warm_up=2), [1, 2, 3]),
        (Fixed([1, 2]), [1, 2, 3]),
        (Fixed(["x", "y"]), ["x", "y", "x"]),
        (Categories(warm_up=2), ["x", "y", "x"]),
        (Categories(warm_up=2), [1, 2, 2]),
        (Auto(warm_up=2), [1.5, 2.5, 3.5]),
        (Auto(warm_up=2), [1, 2, 3]),
        (Auto(warm_up=2), ["x", "y", "x"]),
        (Auto(warm_up=2), [True, False, False]),
    ],
    ids=str,
)
def test_a_value_that_is_not_there_is_no_error_and_enters_no_storage(grid, values, lost):
    pdp = IncrementalPDP(says, ["v"], grid=grid)
    for value in (values[0], lost, values[1], lost, values[2], lost):
        pdp.explain_one({"v": value, "says": 1.0})
    pdp.explain_many([{"v": lost, "says": 1.0}, {"says": 1.0}])
    curve = pdp.curve("v")
    assert sorted(curve.rug[0].tolist()) == sorted(values)
    assert curve.n_samples == (8 if isinstance(grid, Fixed) else 5)
    assert pdp.n_seen == 8
    json.dumps(pdp.state, allow_nan=False)


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
def test_a_feature_that_is_absent_from_a_later_observation_is_missing(estimator):
    def followed(last):
        # Without the observations themselves, of which one lacks the feature and one has None.
        pdp = explainer(estimator=estimator, n_past=0)
        for x in rows():
            pdp.explain_one(x)
        pdp.explain_one(last)
        pdp.explain_many([last])
        return dumped(pdp)

    whole = rows()[-1]
    absent = {name: value for name, value in whole.items() if name != "c"}
    assert followed(absent) == followed({**whole, "c": None}) != followed(whole)


NUMBER_GRIDS = [
    MinMax(3, warm_up=2),
    QuantileRange(3, warm_up=2),
    Quantiles(3, warm_up=2),
    Fixed([1, 2]),
    Auto(3, warm_up=2),
]


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("value", ["tall", b"tall", [1.0], {"a": 1}, np.array([1.0, 2.0])], ids=str)
@pytest.mark.parametrize("grid", NUMBER_GRIDS, ids=str)
def test_something_else_where_a_number_was(grid, value, estimator):
    def make():
        return explainer(features=["a"], grid=grid, estimator=estimator)

    bad = {**rows()[-1], "a": value}
    assert_fails_and_leaves_no_trace(make, rows(), bad, TypeError, "'a'.*number")


@pytest.mark.parametrize("grid", [Categories(warm_up=2), Auto(warm_up=2)], ids=str)
def test_something_that_cannot_be_a_category(grid):
    def make():
        return explainer(features=["c"], grid=grid)

    bad = {**rows()[-1], "c": ["x", "y"]}
    assert_fails_and_leaves_no_trace(make, rows(), bad, TypeError, "'c'.*category")


@pytest.mark.parametrize("value", [True, np.int64(3), np.float32(0.5), Fraction(1, 2)], ids=repr)
@pytest.mark.parametrize("grid", NUMBER_GRIDS, ids=str)
def test_other_kinds_of_numbers_are_numbers(grid, value):
    pdp = explainer(features=["a"], grid=grid)
    for x in rows():
        pdp.explain_one(x)
    pdp.explain_one({**rows()[-1], "a": value})
    assert float(value) in pdp.curve("a").rug[0].tolist()
    dumped(pdp)


@pytest.mark.parametrize("huge", [[10**400], [-1e308, 1e308]], ids=["an integer", "a range"])
@pytest.mark.parametrize("grid", NUMBER_GRIDS, ids=str)
def test_numbers_too_large_for_their_differences_do_no_lasting_harm(grid, huge):
    pdp = explainer(features=["a"], grid=grid)
    for x in rows():
        pdp.explain_one(x)
    for value in huge:
        pdp.explain_one({**rows()[-1], "a": value})
    for x in rows():
        pdp.explain_one(x)
    assert pdp.curve("a").n_samples >= 12
    assert np.isfinite(pdp.curve("a").grid_values[0]).all()


# Weights, times, and what is not an observation.


@pytest.mark.parametrize(
    ("w", "error"),
    [(-1, ValueError), (math.nan, ValueError), (math.inf, ValueError), ("1", TypeError)],
)
def test_a_bad_weight(w, error):
    pdp = explainer()
    pdp.explain_many(rows())
    before = dumped(pdp)
    with pytest.raises(error):
        pdp.explain_one(rows()[0], w)
    with pytest.raises(error):
        pdp.explain_many(rows(4), [1, 1, w, 1])
    assert dumped(pdp) == before


@pytest.mark.parametrize(
    ("t", "error"),
    [(11.9, ValueError), (-math.inf, ValueError), (math.nan, ValueError), (math.inf, ValueError)],
)
def test_a_time_that_goes_back(t, error):
    pdp = explainer()
    pdp.explain_many(rows())
    before = dumped(pdp)
    with pytest.raises(error, match="time"):
        pdp.explain_one(rows()[0], t=t)
    with pytest.raises(error, match="time"):
        pdp.explain_many(rows(4), t=[12, 13, t, 14])
    assert dumped(pdp) == before


def test_a_weight_of_zero_is_seen_and_not_explained():
    pdp = explainer(estimator="pointwise")  # the other one shows no points beyond the range
    pdp.explain_many(rows())
    curves = {feature: curve.average for feature, curve in pdp.curves.items()}
    pdp.explain_one({**rows()[0], "says": RuntimeError("was asked")}, 0)
    assert pdp.n_seen == 13
    for feature, average in curves.items():
        np.testing.assert_array_equal(pdp.curve(feature).average, average)


@pytest.mark.parametrize("x", [[1.0, 2.0], np.array([1.0]), pd.DataFrame({"a": [1.0]}), "a", None])
def test_one_observation_that_is_not_a_dict(x):
    pdp = explainer()
    pdp.explain_many(rows())
    before = dumped(pdp)
    with pytest.raises(TypeError, match="explain_many"):
        pdp.explain_one(x)
    assert dumped(pdp) == before


@pytest.mark.parametrize(
    ("X", "given", "error", "match"),
    [
        (rows()[0], {}, TypeError, "one observation"),
        ("stream.csv", {}, TypeError, "read the file"),
        ([[1.0, 2.0]], {}, TypeError, "must be a dict"),
        ([*rows(3), None], {}, TypeError, "must be a dict"),
        (np.ones(3), {}, ValueError, "two dimensions"),
        (np.ones((2, 2)), {"names": ["a"]}, ValueError, "1 names for 2 columns"),
        (pd.DataFrame(rows(2)), {"names": ["a", "n", "c", "says"]}, ValueError, "names"),
        (rows(2), {"w": [1.0]}, ValueError, "w has 1 values for 2 rows"),
        (rows(2), {"t": [20, 21, 22]}, ValueError, "t has 3 values for 2 rows"),
    ],
)
def test_many_observations_that_are_none(X, given, error, match):
    pdp = explainer()
    pdp.explain_many(rows())
    before = dumped(pdp)
    with pytest.raises(error, match=match):
        pdp.explain_many(X, **given)
    assert dumped(pdp) == before


@pytest.mark.parametrize(
    "nothing",
    [[], pd.DataFrame(), pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), np.empty((0, 3))],
    ids=["list", "no columns", "pandas", "polars", "array"],
)
def test_an_empty_table_is_no_error_and_changes_nothing(nothing):
    pdp = explainer()
    before = dumped(pdp)
    pdp.explain_many(nothing)
    assert dumped(pdp) == before
    pdp.explain_many(rows())
    before = dumped(pdp)
    pdp.explain_many(nothing)
    assert dumped(pdp) == before


def test_a_batch_that_fails_at_the_very_start_leaves_a_new_explainer_new():
    pdp = explainer()
    before = dumped(pdp)
    with pytest.raises(RuntimeError, match="late"):
        pdp.explain_many([*rows(), {**rows()[0], "says": RuntimeError("late")}])
    assert dumped(pdp) == before
    assert pdp.n_seen == 0
    assert pdp.curves == {}


# Arguments.


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"alpha": 0}, ValueError, "alpha must be in"),
        ({"alpha": -0.1}, ValueError, "alpha must be in"),
        ({"alpha": 1.5}, ValueError, "alpha must be in"),
        ({"alpha": math.nan}, ValueError, "alpha must be in"),
        ({"half_life": 0}, ValueError, "half_life"),
        ({"half_life": math.inf}, ValueError, "half_life"),
        ({"span": 0.5}, ValueError, "span"),
        ({"alpha": 0.1, "span": 9}, ValueError, "alpha and span"),
        ({"alpha": None, "half_life": 9}, ValueError, "alpha and half_life"),
        ({"estimator": "spline"}, ValueError, "pointwise or regrid"),
        ({"every": 0}, ValueError, "every"),
        ({"every": 1.5}, (TypeError, ValueError), "every"),
        ({"n_ice": -1}, ValueError, "n_ice"),
        ({"features": []}, ValueError, "empty"),
        ({"features": ["a", "a"]}, ValueError, "'a' is given twice"),
        ({"features": [("a", "a")]}, ValueError, "different names"),
        ({"features": [("a",)]}, ValueError, "different names"),
        ({"features": [("a", "b", "c")]}, ValueError, "different names"),
        ({"grid": 10}, TypeError, "ipdp.grid"),
        ({"grid": MinMax}, TypeError, "ipdp.grid"),
        ({"grid": {"a": 10}}, TypeError, "'a'"),
        ({"features": ["a"], "grid": {"b": MinMax()}}, ValueError, "no feature 'b'"),
        ({"model": "model.pkl"}, TypeError, "not a model"),
        ({"model": LinearRegression}, TypeError, "is a class"),
    ],
)
def test_wrong_arguments_of_the_explainer(given, error, match):
    with pytest.raises(error, match=match):
        IncrementalPDP(**{"model": says, **given})


@pytest.mark.parametrize(
    ("kind", "given", "match"),
    [
        *[(kind, {"size": 1}, "size") for kind in (MinMax, QuantileRange, Quantiles, Auto)],
        *[(kind, {"size": 2.5}, "size") for kind in (MinMax, QuantileRange, Quantiles, Auto)],
        *[
            (kind, {name: 0}, name)
            for kind in (MinMax, QuantileRange, Quantiles, Auto, Categories)
            for name in ("window", "warm_up")
        ],
        (Categories, {"size": 0}, "size"),
        (QuantileRange, {"lower": -0.1}, "lower"),
        (QuantileRange, {"upper": 1.1}, "upper"),
        (QuantileRange, {"lower": 0.9, "upper": 0.1}, "lower < upper"),
        (QuantileRange, {"storage_size": 0}, "size"),
        (Quantiles, {"storage_size": 20, "window": 10}, "storage_size"),
        (Quantiles, {"select": "youngest"}, "select"),
        (Fixed, {"values": []}, "at least one point"),
        (Fixed, {"values": [1, None]}, "missing"),
        (Fixed, {"values": [1.0, math.nan]}, "missing"),
        (Fixed, {"values": [1, 2, 1]}, "distinct"),
        (Fixed, {"values": [1, math.inf]}, "finite"),
    ],
)
def test_wrong_arguments_of_a_grid(kind, given, match):
    with pytest.raises((TypeError, ValueError), match=match):
        kind(**given)
