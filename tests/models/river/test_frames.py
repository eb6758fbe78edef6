"""river's methods for a frame say what its methods for one observation say."""

import math

import numpy as np
import pytest
from river import compose, linear_model, multiclass, naive_bayes, preprocessing

import ipdp
from ipdp.models import SlowPathWarning
from ipdp.models.river.frames import LEAST_ROWS, MiniBatchEngine

N = 120


def stream(seed=0):
    rng = np.random.default_rng(seed)
    return [dict(zip("abc", row, strict=True)) for row in rng.uniform(0.1, 2.0, (N, 3)).tolist()]


def target(x, kind):
    if kind == "number":
        return 2 * x["a"] - x["b"] * x["c"]
    if kind == "words":
        return "high" if x["a"] > x["b"] else ("low" if x["c"] > 1 else "middle")
    return x["a"] > x["b"]


def frame_calls(model, method, monkeypatch):
    """Count the calls of the method for frames."""
    sizes = []
    own = getattr(model, method)

    def spy(X):
        sizes.append(len(X))
        return own(X)

    monkeypatch.setattr(model, method, spy, raising=False)
    return sizes


class OwnLogistic(linear_model.LogisticRegression):
    """Has a prediction of its own, so that its parts are not known."""

    def predict_proba_one(self, x):
        return super().predict_proba_one(x)


class OwnLinear(linear_model.LinearRegression):
    def predict_one(self, x):
        return super().predict_one(x)


MODELS = {
    "logistic": (OwnLogistic, "yes or no"),
    "linear": (OwnLinear, "number"),
    "scaled": (lambda: preprocessing.StandardScaler() | OwnLinear(), "number"),
    "classes": (
        lambda: preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(OwnLogistic()),
        "words",
    ),
    "bayes": (naive_bayes.MultinomialNB, "words"),
    "union": (
        lambda: (
            (compose.Select("a") + (compose.Select("b", "c") | preprocessing.StandardScaler()))
            | OwnLogistic()
        ),
        "yes or no",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_frame_of_points_says_what_plain_calls_say(name, monkeypatch):
    make, kind = MODELS[name]
    model, rows = make(), stream()
    for x in rows:
        model.learn_one(x, target(x, kind))
    method = "predict_many" if kind == "number" else "predict_proba_many"
    sizes = frame_calls(model, method, monkeypatch)
    call = model.predict_one if kind == "number" else model.predict_proba_one
    features = ["a", "b", ("a", "c")]
    ours = ipdp.IncrementalPDP(model, features, alpha=0.05, grid=ipdp.grid.MinMax(5, warm_up=2))
    plain = ipdp.IncrementalPDP(call, features, alpha=0.05, grid=ipdp.grid.MinMax(5, warm_up=2))
    assert isinstance(ours.engine, MiniBatchEngine)
    ours.explain_many(rows)
    plain.explain_many(rows)
    assert sizes
    assert max(sizes) >= LEAST_ROWS
    for feature in features:
        a, b = ours.curve(feature), plain.curve(feature)
        for label in b.outputs:
            assert a.select(label).average == pytest.approx(b.select(label).average, rel=1e-9)


def test_few_points_are_asked_one_by_one(monkeypatch):
    model = OwnLinear()
    sizes = frame_calls(model, "predict_many", monkeypatch)
    pdp = ipdp.IncrementalPDP(model, grid=ipdp.grid.Fixed([0, 1]))
    for x in stream()[:5]:
        pdp.explain_one(x)
        model.learn_one(x, target(x, "number"))
    assert not sizes


@pytest.mark.filterwarnings("ignore:features that are None are left out")
@pytest.mark.parametrize("hole", [None, math.nan, "absent"])
def test_a_missing_value_is_an_absent_feature_also_in_a_table(hole, monkeypatch):
    # A NaN in a frame would make river's answer NaN; an absent feature adds nothing to the sum.
    model, rows = OwnLinear(), stream()
    for x in rows:
        model.learn_one(x, target(x, "number"))
    sizes = frame_calls(model, "predict_many", monkeypatch)
    plain = ipdp.IncrementalPDP(model.predict_one, ["a"], grid=ipdp.grid.Fixed(range(10)))
    ours = ipdp.IncrementalPDP(model, ["a"], grid=ipdp.grid.Fixed(range(10)))
    rows[3] = {k: v for k, v in rows[3].items() if k != "c"}
    given = rows.copy()
    if hole != "absent":
        given[3] = {**rows[3], "c": hole}
    try:
        plain.explain_many(rows if hole is None else given)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            ours.explain_many(given)
    else:
        ours.explain_many(given)
        assert ours.curve("a").average == pytest.approx(plain.curve("a").average)
    assert not sizes


class Wrong(OwnLinear):
    """Its method for a frame is off by one."""

    def predict_many(self, X):
        return super().predict_many(X) + 1


class Broken(OwnLinear):
    """Its method for a frame raises."""

    def predict_many(self, X):
        raise RuntimeError("no frames today")


@pytest.mark.parametrize(("kind", "why"), [(Wrong, "differ"), (Broken, "no frames today")])
def test_a_frame_that_fails_is_given_up_with_one_warning(kind, why):
    model, rows = kind(), stream()
    for x in rows:
        model.learn_one(x, target(x, "number"))
    ours = ipdp.IncrementalPDP(model, ["a"], grid=ipdp.grid.Fixed(range(10)))
    plain = ipdp.IncrementalPDP(model.predict_one, ["a"], grid=ipdp.grid.Fixed(range(10)))
    for _ in range(2):  # it may only not be ready
        ours.explain_many(rows)
    with pytest.warns(SlowPathWarning, match=why):
        ours.explain_many(rows)
    ours.explain_many(rows)
    for _ in range(4):
        plain.explain_many(rows)
    assert (ours.curve("a").average == plain.curve("a").average).all()
    assert "one for all" not in repr(ours.engine)
