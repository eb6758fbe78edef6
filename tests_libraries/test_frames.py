"""Boosters that were trained on frames with categories, of pandas and of polars."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import Dataset, LGBMClassifier, LGBMRegressor
from lightgbm import train as train_lightgbm
from xgboost import DMatrix, XGBRegressor
from xgboost import train as train_xgboost

import ipdp

LEVELS = ["low", "mid", "high"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri"]


def frame(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    level, day = rng.choice(LEVELS, n), rng.choice(DAYS, n)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "level": pd.Categorical(level, categories=LEVELS, ordered=True),
            "day": pd.Categorical(day, categories=DAYS),
        }
    )
    return X, np.array([LEVELS.index(x) for x in level], dtype=float) + (day == "Fri")


def quick(model):
    few = {"lightgbm": {"n_estimators": 40, "verbose": -1, "min_child_samples": 5}}
    few |= {"xgboost": {"n_estimators": 40, "enable_categorical": True}}
    more = {"iterations": 60, "verbose": 0, "allow_writing_files": False}
    few |= {"catboost": {**more, "cat_features": ["level", "day"]}}
    return model(**few[model.__module__.partition(".")[0]])


MODELS = [LGBMRegressor, LGBMClassifier, XGBRegressor, CatBoostRegressor, CatBoostClassifier]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_booster_on_categories_of_pandas(model):
    X, y = frame()
    is_classifier = "Classifier" in model.__name__
    fitted = quick(model).fit(X, y > 1 if is_classifier else y)
    plain = getattr(fitted, "predict_proba" if is_classifier else "predict")
    [curve] = ipdp.partial_dependence(fitted, X, "level")
    assert curve.grid_values[0].tolist() == LEVELS
    by_hand = []
    for level in LEVELS:
        changed = X.assign(level=pd.Categorical([level] * len(X), dtype=X["level"].dtype))
        by_hand.append(np.asarray(plain(changed)).reshape(len(X), -1)[:, -1].mean())
    np.testing.assert_allclose(curve.average[-1], by_hand, atol=1e-5)

    many = ipdp.IncrementalPDP(fitted, alpha=0.05)
    many.explain_many(X)
    one = ipdp.IncrementalPDP(fitted, alpha=0.05)
    for x in X.to_dict("records"):
        one.explain_one(x)
    for _, x in X.head(3).iterrows():
        one.explain_one(x)
    for name in X:
        assert len(many.curve(name).average)
    same = many.curve("level").at(LEVELS), one.curve("level").at(LEVELS)
    np.testing.assert_allclose(*same, atol=0.3)
    if model is not CatBoostRegressor and model is not CatBoostClassifier:
        assert one.curve("level").grid_values[0].tolist() == LEVELS


def test_native_boosters_on_categories_of_pandas():
    X, y = frame()
    settings = {"verbose": -1, "min_data_in_leaf": 5, "objective": "regression"}
    lightgbm = train_lightgbm(settings, Dataset(X, y), 40)
    xgboost = train_xgboost({}, DMatrix(X, y, enable_categorical=True), 40)
    for model, by_hand in (
        (lightgbm, lightgbm.predict),
        (xgboost, lambda X: xgboost.predict(DMatrix(X, enable_categorical=True))),
    ):
        [curve] = ipdp.partial_dependence(model, X, "day")
        assert curve.grid_values[0].tolist() == DAYS
        friday = X.assign(day=pd.Categorical(["Fri"] * len(X), dtype=X["day"].dtype))
        np.testing.assert_allclose(curve.average[0, -1], by_hand(friday).mean(), atol=1e-5)


def test_numbers_that_are_categories_need_a_frame_which_is_said():
    X, y = frame()
    X["code"] = pd.Categorical(np.arange(len(X)) % 4)
    fitted = quick(LGBMRegressor).fit(X, y)
    pdp = ipdp.IncrementalPDP(fitted, alpha=0.05)
    rows = X.to_dict("records")
    with pytest.raises(ValueError, match="explain a frame with the same types first"):
        list(map(pdp.explain_one, rows[:30]))
    pdp = ipdp.IncrementalPDP(fitted, alpha=0.05)
    pdp.explain_many(X.head(50))
    for x in rows:
        pdp.explain_one(x)
    assert pdp.curve("code").categorical == (True,)


@pytest.mark.parametrize("model", [LGBMRegressor, XGBRegressor, CatBoostRegressor])
def test_a_column_of_a_booster_that_is_not_there_is_refused(model):
    X, y = frame()
    X = X[["a"]].assign(b=X["a"] ** 2)
    settings = {"n_estimators": 5}
    if model is CatBoostRegressor:
        settings = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    fitted = model(**settings).fit(X, y)
    with pytest.raises(ValueError, match=r"fitted on 'b' \(did you mean 'B'"):
        ipdp.IncrementalPDP(fitted).explain_many(X.rename(columns={"b": "B"}))
    pdp = ipdp.IncrementalPDP(fitted, alpha=0.05)
    with pytest.warns(ipdp.ColumnWarning, match="'note'"):
        pdp.explain_many(X.assign(note=1.0))
    assert list(pdp.curves) == ["a", "b"]
    by_position = model(**settings).fit(X.to_numpy(), y)
    pdp = ipdp.IncrementalPDP(by_position, alpha=0.05)
    pdp.explain_many(X)
    assert list(pdp.curves) == ["a", "b"]


def test_frames_of_polars():
    import polars as pl

    X, y = frame()
    fitted = quick(LGBMRegressor).fit(X, y)
    table = pl.from_pandas(X).with_columns(pl.col("level").cast(pl.String).cast(pl.Enum(LEVELS)))
    table = table.with_columns(pl.col("day").cast(pl.String).cast(pl.Enum(DAYS)))
    [curve] = ipdp.partial_dependence(fitted, table, "level")
    [expected] = ipdp.partial_dependence(fitted, X, "level")
    np.testing.assert_allclose(curve.average, expected.average)
