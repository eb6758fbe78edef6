"""Frames as people have them: categories, missing values, nullable and arrow types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import ipdp

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
LEVELS = ["low", "mid", "high"]


def frame(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "level": pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS, ordered=True),
            "day": pd.Categorical(rng.choice(DAYS, n), categories=DAYS),
        }
    )


def level_of(X) -> np.ndarray:
    return np.array([LEVELS.index(level) for level in X["level"]], dtype=float)


def by_dtype(X):
    """A function that works on the dtypes it was made for only."""
    codes = X["level"].cat.codes.to_numpy()
    assert list(X["level"].cat.categories) == LEVELS
    assert X["level"].dtype.ordered
    return codes + X["a"].to_numpy()


def test_a_function_of_a_frame_gets_the_dtypes_of_the_first_frame():
    X = frame()
    model = ipdp.models.engine(by_dtype, takes="frame")
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    pdp.explain_many(X)
    for x in X.to_dict("records"):
        pdp.explain_one(x)
    for _, x in X.head(5).iterrows():
        pdp.explain_one(x)
    level = pdp.curve("level")
    assert level.grid_values[0].tolist() == LEVELS
    np.testing.assert_allclose(np.diff(level.average[0]), 1.0)
    curves = ipdp.partial_dependence(ipdp.models.engine(by_dtype, takes="frame"), X)
    assert [list(c.grid_values[0]) for c in curves[1:]] == [LEVELS, DAYS]


def test_categories_have_the_order_of_their_dtype_and_keep_it():
    X = frame()
    pdp = ipdp.IncrementalPDP(lambda x: LEVELS.index(x["level"]), ["level", "day"], alpha=0.05)
    pdp.explain_many(X.iloc[:100])
    pdp.explain_many(X.iloc[100:])
    assert pdp.curve("day").grid_values[0].tolist() == DAYS
    later = pdp.successor()
    later.explain_many(X)
    twin = ipdp.IncrementalPDP(lambda x: 0.0, ["level", "day"], alpha=0.05)
    twin.state = pdp.state
    for known in (pdp.merge(later), pdp.from_bytes(pdp.state_bytes()), twin):
        assert known.curve("level").grid_values[0].tolist() == LEVELS
        assert known.curve("day").grid_values[0].tolist() == DAYS
    ale = ipdp.IncrementalALE(lambda x: LEVELS.index(x["level"]), ["level"], alpha=0.05)
    ale.explain_many(X)
    assert set(ale.curve("level").grid_values[0]) == set(LEVELS)


def test_whole_numbers_that_are_categories_stay_categories():
    X = pd.DataFrame({"k": pd.Categorical(np.arange(200) % 30)})
    [curve] = ipdp.partial_dependence(lambda x: float(x["k"]), X)
    assert curve.categorical == (True,)


def test_polars_enums_are_in_order_and_the_model_gets_a_frame_of_polars():
    X = pl.from_pandas(frame()).with_columns(pl.col("level").cast(pl.String).cast(pl.Enum(LEVELS)))

    def code(X: pl.DataFrame):
        assert X.schema["level"] == pl.Enum(LEVELS)
        return X["level"].to_physical().cast(pl.Float64).to_numpy()

    model = ipdp.models.engine(code, takes="frame", backend="polars")
    pdp = ipdp.IncrementalPDP(model, ["level", "a"], alpha=0.05)
    pdp.explain_many(X)
    assert pdp.curve("level").grid_values[0].tolist() == LEVELS
    np.testing.assert_allclose(pdp.curve("level").average[0], [0, 1, 2])


def test_an_estimator_that_was_fitted_on_a_frame_of_polars():
    X = pl.from_pandas(frame()).with_columns(pl.col("level").cast(pl.String).cast(pl.Enum(LEVELS)))

    def codes(X):
        return X.select(pl.col("level").to_physical().cast(pl.Float64), pl.col("a")).to_numpy()

    model = make_pipeline(FunctionTransformer(codes, validate=False), LinearRegression())
    model.fit(X, X["a"].to_numpy())
    pdp = ipdp.IncrementalPDP(model, ["level"], alpha=0.05)
    pdp.explain_many(X)
    assert pdp.curve("level").grid_values[0].tolist() == LEVELS


def holes(n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    k, missing = rng.integers(0, 50, n), rng.random(n) < 0.2
    X = pd.DataFrame({"k": pd.array(k, dtype="Int64"), "b": pd.array(k % 2 == 0, dtype="boolean")})
    X.loc[missing, ["k", "b"]] = pd.NA
    return X, np.where(missing, 25.0, k)


@pytest.mark.parametrize(
    "dtypes",
    [
        {},
        {"k": "Float64"},
        {"k": "int64[pyarrow]", "b": "bool[pyarrow]"},
        {"b": object},
        {"k": object, "b": object},
    ],
)
def test_missing_values_of_nullable_types_are_missing_values(dtypes):
    X, y = holes()
    floats = X[["k"]].astype(float)
    model = HistGradientBoostingRegressor(max_iter=10).fit(floats, y)
    X = X.astype(dtypes)
    numbers = X[["k"]]
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    pdp.explain_many(numbers)
    for x in numbers.head(30).to_dict("records"):
        pdp.explain_one(x)
    for _, x in numbers.head(30).iterrows():
        pdp.explain_one(x)
    plain = ipdp.partial_dependence(model, floats)[0]
    curve = ipdp.partial_dependence(model, numbers)[0]
    np.testing.assert_allclose(curve.average[0, [0, -1]], plain.average[0, [0, -1]], atol=1)
    assert curve.average[0, -1] > curve.average[0, 0] + 10
    truth = ipdp.IncrementalPDP(lambda x: 0.0 if x["b"] is None else 1.0 + x["b"], alpha=0.05)
    truth.explain_many(X)
    assert [bool(v) for v in truth.curve("b").grid_values[0]] == [False, True]


@pytest.mark.parametrize("dtype", ["string", "string[pyarrow]", "str", object])
def test_text_of_any_type_is_text(dtype):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"c": pd.Series(rng.choice(["x", "y"], 100), dtype=dtype), "a": range(100)})
    X["a"] = rng.normal(size=100)
    encoder = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(encoder, LinearRegression()).fit(
        X, np.array(X["c"] == "x", dtype=float) + X["a"]
    )
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    pdp.explain_many(X)
    np.testing.assert_allclose(np.diff(pdp.curve("c").average[0]), -1.0)


def test_gradient_boosting_on_categories_of_a_frame():
    X = frame()
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype")
    model.fit(X, level_of(X))
    pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    pdp.explain_many(X)
    other = ipdp.IncrementalPDP(model, alpha=0.05)
    for x in X.to_dict("records"):
        other.explain_one(x)
    np.testing.assert_allclose(pdp.curve("level").average[0], [0, 1, 2], atol=0.3)
    np.testing.assert_allclose(other.curve("level").at(LEVELS)[0], [0, 1, 2], atol=0.3)
