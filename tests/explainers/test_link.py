"""Curves on the scale of a link, against brute force."""

import json
import pickle
import random

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import ipdp
from ipdp.grid import Fixed

NAMES = ["a", "b", "c"]
GRID = Fixed([-1.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def data():
    """A rare event, and a model whose log-odds are linear."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = (X @ [1.0, -2.0, 0.5] - 3 + rng.logistic(size=400) > 0).astype(int)
    return X, LogisticRegression().fit(X, y)


def decided(model, X, k):
    """The mean decision function with one column at each point: the partial dependence."""
    rows = [np.column_stack([X[:, :k], np.full(len(X), v), X[:, k + 1 :]]) for v in (-1, 0, 1)]
    return [model.decision_function(row).mean() for row in rows]


def test_log_odds_of_a_logistic_regression_are_its_decision_function(data):
    X, model = data
    table = ipdp.partial_dependence(model, X, names=NAMES, link="logit", grid=GRID)
    pdp = ipdp.IncrementalPDP(model, NAMES, link="logit", alpha=None, grid=GRID)
    pdp.explain_many(X, names=NAMES)
    one = ipdp.IncrementalPDP(model, NAMES, link="logit", alpha=None, grid=GRID)
    for row in X:
        one.explain_one(dict(zip(NAMES, row, strict=True)))
    for k, name in enumerate(NAMES):
        for curve in (table[k], pdp.curve(name), one.curve(name), one.curve(name, now=True)):
            np.testing.assert_allclose(curve.average[1], decided(model, X, k), atol=1e-9)
            np.testing.assert_allclose(curve.average[0], -curve.average[1], atol=1e-9)
    np.testing.assert_allclose(pdp.curve("a").ice[1, -1], decided(model, X[-1:], 0), atol=1e-9)
    mean = model.decision_function(X).mean()
    # Predictions are read off the curves, which are lines here.
    np.testing.assert_allclose(pdp.curve("a").prediction[1], mean, atol=0.01)
    assert pdp.curve("a").output_text(1) == "log-odds of class 1"


def test_effects_and_regions_are_on_the_scale_too(data):
    X, model = data
    slope = model.coef_[0, 0]
    effect = ipdp.accumulated_local_effects(model, X, "a", names=NAMES, link="logit", grid=GRID)[0]
    np.testing.assert_allclose(np.diff(effect.average[1]), slope, atol=1e-9)
    assert effect.output_text(1) == "effect on the log-odds of class 1"
    ale = ipdp.IncrementalALE(model, ["a"], link="logit", alpha=None, grid=GRID)
    ale.explain_many(X, names=NAMES)
    np.testing.assert_allclose(ale.curve("a").average, effect.average, atol=1e-9)

    def other(x):
        return 1 / (1 + np.exp(-(x["a"] if x["b"] > 0 else -x["a"])))

    regions = ipdp.IncrementalRegions(other, ["a", "b"], link="logit", grid=GRID)
    regions.explain_many(X[:, :2], names=NAMES[:2])
    sides = regions.splits["a"].curves
    rises = sorted(float(np.diff(side.average[0])[0]) for side in sides)
    np.testing.assert_allclose(rises, [-1.0, 1.0], atol=0.15)
    assert regions.splits["a"].whole.link == sides[0].link == "logit"
    np.testing.assert_allclose(sides[0].average[0].mean(), 0.0, atol=0.15)


def logit(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def late(x):
    """A model that meets its classes one after the other."""
    p = 1 / (1 + np.exp(-x["a"]))
    if x["t"] < 5:
        return {}
    if x["t"] < 40:
        return {"no": 1.0}
    return {"no": 1 - p, "yes": p * 0.9, "maybe": p * 0.1}


def of_late(alpha, n):
    """Brute force: classes that were not met have the probability 0."""
    weights = (1 - alpha) ** np.arange(n - 1, -1, -1.0)
    found = {}
    for label in ("no", "yes", "maybe"):
        said = [[late({"a": v, "t": t}).get(label, 0.0) for v in (-1, 0, 1)] for t in range(n)]
        found[label] = np.average(logit(np.array(said)), axis=0, weights=weights)
    return found


def test_classes_that_come_late_had_no_chance_before():
    stream = [{"a": 0.3, "t": t} for t in range(100)]
    settings = {"alpha": 0.02, "grid": Fixed([-1, 0, 1]), "link": "logit"}
    whole, first = (ipdp.IncrementalPDP(late, ["a"], **settings) for _ in range(2))
    for x in stream:
        whole.explain_one(x)
    for x in stream[:30]:
        first.explain_one(x)
    second = first.successor()
    for x in stream[30:]:
        second.explain_one(x)
    again = ipdp.IncrementalPDP(late, ["a"], **settings)
    again.state = json.loads(json.dumps(whole.state))
    explained = [whole, first.merge(second), again, whole.from_bytes(whole.state_bytes())]
    expected = of_late(0.02, 100)
    for pdp in explained:
        curve = pdp.curve("a")
        for label, values in expected.items():
            np.testing.assert_allclose(curve.select(label).average[0], values, atol=1e-9)


def test_groups_merge_to_the_whole_and_pairs_are_surfaces(data):
    X, model = data
    rows = [dict(zip(NAMES, row, strict=True)) for row in X]
    pdp = ipdp.IncrementalPDP(
        model, ["a", ("a", "b")], link="logit", alpha=None, grid=GRID, by=lambda x: x["b"] > 0
    )
    for x in rows:
        pdp.explain_one(x)
    for label in (True, False):
        own = X[(X[:, 1] > 0) == label]
        curve = pdp.segment(label).curve("a")
        np.testing.assert_allclose(curve.average[1], decided(model, own, 0), atol=1e-9)
        [same] = pdp.segment_curves("a")[label]
        np.testing.assert_allclose(same.average, curve.average, atol=1e-12)
    both = pdp.segment(True, False).curve("a")
    np.testing.assert_allclose(both.average, pdp.curve("a").average, atol=1e-12)
    surface = pdp.curve(("a", "b")).average[1]
    a, b = model.coef_[0, :2]
    np.testing.assert_allclose(np.diff(surface, axis=0), a, atol=1e-9)
    np.testing.assert_allclose(np.diff(surface, axis=1), b, atol=1e-9)


def test_the_model_as_it_is_now_is_on_the_scale():
    intercept = {"at": 0.0}

    def model(x):
        return 1 / (1 + np.exp(-(x["a"] + intercept["at"])))

    pdp = ipdp.IncrementalPDP(model, grid=Fixed([0, 1]), link="logit")
    draws = random.Random(1)
    for _ in range(500):
        pdp.explain_one({"a": draws.gauss(0, 1)})
    intercept["at"] = -4.0
    np.testing.assert_allclose(pdp.curve("a").average, [[0.0, 1.0]], atol=1e-9)
    np.testing.assert_allclose(pdp.curve("a", now=True).average, [[-4.0, -3.0]], atol=1e-9)


def test_counts_can_be_on_the_scale_of_logarithms():
    X = np.random.default_rng(1).uniform(1, 3, size=(50, 2))

    def model(x):
        return np.exp(2 * x["a"]) * x["b"]

    [curve] = ipdp.partial_dependence(
        model, X, "a", names=["a", "b"], link="log", grid=Fixed([0, 1])
    )
    mean = np.log(X[:, 1]).mean()
    np.testing.assert_allclose(curve.average, [[mean, 2 + mean]])


def test_a_refused_answer_changes_nothing():
    pdp = ipdp.IncrementalPDP(lambda x: x["p"], grid=Fixed([0.5]), link="logit")
    pdp.explain_one({"p": 0.1})
    before = pdp.state["fold"]
    pdp.engine.engine.call = lambda x: 7.0
    with pytest.raises(ValueError, match="link='logit' needs a model that gives probabilities"):
        pdp.explain_one({"p": 0.2})
    assert pdp.state["fold"] == before
    regressor = LinearRegression().fit([[0.0], [9.0]], [0.0, 9.0])
    with pytest.raises(ValueError, match="explain it without a link"):
        ipdp.partial_dependence(regressor, np.array([[0.0], [9.0]]), link="logit")


def test_states_and_explainers_of_another_scale_are_refused():
    def made(**settings):
        return ipdp.IncrementalPDP(lambda x: x["a"], ["a"], grid=Fixed([0.2, 0.5]), **settings)

    plain, with_link = made(), made(link="logit")
    for pdp in (plain, with_link):
        pdp.explain_one({"a": 0.1})
    with pytest.raises(ValueError, match=r"made with link = 'logit', this explainer has None"):
        plain.state = with_link.state
    with pytest.raises(ValueError, match=r"made with link = None, this explainer has 'logit'"):
        with_link.state = plain.state
    with pytest.raises(ValueError, match="link is 'logit' and None"):
        with_link.merge(plain)
    with pytest.raises(ValueError, match="on the scale of logit already"):
        ipdp.IncrementalPDP(with_link.engine, link="log")


def test_an_explainer_with_a_link_is_pickled_and_made_again():
    pdp = ipdp.IncrementalPDP(probability, ["a"], grid=Fixed([0.2, 0.5]), link="logit")
    pdp.explain_one({"a": 0.1})
    again = pickle.loads(pickle.dumps(pdp))
    np.testing.assert_array_equal(again.curve("a").average, pdp.curve("a").average)
    # The engine has the scale already: nothing is put on it twice.
    twin = ipdp.IncrementalPDP(pdp.engine, ["a"], grid=Fixed([0.2, 0.5]))
    twin.explain_one({"a": 0.1})
    np.testing.assert_array_equal(twin.curve("a").average, pdp.curve("a").average)
    np.testing.assert_allclose(twin.curve("a").average, [logit(np.array([0.2, 0.5]))])


def probability(x):
    return x["a"]
