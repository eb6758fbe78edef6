"""Where the observations are among the points of a curve, and what the model said of them."""

import json

import numpy as np
import pytest

import ipdp
from ipdp.explainers.state.densities import joined_weights, shared_out

NAMES = ["a", "b"]


def model(x):
    return 2 * x["a"] - x["b"] + 1


def rows(n, seed, shift=0.0):
    return np.random.default_rng(seed).uniform(size=(n, 2)) + shift


def explained(X, **settings):
    pdp = ipdp.IncrementalPDP(model, **settings)
    pdp.explain_many(X, names=NAMES)
    return pdp


def weights_of(n, alpha):
    weights = (1 - alpha) ** np.arange(n - 1, -1, -1.0)
    return weights / weights.sum()


@pytest.mark.parametrize("alpha", [0.01, 0.2])
def test_the_mean_under_the_density_is_that_of_the_observations(alpha):
    X = rows(300, 1)
    curves = explained(X, alpha=alpha, grid=ipdp.grid.Fixed([0.0, 0.4, 1.0])).curves
    wanted = weights_of(len(X), alpha)
    for k, name in enumerate(NAMES):
        curve = curves[name]
        assert curve.density.sum() == pytest.approx(1.0, abs=1e-12)
        mean = curve.density @ curve.grid_values[0]
        assert mean == pytest.approx(wanted @ X[:, k], abs=1e-12)
        said = wanted @ (2 * X[:, 0] - X[:, 1] + 1)
        assert curve.prediction[0] == pytest.approx(said, abs=1e-12)
        spread = wanted @ (2 * X[:, 0] - X[:, 1] + 1 - said) ** 2
        assert curve.prediction_std[0] == pytest.approx(spread**0.5, abs=1e-9)


def test_a_range_that_moves_takes_its_observations_along():
    X = np.concatenate([rows(1_500, 2), rows(1_500, 3, shift=0.5)])
    curves = explained(X).curves
    wanted = weights_of(len(X), 0.001)
    for k, name in enumerate(NAMES):
        curve = curves[name]
        # The first observations came before there were points.
        assert curve.density.sum() == pytest.approx(1.0, abs=2e-3)
        assert curve.density @ curve.grid_values[0] == pytest.approx(wanted @ X[:, k], abs=0.03)


def test_categories_have_their_shares_and_what_is_missing_is_lacking():
    values = ["x", "y", "x", None] * 30
    pdp = ipdp.IncrementalPDP(lambda x: float(x["c"] == "x") + x["a"], alpha=None)
    for k, value in enumerate(values):
        pdp.explain_one({"c": value, "a": k % 5})
    curve = pdp.curve("c")
    share = dict(zip(curve.grid_values[0].tolist(), curve.density.tolist(), strict=True))
    # The points of c came some observations after those of a.
    assert share["x"] == pytest.approx(0.5, abs=0.04)
    assert share["y"] == pytest.approx(0.25, abs=0.04)


def test_merged_parts_are_the_whole():
    X = rows(600, 4)
    first = explained(X[:300], alpha=0.01)
    later = first.successor()
    later.explain_many(X[300:], names=NAMES)
    both, whole = first.merge(later).curves, explained(X, alpha=0.01).curves
    for name in NAMES:
        np.testing.assert_allclose(both[name].density, whole[name].density, atol=1e-12)
    grid = ipdp.grid.Fixed([0.0, 1.0])
    apart = [explained(part, alpha=None, grid=grid) for part in (X[:200], X[200:])]
    joined = apart[0].merge(apart[1]).curve("a")
    assert joined.density @ joined.grid_values[0] == pytest.approx(X[:, 0].mean(), abs=1e-12)


def test_they_are_in_the_state_and_an_older_state_begins_without():
    pdp = explained(rows(200, 5))
    state = json.loads(json.dumps(pdp.state))
    other = ipdp.IncrementalPDP(model)
    other.state = state
    np.testing.assert_array_equal(other.curve("a").density, pdp.curve("a").density)
    for name in ("density", "density_weight"):
        del state["fold"]["spread"]["own"][name]
    other.state = state
    assert other.curve("a").density is None
    assert other.curve("a").prediction is not None
    other.explain_many(rows(100, 6), names=NAMES)
    assert other.curve("a").density.sum() == pytest.approx(1.0)


def test_weights_are_shared_by_the_neighbours():
    gained = shared_out(np.array([1.0, 3.0]), np.array([0.25, 2.5]), np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(gained, [0.75, 0.25 - 1.5, 4.5])
    assert joined_weights((np.array([1.0]), 3.0), (np.array([2.0]), 5.0), 0.5) == 2.25
