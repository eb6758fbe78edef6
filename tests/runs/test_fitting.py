"""What is put around a model so that it takes text columns and labels of any kind."""

from __future__ import annotations

import random

import pytest
from river import (
    compose,
    ensemble,
    feature_extraction,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from sklearn.linear_model import LogisticRegression

from ipdp.runs.fitting import Fitting, fitting


def rows(label=lambda x: x["a"] > 0.5, n=100):
    rng = random.Random(1)
    made = []
    for k in range(n):
        x = {"a": rng.random(), "c": rng.choice("xyz"), "w": f"name {k}"}
        if k % 9 == 4:
            x["c"] = None
        made.append((x, label(x)))
    return made


def taught(model, stream):
    for x, y in stream:
        there = {name: value for name, value in x.items() if value is not None}
        model.predict_one(there)
        model.learn_one(there, y)
    return model


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LogisticRegression(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        naive_bayes.GaussianNB(),
        neighbors.KNNClassifier(),
        linear_model.Perceptron(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_text_is_encoded_for_a_model_of_numbers(model):
    made = fitting(model, rows(), "auto")
    assert made == Fitting("onehot", ("c",), without=("w",))
    taught(made.around(model), rows())


def test_a_regression_tree_is_one_of_numbers():
    stream = rows(lambda x: 2 * x["a"])
    made = fitting(tree.HoeffdingTreeRegressor(), stream, "auto")
    assert made.encode == "onehot"
    taught(made.around(tree.HoeffdingTreeRegressor()), stream)


def test_a_tree_keeps_its_text_but_for_ids():
    model = tree.HoeffdingTreeClassifier()
    made = fitting(model, rows(), "auto")
    assert made == Fitting(without=("w",))
    assert model.n_nodes is None  # what was tried was a copy
    whole = taught(made.around(model), rows())
    assert whole["Discard"].transform_one({"a": 1.0, "c": "x", "w": "name 1"}) == {"a": 1, "c": "x"}
    assert "w, text that is another one in each row" in made.sentences()[0]


def test_as_it_is_and_as_it_is_wanted():
    model = tree.HoeffdingTreeClassifier()
    made = fitting(model, rows(), "none")
    assert made == Fitting()
    assert made.around(model) is model
    assert fitting(model, rows(), "auto", wanted=["w"]) == Fitting()
    logistic = linear_model.LogisticRegression()
    assert fitting(logistic, rows(), "auto", wanted=["w"]) == Fitting("onehot", ("c", "w"), ("w",))


def test_only_an_id_is_text():
    stream = [({"a": x["a"], "w": x["w"]}, y) for x, y in rows()]
    made = fitting(linear_model.LogisticRegression(), stream, "auto")
    assert made == Fitting(without=("w",))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: model,
        multiclass.OneVsRestClassifier,
        lambda model: ensemble.VotingClassifier([model, model.clone()]),
    ],
)
def test_text_that_a_pipeline_takes_apart_is_no_id(wrap):
    words = feature_extraction.BagOfWords(on="w") | naive_bayes.MultinomialNB()
    assert fitting(wrap(words), rows(), "auto") == Fitting()


def test_a_pipeline_that_encodes_by_itself_is_left_as_it_is():
    text = compose.SelectType(str) | preprocessing.OneHotEncoder()
    model = text + compose.SelectType(float) | linear_model.LogisticRegression()
    assert fitting(model, rows(), "auto") == Fitting()


@pytest.mark.parametrize("encode", ["onehot", "ordinal"])
def test_what_is_asked_for_is_done(encode):
    made = fitting(tree.HoeffdingTreeClassifier(), rows(), encode)
    assert made == Fitting(encode, ("c", "w"))
    model = taught(made.around(tree.HoeffdingTreeClassifier()), rows())
    seen = model[next(iter(model.steps))].transform_one({"a": 1.0, "c": "x"})
    assert all(isinstance(value, (int, float)) for value in seen.values())


@pytest.mark.parametrize("classes", [["ok", "bad"], [1, 2], ["a", "b", "c"]])
def test_labels_of_any_kind(classes):
    stream = rows(lambda x: classes[int(x["a"] * len(classes))], n=400)
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    made = fitting(model, stream[:100], "auto")
    assert made.one_vs_rest
    model = taught(made.around(model), stream)
    said = [model.predict_one({"a": a}) for a in (0.02, 0.98)]
    assert said == [classes[0], classes[-1]]
    assert set(model.predict_proba_one({"a": 0.5})) == set(classes)


def test_true_and_false_need_nothing():
    assert not fitting(linear_model.LogisticRegression(), rows(), "auto").one_vs_rest
    numbered = rows(lambda x: int(x["a"] > 0.5))
    assert not fitting(linear_model.LogisticRegression(), numbered, "auto").one_vs_rest


def test_models_of_others_and_taught_ones_are_left_alone():
    assert fitting(LogisticRegression(), rows(), "auto") == Fitting()
    model = linear_model.LogisticRegression()
    assert fitting(model, rows(), "auto", is_fresh=False) == Fitting()
    with pytest.raises(ValueError, match="--encode is for models of river"):
        fitting(LogisticRegression(), rows(), "onehot")


def test_the_log_keeps_it():
    made = Fitting("onehot", ("c", "w"), ("w",), one_vs_rest=True, without=("id",))
    assert Fitting.from_dict(made.to_dict()) == made
    assert Fitting.from_dict(None) == Fitting()
    earlier = {"encode": "onehot", "texts": ["c"], "ordinal": [], "one_vs_rest": False}
    assert Fitting.from_dict(earlier) == Fitting("onehot", ("c",))
