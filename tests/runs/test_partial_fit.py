"""scikit-learn's models that learn in parts."""

import copy

import numpy as np
import pandas as pd
import pytest
from river import metrics
from sklearn.linear_model import SGDClassifier, SGDRegressor

import ipdp


def table(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return X, (X["a"] - X["b"] > 0).to_numpy()


@pytest.mark.parametrize("by_name", [True, False])
def test_a_model_with_partial_fit_learns_as_by_hand(by_name):
    X, y = table()
    first = X[:20] if by_name else X[:20].to_numpy()
    model = SGDClassifier(loss="log_loss", random_state=0)
    model.partial_fit(first, y[:20], classes=[False, True])
    twin = copy.deepcopy(model)
    rows = X[20:].to_dict("records")
    # Names say what is what; without them, the first observation does.
    rows[1:] = [{name: row[name] for name in "cab"} for row in rows[1:]]
    pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
    accuracy = metrics.Accuracy()
    summary = ipdp.run(zip(rows, y[20:].tolist(), strict=True), model, pdp, metric=accuracy)
    right = 0
    for k in range(20, len(X)):
        row = X[k : k + 1] if by_name else X[k : k + 1].to_numpy()
        right += twin.predict(row)[0] == y[k]
        twin.partial_fit(row, y[k : k + 1])
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert summary.scores["Accuracy"] == right / 100


def test_a_regressor_goes_on_after_a_stop_as_if_there_had_been_none(tmp_path):
    X, _ = table()
    stream = [(x, x["a"] * 2 - x["c"]) for x in X.to_dict("records")]

    def learned():
        model = SGDRegressor(random_state=0)
        model.partial_fit(X[:5], [0.0] * 5)
        return model, ipdp.IncrementalPDP(model, ["a", "c"], seed=1)

    whole, pdp = learned()
    ipdp.run(stream, whole, pdp, metric=metrics.MAE())
    model, part = learned()
    ipdp.run(stream[:50], model, part, metric=metrics.MAE(), checkpoint=tmp_path / "c.ipdp")
    model, again = learned()
    ipdp.run(
        stream, model, again, metric=metrics.MAE(), checkpoint=tmp_path / "c.ipdp", resume=True
    )
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert again.state == pdp.state


def test_a_model_that_cannot_learn_says_so():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    with pytest.raises(ValueError, match="give learn=False"):
        ipdp.run([({"a": 1.0}, 1.0)], pdp.model, pdp)
