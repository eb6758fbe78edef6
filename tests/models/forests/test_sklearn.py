"""The walk of scikit-learn's trees against plain calls of scikit-learn."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ipdp
from ipdp.checks import check_engine
from ipdp.models import Probe, SlowPathWarning, engine
from ipdp.models.forests import ForestEngine, kernels
from ipdp.models.forests.axes import NotWalked, Request
from ipdp.models.forests.flat import NotRead
from ipdp.models.forests.kernels import ice, masks
from ipdp.models.forests.sklearn import read_forest

RNG = np.random.default_rng(0)
N = 300
NAMES = ["a", "k", "flag", "b"]
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N).round(1),
        "k": RNG.integers(0, 9, N),
        "flag": RNG.random(N) < 0.4,
        "b": RNG.exponential(size=N),
    }
)
SCORE = FRAME["a"] * FRAME["k"] + 3 * FRAME["flag"] - FRAME["b"] + RNG.normal(size=N)
TWO = np.where(SCORE > 0, "up", "down")
THREE = np.digitize(SCORE, [-2, 2])
MODELS = {
    "forest of two": (RandomForestClassifier(8, random_state=0), TWO),
    "forest of three": (RandomForestClassifier(8, random_state=0), THREE),
    "forest regressor": (RandomForestRegressor(8, random_state=0), SCORE),
    "extra trees": (ExtraTreesClassifier(8, random_state=0), THREE),
    "extra trees regressor": (ExtraTreesRegressor(8, random_state=0), SCORE),
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), THREE),
    "tree regressor": (DecisionTreeRegressor(random_state=0), SCORE),
    "boosting of two": (GradientBoostingClassifier(n_estimators=9, random_state=0), TWO),
    "boosting of three": (GradientBoostingClassifier(n_estimators=5, random_state=0), THREE),
    "exponential": (GradientBoostingClassifier(loss="exponential", n_estimators=5), TWO),
    "boosting regressor": (GradientBoostingRegressor(n_estimators=9, random_state=0), SCORE),
    "from zero": (GradientBoostingRegressor(n_estimators=5, init="zero"), SCORE),
    "histogram of two": (HistGradientBoostingClassifier(max_iter=9), TWO),
    "histogram of three": (HistGradientBoostingClassifier(max_iter=5), THREE),
    "histogram regressor": (HistGradientBoostingRegressor(max_iter=9), SCORE),
    "histogram of counts": (HistGradientBoostingRegressor(loss="poisson", max_iter=9), THREE),
}
MODELS = {name: model.fit(FRAME, target) for name, (model, target) in MODELS.items()}
FEATURES = [*NAMES, ("a", "k"), ("b", "flag"), ("k", "b")]


class OnArrays:
    """A model that was fitted on an array, called with frames."""

    def __init__(self, model):
        call = getattr(model, "predict_proba", model.predict)
        self.predict = lambda X: call(X.to_numpy(float))


def plain_curves(model, frame, features, points):
    """The ICE values of each row and probe, by calls on changed copies of the frame."""
    call = getattr(model, "predict_proba", model.predict)
    found = []
    for feature, values in zip(features, points, strict=True):
        for value in values:
            changed = frame.copy()
            pairs = (
                zip(feature, value, strict=True)
                if isinstance(feature, tuple)
                else [(feature, value)]
            )
            for name, one in pairs:
                changed[name] = one
            found.append(np.asarray(call(changed)).reshape(len(frame), -1))
    return np.stack(found, axis=2)


def asked(features, points):
    """The probes and positions of some points, the same for every row."""
    probes, start = [], 0
    positions = np.zeros((2, sum(map(len, points))))
    for feature, values in zip(features, points, strict=True):
        names = feature if isinstance(feature, tuple) else (feature,)
        stop = start + len(values)
        positions[: len(names), start:stop] = np.array(values, float).reshape(-1, len(names)).T
        none = (None,) * len(names)
        probes.append(Probe(names, start, stop, (False,) * len(names), none))
        start = stop
    return tuple(probes), positions


def lattice(*axes):
    return [
        tuple(v) for v in np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    ]


A, K, FLAG, B = [-1.05, 0.1, 0.2, 1.3], [0, 2, 5, 8], [0, 1], [0.0, 0.1, 0.5, 0.9, 4.0]
POINTS = [A, K, FLAG, B, lattice(A, K), lattice(B, FLAG), lattice(K, B)]


def walked(model, frame, features=FEATURES, points=POINTS):
    ours = engine(model)
    assert isinstance(ours, ForestEngine)
    probes, positions = asked(features, points)
    answer = ours.ice(
        frame.to_dict("records"), probes, np.repeat(positions[None], len(frame), axis=0)
    )
    assert ours.fault is None
    assert "one walk" in ours.description
    return answer.values


@pytest.mark.parametrize("name", MODELS)
def test_curves_and_pairs_are_those_of_plain_calls(name):
    frame = FRAME[:40]
    expected = plain_curves(MODELS[name], frame, FEATURES, POINTS)
    np.testing.assert_allclose(
        walked(MODELS[name], frame), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max()
    )


@pytest.mark.parametrize("name", MODELS)
def test_obeys_the_laws_of_engines(name):
    check_engine(MODELS[name], FRAME[:4].to_dict("records"), tolerance=1e-9)


@pytest.mark.parametrize("name", ["forest of two", "boosting of three", "histogram of two"])
def test_a_model_that_was_fitted_on_an_array(name):
    model, target = type(MODELS[name])(**MODELS[name].get_params()), THREE
    model.fit(FRAME.to_numpy(float), target)
    turned = FRAME[:20]  # its features go by position
    expected = plain_curves(OnArrays(model), turned, FEATURES, POINTS)
    np.testing.assert_allclose(walked(model, turned), expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", ["forest of three", "histogram regressor", "boosting of two"])
def test_one_by_one_is_many_is_what_the_library_says(name):
    model = MODELS[name]
    one, many, plain = (
        ipdp.IncrementalPDP(e, FEATURES, alpha=0.05, seed=1)
        for e in (model, model, engine(model).plain)
    )
    for x in FRAME.to_dict("records"):
        one.explain_one(x)
    many.explain_many(FRAME)
    plain.explain_many(FRAME)
    for feature in FEATURES:
        expected = plain.curve(feature).average
        for ours in (one, many):
            np.testing.assert_allclose(ours.curve(feature).average, expected, rtol=1e-9, atol=1e-12)


MESSY = FRAME.assign(
    a=FRAME["a"].where(RNG.random(N) > 0.2),
    colour=pd.Categorical(RNG.choice(["red", "green", "blue", None], N, p=[0.5, 0.2, 0.2, 0.1])),
    zone=pd.Categorical(RNG.integers(10, 14, N)),
)
EFFECT = SCORE + 4 * (MESSY["colour"] == "red") - 3 * (MESSY["zone"] == 12)


@pytest.mark.parametrize("three", [False, True])
def test_categories_and_missing_values_of_histograms(three):
    target = np.digitize(EFFECT, [-1, 2]) if three else EFFECT
    kind = HistGradientBoostingClassifier if three else HistGradientBoostingRegressor
    model = kind(max_iter=12, categorical_features="from_dtype").fit(MESSY, target)
    rows = MESSY[:60].astype({"colour": object, "zone": int}).to_dict("records")
    for k, x in enumerate(rows):
        x["colour"] = "violet" if k % 10 == 3 else x["colour"]
        x["zone"] = 99 if k % 10 == 4 else x["zone"]
    features = [*MESSY, ("colour", "a"), ("zone", "colour")]
    ours, plain = engine(model), engine(model).plain
    curves = [ipdp.IncrementalPDP(e, features, alpha=0.05, seed=1) for e in (ours, plain)]
    for pdp in curves:
        pdp.explain_many(rows)
    assert ours.fault is None
    assert "one walk" in ours.description
    for feature in features:
        left, right = (pdp.curve(feature) for pdp in curves)
        np.testing.assert_allclose(left.average, right.average, rtol=1e-9, atol=1e-12)
    blue, red = curves[0].curve("colour").at(["blue", "red"])[-1]
    assert red != blue


def test_missing_values_of_a_forest():
    frame = MESSY[NAMES]
    model = RandomForestClassifier(8, random_state=0).fit(frame, TWO)
    expected = plain_curves(model, frame[:50], FEATURES, POINTS)
    np.testing.assert_allclose(walked(model, frame[:50]), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["boosting of two", "forest of two"])
def test_what_the_library_refuses_is_refused(name, value):
    if name == "forest of two" and math.isnan(value):
        value = -math.inf
    pdp = ipdp.IncrementalPDP(MODELS[name], grid=ipdp.grid.Fixed([0.0, 1.0]))
    pdp.explain_many(FRAME[:5])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"NaN|infinity|too large"):
            pdp.explain_one({**FRAME.iloc[0].to_dict(), "b": value})
    assert pdp.n_seen == 5
    pdp.explain_many(FRAME[5:9])
    assert pdp.engine.fault is None


def test_a_category_that_the_trees_cannot_know_is_the_librarys_matter():
    pdp = ipdp.IncrementalPDP(MODELS["forest of two"], ["a"], grid=ipdp.grid.Fixed([0.0]))
    with pytest.raises(ValueError, match="could not convert"):
        pdp.explain_one({**FRAME.iloc[0].to_dict(), "b": "red"})
    assert pdp.engine.fault is None


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(4, warm_start=True, random_state=0),
        GradientBoostingRegressor(n_estimators=4, warm_start=True),
        HistGradientBoostingRegressor(max_iter=4, warm_start=True),
        DecisionTreeRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_that_learns_in_between(model):
    rows = FRAME[:5]
    size = {"max_iter": 7} if "Hist" in type(model).__name__ else {"n_estimators": 7}
    more = {} if isinstance(model, DecisionTreeRegressor) else size
    ours = engine(model)
    probes, positions = asked(["a", "b"], [A, B])
    positions = np.repeat(positions[None], 5, axis=0)
    for step in range(3):
        target = SCORE if step < 2 else -SCORE
        model.set_params(**(more if step == 1 else {}))
        if step == 2 and more:
            model.set_params(warm_start=False)
        model.fit(FRAME, target)
        found = ours.ice(rows.to_dict("records"), probes, positions).values
        expected = plain_curves(model, rows, ["a", "b"], [A, B])
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert ours.fault is None


def test_before_it_is_fitted_the_library_speaks():
    ours = engine(RandomForestRegressor())
    assert "cannot be read" in ours.description
    with pytest.raises(Exception, match="not fitted"):
        ours.predict([{"a": 1.0}])


@pytest.mark.parametrize(
    ("model", "target", "words"),
    [
        (RandomForestRegressor(2), np.stack([SCORE, -SCORE], 1), "several targets"),
        (GradientBoostingRegressor(init=LinearRegression(), n_estimators=2), SCORE, "LinearRegr"),
        (HistGradientBoostingRegressor(loss="gamma", max_iter=2), np.exp(SCORE / 9), "one walk"),
    ],
)
def test_says_how_it_is_walked_and_why_not(model, target, words):
    ours = engine(model.fit(FRAME, target))
    assert words in ours.description
    # Of a linear model on 32 bits as well.
    check_engine(ours, FRAME[:3].to_dict("records"), tolerance=1e-5)


def test_hard_classes_are_asked_of_the_library():
    ours = engine(MODELS["forest of three"], response="predict")
    assert "no mean" in ours.description
    assert ours.predict(FRAME[:2].to_dict("records")).values.sum() == 2


def test_a_subclass_is_not_looked_into():
    class Own(DecisionTreeRegressor):
        def predict(self, X):
            return super().predict(X) + 1

    assert not isinstance(engine(Own().fit(FRAME, SCORE)), ForestEngine)


def test_a_change_that_cannot_be_seen_is_found_by_comparing():
    model = DecisionTreeRegressor(random_state=0).fit(FRAME, SCORE)
    ours = engine(model)
    rows = FRAME[:3].to_dict("records")
    probes, positions = asked(["a"], [A])
    positions = np.repeat(positions[None], 3, axis=0)
    before = ours.ice(rows, probes, positions).values
    model.tree_.value[:] += 1.0
    ours.checker._next = 0
    np.testing.assert_allclose(ours.ice(rows, probes, positions).values, before + 1.0)
    assert ours.fault is None


def test_a_walk_that_is_wrong_is_given_up(monkeypatch):
    class Wrong(ice.Walk):
        def run(self, first, last):
            self.base[:] += 1.0

    monkeypatch.setattr(kernels, "current", type("_", (), {"Walk": Wrong}))
    ours = engine(MODELS["tree regressor"])
    probes, positions = asked(["a"], [A])
    with pytest.warns(SlowPathWarning, match="differ"):
        found = ours.ice(FRAME[:1].to_dict("records"), probes, positions[None]).values
    np.testing.assert_allclose(found, plain_curves(ours.model, FRAME[:1], ["a"], [A]))
    assert "given up" in ours.description


def test_without_the_compiled_walk_the_library_is_asked(monkeypatch):
    monkeypatch.setattr(kernels, "current", None)
    ours = engine(MODELS["forest of two"])
    assert "all points in one call" in ours.description
    check_engine(ours, FRAME[:3].to_dict("records"))


def test_threads_give_the_same(monkeypatch):
    one = walked(model := MODELS["histogram of three"], FRAME)
    monkeypatch.setattr("ipdp.models.forests.engine._WORK", 50)
    for number in ("3", "", "4,2", "-1", "0", "two", "\u00b2", "9" * 5_000):
        monkeypatch.setenv("OMP_NUM_THREADS", number)
        np.testing.assert_array_equal(one, walked(model, FRAME))


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(1, 3),
    missing=st.booleans(),
    ascending=st.booleans(),
)
def test_random_trees_and_points_in_both_builds(seed, n_classes, missing, ascending):
    """Points in any order, also twice the same, with NaN among rows and points."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, n_classes, 60) if n_classes > 1 else rng.normal(size=60)
    kind = HistGradientBoostingClassifier if n_classes > 1 else HistGradientBoostingRegressor
    if n_classes > 1:
        y[:n_classes] = range(n_classes)
    model = kind(max_iter=3, min_samples_leaf=2, categorical_features=[2]).fit(X, y)
    points = [rng.integers(-4, 5, rng.integers(1, 5)).astype(float) for _ in range(3)]
    if missing:
        points[0][-1] = np.nan
    points = [np.sort(p) for p in points] if ascending else points
    features = [0, 1, 2, (0, 1), (2, 0)]
    values = [*points, lattice(*points[:2]), lattice(points[2], points[0])]
    rows = [dict(enumerate(row)) for row in X[:17].tolist()]
    probes, positions = asked(features, values)
    positions = np.repeat(positions[None], 17, axis=0)
    found = {}
    for build in (kernels.current, Readable):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("error")
            patch.setattr(kernels, "current", build)
            ours = engine(model)
            found[build] = ours.ice(rows, probes, positions).values
            assert ours.fault is None
    table = pd.DataFrame(X[:17])
    expected = plain_curves(OnArrays(model), table, features, values)
    for values in found.values():
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(1, 3), ascending=st.booleans())
def test_rows_that_have_the_same_points_in_both_builds(seed, n_classes, ascending):
    """Many rows with the same points, and few of them, with NaN among rows and points."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (120, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, n_classes, 120) if n_classes > 1 else rng.normal(size=120)
    kind = HistGradientBoostingClassifier if n_classes > 1 else HistGradientBoostingRegressor
    if n_classes > 1:
        y[:n_classes] = range(n_classes)
    model = kind(max_iter=3, min_samples_leaf=2, max_leaf_nodes=9).fit(X, y)
    features = [0, 2]
    runs = [70, 1, 9, 3, 2, 15, 20]  # more than go through a tree together, and fewer than pay
    rows = [dict(enumerate(row)) for row in X.tolist()]
    sets = [rng.integers(-4, 5, (2, 5)).astype(float) for _ in runs]
    sets[0][1, -1] = np.nan
    sets = [np.sort(values) if ascending else values for values in sets]
    probes, _ = asked(features, list(sets[0]))
    positions = np.repeat([values.reshape(1, -1) for values in sets], runs, axis=0)
    table, stops = pd.DataFrame(X), np.cumsum(runs).tolist()
    parts = zip([0, *stops], stops, sets, strict=False)
    expected = np.concatenate(
        [plain_curves(OnArrays(model), table[a:b], features, list(own)) for a, b, own in parts]
    )
    for build in (kernels.current, Readable):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("error")
            patch.setattr(kernels, "current", build)
            ours = engine(model)
            values = ours.ice(rows, probes, positions).values
            assert ours.fault is None
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)


class Readable:
    """The files of the loops as Python runs them."""

    Masks = masks.Masks

    class Walk(ice.Walk):
        def __init__(self, forest, *args):
            super().__init__(forest, *args)
            self.nodes = forest.nodes.view(np.recarray)


# Models of strangers: the walk checks no index, so that what it reads has to be checked.


def _edited(edit, model=None):
    """A forest of three classes whose trees were edited, as a file of somebody else may have it."""
    forest = (model or RandomForestClassifier(2, max_depth=3, random_state=0)).fit(FRAME, THREE)
    for tree in forest.estimators_:
        state = tree.tree_.__getstate__()
        state["nodes"] = state["nodes"].copy()
        edit(state["nodes"])
        tree.tree_.__setstate__(state)
    return forest


def _on_a_column_that_is_not_there(nodes):
    nodes["feature"][0] = 1_000_000


def _with_shared_nodes(nodes):
    for k in range(len(nodes) - 1):
        nodes["left_child"][k] = nodes["right_child"][k] = k + 1


def test_trees_of_a_crafted_model_are_not_walked():
    model = _edited(_with_shared_nodes)
    with pytest.raises(NotRead, match="no tree"):
        read_forest(model, "predict_proba")


def test_splits_on_columns_that_are_not_there_are_not_walked():
    model = _edited(_on_a_column_that_is_not_there)
    forest = read_forest(model, "predict_proba")
    with pytest.raises(NotWalked, match="column 1,000,000 of 4"):
        Request((Probe(("a",), 0, 3, (False,), (None,)),), NAMES, forest)


def test_leaves_of_more_values_than_outputs_are_not_walked():
    model = RandomForestClassifier(2, random_state=0).fit(FRAME, np.arange(N) % 5)
    model.classes_ = model.classes_[:3]
    with pytest.raises(NotRead, match="more values than it has outputs"):
        read_forest(model, "predict_proba")
