"""Every engine obeys the laws of engines; those of trees are in `trees/test_laws.py`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from river import anomaly, cluster, compose, linear_model, naive_bayes, preprocessing
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ipdp.checks import check_engine
from ipdp.models import engine
from ipdp.models.river import MiniBatchEngine

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=120),
        "k": RNG.integers(0, 9, 120),
        "colour": RNG.choice(["red", "blue", "green"], 120),
    }
)
NUMBERS = FRAME[["a", "k"]]
CLASSES = np.where(FRAME["a"] + 0.3 * FRAME["k"] > 1, "yes", "no")
ROWS = FRAME[:4].to_dict("records")
NUMBER_ROWS = NUMBERS[:4].to_dict("records")


def by_dict(x):
    assert isinstance(x["k"], int) or np.isnan(x["k"])
    return {"up": x["a"] * x["k"], x["colour"]: 1.0}


def by_frame(X):
    return pd.DataFrame({"up": X["a"] * X["k"], "red": X["colour"] == "red"})


def by_polars(X):
    return X["a"] * X["k"]


def by_array(X):
    return np.column_stack([X[:, 0].astype(float), X[:, 2] == "red", X[:, 1].astype(float)])


@pytest.mark.parametrize(
    ("function", "settings"),
    [
        (by_dict, {}),
        (by_frame, {"takes": "frame"}),
        (by_polars, {"takes": "frame", "backend": "polars"}),
        (by_array, {"takes": "array"}),
    ],
    ids=["dict", "pandas", "polars", "array"],
)
def test_functions(function, settings):
    check_engine(engine(function, **settings), ROWS)


def test_a_function_of_numbers_that_takes_the_short_way():
    check_engine(engine(lambda X: X[:, 0] + 10 * X[:, 1], takes="array"), NUMBER_ROWS)


def with_categories(model):
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["colour"]))
    return make_pipeline(encoder, model).fit(FRAME, CLASSES)


@pytest.mark.parametrize(
    ("model", "response", "rows"),
    [
        (LogisticRegression().fit(NUMBERS, CLASSES), "auto", NUMBER_ROWS),
        (LogisticRegression().fit(NUMBERS, CLASSES), "predict", NUMBER_ROWS),
        (LogisticRegression().fit(NUMBERS.to_numpy(), CLASSES), "decision_function", NUMBER_ROWS),
        (LinearRegression().fit(NUMBERS.to_numpy(), FRAME["a"]), "auto", NUMBER_ROWS),
        (RidgeClassifier().fit(NUMBERS, FRAME["colour"]), "auto", NUMBER_ROWS),
        (HistGradientBoostingClassifier(max_iter=5).fit(NUMBERS, CLASSES), "auto", NUMBER_ROWS),
        (IsolationForest(n_estimators=5, random_state=0).fit(NUMBERS), "auto", NUMBER_ROWS),
        (KMeans(3, n_init=1, random_state=0).fit(NUMBERS), "auto", NUMBER_ROWS),
        (with_categories(LogisticRegression()), "auto", ROWS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scikit_learn(model, response, rows):
    check_engine(engine(model, response=response), rows)


class OwnClassifier(linear_model.LogisticRegression):
    """Has a prediction of its own, so that its parts are not known."""

    def predict_proba_one(self, x):
        return super().predict_proba_one(x)


class OwnRegressor(linear_model.LinearRegression):
    def predict_one(self, x):
        return super().predict_one(x)


def learned(model, targets=None):
    for x, y in zip(NUMBERS.to_dict("records"), targets or [None] * len(NUMBERS), strict=True):
        model.learn_one(x) if targets is None else model.learn_one(x, y)
    return model


@pytest.mark.parametrize(
    "model",
    [
        learned(linear_model.PARegressor(), FRAME["a"].tolist()),
        learned(naive_bayes.GaussianNB(), CLASSES.tolist()),
        learned(linear_model.Perceptron(), (CLASSES == "yes").tolist()),
        learned(
            compose.Select("a") | preprocessing.StandardScaler() | linear_model.LinearRegression(),
            FRAME["k"].tolist(),
        ),
        learned(anomaly.HalfSpaceTrees(n_trees=3, window_size=20, seed=1)),
        learned(cluster.KMeans(n_clusters=3, seed=1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_river(model):
    check_engine(engine(model), NUMBER_ROWS)


@pytest.mark.parametrize(
    "model",
    [
        learned(OwnClassifier(), (CLASSES == "yes").tolist()),
        learned(preprocessing.StandardScaler() | OwnRegressor(), FRAME["k"].tolist()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_mini_batches_of_river(model, monkeypatch):
    monkeypatch.setattr("ipdp.models.river.frames.LEAST_ROWS", 10)
    ours = engine(model)
    assert isinstance(ours, MiniBatchEngine)
    check_engine(ours, NUMBER_ROWS)
    assert "one for all" in ours.description
