"""The columns of observations and those of the model."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ipdp


def frame(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "pay", "debt"])


def target(X: pd.DataFrame) -> pd.Series:
    return X["age"] + 2 * X["pay"] - X["debt"]


MODELS = [
    LinearRegression(),
    make_pipeline(StandardScaler(), LinearRegression()),
    RandomForestRegressor(5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_column_of_the_model_that_is_not_there_is_refused_at_once(model):
    X = frame()
    model.fit(X, target(X))
    wrong = X.rename(columns={"pay": "Pay"}).to_dict("records")
    pdp = ipdp.IncrementalPDP(model)
    with pytest.raises(ValueError, match=r"fitted on 'pay' \(did you mean 'Pay'\?\)"):
        pdp.explain_one(wrong[0])
    assert pdp.n_seen == 0
    with pytest.raises(ValueError, match="'pay'"):
        pdp.explain_many(X[["age", "debt"]])
    with pytest.raises(ValueError, match="'pay'"):
        ipdp.partial_dependence(model, wrong)
    with pytest.raises(ValueError, match="'pay'"):
        ipdp.accumulated_local_effects(model, wrong)
    with pytest.raises(ValueError, match="'pay'"):
        ipdp.IncrementalPFI(model, loss=lambda y, p: abs(y - p)).explain_one(wrong[0], 1.0)


def test_an_array_for_a_model_with_names_is_told_to_name_its_columns():
    X = frame()
    model = LinearRegression().fit(X, target(X))
    with pytest.raises(ValueError, match="names=") as error:
        ipdp.IncrementalPDP(model).explain_many(X.to_numpy())
    assert "\n" not in str(error.value)
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    pdp.explain_many(X.to_numpy(), names=list(X))
    assert list(pdp.curves) == ["age", "pay", "debt"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_surplus_columns_are_left_out_and_named_once(model):
    X = frame()
    model.fit(X, target(X))
    plain = ipdp.IncrementalPDP(model, alpha=0.05)
    plain.explain_many(X)
    rows = X.assign(note="n", room=range(len(X))).to_dict("records")
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x in rows:
            pdp.explain_one(x)
    assert len(said) == 1
    assert "'note' and 'room'" in str(said[0].message)
    assert said[0].filename == __file__
    assert list(pdp.curves) == ["age", "pay", "debt"]
    for name, curve in plain.curves.items():
        np.testing.assert_allclose(pdp.curve(name).average, curve.average, atol=1e-12)


def counting(model, X, counts):
    fitted = model.fit(X, target(X[["age", "pay", "debt"]]))
    predict = fitted.predict

    def counted(rows):
        counts.append(len(rows))
        return predict(rows)

    fitted.predict = counted
    return fitted


@pytest.mark.parametrize("asked", [["age", "note"], ["note"], ["age", ("age", "note")]])
def test_a_column_that_the_model_does_not_have_is_flat_and_costs_nothing(asked):
    X = frame()
    counts: list[int] = []
    model = counting(LinearRegression(), X, counts)
    rng = np.random.default_rng(1)
    rows = X.assign(note=rng.normal(size=len(X))).to_dict("records")
    pdp = ipdp.IncrementalPDP(model, asked, alpha=0.05)
    for x in rows:
        pdp.explain_one(x)
    if "note" in asked:
        curve = pdp.curve("note")
        assert curve.overall_importance < 1e-12
        assert np.ptp(curve.average) < 1e-12
    if asked == ["age", "note"]:
        n_rows = sum(counts)
        alone = ipdp.IncrementalPDP(model, ["age"], alpha=0.05)
        for x in rows:
            alone.explain_one(x)
        np.testing.assert_array_equal(pdp.curve("age").average, alone.curve("age").average)
        # Beside the curve of age one prediction for each observation after the warm-up.
        assert n_rows == sum(counts) - n_rows + len(rows) - 20


def test_a_dropped_column_has_no_importance_and_costs_no_predictions():
    X = frame().assign(colour=np.random.default_rng(2).choice(["red", "blue"], 120))
    kept = ["age", "pay", "debt"]
    counts: list[int] = []
    steps = ColumnTransformer([("kept", "passthrough", kept), ("not", "drop", ["colour"])])
    model = counting(make_pipeline(steps, LinearRegression()), X, counts)
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    for x in X.to_dict("records"):
        pdp.explain_one(x)
    n_rows = sum(counts)
    curve = pdp.curve("colour")
    assert curve.overall_importance < 1e-12
    assert pdp.curve("pay").overall_importance > 0.5
    without = ipdp.IncrementalPDP(model, kept, alpha=0.05)
    counts.clear()
    for x in X.to_dict("records"):
        without.explain_one(x)
    assert n_rows == sum(counts) + len(X) - 20


def test_what_a_stream_never_made_a_difference_to_has_no_importance():
    """Categories come and go, and so do the means of their points; no curve is made of that."""
    rng = np.random.default_rng(3)
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a", "k"], alpha=0.02)
    for n in range(600):
        pdp.explain_one({"a": rng.normal() + n / 100, "k": f"k{n // 100 * 3 + rng.integers(9)}"})
    assert pdp.curve("k").overall_importance < 1e-12
    assert pdp.curve("k", now=True).overall_importance < 1e-12
    assert pdp.curve("a").overall_importance > 0.5
