"""The errors of river over text, as sentences that name the column and the cure."""

from __future__ import annotations

import pytest
from river import linear_model, naive_bayes, neighbors, preprocessing, tree

import ipdp
from ipdp.runs import RunFailed

TEXTS = [({"a": k / 7, "job": "admin"}, k % 2 == 0) for k in range(60)]
LABELS = [({"a": k / 7, "b": 1.0}, ["ok", "bad"][k % 2]) for k in range(60)]


def failure(model, stream):
    with pytest.raises(RunFailed) as caught:
        ipdp.run(stream, model, ipdp.IncrementalPDP(model))
    return str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LogisticRegression(),
        linear_model.PAClassifier(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        naive_bayes.GaussianNB(),
        neighbors.KNNClassifier(),
        tree.HoeffdingTreeRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_text_column(model):
    said = failure(model, TEXTS)
    assert "job holds text (job is 'admin'), which" in said
    assert "--encode onehot" in said
    assert "OneHotEncoder" in said
    assert "VectorDict" not in said


@pytest.mark.parametrize("model", [linear_model.LogisticRegression(), linear_model.PAClassifier()])
def test_a_text_label(model):
    said = failure(model, LABELS)
    assert "the label is text ('" in said
    assert "multiclass.OneVsRestClassifier" in said


def test_a_text_label_for_a_regressor():
    said = failure(linear_model.LinearRegression(), LABELS)
    assert "LinearRegression is a regressor: take a classifier" in said


def test_other_errors_stay_what_they_are():
    def model(x):
        raise ValueError("no such thing")

    with pytest.raises(RunFailed, match=r"no such thing \(ValueError\)"):
        ipdp.run([x for x, _ in TEXTS], model, ipdp.IncrementalPDP(model), learn=False)
