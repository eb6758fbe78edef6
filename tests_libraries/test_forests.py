"""The walk of the trees of LightGBM, XGBoost and CatBoost against their own predictions."""

from __future__ import annotations

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

import ipdp
from ipdp.models import Probe, engine
from ipdp.models.forests import ForestEngine

RNG = np.random.default_rng(0)
N = 400
NAMES = ["a", "k", "flag", "b"]
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N).round(1),
        "k": RNG.integers(0, 9, N),
        "flag": RNG.random(N) < 0.4,
        "b": RNG.exponential(size=N),
    }
)
SCORE = (FRAME["a"] * FRAME["k"] + 3 * FRAME["flag"] - FRAME["b"] + RNG.normal(size=N)).to_numpy()
TWO, THREE = np.where(SCORE > 0, "up", "down"), np.digitize(SCORE, [-2, 2])
COUNTS = np.abs(SCORE).round()
HOLES = FRAME.assign(a=FRAME["a"].where(RNG.random(N) > 0.2), b=FRAME["b"].where(FRAME["b"] < 2))
LGB = {"n_estimators": 12, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}
XGB = {"n_estimators": 12, "n_jobs": 1}
CAT = {"iterations": 12, "verbose": False, "allow_writing_files": False, "thread_count": 1}
NATIVE = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}


def lgb(objective, target, frame=FRAME, **more):
    settings = {**NATIVE, "objective": objective, **more}
    return lightgbm.train(settings, lightgbm.Dataset(frame, target), 12)


def xgb(objective, target, frame=FRAME, **more):
    return xgboost.train(
        {"objective": objective, "nthread": 1, **more}, xgboost.DMatrix(frame, target), 12
    )


def stopped_lgb():
    half, rest = FRAME[: N // 2], FRAME[N // 2 :]
    data = lightgbm.Dataset(half, THREE[: N // 2])
    valid = lightgbm.Dataset(rest, RNG.permutation(THREE[N // 2 :]), reference=data)
    stop = lightgbm.early_stopping(2, verbose=False)
    settings = {**NATIVE, "objective": "multiclass", "num_class": 3}
    # Kept for training, it has the trees after the best one as well.
    return lightgbm.train(
        settings, data, 60, valid_sets=[valid], callbacks=[stop], keep_training_booster=True
    )


def stopped_xgb():
    rest = FRAME[N // 2 :], RNG.permutation(THREE[N // 2 :])
    model = xgboost.XGBClassifier(**{**XGB, "n_estimators": 60}, early_stopping_rounds=2)
    return model.fit(FRAME[: N // 2], THREE[: N // 2], eval_set=[rest], verbose=False)


MODELS = {
    "lgb two": lightgbm.LGBMClassifier(**LGB).fit(FRAME, TWO),
    "lgb three": lightgbm.LGBMClassifier(**LGB).fit(FRAME, THREE),
    "lgb one against the rest": lightgbm.LGBMClassifier(**LGB, objective="multiclassova").fit(
        FRAME, THREE
    ),
    "lgb regressor": lightgbm.LGBMRegressor(**LGB).fit(HOLES, SCORE),
    "lgb zero is missing": lightgbm.LGBMRegressor(**LGB, zero_as_missing=True).fit(FRAME, SCORE),
    "lgb no missing": lightgbm.LGBMRegressor(**LGB, use_missing=False).fit(HOLES, SCORE),
    "lgb stopped": stopped_lgb(),
    "lgb dart": lightgbm.LGBMRegressor(**LGB, boosting_type="dart").fit(FRAME, SCORE),
    "lgb forest": lightgbm.LGBMClassifier(
        **LGB, boosting_type="rf", bagging_freq=1, bagging_fraction=0.7
    ).fit(FRAME, TWO),
    "lgb native": lgb("binary", THREE > 1),
    "lgb counts": lgb("poisson", COUNTS),
    "lgb roots": lgb("regression", SCORE, reg_sqrt=True),
    "lgb cross entropy": lgb("cross_entropy", THREE / 2),
    "lgb monotone": lgb("regression", SCORE, monotone_constraints=[1, 0, 0, -1]),
    "lgb of an array": lightgbm.LGBMClassifier(**LGB).fit(FRAME.to_numpy(float), THREE),
    "xgb two": xgboost.XGBClassifier(**XGB).fit(FRAME, THREE > 1),
    "xgb three": xgboost.XGBClassifier(**XGB).fit(FRAME, THREE),
    "xgb holes": xgboost.XGBRegressor(**XGB).fit(HOLES, SCORE),
    "xgb stopped": stopped_xgb(),
    "xgb dart": xgboost.XGBRegressor(**XGB, booster="dart", rate_drop=0.3).fit(FRAME, SCORE),
    "xgb forest": xgboost.XGBRFClassifier(**XGB).fit(FRAME, THREE),
    "xgb native": xgb("binary:logistic", THREE > 1),
    "xgb counts": xgb("count:poisson", COUNTS),
    "xgb probabilities": xgb("multi:softprob", THREE, num_class=3),
    "cat two": catboost.CatBoostClassifier(**CAT).fit(FRAME, TWO),
    "cat three": catboost.CatBoostClassifier(**CAT).fit(FRAME, THREE),
    "cat holes": catboost.CatBoostRegressor(**CAT).fit(HOLES, SCORE),
    "cat largest": catboost.CatBoostRegressor(**CAT, nan_mode="Max").fit(HOLES, SCORE),
    "cat native": catboost.CatBoost({**CAT, "loss_function": "RMSE"}).fit(FRAME, SCORE),
}
A, K, FLAG, B = [-1.05, 0.0, 0.1, 0.2, 1.3], [0, 2, 5, 8], [0, 1], [0.0, 0.1, 0.5, 0.9, 4.0]


def lattice(*axes):
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes)).T


def asked():
    probes, parts, start = [], [], 0
    for names, points in [
        (("a",), [A]),
        (("k",), [K]),
        (("flag",), [FLAG]),
        (("b",), [B]),
        (("a", "k"), lattice(A, K)),
        (("b", "a"), lattice(B, A)),
    ]:
        part = np.zeros((2, len(points[0])))
        part[: len(names)] = points
        n = len(names)
        probes.append(Probe(names, start, start + part.shape[1], (False,) * n, (None,) * n))
        parts.append(part)
        start += part.shape[1]
    return tuple(probes), np.concatenate(parts, axis=1)


def close(name, ours, theirs):
    size = np.abs(theirs).max()
    tolerance = 2e-5 if name.startswith("xgb") else 1e-9
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * size)


@pytest.mark.parametrize("name", MODELS)
def test_the_walk_says_what_the_library_says(name):
    frame = HOLES if "holes" in name or "largest" in name or "no missing" in name else FRAME
    rows = frame[:60].to_dict("records")
    ours = engine(MODELS[name])
    probes, positions = asked()
    positions = np.repeat(positions[None], len(rows), axis=0)
    found = ours.ice(rows, probes, positions)
    assert isinstance(ours, ForestEngine)
    assert ours.fault is None
    assert "one walk" in ours.description
    theirs = ours.plain.ice(rows, probes, positions)
    assert found.labels == theirs.labels
    close(name, found.values, theirs.values)


@pytest.mark.parametrize("name", ["lgb three", "xgb holes", "cat two"])
def test_curves_along_a_stream_with_the_default_grid(name):
    features = ["a", "k", "flag", "b", ("a", "b")]
    one, many, plain = (
        ipdp.IncrementalPDP(e, features, alpha=0.05, seed=1)
        for e in (MODELS[name], MODELS[name], engine(MODELS[name]).plain)
    )
    rows = HOLES[:80].to_dict("records")
    for x in rows:
        one.explain_one(x)
    many.explain_many(rows)
    plain.explain_many(rows)
    for feature in features:
        for ours in (one, many):
            close(name, ours.curve(feature).average, plain.curve(feature).average)


def test_categories_of_lightgbm():
    frame = FRAME.assign(colour=pd.Categorical(RNG.choice(["red", "green", "blue"], N)))
    target = SCORE + 5 * (frame["colour"] == "red")
    booster = lgb("regression", target, frame, min_data_per_group=5, cat_smooth=1)
    rows = frame[:50].astype({"colour": object}).to_dict("records")
    for x in rows[::7]:
        x["colour"] = "violet"
    ours = engine(booster)
    features = ["a", "colour", ("colour", "a")]
    pdp, plain = (ipdp.IncrementalPDP(e, features, alpha=0.05, seed=1) for e in (ours, ours.plain))
    pdp.explain_many(rows)
    plain.explain_many(rows)
    assert ours.fault is None
    assert "one walk" in ours.description
    for feature in features:
        close("lgb", pdp.curve(feature).average, plain.curve(feature).average)
    blue, red = pdp.curve("colour").at(["blue", "red"])[0]
    assert red - blue > 2


def test_a_booster_that_is_trained_on():
    data = lightgbm.Dataset(FRAME, SCORE, free_raw_data=False)
    booster = lightgbm.train(
        {**NATIVE, "objective": "regression"}, data, 3, keep_training_booster=True
    )
    ours = engine(booster)
    probes, positions = asked()
    rows, positions = FRAME[:3].to_dict("records"), np.repeat(positions[None], 3, axis=0)
    for _ in range(3):
        found = ours.ice(rows, probes, positions).values
        close("lgb", found, ours.plain.ice(rows, probes, positions).values)
        assert "one walk" in ours.description
        booster.update()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: lgb("regression", SCORE, linear_tree=True), "linear"),
        (lambda: xgboost.XGBRegressor(**XGB, booster="gblinear").fit(FRAME, SCORE), "gblinear"),
        (lambda: xgboost.XGBRegressor(**XGB, missing=0.0).fit(FRAME, SCORE), "missing"),
        (lambda: xgb("multi:softmax", THREE, num_class=3), "multi:softmax"),
        (
            lambda: catboost.CatBoostRegressor(**CAT, grow_policy="Lossguide").fit(FRAME, SCORE),
            "symmetric",
        ),
    ],
)
def test_what_is_not_known_is_asked_of_the_library(model, words):
    ours = engine(model())
    assert words in ours.description
    probes, positions = asked()
    found = ours.ice(FRAME[:2].to_dict("records"), probes, np.repeat(positions[None], 2, axis=0))
    assert found.values.shape[0] == 2
    assert ours.fault is None


@pytest.mark.parametrize("size", [1e-35, 1e-36, -1e-36, -1e-35, -1.0000000180025095e-35, 2e-35])
def test_numbers_next_to_zero_are_zeros_to_lightgbm(size):
    model = lightgbm.LGBMRegressor(**LGB).fit(FRAME, SCORE)
    [curve] = ipdp.partial_dependence(model, FRAME, ["a"], grid=ipdp.grid.Fixed([-1.0, size, 1.0]))
    assert curve.average[0, 1] == pytest.approx(
        model.predict(FRAME.assign(a=size)).mean(), abs=1e-9
    )


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(lightgbm.LGBMRegressor(**LGB), id="LightGBM"),
        pytest.param(xgboost.XGBRegressor(**XGB), id="XGBoost"),
        pytest.param(catboost.CatBoostRegressor(**CAT), id="CatBoost"),
    ],
)
@pytest.mark.parametrize("feature", ["a", "b"])
def test_a_curve_at_the_thresholds_has_every_step(model, feature):
    """Wherever it is read, the step that it lies in is the mean of the model's own answers."""
    model.fit(FRAME, SCORE)
    at = ipdp.models.thresholds(model)[feature]
    grid = {feature: ipdp.grid.Thresholds(at, size=10_000)}
    [curve] = ipdp.partial_dependence(model, FRAME, [feature], grid=grid)
    points = curve.grid_values[0]
    rng = np.random.default_rng(1)
    for value in [*rng.uniform(points[0], points[-1], 20), *rng.choice(points, 10)]:
        expected = model.predict(FRAME.assign(**{feature: value})).mean()
        step = np.searchsorted(points, value)
        assert curve.average[0, step] == pytest.approx(expected, abs=1e-5)
