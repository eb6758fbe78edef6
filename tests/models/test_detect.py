"""Every engine equals plain calls of its model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from river import anomaly, cluster, compose, linear_model, naive_bayes, preprocessing, tree
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.neighbors import NearestCentroid

from ipdp.checks import check_engine
from ipdp.models import (
    ArrayEngine,
    Engine,
    FrameEngine,
    Probe,
    RowEngine,
    detect,
    engine,
    register,
)
from ipdp.models.sklearn import SklearnEngine

COLOURS = np.array(["red", "blue"], dtype=object)


def question(n: int = 3):
    """Observations, probes of a number, a whole number, a category and a pair, and positions."""
    rng = np.random.default_rng(0)
    rows = [
        {"a": float(a), "k": int(k), "colour": str(c)}
        for a, k, c in zip(
            rng.normal(size=n), rng.integers(0, 9, n), rng.choice(COLOURS, n), strict=True
        )
    ]
    probes = [
        Probe(("a",), 0, 3, (False,), (None,)),
        Probe(("k",), 3, 5, (True,), (None,)),
        Probe(("colour",), 5, 7, (False,), (COLOURS,)),
        Probe(("a", "colour"), 7, 11, (False, False), (None, np.tile(COLOURS, 2))),
    ]
    positions = np.zeros((n, 2, 11))
    positions[:, 0, :3] = rng.normal(size=(n, 3))
    positions[:, 0, 3:5] = [1, 4]
    positions[:, 0, 7:11] = np.repeat(rng.normal(size=(n, 2)), 2, axis=1)
    return rows, probes, positions


def plain_calls(function, rows, probes, positions):
    """What the engine must say: one call for each point, of shape (n, n_points)."""
    answers = np.empty((len(rows), positions.shape[2]))
    for i, x in enumerate(rows):
        for probe in probes:
            for column in range(probe.start, probe.stop):
                changed = dict(x)
                for axis, name in enumerate(probe.names):
                    categories = probe.categories[axis]
                    value = positions[i, axis, column]
                    if categories is not None:
                        value = categories[column - probe.start]
                    elif probe.whole[axis]:
                        value = int(value)
                    changed[name] = value
                answers[i, column] = function(changed)
    return answers


def by_dict(x):
    assert isinstance(x["k"], int)
    return x["a"] * (2 if x["colour"] == "red" else -1) + x["k"]


def by_frame(X):
    return X["a"] * np.where(X["colour"] == "red", 2, -1) + X["k"]


def by_array(X):
    return X[:, 0].astype(float) * np.where(X[:, 2] == "red", 2, -1) + X[:, 1].astype(float)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    "ours",
    [
        engine(by_dict),
        engine(by_frame, takes="frame"),
        engine(by_frame, takes="frame", backend="polars"),
        engine(by_array, takes="array"),
    ],
    ids=["dict", "pandas", "polars", "array"],
)
def test_functions_equal_plain_calls(ours, n):
    rows, probes, positions = question(n)
    before = [dict(x) for x in rows]
    answer = ours.ice(rows, probes, positions)
    assert answer.labels == ("prediction",)
    np.testing.assert_allclose(
        answer.values[:, 0], plain_calls(by_dict, rows, probes, positions), atol=1e-12
    )
    assert rows == before


def test_numbers_only_take_the_short_way_and_equal_plain_calls():
    rows, probes, positions = question(1)
    numbers = [{"a": rows[0]["a"], "k": rows[0]["k"]}]
    ours = engine(lambda X: X[:, 0] + 10 * X[:, 1], takes="array")
    answer = ours.ice(numbers, probes[:2], positions[:, :, :5])
    expected = plain_calls(lambda x: x["a"] + 10 * x["k"], numbers, probes[:2], positions[:, :, :5])
    np.testing.assert_allclose(answer.values[:, 0], expected)


def test_stacked_calls_are_bounded_and_say_the_same(monkeypatch):
    rows, probes, positions = question(7)
    sizes = []

    def spy(X):
        sizes.append(len(X))
        return by_frame(X)

    whole = engine(by_frame, takes="frame").ice(rows, probes, positions)
    monkeypatch.setattr("ipdp.models.batched.MAX_CELLS", 2 * 11 * 3)
    parts = engine(spy, takes="frame").ice(rows, probes, positions)
    assert sizes == [22, 22, 22, 11]
    np.testing.assert_array_equal(whole.values, parts.values)


def river_question():
    rows, probes, positions = question(2)
    numbers = [{"a": x["a"], "k": x["k"]} for x in rows]
    return numbers, probes[:2], positions[:, :, :5]


def learned(model, targets):
    rng = np.random.default_rng(1)
    for i in range(200):
        a, k = float(rng.normal()), int(rng.integers(0, 9))
        model.learn_one({"a": a, "k": k}, targets(a, k, i))
    return model


@pytest.mark.parametrize(
    "model",
    [
        tree.HoeffdingTreeClassifier(grace_period=20),
        naive_bayes.GaussianNB(),
        compose.Pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
        compose.Pipeline(
            compose.Select("a", "k"), preprocessing.MinMaxScaler(), tree.HoeffdingTreeClassifier()
        ),
    ],
    ids=["tree", "bayes", "pipeline", "longer pipeline"],
)
def test_river_classifiers_equal_plain_calls(model):
    learned(model, lambda a, k, i: a > 0)
    rows, probes, positions = river_question()
    answer = engine(model).ice(rows, probes, positions)
    for row, label in enumerate(answer.labels):
        expected = plain_calls(lambda x: model.predict_proba_one(x)[label], rows, probes, positions)  # noqa: B023
        np.testing.assert_array_equal(answer.values[:, row], expected)
    assert set(answer.labels) == {False, True}


def test_river_gets_a_missing_value_as_an_absent_feature():
    model = learned(tree.HoeffdingTreeClassifier(grace_period=20), lambda a, k, i: a > 0)
    probe = Probe(("a",), 0, 2, (False,), (None,), missing=True)
    answer = engine(model).ice([{"a": 1.0, "k": 3}], [probe], np.array([[[0.5, 0.0]]]))
    expected = [model.predict_proba_one(x) for x in ({"a": 0.5, "k": 3}, {"k": 3})]
    for row, label in enumerate(answer.labels):
        assert answer.values[0, row].tolist() == [x[label] for x in expected]


def test_functions_get_a_missing_value_as_nan_or_none():
    seen = []
    probes = [
        Probe(("a",), 0, 2, (False,), (None,), missing=True),
        Probe(("c",), 2, 4, (False,), (np.array(["red", None], dtype=object),), missing=True),
    ]
    engine(lambda x: seen.append(x) or 0.0).ice(
        [{"a": 1.0, "c": "blue"}], probes, np.array([[[0.5, 0.0, 0.0, 0.0]]])
    )
    assert [x["a"] for x in seen[:2]] == [0.5, pytest.approx(np.nan, nan_ok=True)]
    assert [x["c"] for x in seen[2:]] == ["red", None]


def test_river_regressors_equal_plain_calls():
    model = learned(tree.HoeffdingTreeRegressor(grace_period=20), lambda a, k, i: 3 * a + k)
    rows, probes, positions = river_question()
    answer = engine(model).ice(rows, probes, positions)
    assert answer.labels == ("prediction",)
    np.testing.assert_array_equal(
        answer.values[:, 0], plain_calls(model.predict_one, rows, probes, positions)
    )


def test_a_river_classifier_without_probabilities_gives_shares():
    model = learned(linear_model.Perceptron(), lambda a, k, i: a > 0)
    rows, probes, positions = river_question()
    answer = engine(model, response="predict").ice(rows, probes, positions)
    expected = plain_calls(lambda x: model.predict_one(x) is True, rows, probes, positions)
    np.testing.assert_array_equal(answer.values[:, answer.labels.index(True)], expected)


@pytest.mark.parametrize(
    "model",
    [
        anomaly.HalfSpaceTrees(n_trees=3, window_size=20, seed=1),
        preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(n_trees=3, window_size=20, seed=1),
    ],
    ids=["detector", "pipeline"],
)
def test_anomaly_detectors_of_river_are_explained_by_their_score(model):
    for x in np.random.default_rng(1).normal(size=(100, 2)).tolist():
        model.learn_one({"a": x[0], "k": x[1]})
    rows, probes, positions = river_question()
    answer = engine(model).ice(rows, probes, positions)
    assert "score_one" in repr(engine(model))
    np.testing.assert_array_equal(
        answer.values[:, 0], plain_calls(model.score_one, rows, probes, positions)
    )
    assert np.ptp(answer.values) > 0


def test_clusterers_of_river_are_explained_by_the_share_of_each_cluster():
    model = cluster.KMeans(n_clusters=3, seed=1)
    for x in np.random.default_rng(1).normal(size=(100, 2)).tolist():
        model.learn_one({"a": x[0], "k": x[1]})
    rows, probes, positions = river_question()
    answer = engine(model).ice(rows, probes, positions)
    for row, label in enumerate(answer.labels):
        expected = plain_calls(lambda x: model.predict_one(x) == label, rows, probes, positions)  # noqa: B023
        np.testing.assert_array_equal(answer.values[:, row], expected)


def test_an_unfitted_river_model_says_nothing_and_that_is_no_error():
    answer = engine(tree.HoeffdingTreeClassifier()).ice(*river_question())
    assert answer.labels == ()
    assert answer.values.shape == (2, 0, 5)


def sklearn_data():
    X, y = make_classification(80, 2, n_informative=2, n_redundant=0, random_state=0)
    return pd.DataFrame(X, columns=["a", "k"]), np.where(y == 1, "yes", "no")


@pytest.mark.parametrize("as_frame", [True, False])
def test_sklearn_equals_plain_calls(as_frame):
    X, y = sklearn_data()
    data = X if as_frame else X.to_numpy()
    model = LogisticRegression().fit(data, y)
    rows, probes, positions = river_question()
    # The order of the observation's features does not matter to a model that knows their names.
    rows = [{"k": x["k"], "a": x["a"]} if as_frame else x for x in rows]

    def plain(x):
        row = pd.DataFrame([x])[["a", "k"]] if as_frame else [[x["a"], x["k"]]]
        return model.predict_proba(row)[0, 1]

    answer = engine(model).ice(rows, probes, positions)
    assert answer.labels == ("no", "yes")
    np.testing.assert_allclose(
        answer.values[:, 1], plain_calls(plain, rows, probes, positions), atol=1e-12
    )


def test_sklearn_learns_in_between():
    X, y = sklearn_data()
    model = SGDClassifier(loss="log_loss", random_state=0)
    ours = engine(model)
    rows, probes, positions = river_question()
    with pytest.raises(Exception, match="not fitted"):
        ours.ice(rows, probes, positions)
    answers = []
    for _ in range(2):
        model.partial_fit(X.to_numpy(), y, classes=["no", "yes"])
        answers.append(ours.ice(rows, probes, positions).values)
    assert np.abs(answers[0] - answers[1]).max() > 0


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        (lambda x: 0, RowEngine, "a function of one dict"),
        (LinearRegression(), Engine, "LinearRegression.predict,"),
        (LogisticRegression(), Engine, "LogisticRegression.predict_proba,"),
        (linear_model.LinearRegression(), RowEngine, "LinearRegression.predict_one,"),
        (tree.HoeffdingTreeClassifier(), RowEngine, "HoeffdingTreeClassifier.predict_proba_one"),
        (tree.HoeffdingTreeClassifier().predict_proba_one, RowEngine, "a function of one dict"),
        (
            preprocessing.StandardScaler() | tree.HoeffdingTreeRegressor(),
            RowEngine,
            "pipeline of HoeffdingTreeRegressor.predict_one",
        ),
        (NearestCentroid(), Engine, "NearestCentroid."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_says_what_the_model_was_taken_for(model, kind, words):
    ours = engine(model)
    assert isinstance(ours, kind)
    assert words in repr(ours)
    assert engine(ours) is ours


def test_a_method_of_an_estimator_is_taken_for_that_response():
    X, y = sklearn_data()
    model = LogisticRegression().fit(X, y)
    assert "decision_function" in repr(engine(model.decision_function))


class Thermostat:
    """A model of the user's own; nothing about it looks like a model."""

    def heating(self, x):
        return max(0.0, 20.0 - x["outside"])


def thermostat_engine(model, response):
    return RowEngine(model.heating, model=model, description=f"a thermostat, {response}")


@pytest.mark.parametrize("kind", [Thermostat, lambda model: hasattr(model, "heating")])
def test_models_of_a_kind_that_was_registered(kind, monkeypatch):
    monkeypatch.setattr(detect, "_REGISTER", list(detect._REGISTER))
    with pytest.raises(TypeError, match="a Thermostat is not a model"):
        engine(Thermostat())
    register(kind, thermostat_engine)
    ours = engine(Thermostat(), response="predict")
    assert ours.description == "a thermostat, predict, one call for each point"
    check_engine(ours, [{"outside": 15.0}, {"outside": 25.0}])
    assert isinstance(engine(LinearRegression()), SklearnEngine)


def test_what_was_registered_last_is_tried_first(monkeypatch):
    monkeypatch.setattr(detect, "_REGISTER", list(detect._REGISTER))
    for word in ("first", "last"):
        register(
            LinearRegression,
            lambda model, _, word=word: RowEngine(len, model=model, description=word),
        )
    assert engine(LinearRegression()).description.startswith("last")


@pytest.mark.parametrize("method", ["predict", "predict_one", "predict_proba_one", "score_one"])
def test_no_library_is_imported_for_a_model_that_only_looks_like_its_own(method):
    code = f"""
import sys
import ipdp
class Model:
    def {method}(self, x):
        return [1.0] * len(x) if {method!r} == "predict" else 1.0
ipdp.models.engine(Model()).predict([{{"a": 1.0}}])
print(*[name for name in ("sklearn", "river", "pandas") if name in sys.modules])
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == []


def test_annotations_say_what_a_function_takes():
    def on_frame(X: pd.DataFrame): ...
    def on_array(X: np.ndarray): ...

    assert isinstance(engine(on_frame), FrameEngine)
    assert isinstance(engine(on_array), ArrayEngine)


def test_hard_predictions_of_sklearn_are_shares():
    X, y = sklearn_data()
    model = LogisticRegression().fit(X, y)
    rows, probes, positions = river_question()
    answer = engine(model, response="predict").ice(rows, probes, positions)
    assert answer.labels == ("no", "yes")
    assert set(np.unique(answer.values)) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": None}, TypeError, "a NoneType is not a model"),
        ({"model": 3}, TypeError, "a int is not a model"),
        ({"model": LinearRegression}, TypeError, "is a class: give a model"),
        ({"model": preprocessing.StandardScaler()}, TypeError, "not a model"),
        ({"model": abs, "takes": "list"}, ValueError, "takes must be one of"),
        ({"model": abs, "response": "proba"}, ValueError, "response must be one of"),
        (
            {"model": LinearRegression(), "response": "predict_proba"},
            ValueError,
            "LinearRegression has no predict_proba",
        ),
        (
            {"model": tree.HoeffdingTreeRegressor(), "response": "predict_proba"},
            ValueError,
            "no predict_proba_one",
        ),
    ],
)
def test_refuses_clearly(arguments, error, message):
    with pytest.raises(error, match=message):
        engine(**arguments)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "answered None"),
        ("yes", "which is not a number"),
        ([1, 2, "x"], "which is not a number"),
        ({"no": 0.5, "yes": "x"}, "answered {'no': 0.5, 'yes': 'x'}, which is not a number"),
        ({"no": 0.5, "yes": 10**400}, "which is not a number"),
        ({"no": [0.5], "yes": 0.5}, "which is not a number"),
    ],
)
def test_answers_that_cannot_be_used(answer, message):
    with pytest.raises(ValueError, match=message):
        engine(lambda x: answer).ice(*question())


def test_a_dict_for_some_points_only():
    with pytest.raises(ValueError, match="a dict for some points"):
        engine(lambda x: {} if x["a"] > 0 else 1.0).ice(*question())


def test_a_wrong_number_of_rows():
    with pytest.raises(ValueError, match="asked about 33 rows and answered"):
        engine(lambda X: np.zeros(5), takes="array").ice(*question())


def test_a_feature_that_the_model_does_not_have_changes_nothing():
    X, y = sklearn_data()
    rows, probes, positions = question()
    model = engine(LogisticRegression().fit(X, y))
    values = model.ice(rows, probes, positions).values
    plain = model.predict(rows).values
    np.testing.assert_array_equal(values[:, :, 5:7], np.repeat(plain, 2, axis=2))
    with pytest.raises(ValueError, match="the model has no feature 'size'"):
        model.ice(rows, [probes[0]._replace(names=("size",))], positions[:, :, :3])


def test_a_wrong_number_of_features():
    X, y = sklearn_data()
    rows, probes, positions = question()
    with pytest.raises(ValueError, match="was fitted on 2 features and the observation has 3"):
        engine(LogisticRegression().fit(X.to_numpy(), y)).ice(rows, probes[:1], positions[..., :3])
