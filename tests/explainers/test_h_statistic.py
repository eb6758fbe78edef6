"""Friedman's H of pairs, against the plain definition, which asks the model n^2 times."""

import json

import numpy as np
import pytest
from river import datasets, forest
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp
from ipdp.explainers.state import joint_values
from ipdp.models import ArrayEngine

PAIR = ("a", "b")


def brute_force_h(predict, X, j, k):
    """H^2 by the definition of Friedman and Popescu (2008), eq. 44; predict takes a 2-D array."""

    def centred_dependence(columns):
        changed = np.repeat(X[None], len(X), axis=0)
        changed[:, :, columns] = X[:, None, columns]
        values = predict(changed.reshape(-1, X.shape[1])).reshape(len(X), len(X)).mean(axis=1)
        return values - values.mean()

    both, first, second = map(centred_dependence, ([j, k], [j], [k]))
    return ((both - first - second) ** 2).sum() / (both**2).sum()


def correlated(n, seed):
    rng = np.random.default_rng(seed)
    covariance = [[1, 0.5, 0], [0.5, 1, 0.3], [0, 0.3, 1]]
    return rng.multivariate_normal(np.zeros(3), covariance, size=n)


def product(X):
    return X[:, 0] * X[:, 1] + X[:, 0] + X[:, 1] + X[:, 2]


def explained(predict, X, names, pair, **settings):
    pdp = ipdp.IncrementalPDP(ArrayEngine(predict), [*pair, pair], alpha=None, **settings)
    pdp.explain_many(X, names=names)
    return pdp


def test_of_a_function_with_a_product():
    X = correlated(800, seed=3)
    pdp = explained(product, X, list("abc"), PAIR)
    expected = brute_force_h(product, X, 0, 1)
    assert 0.2 < expected < 0.5
    assert abs(pdp.h_statistic(PAIR)[0] - expected) < 0.02
    # Between its points this surface is what its lines are.
    assert abs(pdp.curve(PAIR).h_squared[0] - expected) < 0.02


def test_of_a_booster_with_steps():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(1_500, 3))
    y = 4 * (X[:, 0] > 0.35) * (X[:, 1] < 0.6) + 3 * X[:, 0] + 2 * X[:, 2] + rng.normal(size=1_500)
    model = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(X, y)
    X = X[:300]
    pdp = explained(model.predict, X, list("abc"), PAIR)
    expected = brute_force_h(model.predict, X, 0, 1)
    assert 0.1 < expected < 0.5
    assert abs(pdp.h_statistic(PAIR)[0] - expected) < 0.02


def test_of_a_random_forest_of_river():
    stream = [x for x, _ in datasets.synth.Agrawal(classification_function=2, seed=42).take(90)]
    model = forest.ARFClassifier(n_models=2, seed=1)
    for x, y in datasets.synth.Agrawal(classification_function=2, seed=1).take(800):
        model.learn_one(x, y)
    pair, names = ("salary", "age"), list(stream[0])
    X = np.array([list(x.values()) for x in stream], dtype=float)

    def predict(rows):
        said = (
            model.predict_proba_one(dict(zip(names, row, strict=True))) for row in rows.tolist()
        )
        return np.array([answer.get(1, 0.0) for answer in said])

    # From the first observation on, as the oracle does.
    grid = {
        "salary": ipdp.grid.Fixed(np.linspace(20_000, 150_000, 14)),
        "age": ipdp.grid.Fixed(np.linspace(20, 80, 13)),
    }
    pdp = ipdp.IncrementalPDP(model, [*pair, pair], alpha=None, grid=grid)
    pdp.explain_many(stream)
    expected = brute_force_h(predict, X, names.index("salary"), names.index("age"))
    found = pdp.h_statistic(pair)
    assert 0.02 < expected < 0.9
    assert found.shape == (2,)
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_effects_that_add_up_have_none():
    X = correlated(300, seed=1)

    def additive(X):
        return X[:, 0] ** 3 - X[:, 1]

    fixed = explained(additive, X, list("abc"), PAIR, grid=ipdp.grid.Fixed([-2, -1, 0, 1, 2]))
    assert fixed.h_statistic(PAIR)[0] == pytest.approx(0.0, abs=1e-9)
    assert fixed.curve(PAIR).h_squared[0] == pytest.approx(0.0, abs=1e-9)
    # Points that were added later rest on other observations.
    default = explained(additive, X, list("abc"), PAIR)
    assert default.h_statistic(PAIR)[0] == pytest.approx(0.0, abs=0.002)
    assert default.curve(PAIR).h_squared[0] == pytest.approx(0.0, abs=0.002)


def test_categories_and_missing_values():
    rng = np.random.default_rng(2)
    pdp = ipdp.IncrementalPDP(
        lambda x: (x["n"] or 0.0) * (x["c"] == "up"), ["n", "c", ("n", "c")], alpha=None
    )
    for k in range(400):
        number = None if k % 7 == 0 else rng.normal()
        pdp.explain_one({"n": number, "c": "up" if rng.random() < 0.5 else "down"})
    # n * [up] = n / 2 + n * sign / 2, of equal variance: half of it is the interaction.
    assert pdp.h_statistic(("n", "c"))[0] == pytest.approx(0.5, abs=0.06)


def test_errors_are_sentences():
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a", PAIR], grid=ipdp.grid.Fixed([0, 1]))
    with pytest.raises(ipdp.NotEnoughSamples):
        pdp.h_statistic(PAIR)
    for a in range(50):
        pdp.explain_one({"a": a % 3, "b": 1.0})
    assert pdp.curve(PAIR).h_squared is None
    with pytest.raises(ValueError, match="needs the curves of 'a' and 'b' too"):
        pdp.h_statistic(PAIR)
    with pytest.raises(ValueError, match="about two features"):
        pdp.h_statistic("a")
    bare = ipdp.IncrementalPDP(lambda x: x["a"], ["a", "b", PAIR], n_past=0)
    bare.explain_one({"a": 1, "b": 1})
    with pytest.raises(ValueError, match="needs past observations: give n_past"):
        bare.h_statistic(PAIR)


@pytest.mark.parametrize("alpha", [None, 0.004])
def test_segments_tables_and_states_give_the_same(alpha, monkeypatch):
    monkeypatch.setattr(joint_values, "_SIZE", 128)  # so that some are left out
    X = correlated(700, seed=5)

    def explainer():
        return ipdp.IncrementalPDP(ArrayEngine(product), ["a", "b", PAIR], alpha=alpha)

    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    whole, first, many = explainer(), explainer(), explainer()
    for x in rows:
        whole.explain_one(x)
    for x in rows[:300]:
        first.explain_one(x)
    later = first.successor()
    for x in rows[300:]:
        later.explain_one(x)
    many.explain_many(rows)
    restored = explainer()
    restored.state = json.loads(json.dumps(whole.state))
    expected = whole.curve(PAIR).h_squared
    assert len(whole.memory.joint_values.rows) <= 128
    for other in (first.merge(later), many, restored):
        np.testing.assert_allclose(other.curve(PAIR).h_squared, expected, rtol=1e-9)
    assert restored.state == whole.state
    back = ipdp.Curve.from_dict(json.loads(json.dumps(whole.curve(PAIR).to_dict())))
    np.testing.assert_array_equal(back.h_squared, expected)


def test_a_state_from_before_has_none_yet():
    pdp = ipdp.IncrementalPDP(ArrayEngine(product), ["a", "b", PAIR])
    pdp.explain_many(correlated(100, seed=5), names=list("abc"))
    old = pdp.state
    del old["fold"]["joint_values"]
    pdp.state = old
    assert pdp.curve(PAIR).h_squared is None
