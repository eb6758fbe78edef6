"""How much of what a partial dependence asks is about observations that do not occur."""

import numpy as np
import pytest

import ipdp
from ipdp.explainers.off_data import off_data
from ipdp.models import ArrayEngine


def explained(correlation, n=2_000):
    rng = np.random.default_rng(1)
    a, noise = rng.normal(size=(2, n))
    X = np.column_stack([a, correlation * a + (1 - correlation**2) ** 0.5 * noise])
    pdp = ipdp.IncrementalPDP(ArrayEngine(lambda X: X[:, 0]), alpha=None)
    pdp.explain_many(X, names=["a", "b"])
    return pdp


# A question is v - r b with v and b independent, of variance 1 + r^2; 99 % of the real ones are
# within 2.58 sqrt(1 - r^2), which 288 observations estimate to 4 %.
@pytest.mark.parametrize(("correlation", "share"), [(0.0, 0.01), (0.9, 0.40), (0.97, 0.65)])
def test_it_is_that_of_two_normal_features(correlation, share):
    pdp = explained(correlation)
    curve = pdp.with_off_data(pdp.curve("a"))
    assert curve.off_data @ curve.weights == pytest.approx(share, abs=0.06)


def test_it_is_larger_at_the_ends():
    pdp = explained(0.9)
    shares = off_data(pdp.memory, pdp.curve("a"))
    middle = len(shares) // 2
    assert shares[0] > 0.7
    assert shares[middle] < 0.4


def test_categories_and_too_few_say_nothing():
    pdp = ipdp.IncrementalPDP(lambda x: 1.0, alpha=0.01)
    for k in range(300):
        pdp.explain_one({"c": "ab"[k % 2], "n": k % 9})
    assert pdp.with_off_data(pdp.curve("c")).off_data is None
    assert pdp.with_off_data(pdp.curve("n")).off_data is None  # there is no other number


def test_missing_values_and_pairs_do_no_harm():
    pdp = ipdp.IncrementalPDP(lambda x: 1.0, ["n", ("n", "m")], alpha=0.01)
    for k in range(300):
        pdp.explain_one({"n": k % 97 / 10, "m": None if k % 3 else k % 89 / 10})
    shares = pdp.with_off_data(pdp.curve("n")).off_data
    assert np.all((shares >= 0) & (shares <= 1))
    assert pdp.with_off_data(pdp.curve(("n", "m"))).off_data is None


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_numbers_of_numpy_are_numbers(kind):
    pdp = ipdp.IncrementalPDP(lambda x: float(x["a"]), alpha=0.01)
    rng = np.random.default_rng(1)
    for a in rng.integers(0, 90, 300):
        pdp.explain_one({"a": kind(a), "b": kind(a + rng.integers(0, 5))})
    assert pdp.with_off_data(pdp.curve("a")).off_data is not None


def test_the_figure_of_both_explainers():
    rng = np.random.default_rng(1)
    a, noise = rng.normal(size=(2, 1_000))
    X = np.column_stack([a, 0.95 * a + 0.31 * noise])

    def model(X):
        return X[:, 0] + 3 * np.maximum(np.abs(X[:, 0] - X[:, 1]) - 1, 0) ** 2

    pdp, ale = ipdp.IncrementalPDP(ArrayEngine(model)), ipdp.IncrementalALE(ArrayEngine(model))
    for explainer in (pdp, ale):
        explainer.explain_many(X, names=["a", "b"])
    display = pdp.plot_effect("a", ale=ale)
    assert display.where_
    assert "off the data" in display.title_.get_text()
    with pytest.raises(ipdp.NotEnoughSamples):
        pdp.plot_effect("c")
