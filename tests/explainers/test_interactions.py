"""The search for the strongest interactions."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp
from ipdp.models import ArrayEngine

NAMES = [f"x{k}" for k in range(20)]


class Counted:
    """A function of an array that counts its rows."""

    def __init__(self, call):
        self.call, self.n = call, 0

    def __call__(self, X):
        self.n += len(X)
        return self.call(X)


def table(kind, rng, n=400, d=20):
    """Features that are independent, correlated with neighbours or with all, or remember."""
    noise = rng.normal(size=(n, d))
    if kind == "neighbours":
        gaps = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        return noise @ np.linalg.cholesky(0.9**gaps).T
    if kind == "all":
        return 0.6**0.5 * rng.normal(size=(n, 1)) + 0.4**0.5 * noise
    if kind == "memory":
        for t in range(1, n):
            noise[t] = 0.9 * noise[t - 1] + 0.19**0.5 * noise[t]
    return noise


@pytest.mark.parametrize("kind", ["independent", "neighbours", "all", "memory"])
@pytest.mark.parametrize("classes", [False, True])
def test_it_names_the_true_pair_first_at_less_than_the_cost_of_the_curves(kind, classes):
    rng = np.random.default_rng(7)
    X = table(kind, rng)
    j, k = sorted(rng.choice(20, 2, replace=False).tolist())
    slopes = rng.normal(size=20)

    def value(X):
        return X[:, j] * X[:, k] + 2 * X @ slopes + np.sin(2 * X[:, 0])

    def probability(X):
        return 1 / (1 + np.exp(-2.5 * X[:, j] * X[:, k] - X @ slopes / 3))

    model = Counted(probability if classes else value)
    pdp = ipdp.IncrementalPDP(ArrayEngine(model), alpha=0.005)
    pdp.explain_many(X, names=NAMES)
    singles = model.n
    found = pdp.interactions(3)
    assert found[0].pair == (NAMES[j], NAMES[k])
    assert found.n_predictions == model.n - singles
    assert found.n_predictions <= singles


def test_strength_is_that_of_the_definition():
    # c a b has the variance c^2, with all that the features do alone; here 4 of 4 + 9 + 1.
    rng = np.random.default_rng(0)
    pdp = ipdp.IncrementalPDP(
        ArrayEngine(lambda X: 2 * X[:, 0] * X[:, 1] + 3 * X[:, 0] + X[:, 2]), alpha=None
    )
    pdp.explain_many(rng.normal(size=(3_000, 3)), names=list("abc"))
    (found,) = pdp.interactions()
    assert found.pair == ("a", "b")
    # Few observations stand for all: their squares vary by 1 / sqrt(288) or so in each feature.
    assert found.strength == pytest.approx(2.0, abs=0.35)
    assert found.share == pytest.approx(4 / 14, abs=0.1)
    assert 0 < found.std_error < 0.2


def test_standard_errors_are_those_of_repeated_searches():
    # Of fixed observations; 60 searches, whose deviation is known to 9 %.
    rng = np.random.default_rng(3)
    pdp = ipdp.IncrementalPDP(ArrayEngine(lambda X: X[:, 0] * X[:, 1] + X[:, 2]), alpha=None)
    pdp.explain_many(rng.normal(size=(500, 3)), names=list("abc"))
    strengths, errors = [], []
    for k in range(60):
        (found,) = pdp.interactions(budget=900 + k)  # another number of draws, others
        strengths.append(found.strength)
        errors.append(found.std_error)
    assert 0.5 < np.std(strengths) / np.mean(errors) < 1.5


def test_a_model_that_adds_up_has_none():
    pdp = ipdp.IncrementalPDP(ArrayEngine(lambda X: X[:, 0] + X[:, 1] ** 2 * 1e6), alpha=0.01)
    pdp.explain_many(np.random.default_rng(1).normal(size=(100, 3)), names=list("abc"))
    found = pdp.interactions()
    assert len(found) == 0
    assert repr(found).startswith("no interaction: the effects on prediction add up")


def test_categories_missing_values_and_features_that_are_not_followed():
    rng = np.random.default_rng(1)

    def model(x):
        return (x["n"] or 0.0) * (x["c"] == "up") + x["m"] + 0.1 * x["m"] * x["b"]

    pdp = ipdp.IncrementalPDP(model, ["m"], alpha=0.01)
    for k in range(200):
        number = None if k % 5 == 0 else rng.normal()
        category = "up" if rng.random() < 0.5 else "down"
        pdp.explain_one({"n": number, "c": category, "m": rng.normal(), "b": bool(k % 2)})
    found = pdp.interactions()
    assert found.pairs == [("n", "c"), ("m", "b")]


def test_outputs():
    def model(x):
        return {"p": x["a"] * x["b"], "q": 3 * x["b"] * x["c"]}

    rng = np.random.default_rng(1)
    pdp = ipdp.IncrementalPDP(model, alpha=0.01)
    for _ in range(100):
        pdp.explain_one(dict(zip("abc", rng.normal(size=3).tolist(), strict=True)))
    assert pdp.interactions().output == "q"
    assert pdp.interactions().pairs == [("b", "c")]
    assert pdp.interactions(output="p").pairs == [("a", "b")]
    with pytest.raises(ValueError, match="output"):
        pdp.interactions(output="r")


def test_looking_changes_nothing_and_gives_the_same_twice():
    pdp = ipdp.IncrementalPDP(ArrayEngine(lambda X: X[:, 0] * X[:, 1]), alpha=0.01)
    pdp.explain_many(np.random.default_rng(1).normal(size=(100, 3)), names=list("abc"))
    before = pdp.state
    first, second = pdp.interactions(), pdp.interactions()
    assert tuple(first) == tuple(second)
    assert pdp.state == before


def test_a_budget_is_kept_with_many_features():
    rng = np.random.default_rng(5)
    names = [f"x{k}" for k in range(60)]
    model = Counted(lambda X: X[:, 7] * X[:, 41] + X.sum(axis=1))
    pdp = ipdp.IncrementalPDP(ArrayEngine(model), ["x0"], alpha=0.01)
    pdp.explain_many(rng.normal(size=(200, 60)), names=names)
    before = model.n
    assert pdp.interactions(budget=6_000)[0].pair == ("x7", "x41")
    assert model.n - before <= 6_000


def test_a_booster():
    rng = np.random.default_rng(2)
    X = table("memory", rng, n=2_000)
    y = 3 * X[:, 3] * X[:, 12] + X @ rng.normal(size=20) / 2
    model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y)
    pdp = ipdp.IncrementalPDP(model, ["x3"], alpha=0.01)
    pdp.explain_many(X[-300:], names=NAMES)
    assert pdp.interactions(3, budget=15_000)[0].pair == ("x3", "x12")


def test_errors_are_sentences():
    bare = ipdp.IncrementalPDP(lambda x: x["a"], n_past=0)
    with pytest.raises(ValueError, match="needs past observations"):
        bare.interactions()
    pdp = ipdp.IncrementalPDP(lambda x: x["a"])
    with pytest.raises(ipdp.NotEnoughSamples):
        pdp.interactions()
    pdp.explain_one({"a": 1.0, "b": 2.0})
    with pytest.raises(ipdp.NotEnoughSamples, match="at least 20"):
        pdp.interactions()
    with pytest.raises(ValueError, match="n must"):
        pdp.interactions(0)
    broken = ipdp.IncrementalPDP(
        lambda x: x["a"] if x["a"] == x["b"] else float("inf"), ["c"], alpha=0.1
    )
    for k in range(80):
        broken.explain_one({"a": k, "b": k, "c": k % 3})
    with pytest.raises(ValueError, match="its interactions are not known"):
        broken.interactions()


def test_it_is_a_table_that_people_read():
    pdp = ipdp.IncrementalPDP(ArrayEngine(lambda X: X[:, 0] * X[:, 1]), alpha=0.01)
    pdp.explain_many(np.random.default_rng(1).normal(size=(100, 3)), names=list("abc"))
    found = pdp.interactions()
    title, line = repr(found).splitlines()
    assert title.startswith("1 pair, of prediction (")
    assert line.startswith("  a*b  ")
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        "first", "second", "strength", "std_error", "share", "n_asked",
    ]  # fmt: skip
    assert frame["first"].tolist() == ["a"]
