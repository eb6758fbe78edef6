"""Every engine on its real library: the ICE curves equal plain calls of the model."""

from __future__ import annotations

import catboost
import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
import xgboost
from skl2onnx import to_onnx
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

import ipdp
from ipdp.checks import check_engine

NAMES = ["a", "b", "c"]
X, Y = make_classification(200, 3, n_informative=3, n_redundant=0, random_state=0)
FRAME = pd.DataFrame(X, columns=NAMES)
THREE = np.arange(200) % 3
GRID = ipdp.grid.Fixed([-1.0, 0.0, 1.5])
QUIET = {"n_estimators": 8, "n_jobs": 1}
SILENT = {"iterations": 8, "verbose": False, "allow_writing_files": False, "thread_count": 1}


def network(n_outputs: int) -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(5, n_outputs)
    )


def torch_plain(net: torch.nn.Module, dtype: torch.dtype):
    def predict(rows):
        with torch.no_grad():
            return net.eval()(torch.as_tensor(rows, dtype=dtype)).double().numpy()

    return predict


def session(model, **options) -> onnxruntime.InferenceSession:
    exported = to_onnx(model, X[:1].astype(np.float32), **options)
    return onnxruntime.InferenceSession(exported.SerializeToString())


def models():
    """Name, model, plain calls on an array, outputs."""
    binary, three = (0, 1), (0, 1, 2)
    lgb = lightgbm.LGBMClassifier(**QUIET, verbose=-1).fit(FRAME, Y)
    yield "LGBMClassifier", lgb, lambda Z: lgb.predict_proba(pd.DataFrame(Z, columns=NAMES)), binary
    xgb = xgboost.XGBClassifier(**QUIET).fit(X, THREE)
    yield "XGBClassifier", xgb, xgb.predict_proba, three
    xgb_frame = xgboost.XGBRegressor(**QUIET).fit(FRAME, Y)
    yield (
        "XGBRegressor",
        xgb_frame,
        lambda Z: xgb_frame.predict(pd.DataFrame(Z, columns=NAMES)),
        ("prediction",),
    )
    cat = catboost.CatBoostClassifier(**SILENT).fit(FRAME, Y)
    yield "CatBoostClassifier", cat, cat.predict_proba, binary
    cat_regressor = catboost.CatBoostRegressor(**SILENT).fit(X, Y)
    yield "CatBoostRegressor", cat_regressor, cat_regressor.predict, ("prediction",)
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(FRAME, Y), 8)
    yield "lightgbm.Booster", booster, booster.predict, ("prediction",)
    settings = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    many = lightgbm.train(settings, lightgbm.Dataset(X, THREE), 4)
    yield "lightgbm.Booster of classes", many, many.predict, three
    settings = {"objective": "binary:logistic", "nthread": 1}
    native = xgboost.train(settings, xgboost.DMatrix(FRAME, Y), 8)
    yield (
        "xgboost.Booster",
        native,
        lambda Z: native.predict(xgboost.DMatrix(Z, feature_names=NAMES)),
        ("prediction",),
    )
    plain_cat = catboost.CatBoost({**SILENT, "loss_function": "Logloss"}).fit(FRAME, Y)
    yield "catboost.CatBoost", plain_cat, plain_cat.predict, ("prediction",)
    one, several = network(1), network(3).double()
    yield "torch, one output", one, torch_plain(one, torch.float32), ("prediction",)
    yield "torch, three outputs", several, torch_plain(several, torch.float64), three
    logistic = LogisticRegression().fit(X, THREE)
    zipped = session(logistic)
    yield "onnx with classes", zipped, logistic.predict_proba, three
    tensor = session(logistic, options={"zipmap": False})
    yield "onnx probabilities", tensor, logistic.predict_proba, three
    linear = LinearRegression().fit(X, Y)
    yield "onnx regression", session(linear), linear.predict, ("prediction",)
    forest = IsolationForest(n_estimators=10, random_state=0).fit(X)
    yield "IsolationForest", forest, forest.decision_function, ("prediction",)
    svm = OneClassSVM().fit(X)
    yield "OneClassSVM", svm, svm.decision_function, ("prediction",)
    factor = LocalOutlierFactor(novelty=True).fit(X)
    yield "LocalOutlierFactor", factor, factor.decision_function, ("prediction",)
    for clusters in (KMeans(3, n_init=1, random_state=0), MiniBatchKMeans(3, random_state=0)):
        fitted = clusters.fit(X)
        yield type(clusters).__name__, fitted, shares(fitted), three


def shares(model):
    return lambda Z: model.predict(Z)[:, None] == np.arange(3)


MODELS = list(models())


def plain_ice(predict, rows: np.ndarray) -> np.ndarray:
    """One call for each row and point: (n_outputs, n_rows, n_points) of the feature b."""
    curves = []
    for row in rows:
        changed = np.repeat(row[None], len(GRID.points), axis=0)
        changed[:, 1] = GRID.points
        answer = np.asarray(predict(changed), dtype=float)
        curves.append(answer.reshape(len(GRID.points), -1).T)
    return np.stack(curves, axis=1)


@pytest.mark.parametrize(
    ("model", "predict", "outputs"), [m[1:] for m in MODELS], ids=[m[0] for m in MODELS]
)
def test_curves_equal_plain_calls(model, predict, outputs):
    [curve] = ipdp.partial_dependence(model, FRAME[:20], "b", grid=GRID)
    assert curve.outputs == outputs
    # Several of these compute in single precision: 1e-6 is what that holds.
    np.testing.assert_allclose(curve.ice, plain_ice(predict, X[:20]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", [m[1] for m in MODELS], ids=[m[0] for m in MODELS])
def test_one_by_one_is_the_same_as_many(model):
    rows = FRAME[:8].to_dict("records")
    one, many = (ipdp.IncrementalPDP(model, ["b"], grid=GRID, alpha=0.1) for _ in range(2))
    for x in rows:
        one.explain_one(x)
    many.explain_many(FRAME[:8])
    np.testing.assert_allclose(
        one.curve("b").average, many.curve("b").average, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("model", [m[1] for m in MODELS], ids=[m[0] for m in MODELS])
def test_every_engine_obeys_the_laws(model):
    # Several of these compute in single precision, and one row in another order than many.
    check_engine(model, FRAME[:3].to_dict("records"), tolerance=1e-5)


@pytest.mark.parametrize(
    "name", ["lightgbm.Booster", "xgboost.Booster", "catboost.CatBoost", "CatBoostClassifier"]
)
def test_names_matter_and_not_the_order(name):
    model = next(m[1] for m in MODELS if m[0] == name)
    straight, turned = (
        ipdp.partial_dependence(model, FRAME[:20][columns], "b", grid=GRID)[0].average
        for columns in (NAMES, NAMES[::-1])
    )
    np.testing.assert_array_equal(straight, turned)


@pytest.mark.parametrize("training", [True, False])
def test_a_torch_module_is_left_in_its_mode(training):
    net = network(1).train(training)
    first, second = (
        ipdp.partial_dependence(net, FRAME[:5], "b", grid=GRID)[0].average for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)  # no dropout
    assert net.training is training
    assert all(parameter.grad is None for parameter in net.parameters())


def test_a_torch_module_may_learn_in_between():
    net = network(1)
    pdp = ipdp.IncrementalPDP(net, ["b"], grid=GRID, alpha=1.0)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    seen = []
    for row in X[:3]:
        pdp.explain_one(dict(zip(NAMES, row.tolist(), strict=True)))
        seen.append(pdp.curve("b").average)
        optimiser.zero_grad()
        net(torch.as_tensor(row[None], dtype=torch.float32)).sum().backward()
        optimiser.step()
    assert not np.allclose(seen[0], seen[2])


def test_categories_of_lightgbm():
    frame = FRAME.assign(colour=pd.Categorical(np.where(THREE > 0, "red", "blue")))
    settings = {
        "objective": "regression",
        "verbose": -1,
        "num_threads": 1,
        "min_data_per_group": 5,
        "cat_smooth": 1,
    }
    target = (frame["colour"] == "red") * 5.0
    booster = lightgbm.train(settings, lightgbm.Dataset(frame, target), 20)
    rows = frame.astype({"colour": str})
    [curve] = ipdp.partial_dependence(booster, rows, "colour")
    blue, red = curve.at(["blue", "red"])[0]
    assert red - blue > 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lightgbm.Booster", "lightgbm.Booster.predict"),
        ("torch, one output", "torch module Sequential"),
        ("onnx with classes", "ONNX session, output 'output_probability'"),
        ("IsolationForest", "IsolationForest.decision_function"),
        ("KMeans", "KMeans.predict"),
    ],
)
def test_says_what_the_model_was_taken_for(name, words):
    model = next(m[1] for m in MODELS if m[0] == name)
    assert words in repr(ipdp.models.engine(model))
