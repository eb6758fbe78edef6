"""Some features at a time: each curve is that of all observations, up to chance."""

import json
import math

import numpy as np
import pytest

import ipdp
from ipdp.checks import check_explainer
from ipdp.explainers.state.feature_sampler import HELD, FeatureSampler, _shared_out
from ipdp.explainers.state.points import Layout

NAMES = [f"f{k}" for k in range(8)]
GRID = [-1.0, 0.0, 2.0]
ALPHA = 0.02


class Model:
    """Linear, with an interaction; one slope is another one from some time on."""

    def __init__(self, slopes=None):
        self.slopes = np.linspace(-1, 1, len(NAMES)) if slopes is None else slopes

    def __call__(self, x):
        values = np.array([x[name] for name in NAMES])
        return float(values @ self.slopes + values[0] * values[1])


def stream(n, seed=0):
    """Rows that depend on those before them, and move."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(NAMES)))
    for t in range(1, n):
        X[t] = 0.9 * X[t - 1] + math.sqrt(0.19) * X[t]
    X[n // 2 :, 1] += 1.5
    return [dict(zip(NAMES, map(float, row), strict=True)) for row in X]


def sampled(model, size=2, **settings):
    settings = {"alpha": ALPHA, "grid": ipdp.grid.Fixed(GRID), "seed": 1, **settings}
    return ipdp.IncrementalPDP(model, max_features=size, **settings)


def learn(model, t, n):
    """What the model learns at time t: nothing, but once."""
    if t == 2 * n // 3:
        model.slopes = np.where(np.arange(len(NAMES)) == 3, 5.0, model.slopes)


def same(a, b, exactly=True):
    one, other = a.curves, b.curves
    assert one.keys() == other.keys()
    for feature, curve in one.items():
        check = np.testing.assert_array_equal if exactly else np.testing.assert_allclose
        check(curve.average, other[feature].average)
        check(curve.std_error, other[feature].std_error)
        assert curve.n_samples == other[feature].n_samples


def test_sums_are_those_of_all_observations_in_expectation():
    n, n_seeds = 80, 200
    rows = stream(n)
    whole = np.zeros((len(NAMES), len(GRID)))  # sum of k_t y_t, by brute force
    weight = 0.0
    model = Model()
    for t, x in enumerate(rows):
        k = (1 - ALPHA) ** (n - 1 - t)
        whole += k * np.array([[model({**x, f: v}) for v in GRID] for f in NAMES])
        weight += k
        learn(model, t, n)
    sums, weights = [], []
    for seed in range(n_seeds):
        model = Model()
        pdp = sampled(model, seed=seed, n_ice=0, n_past=0)
        for t, x in enumerate(rows):
            pdp.explain_one(x)
            learn(model, t, n)
        smoothing = pdp.memory.means.smoothing
        own = smoothing.weight * smoothing.mean[1]
        sums.append(own.reshape(whole.shape))
        weights.append(smoothing.weight)
    # 24 values, which are far from independent: beyond 4 standard errors once in 15,000 each.
    for found, wanted in ((np.array(sums), whole), (np.array(weights), weight)):
        error = found.std(axis=0, ddof=1) / math.sqrt(n_seeds)
        assert (np.abs(found.mean(axis=0) - wanted) < 4 * error).all()


def test_as_many_as_there_are_is_all():
    pdp, all_of_them = sampled(Model(), 8), sampled(Model(), None)
    for x in stream(100):
        pdp.explain_one(x)
        all_of_them.explain_one(x)
    for feature, curve in pdp.curves.items():
        np.testing.assert_allclose(curve.average, all_of_them.curve(feature).average)
        np.testing.assert_allclose(curve.std_error, all_of_them.curve(feature).std_error)


def test_so_many_are_asked_about_and_all_values_are_stored():
    asked = []

    def model(X):
        asked.append(len(X))
        return X.sum(axis=1)

    engine, grid = ipdp.models.ArrayEngine(model), ipdp.grid.MinMax(5)
    pdp = ipdp.IncrementalPDP(engine, max_features=3, grid=grid, estimator="pointwise", seed=1)
    for x in stream(200):
        pdp.explain_one(x)
    assert set(asked[50:]) == {3 * 5}
    assert [grid.n_values for grid in pdp.memory.grids.values()] == [200] * 8
    assert sum(target.n for target in pdp.memory.targets) == 3 * (200 - 20)


def test_bands_know_how_many_were_asked():
    rng = np.random.default_rng(3)
    rows = [dict(zip(NAMES, map(float, rng.normal(size=8)), strict=True)) for _ in range(1500)]
    pdp, all_of_them = sampled(Model(), 2, alpha=None), sampled(Model(), None, alpha=None)
    for x in rows:
        pdp.explain_one(x)
        all_of_them.explain_one(x)
    for feature, curve in pdp.curves.items():
        n = curve.n_effective_points.max()
        assert n <= curve.n_samples + 1e-6 < 1500
        ratio = curve.std_error / all_of_them.curve(feature).std_error
        # Independent rows: the error is as one over the root of the number, to the noise of both.
        assert 0.5 < np.median(ratio) / math.sqrt(1500 / n) < 2


def test_what_moves_is_asked_about_more_often():
    model = Model(np.zeros(8))
    model_of = sampled(lambda x: x["f2"] * x["f5"] + 0.0 * model(x), 2)
    for x in stream(600):
        model_of.explain_one(x)
    n = {target.feature: target.n for target in model_of.memory.targets}
    others = [n[name] for name in NAMES if name not in ("f2", "f5")]
    assert min(n["f2"], n["f5"]) > 2 * max(others)
    assert min(others) > 600 * 2 / 8 / 2 / 2  # half of the places are for all alike


@pytest.mark.parametrize("seed", range(5))
def test_a_feature_that_begins_to_matter_is_found(seed):
    model = Model(np.zeros(8))
    pdp = sampled(lambda x: model.slopes[6] * x["f6"] + 0.1 * x["f0"], 2, seed=seed)
    rows = stream(800, seed)
    for t, x in enumerate(rows):
        if t == 600:
            model.slopes[6] = 1.0
        pdp.explain_one(x)
    # It is not asked about for 200 observations once in (1 - 1/8)**50, a thousandth.
    assert pdp.curve("f6").importance.max() > 2 * pdp.curve("f0").importance.max()


@pytest.mark.parametrize("at", [41, 42, 43, 44, 90])
def test_goes_on_from_its_state(at):
    rows = stream(160)
    whole, first = sampled(Model(), 3, grid=None), sampled(Model(), 3, grid=None)
    for x in rows[:at]:
        whole.explain_one(x)
        first.explain_one(x)
    again = sampled(Model(), 3, grid=None, seed=99)
    again.state = json.loads(json.dumps(first.state))
    packed = sampled(Model(), 3, grid=None).from_bytes(first.state_bytes())
    for x in rows[at:]:
        for pdp in (whole, again, packed):
            pdp.explain_one(x)
    same(whole, again)
    same(whole, packed)


def test_reading_changes_nothing():
    one, other = sampled(Model(), 3, grid=None), sampled(Model(), 3, grid=None)
    for x in stream(150):
        one.explain_one(x)
        other.explain_one(x)
        _ = other.curves
    same(one, other)


def test_seeds_repeat_and_differ():
    pdps = [sampled(Model(), 2, seed=seed) for seed in (1, 1, 2)]
    for x in stream(100):
        for pdp in pdps:
            pdp.explain_one(x)
    same(pdps[0], pdps[1])
    assert (pdps[0].curve("f1").average != pdps[2].curve("f1").average).any()


def test_parts_are_the_whole():
    rows = stream(200)
    whole, first = sampled(Model(), 3, grid=None), sampled(Model(), 3, grid=None)
    for x in rows[:90]:
        whole.explain_one(x)
        first.explain_one(x)
    later = first.successor()
    for x in rows[90:]:
        whole.explain_one(x)
        later.explain_one(x)
    same(first.merge(later), whole, exactly=False)


def test_many_are_the_same_as_one_by_one():
    one, many = sampled(Model(), 3, grid=None), sampled(Model(), 3, grid=None)
    rows = stream(150)
    for x in rows:
        one.explain_one(x)
    many.explain_many(rows[:70])
    many.explain_many(rows[70:])
    same(one, many)


def test_after_an_error_it_is_what_it_was():
    is_broken = False

    def model(x):
        if is_broken:
            raise RuntimeError("broken")
        return x["f0"]

    rows = stream(120)
    pdp, other = sampled(model, 2, grid=None), sampled(model, 2, grid=None)
    for x in rows[:80]:
        pdp.explain_one(x)
        other.explain_one(x)
    is_broken = True
    before = json.dumps(pdp.state)
    for x in rows[:9]:
        with pytest.raises(RuntimeError):
            pdp.explain_one(x)
    assert json.dumps(pdp.state) == before
    is_broken = False
    for x in rows[80:]:
        pdp.explain_one(x)
        other.explain_one(x)
    same(pdp, other)


def test_the_curve_as_it_is_now():
    rng = np.random.default_rng(5)
    model = Model()
    pdp = sampled(model, 3, alpha=0.002)
    for t in range(1800):
        if t == 1500:
            model.slopes = -model.slopes
        pdp.explain_one(dict(zip(NAMES, map(float, rng.normal(size=8)), strict=True)))
    for feature in ("f1", "f7"):  # by slope -1 + 2 / 7 and 1 before
        wanted = -(-1 + 2 / 7 if feature == "f1" else 1.0) * 3
        now, then = (pdp.curve(feature, now=flag).average[0] for flag in (True, False))
        # f1 has an interaction, whose mean is 0 up to one over the root of 100 or so.
        assert abs(now[2] - now[0] - wanted) < 0.35 * abs(wanted)
        assert abs(then[2] - then[0] - wanted) > 0.7 * abs(wanted)


def test_pairs_classes_and_missing_values():
    def model(x):
        p = 1 / (1 + math.exp(-(x["a"] or 0.0)))
        return {"no": 1 - p, "yes": p}

    rng = np.random.default_rng(0)
    features = ["a", "b", ("a", "b")]
    pdp = ipdp.IncrementalPDP(model, features, max_features=1, seed=0, alpha=None)
    for _ in range(300):
        a = None if rng.uniform() < 0.2 else float(rng.normal())
        pdp.explain_one({"a": a, "b": str(rng.choice(["x", "y"]))})
    assert set(pdp.curves) == set(features)
    curve = pdp.curve("a")
    wanted = 1 / (1 + np.exp(-np.asarray(curve.grid_values[0])))
    np.testing.assert_allclose(curve.average[1], wanted, atol=1e-9)
    assert pdp.curve(("a", "b")).average.shape[0] == 2


def test_laws():
    make = lambda: sampled(lambda x: x["f1"] - x["f2"], 2, grid=None)  # noqa: E731
    check_explainer(make, stream(60))


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "all"])
def test_not_a_number_of_features(wrong):
    with pytest.raises((TypeError, ValueError), match="max_features"):
        sampled(Model(), wrong)


def test_not_with_groups():
    with pytest.raises(ValueError, match="give by, or max_features"):
        sampled(Model(), 2, by="f0")


def test_states_of_other_settings_are_refused():
    pdp = sampled(Model(), 2)
    pdp.explain_one(stream(1)[0])
    with pytest.raises(ValueError, match="max_features"):
        sampled(Model(), 3).state = pdp.state


def test_damaged_states_are_refused():
    pdp = sampled(Model(), 2)
    for x in stream(30):
        pdp.explain_one(x)
    for name, wrong in (("start", 1.5), ("held", HELD), ("last", ""), ("variance", "")):
        state = json.loads(json.dumps(pdp.state))
        state["fold"]["sampler"][name] = wrong
        with pytest.raises(ValueError, match="state"):
            sampled(Model(), 2).state = state


@pytest.mark.parametrize("size", [1, 3, 9])
def test_chances(size):
    rng = np.random.default_rng(size)
    for _ in range(50):
        needs = rng.exponential(size=10) ** 4 * (rng.uniform(size=10) < 0.6)
        chances = _shared_out(needs, size)
        assert chances.sum() == pytest.approx(size)
        assert chances.min() >= 0.5 * size / 10 - 1e-12
        assert chances.max() <= 1
        assert (np.diff(chances[np.argsort(needs)]) >= -1e-12).all()


def test_each_is_drawn_as_often_as_its_chance_says():
    sampler = FeatureSampler(3, seed=0)
    keys = ((0.0, 1.0),) * 10
    layout = Layout.of(_targets(10), range(10), keys, ((False,),) * 10)
    sampler.follow(layout)
    sampler._last = np.ones((1, 20))
    sampler._variance = np.arange(10.0) ** 4
    chances = sampler.chances(layout.targets)
    n, counts = 4000, np.zeros(10)
    for _ in range(n):
        sampler._start, sampler._drawn_of = sampler._uniforms.draw(), None
        sample = sampler.sample(layout)
        assert len(sample.layout.targets) == 3
        np.testing.assert_allclose(sample.layout.chances, chances[list(sample.layout.targets)])
        counts[list(sample.layout.targets)] += 1
    error = np.sqrt(chances * (1 - chances) / n)
    assert (np.abs(counts / n - chances) <= 4 * error + 1e-12).all()


def _targets(n):
    from ipdp.explainers.state.targets import make_targets

    return make_targets([f"f{k}" for k in range(n)], ipdp.grid.Fixed([0, 1]), regrid=True, seed=0)
