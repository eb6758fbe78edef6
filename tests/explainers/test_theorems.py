"""The theorems of the paper, as seeded statistical tests of the explainer.

A run costs next to nothing here: the model has one output for each run, and the output number r
reads the r-th column of a table of noise, in the row that the observation names. So one explainer
makes thousands of independent runs at once.
"""

import numpy as np
import pytest

import ipdp
from ipdp import IncrementalPDP, Smoothing
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles

POINTS = [-1.0, 0.5, 2.0]
N_RUNS = 2000
# A normal variable is further than this from its mean once in 150,000 times. Tests below compare
# up to a dozen of them each.
SIGMAS = 4.5


class Runs:
    """A model with an output for each run: f(x, z) with the run's own z."""

    def __init__(self, f, noise):
        self.f = f
        self.noise = noise

    def __call__(self, X):
        return self.f(X[:, [0]], self.noise[X[:, 1].astype(int)])


def normal_noise(n, *, seed, n_runs=N_RUNS):
    return np.random.default_rng(seed).normal(size=(n, n_runs))


def explainer(model, *, alpha, grid=None, **settings):
    model = ipdp.models.engine(model, takes="array")
    grid = Fixed(POINTS) if grid is None else grid
    settings = {"estimator": "pointwise", "n_ice": 0, **settings}
    return IncrementalPDP(model, ["x"], alpha=alpha, grid=grid, **settings)


def explained(model, x, *, alpha, **settings):
    """An explainer that has seen all values x, in parts that need little memory."""
    pdp = explainer(model, alpha=alpha, **settings)
    table = np.column_stack([x, np.arange(len(x))])
    for part in np.array_split(table, max(1, len(table) // 100)):
        pdp.explain_many(part, names=["x", "row"])
    return pdp


def final_curve(f, *, n, alpha, seed, n_runs=N_RUNS, **settings):
    """The curve of each run after n observations of a static model; average is (n_runs, m)."""
    model = Runs(f, normal_noise(n, seed=seed, n_runs=n_runs))
    return explained(model, np.zeros(n), alpha=alpha, **settings).curve("x")


def assert_means(values, expected):
    """The mean over the runs (axis 0) is as expected, up to its own standard error."""
    standard_error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - expected) <= SIGMAS * standard_error).all()


def normalised_weights(alpha, n):
    """The weight of each of n observations in the last curve, oldest first: eq. 2, debiased."""
    weights = alpha * (1 - alpha) ** np.arange(n - 1, -1, -1)
    return weights / weights.sum()


# Theorem 1: a weighted mean of the partial dependence functions of all times so far.


def test_theorem_1_the_curve_is_the_explicit_weighted_sum():
    rng = np.random.default_rng(0)
    slopes, z = np.cumsum(rng.normal(size=60)), rng.normal(size=60)
    slope = 0.0
    pdp = IncrementalPDP(
        lambda x: slope * x["x"] + x["z"], ["x"], alpha=0.07, grid=Fixed(POINTS), n_ice=0
    )
    for t in range(60):
        slope = slopes[t]
        pdp.explain_one({"x": 0.0, "z": z[t]})
        ice_curves = slopes[: t + 1, None] * np.array(POINTS) + z[: t + 1, None]
        expected = normalised_weights(0.07, t + 1) @ ice_curves
        np.testing.assert_allclose(pdp.curve("x").average[0], expected, rtol=1e-9, atol=1e-12)


def test_theorem_1_in_expectation():
    # f_t(x, z) = s_t x + x z + z^2 with E z = 0 and E z^2 = 1: its partial dependence is s_t x + 1.
    n, alpha = 150, 0.05
    slopes = np.sin(np.arange(n) / 20)
    model = Runs(None, normal_noise(n, seed=1))
    pdp = explainer(model, alpha=alpha)
    for t in range(n):
        model.f = lambda x, z, slope=slopes[t]: slope * x + x * z + z**2
        pdp.explain_one({"x": 0.0, "row": t})
    weighted_pd = normalised_weights(alpha, n) @ (slopes[:, None] * POINTS + 1)
    assert_means(pdp.curve("x").average, weighted_pd)


# Theorem 2: the bias of the plain recursion, and its removal.


@pytest.mark.parametrize("alpha", [0.001, 0.1, 0.9, 1.0])
def test_theorem_2_the_bias_factor(alpha):
    smoothing = Smoothing(alpha=alpha)
    for t in range(1, 200):
        smoothing.update(1.0)
        assert alpha * smoothing.weight[0] == pytest.approx(1 - (1 - alpha) ** t, rel=1e-10)


def test_theorem_2_the_curve_is_the_paper_s_recursion_divided_by_the_factor():
    rng = np.random.default_rng(0)
    alpha, recursion = 0.03, 0.0
    pdp = IncrementalPDP(lambda x: x["x"] * x["z"], ["x"], alpha=alpha, grid=Fixed([2.0]), n_ice=0)
    for t in range(1, 100):
        z = rng.normal()
        recursion = (1 - alpha) * recursion + alpha * 2.0 * z
        pdp.explain_one({"x": 0.0, "z": z})
        factor = 1 - (1 - alpha) ** t
        assert pdp.curve("x").average[0, 0] == pytest.approx(recursion / factor, rel=1e-9)


@pytest.mark.parametrize("estimator", ["pointwise", "regrid"])
@pytest.mark.parametrize("alpha", [None, 0.001, 0.3, 1.0])
@pytest.mark.parametrize(
    "grid",
    [
        Fixed(POINTS),
        MinMax(5, 20),
        QuantileRange(5, window=40, storage_size=20),
        Quantiles(5, window=40, storage_size=20),
        Categories(window=5),
        Auto(5, 20),
    ],
    ids=lambda grid: type(grid).__name__,
)
def test_theorem_2_a_constant_model_gives_its_constant_from_the_first_curve_on(
    grid, alpha, estimator
):
    pdp = IncrementalPDP(
        lambda x: 0.1, ["x"], alpha=alpha, grid=grid, estimator=estimator, n_ice=0, seed=0
    )
    n_curves = 0
    for x in np.random.default_rng(0).normal(size=60).round(1).tolist():
        pdp.explain_one({"x": x})
        for curve in pdp.curves.values():
            n_curves += 1
            assert (curve.average == 0.1).all()  # to the last bit
    assert n_curves >= 60 - 20


@pytest.mark.parametrize("n", [1, 2, 10, 100])
def test_theorem_2_the_curve_is_unbiased_from_the_first_observation_on(n):
    # f(x, z) = x + (1 + x) z + z^2: the partial dependence is x + 1.
    curve = final_curve(lambda x, z: x + (1 + x) * z + z**2, n=n, alpha=0.05, seed=n)
    assert_means(curve.average, np.array(POINTS) + 1)


# Theorem 3: with a linear f the curve lies on the partial dependence of its own points.


def moving_values(n, seed):
    """A feature whose range jumps and widens half way: the points travel far."""
    x = np.random.default_rng(seed).normal(size=n)
    return np.where(np.arange(n) < n // 2, x, 6 + 2 * x)


@pytest.mark.parametrize("grid", [MinMax(5, 50), QuantileRange(5, window=100, storage_size=50)])
def test_theorem_3_without_interaction_the_curve_is_exactly_on_the_line(grid):
    x = moving_values(400, seed=2)
    pdp = explainer(lambda X: 2 * X[:, 0] - 3, alpha=0.01, grid=grid, seed=0)
    for part in np.split(x, 8):
        pdp.explain_many(part[:, None], names=["x"])
        curve = pdp.curve("x")
        # Numbers of up to 20, and their mean over some hundred: rounding is below 1e-12.
        np.testing.assert_allclose(curve.average[0], 2 * curve.grid_values[0] - 3, atol=1e-11)


def test_theorem_3_an_additive_term_shifts_all_points_alike():
    x, z = moving_values(400, seed=3), normal_noise(400, seed=4, n_runs=1)
    pdp = explained(Runs(lambda x, z: 2 * x + z**2, z), x, alpha=0.01, grid=MinMax(5, 50))
    curve = pdp.curve("x")
    # 20 observations of warm-up have no ICE curve.
    shift = normalised_weights(0.01, 380) @ z[20:, 0] ** 2
    np.testing.assert_allclose(curve.average[0], 2 * curve.grid_values[0] + shift, atol=1e-11)


@pytest.mark.parametrize("grid", [MinMax(5, 50), QuantileRange(5, window=100, storage_size=50)])
def test_theorem_3_with_interaction_the_curve_is_on_the_line_in_expectation(grid):
    # f(x, z) = (2 + z) x + z with E z = 0: the partial dependence is 2 x. The points depend on
    # x only, which is independent of z.
    x, z = moving_values(400, seed=5), normal_noise(400, seed=6)
    model = Runs(lambda x, z: (2 + z) * x + z, z)
    curve = explained(model, x, alpha=0.01, grid=grid, seed=0).curve("x")
    assert_means(curve.average, 2 * curve.grid_values[0])


def test_theorem_3_needs_linearity():
    # The counter-example, for which `regrid` is made: under the same drift f = x^2 is far off.
    x = moving_values(400, seed=2)
    pdp = explained(lambda X: X[:, 0] ** 2, x, alpha=0.01, grid=MinMax(5, 50))
    curve = pdp.curve("x")
    assert np.abs(curve.average[0] - curve.grid_values[0] ** 2).max() > 1


# Theorem 4: the variance is of the order of alpha.

ALPHAS = [0.4, 0.2, 0.1, 0.05, 0.025]


def variance_over_runs(alpha, seed):
    # f(x, z) = 3 z has the variance 9 at every point, so one point is enough. The start is
    # forgotten up to (1 - alpha)^(2 n) = exp(-16).
    n = round(8 / alpha)
    curve = final_curve(lambda x, z: 3 * z, n=n, alpha=alpha, seed=seed, grid=Fixed([0]))
    return curve.average[:, 0].var(ddof=1)


def test_theorem_4_variance_ratio_and_scaling():
    # The means are normal, so a variance over 2,000 runs has a relative standard error of
    # sqrt(2 / 1999) = 3.2 %; 4.5 of these are 14 %.
    variances = np.array([variance_over_runs(alpha, seed) for seed, alpha in enumerate(ALPHAS)])
    alphas = np.array(ALPHAS)
    ratio = variances / 9 / (alphas / (2 - alphas))
    assert np.abs(ratio - 1).max() < SIGMAS * np.sqrt(2 / (N_RUNS - 1))
    # O(alpha): 9 alpha / (2 - alpha) <= 9 alpha, and in the limit half of it.
    assert (variances < 9 * alphas).all()
    assert variances[-1] / alphas[-1] == pytest.approx(9 / 2, rel=0.14 + 0.025 / 2)


@pytest.mark.parametrize("n", [2, 5, 20, 60])
def test_theorem_4_with_the_exact_weights_of_a_short_stream(n):
    # sigma^2 sum of squared weights, and on average the squared standard error is just that.
    alpha = 0.05
    curve = final_curve(lambda x, z: 3 * z, n=n, alpha=alpha, seed=n, grid=Fixed([0]))
    expected = 9 * (normalised_weights(alpha, n) ** 2).sum()
    measured = curve.average[:, 0].var(ddof=1)
    assert abs(measured / expected - 1) < SIGMAS * np.sqrt(2 / (N_RUNS - 1))
    assert_means(curve.std_error[:, 0] ** 2, expected)


def test_theorem_4_the_chance_of_a_large_error_is_of_the_order_of_alpha():
    # Chebyshev's inequality, from which the paper has it: P(|error| > eps) <= variance / eps^2.
    for seed, alpha in enumerate(ALPHAS):
        curve = final_curve(lambda x, z: x * z, n=round(8 / alpha), alpha=alpha, seed=10 + seed)
        for k, x in enumerate(POINTS):
            bound = x**2 * alpha / (2 - alpha) / 0.5**2
            share = np.mean(np.abs(curve.average[:, k]) > 0.5)
            # A share of 2,000 has a standard error of at most sqrt(p / 2000).
            assert share <= bound + SIGMAS * np.sqrt(bound / N_RUNS)


# The band. A share of 2,000 runs has a standard error of sqrt(0.95 * 0.05 / 2000) = 0.5 %, so that
# 93 and 97 % are four of them away from 95 %.


def assert_covers(curve, true):
    low, high = curve.band(0.95)
    covered = ((low <= true) & (true <= high)).mean(axis=0)
    assert (covered >= 0.93).all()
    assert (covered <= 0.97).all()


@pytest.mark.parametrize(
    ("alpha", "n"),
    [
        pytest.param(0.02, 400, id="settled"),
        pytest.param(0.001, 25, id="at the beginning"),
        pytest.param(0.001, 1500, id="on the way"),
        pytest.param(None, 200, id="plain mean"),
    ],
)
def test_the_band_covers_the_true_partial_dependence_in_95_percent_of_the_runs(alpha, n):
    curve = final_curve(lambda x, z: np.sin(3 * x) + (1 + x**2) * z, n=n, alpha=alpha, seed=n + 1)
    assert_covers(curve, np.sin(3 * np.array(POINTS)))


def test_the_band_covers_with_skewed_noise_and_the_default_alpha():
    # f(x, z) = x^2 + x z + z^2 has the partial dependence x^2 + 1, and ICE values that are as
    # skewed as a square is: with an effective sample size of 1,999 that does not matter any more.
    curve = final_curve(lambda x, z: x**2 + x * z + z**2, n=6000, alpha=0.001, seed=0)
    assert_covers(curve, np.array(POINTS) ** 2 + 1)


# Drift.


@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_after_real_drift_the_old_model_is_forgotten_geometrically(alpha):
    # The old model has the weight (1 - alpha)^n W and the new one 1 + ... + (1 - alpha)^(n-1),
    # with W = (1 - (1 - alpha)^n_before) / alpha: no noise, so no tolerance but rounding.
    n_before = 300
    slope = 1.0
    pdp = IncrementalPDP(lambda x: slope * x["x"], ["x"], alpha=alpha, grid=Fixed(POINTS), n_ice=0)
    for _ in range(n_before):
        pdp.explain_one({"x": 0.0})
    slope = -1.0
    for n in range(1, 200):
        pdp.explain_one({"x": 0.0})
        decay = (1 - alpha) ** n
        share = decay * (1 - (1 - alpha) ** n_before) / (1 - (1 - alpha) ** (n_before + n))
        expected = (2 * share - 1) * np.array(POINTS)
        np.testing.assert_allclose(pdp.curve("x").average[0], expected, rtol=1e-9, atol=1e-12)
        # In a long stream just (1 - alpha)^n.
        assert share == pytest.approx(decay, rel=1.1 * (1 - alpha) ** n_before)


def test_the_half_life_is_the_time_until_half_of_a_real_drift_is_seen():
    level = 0.0
    pdp = IncrementalPDP(lambda x: level, ["x"], half_life=50, grid=Fixed([0]), n_ice=0)
    for _ in range(1000):
        pdp.explain_one({"x": 0})
    level = 1.0
    for _ in range(50):
        pdp.explain_one({"x": 0})
    # 2^(-1000/50) = 1e-6 of the weight is missing.
    assert pdp.curve("x").average[0, 0] == pytest.approx(0.5, abs=1e-5)


def drifted(estimator, n_after, *, window=100, alpha=0.02):
    """An explainer n observations after x has moved from [0, 1] to [10, 11]."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=500 + n_after) + np.repeat([0, 10], [500, n_after])
    grid = MinMax(8, window)
    return explained(lambda X: X[:, 0], x, alpha=alpha, grid=grid, estimator=estimator)


def test_under_virtual_drift_the_points_move_to_the_new_range():
    # For a window long the points span both ranges; from then on they lie within the new one, and
    # what came before has a weight of (1 - alpha)^(n - window), here 0.98^400 = 3e-4 at the end.
    # No point was ever below 0, so each is above 10 (1 - weight).
    for n_after, share in [(100, 1.0), (150, 0.98**50), (300, 0.98**200), (500, 0.98**400)]:
        (points,) = drifted("pointwise", n_after).curve("x").grid_values
        assert (np.diff(points) > 0).all()
        assert points.min() >= 10 * (1 - share)
        assert points.max() <= 11
    assert drifted("pointwise", 500).curve("x").grid_values[0].min() >= 9.99


def test_under_virtual_drift_regrid_is_in_the_new_range_as_soon_as_the_window_is():
    (points,) = drifted("regrid", 50).curve("x").grid_values
    step = points[1] - points[0]
    assert abs(points[0] - 0) <= step
    assert abs(points[-1] - 11) <= step
    # The window of 100 has nothing but new values when the observation number 101 is explained.
    (points,) = drifted("regrid", 101).curve("x").grid_values
    step = points[1] - points[0]
    # Half a step beyond the range at most, which may hide a knot at each end.
    assert points[0] >= 10 - step / 2
    assert points[-1] <= 11 + step / 2
    assert 0.6 * 8 - 2 <= len(points) <= 1.4 * 8
