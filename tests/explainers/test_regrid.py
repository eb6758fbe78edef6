"""The estimator regrid under virtual drift; the full table is made by benchmarks/regrid.py."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import ipdp
from ipdp import IncrementalPDP
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles


def load_benchmark():
    path = Path(__file__).parents[2] / "benchmarks" / "regrid.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_regrid", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


benchmark = load_benchmark()
scenarios = pytest.mark.parametrize(
    "scenario", [s for s in benchmark.SCENARIOS if not s.noisy], ids=lambda scenario: scenario.name
)


def ratios(scenario, setting, seeds):
    """Errors of regrid over those of pointwise, static and after the drift, means of some runs."""
    runs = [benchmark.run(scenario, setting, seed=seed, drift_at=12_000) for seed in seeds]
    regrid = np.array([run["regrid"] for run in runs]).mean(axis=0)
    pointwise = np.array([run["pointwise"] for run in runs]).mean(axis=0)
    return regrid / pointwise


@scenarios
def test_min_max_grid_under_virtual_drift(scenario):
    # Over 8 streams the ratio is 0.03, 0.05 and 0.01 in the mean and at most 0.09, most of which is
    # the noise of z (docs/notes/regrid.md).
    static, drift = ratios(scenario, benchmark.SETTINGS["MinMax"], seeds=(0, 1))
    assert drift <= 0.1
    assert static <= 1.1


@scenarios
def test_quantile_grid_under_virtual_drift(scenario):
    # Over 8 streams the ratio is 0.10 to 0.21 in the mean and at most 0.26.
    static, drift = ratios(scenario, benchmark.SETTINGS["QuantileRange"], seeds=(0,))
    assert drift <= 0.4
    assert static <= 1.1


def test_the_stream_is_what_the_benchmark_says():
    scenario = benchmark.SCENARIOS[2]
    table = benchmark.stream(scenario, seed=0, drift_at=20_000, n=40_000)
    # Means of 20,000 values: 5 standard errors of N(0, 1) are 0.035, of N(4, 2) twice as many.
    assert abs(table[:20_000, 0].mean()) < 0.035
    assert abs(table[20_000:, 0].mean() - 4) < 0.07
    assert abs(table[20_000:, 0].std() - 2) < 0.05
    # And the partial dependence is the mean over z, at 3: 5 standard errors of 0.1 * 3 z.
    x = np.full(40_000, 3.0)
    assert abs(scenario.f(x, table[:, 1]).mean() - scenario.pd(3.0)) < 5 * 0.3 / 200


# What regrid is, apart from how well it does.


def explainer(f, grid, estimator="regrid", **settings):
    model = ipdp.models.engine(lambda X: f(*X.T), takes="array")
    settings = {"alpha": 0.02, "n_ice": 0, "seed": 0, **settings}
    return IncrementalPDP(model, ["x"], grid=grid, estimator=estimator, **settings)


def table_of(*means, n=150, seed=0):
    """Columns x and z; x has one mean after the other, n times each."""
    table = np.random.default_rng(seed).normal(size=(n * len(means), 2))
    table[:, 0] += np.repeat(means, n)
    return table


GRIDS = [
    pytest.param(MinMax(10, 60), id="MinMax"),
    pytest.param(QuantileRange(10, window=100, storage_size=50), id="QuantileRange"),
    pytest.param(Quantiles(10, window=100, storage_size=50), id="Quantiles"),
    pytest.param(Auto(10, 60), id="Auto"),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_a_model_of_the_feature_alone_is_met_at_every_point_at_all_times(grid):
    # Nothing is ever interpolated: whatever a point has averaged was said at its very position.
    pdp = explainer(lambda x, z: np.sin(3 * x) + x**2, grid)
    n_points = 0
    for part in np.split(table_of(0, 6, -20, 6), 60):
        pdp.explain_many(part, names=["x", "z"])
        for curve in pdp.curves.values():
            (x,) = curve.grid_values
            n_points += len(x)
            # x^2 of up to 600, known to 1e-13 or so.
            np.testing.assert_allclose(curve.average[0], np.sin(3 * x) + x**2, atol=1e-10)
    assert n_points > 300


@pytest.mark.parametrize("grid", GRIDS)
def test_each_point_is_the_weighted_mean_of_what_was_said_there(grid):
    # An account of every answer by position, kept by the model; the weights are those of eq. 2.
    said = {}
    t = 0

    def model(x):
        y = (1 + x["z"]) * x["x"]
        said.setdefault(x["x"], []).append((t, y))
        return y

    pdp = IncrementalPDP(model, ["x"], alpha=0.02, grid=grid, estimator="regrid", n_ice=0, seed=0)
    for x, z in table_of(0, 3, n=60).tolist():
        t += 1
        pdp.explain_one({"x": x, "z": z})
    # Not the curve: new points are shown with what their neighbours know.
    smoothing = pdp.memory.means.smoothing
    for x, average, n_effective in zip(*smoothing.mean, smoothing.n_effective, strict=True):
        times, answers = np.array(said[x]).T
        weights = 0.98 ** (t - times)
        assert average == pytest.approx(weights @ answers / weights.sum(), rel=1e-9, abs=1e-12)
        assert n_effective == pytest.approx(weights.sum() ** 2 / (weights @ weights), rel=1e-9)


@pytest.mark.parametrize("grid", GRIDS)
def test_many_at_once_is_one_by_one(grid):
    table = table_of(0, 6, 0, n=60)
    one_by_one, at_once = (explainer(lambda x, z: x * z + x**2, grid) for _ in range(2))
    for x, z in table.tolist():
        one_by_one.explain_one({"x": x, "z": z})
    for part in np.array_split(table, 7):
        at_once.explain_many(part, names=["x", "z"])
    assert_same_curve(at_once.curve("x"), one_by_one.curve("x"))


@pytest.mark.parametrize("grid", GRIDS)
def test_it_is_a_mergeable_sum(grid):
    table = table_of(0, 6, 0, n=60)
    whole = explainer(lambda x, z: x * z + x**2, grid)
    whole.explain_many(table, names=["x", "z"])
    first = explainer(lambda x, z: x * z + x**2, grid)
    first.explain_many(table[:50], names=["x", "z"])
    second = first.successor()
    second.explain_many(table[50:100], names=["x", "z"])
    third = second.successor()
    third.explain_many(table[100:], names=["x", "z"])
    assert_same_curve(first.merge(second).merge(third).curve("x"), whole.curve("x"))
    assert_same_curve(first.merge(second.merge(third)).curve("x"), whole.curve("x"))


def assert_same_curve(curve, other):
    for name in ("average", "std_error", "n_effective_points"):
        np.testing.assert_allclose(getattr(curve, name), getattr(other, name), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(curve.grid_values[0], other.grid_values[0], rtol=1e-12, atol=1e-12)
    assert curve.n_samples == other.n_samples


def test_a_point_that_comes_back_goes_on_where_it_stopped():
    pdp = explainer(lambda x, z: x + z, MinMax(10, 60), alpha=None)
    home, away = table_of(0, n=300), table_of(8, n=61, seed=1)
    pdp.explain_many(home, names=["x", "z"])
    at_home = pdp.curve("x")
    pdp.explain_many(away, names=["x", "z"])
    assert pdp.curve("x").grid_values[0].min() > 4
    # Back home for as long as it takes until the window is free of the time away.
    pdp.explain_many(table_of(0, n=62, seed=2), names=["x", "z"])
    back = pdp.curve("x")
    middle = np.abs(back.grid_values[0]) < 1
    known = np.isin(back.grid_values[0].round(9), at_home.grid_values[0].round(9)) & middle
    assert known.any()
    # With the plain mean the effective sample size is the number of answers: the second stay
    # alone would have given 62 at most.
    assert (back.n_effective_points[known] > 100).all()


def test_a_point_that_is_new_is_less_certain():
    pdp = explainer(lambda x, z: x + z, MinMax(10, 60), alpha=0.01)
    pdp.explain_many(table_of(0, n=300), names=["x", "z"])
    steady = pdp.curve("x").std_error.mean()
    pdp.explain_many(table_of(40, n=80), names=["x", "z"])
    curve = pdp.curve("x")
    # 20 answers since the window left the old range behind, where 199 count in the long run.
    assert curve.n_effective_points.max() < 80
    assert curve.std_error.mean() > 1.3 * steady


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        (Fixed([0.0, 1.0]), np.arange(60) / 7),
        (Fixed(["a", "b"]), ["a", "b"] * 30),
        (Categories(window=10), ["a"] * 30 + ["b"] * 30),
        (Auto(), [True, False] * 30),
    ],
    ids=["Fixed", "Fixed categories", "Categories", "Auto of booleans"],
)
def test_points_that_do_not_travel_are_the_same_with_both_estimators(grid, values):
    curves = []
    for estimator in ("pointwise", "regrid"):
        pdp = IncrementalPDP(
            lambda x: len(str(x["x"])) + x["z"], ["x"], grid=grid, estimator=estimator, n_ice=0
        )
        for t, x in enumerate(values):
            pdp.explain_one({"x": x, "z": t % 3})
        curves.append(pdp.curve("x"))
    assert curves[0].grid_values[0].tolist() == curves[1].grid_values[0].tolist()
    np.testing.assert_array_equal(curves[0].average, curves[1].average)
    np.testing.assert_array_equal(curves[0].std_error, curves[1].std_error)


def test_whole_numbers_stay_whole():
    asked = set()

    def model(x):
        asked.add(x["x"])
        return x["x"]

    pdp = IncrementalPDP(model, ["x"], grid=MinMax(10, 50), estimator="regrid", n_ice=0)
    for x in (10 * table_of(0, 6, n=80)[:, 0]).round().astype(int).tolist():
        pdp.explain_one({"x": x})
    assert all(type(x) is int for x in asked)
    (x,) = pdp.curve("x").grid_values
    assert (x == x.round()).all()


def test_a_new_point_is_shown_with_what_its_neighbours_know():
    # The answers differ by z times a line in x: two neighbours know all of the noise, and a new
    # point is exactly on the line that those that were always there are on.
    rng = np.random.default_rng(3)
    pdp = IncrementalPDP(lambda x: x["x"] * x["z"], ["x"], grid=MinMax(8, 200), n_ice=0)
    came = 0
    for k in range(1_500):
        x = rng.uniform(0, 1 + (k > 1_000) * (k - 1_000) / 2_000)
        pdp.explain_one({"x": x, "z": rng.normal(1.0)})
        if k > 1_000:
            curve = pdp.curve("x")
            old = curve.n_effective_points > 0.9 * curve.n_effective_points.max()
            came += (~old).sum()
            slope = np.polyfit(curve.grid_values[0][old], curve.average[0][old], 1)[0]
            np.testing.assert_allclose(curve.average[0], slope * curve.grid_values[0], atol=0.03)
    assert came > 100


def test_a_new_point_whose_neighbours_are_new_as_well_knows_what_they_know():
    # The range wanders so fast that the nearest points of full age are far away, or gone.
    rng = np.random.default_rng(8)
    pdp = IncrementalPDP(lambda x: x["x"] * x["z"], ["x"], grid=MinMax(8, 200), n_ice=0)
    z_mean, weight = 0.0, 0.0
    for k in range(2_000):
        z = rng.normal(1.0)
        pdp.explain_one({"x": rng.uniform(0, 1) + (k > 1_000) * (k - 1_000) / 150, "z": z})
        if k >= 20:  # the warm-up
            weight = 0.999 * weight + 1
            z_mean += (z - z_mean) / weight
        if k > 1_100:
            curve = pdp.curve("x")
            # Without that, the mean of 200 values would be off by 0.3 and more at some time.
            np.testing.assert_allclose(curve.average[0] / curve.grid_values[0], z_mean, atol=0.2)
    assert curve.n_effective_points.max() < 400


@pytest.mark.parametrize("shift", [0.0, 4.0])
def test_no_instant_is_far_worse_than_those_around_it(shift):
    rng = np.random.default_rng(4)
    pdp = IncrementalPDP(lambda x: x["x"] + x["x"] * x["z"], ["x"], n_ice=0)
    errors = []
    for k in range(2_000):
        pdp.explain_one({"x": rng.normal(shift * k / 2_000), "z": rng.normal()})
        if k >= 500:
            curve = pdp.curve("x")
            errors.append(np.sqrt(np.mean((curve.average[0] - curve.grid_values[0]) ** 2)))
    around = [
        max(np.median(errors[k - 50 : k]), np.median(errors[k : k + 50])) for k in range(50, 1_450)
    ]
    assert (np.array(errors[50:1_450]) < 3 * np.array(around)).all()


def test_new_points_survive_segments_and_states():
    table = table_of(0, 3, n=400)
    whole = IncrementalPDP(lambda x: x["x"] * x["z"], ["x"], alpha=0.01, grid=MinMax(8, 100))
    parts = [whole.successor() for _ in range(1)]
    first = IncrementalPDP(lambda x: x["x"] * x["z"], ["x"], alpha=0.01, grid=MinMax(8, 100))
    whole.explain_many(table, names=["x", "z"])
    at = 460  # a little after the range has moved
    first.explain_many(table[:at], names=["x", "z"])
    assert first.memory.means.newcomers.points
    later = first.successor()
    later.explain_many(table[at:], names=["x", "z"])
    joined = first.merge(later).curve("x")
    np.testing.assert_allclose(joined.average, whole.curve("x").average, rtol=1e-9, atol=1e-9)
    twin = parts[0]
    twin.state = json.loads(json.dumps(first.state))
    np.testing.assert_array_equal(twin.curve("x").average, first.curve("x").average)


@pytest.mark.parametrize("cuts", [(300, 420), (350,), (410, 415, 500)])
def test_new_points_next_to_new_points_survive_segments(cuts):
    rng = np.random.default_rng(9)
    where = np.clip(np.arange(600) - 250, 0, None) / 60
    table = np.column_stack([rng.uniform(size=600) + where, rng.normal(1.0, size=600)])

    def explainer():
        return IncrementalPDP(
            lambda x: np.sin(x["x"]) * x["z"], ["x"], alpha=0.01, grid=MinMax(8, 60), n_ice=0
        )

    whole, joined = explainer(), explainer()
    whole.explain_many(table, names=["x", "z"])
    start = 0
    for stop in (*cuts, len(table)):
        later = joined.successor()
        later.explain_many(table[start:stop], names=["x", "z"])
        joined, start = joined.merge(later), stop
    points = whole.memory.means.newcomers.points
    active = set(whole.memory.means.layout.slots)
    assert any(point.own not in active for point in points)  # kept for the sake of others
    curves = [pdp.curve("x") for pdp in (whole, joined)]
    np.testing.assert_allclose(curves[1].average, curves[0].average, rtol=1e-9, atol=1e-9)
