"""Bands of curves: what they cover, and that they do not depend on how the stream was explained."""

import json

import numpy as np
import pytest

from ipdp import Curve, IncrementalPDP, grid, models

POINTS = np.linspace(-2, 2, 10)
NAMES = ("inflation", "degrees", "path_length", "centred_path_length", "centred_std_error")


def effect(X):
    X = np.nan_to_num(X)
    return np.sin(X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 1] ** 2


def shifted(X):
    """Known exactly but for a level that is very uncertain."""
    return 0.1 * X[:, 0] + 10 * X[:, 1]


def explainer(f=effect, **settings):
    settings = {"alpha": 0.01, "grid": grid.Fixed(POINTS), "n_ice": 2, **settings}
    return IncrementalPDP(models.engine(f, takes="array"), [0], **settings)


def table(n, rho=0.0, seed=0):
    rng = np.random.default_rng(seed)
    z = np.empty(n)
    z[0] = rng.normal()
    for t in range(1, n):
        z[t] = rho * z[t - 1] + rng.normal() * np.sqrt(1 - rho**2)
    return np.column_stack([rng.normal(size=n), z])


def assert_same(one, other):
    for name in ("average", "std_error", *NAMES):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-9, err_msg=name
        )
    assert one.provisional == other.provisional
    assert one.n_effective == pytest.approx(other.n_effective)


GRIDS = {
    "fixed": {"grid": grid.Fixed(POINTS)},
    "moving": {"grid": grid.MinMax(6, window=40)},
    "regrid": {"grid": grid.MinMax(6, window=40), "estimator": "regrid"},
    "missing": {"grid": grid.MinMax(5, missing=True)},
    "every third": {"grid": grid.Fixed(POINTS), "every": 3},
}


@pytest.mark.parametrize("alpha", [0.01, None])
@pytest.mark.parametrize("name", GRIDS)
def test_it_does_not_matter_how_a_stream_is_explained(name, alpha):
    X = table(900, 0.7)
    one_by_one, at_once, restored = (explainer(alpha=alpha, **GRIDS[name]) for _ in range(3))
    for k, (a, b) in enumerate(X.tolist()):
        one_by_one.explain_one({0: a, 1: b})
        restored.explain_one({0: a, 1: b})
        if k == 500:
            state = json.loads(json.dumps(restored.state))
            restored = explainer(alpha=alpha, **GRIDS[name])
            restored.state = state
    for part in np.array_split(X, 4):
        at_once.explain_many(part)
    first = explainer(alpha=alpha, **GRIDS[name])
    first.explain_many(X[:333])
    second = first.successor()
    second.explain_many(X[333:700])
    third = second.successor()
    third.explain_many(X[700:])
    for other in (at_once, first.merge(second).merge(third), first.merge(second.merge(third))):
        assert_same(other.curve(0), one_by_one.curve(0))
    assert restored.curve(0).to_dict() == one_by_one.curve(0).to_dict()


def test_a_state_without_blocks_is_taken():
    pdp = explainer()
    pdp.explain_many(table(300))
    state = pdp.state
    del state["fold"]["blocks"], state["fold"]["back"]
    old = explainer()
    old.state = json.loads(json.dumps(state))
    curve = old.curve(0)
    np.testing.assert_allclose(curve.average, pdp.curve(0).average)
    assert curve.provisional
    assert curve.inflation is None
    old.explain_many(table(2_000, seed=1))
    assert not old.curve(0).provisional


@pytest.mark.parametrize(("rho", "low", "high"), [(0.0, 0.9, 0.99), (0.8, 0.88, 0.99)])
def test_bands_cover_the_curve(rho, low, high):
    """60 curves from 8 / alpha observations; all points at once within [.85, 1]."""
    truth = np.sin(POINTS) + 1
    hits, together, centred = [], [], []
    for seed in range(60):
        pdp = explainer()
        pdp.explain_many(table(800, rho, seed))
        curve = pdp.curve(0)
        assert not curve.provisional
        below, above = curve.band(0.95)
        hits.append((below[0] <= truth) & (truth <= above[0]))
        below, above = curve.band(0.95, simultaneous=True)
        together.append(((below[0] <= truth) & (truth <= above[0])).all())
        error = curve.average[0] - curve.average[0].mean() - (truth - truth.mean())
        centred.append(np.abs(error) <= 2 * curve.centred_std_error[0])
    # Points of one curve are worth about three: 180 draws, of a standard error of 1.6 %.
    assert low <= np.mean(hits) <= high
    assert low <= np.mean(centred) <= 1
    assert np.mean(together) >= 0.85


def test_independent_observations_have_the_error_of_before():
    ratios = []
    for seed in range(20):
        pdp = explainer()
        pdp.explain_many(table(1_000, seed=seed))
        curve, means = pdp.curve(0), pdp._memory.means
        ratios.append(curve.std_error / means.smoothing.std_error[1:])
    assert 0.93 <= np.mean(ratios) <= 1.1


def test_the_shape_of_an_effect_may_be_known_better_than_its_level():
    pdp = explainer(shifted)
    pdp.explain_many(table(1_000))
    curve = pdp.curve(0)
    assert curve.std_error.min() > 0.1
    assert curve.centred_std_error.max() < 1e-9
    assert curve.path_length[0] < 1e-5


def test_a_point_that_moves_along_the_curve_is_not_wrong():
    pdp = explainer(lambda X: 3 * X[:, 0], grid=grid.MinMax(6, window=50))
    pdp.explain_many(table(2_000))
    assert pdp.curve(0).std_error.max() < 1e-3


def test_n_effective_is_a_number_of_independent_observations():
    alone, together = explainer(), explainer()
    alone.explain_many(table(3_000))
    together.explain_many(table(3_000, 0.9))
    assert alone.curve(0).n_effective == pytest.approx(199, rel=0.25)
    # (1 - rho) / (1 + rho) of 199 are 10.5; the square of an AR(.9) forgets twice as fast.
    assert 5 <= together.curve(0).n_effective <= 50
    assert together.curve(0).n_effective_points[0] == pytest.approx(199, rel=0.01)


def test_a_band_is_provisional_until_the_smoothing_has_forgotten_six_times():
    pdp = explainer()
    pdp.explain_many(table(500))
    assert pdp.curve(0).provisional
    pdp.explain_many(table(120, seed=1))
    assert not pdp.curve(0).provisional


def test_a_band_is_provisional_where_the_memory_is_longer_than_the_history():
    pdp = explainer()
    pdp.explain_many(table(1_000, 0.999))
    assert pdp.curve(0).provisional


def test_pairs_and_late_classes():
    def model(x):
        late = {"late": 0.5} if x["t"] > 400 else {}
        return {"a": x["x"] * x["z"], **late}

    pdp = IncrementalPDP(model, ["x", ("x", "z")], alpha=0.02, grid=grid.MinMax(3, window=50))
    for t, (a, b) in enumerate(table(800).tolist()):
        pdp.explain_one({"x": a, "z": b, "t": t})
    for curve in pdp.curves.values():
        assert curve.std_error.shape == curve.average.shape == curve.centred_std_error.shape
        assert np.isfinite(curve.std_error).all()
        low, high = curve.band(simultaneous=True)
        assert (high - low >= np.subtract(*curve.band()[::-1]) - 1e-12).all()
        assert Curve.from_dict(json.loads(json.dumps(curve.to_dict()))).to_dict() == curve.to_dict()


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_a_curve_of_the_model_now_is_worth_what_its_error_says(rho):
    # The slope turns; the smoothed curve has a long memory from then on, that of now has not.
    rng, slope, z = np.random.default_rng(3), {"x": 1.0}, 0.0
    pdp = IncrementalPDP(
        lambda x: slope["x"] * x["x"] + x["z"], ["x"], grid=grid.Fixed([-1, 0, 1]), alpha=0.005
    )
    for k in range(2_000):
        slope["x"] = 1.0 if k < 1_600 else -1.0
        z = rho * z + np.sqrt(1 - rho**2) * rng.normal()
        pdp.explain_one({"x": 0.0, "z": z})
    curve = pdp.curve("x", now=True)
    # One observation has a variance of 1.
    assert 0.4 < np.median(curve.std_error) ** 2 * curve.n_effective < 2.5
    assert curve.n_effective > 3 * pdp.curve("x").n_effective


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_points_that_join_late_do_not_make_the_shape_uncertain(seed):
    # An additive model: the shape is the same for all observations, so it has no error at all.
    rng = np.random.default_rng(seed)
    pdp = IncrementalPDP(lambda x: 3 * x["a"] + x["b"], ["a"], alpha=0.001)
    for t in range(2_000):
        pdp.explain_one({"a": rng.normal() * (1 + t / 1_000), "b": rng.normal()})
    curve = pdp.curve("a")
    assert curve.n_effective_points.min() < 0.9 * curve.n_effective_points.max()
    settled = curve.n_effective_points > 0.5 * curve.n_effective_points.max()
    assert (curve.centred_std_error / curve.std_error)[0, settled].max() < 0.15
