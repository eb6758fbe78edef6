"""Curves of a stretch of time, from a log."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp
from ipdp.comparison.periods import during
from ipdp.comparison.sides import side_of
from ipdp.comparison.smoothness import Smoothness

from .making import logged, rows


@pytest.mark.parametrize("alpha", [0.01, 0.002, None])
@pytest.mark.parametrize("n", [1, 40, 900])
def test_weights_of_a_mean_of_n_observations(alpha, n):
    weights = np.ones(n) if alpha is None else (1 - alpha) ** np.arange(n)
    smoothness = Smoothness(alpha)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert smoothness.weight(effective) == pytest.approx(weights.sum())
    assert smoothness.squares(effective) == pytest.approx((weights**2).sum())


@pytest.mark.parametrize("alpha", [0.01, 0.002, None])
@pytest.mark.parametrize(("earlier", "later"), [(100, 130), (300, 900), (1_000, 1_001)])
def test_the_variance_of_a_difference_of_two_times(alpha, earlier, later):
    def weights(n):
        own = np.ones(n) if alpha is None else (1 - alpha) ** np.arange(n)[::-1]
        return np.concatenate([own / own.sum(), np.zeros(later - n)])

    one, other = weights(earlier), weights(later)
    exact = ((other - one) ** 2).sum()  # of independent observations with variance 1
    n = [1 / (w**2).sum() for w in (one, other)]
    first, second = Smoothness(alpha).shares(*n, later - earlier)
    assert first / n[0] + second / n[1] == pytest.approx(exact)
    assert exact < 1 / n[0] + 1 / n[1]


@pytest.mark.parametrize("alpha", [0.01, 0.001, None])
def test_the_curve_of_a_period_is_that_of_its_observations(tmp_path, alpha):
    data = rows(900, 3)
    grid = {name: ipdp.grid.Fixed([-1.0, 0.0, 1.0]) for name in "abc"}
    logged(tmp_path, data, every=10, alpha=alpha, grid=grid)
    with ipdp.LogReader(tmp_path) as reader:
        found, ends = during(reader, "pdp", (300, 900), Smoothness(alpha))
    assert ends == (300, 900)
    table = ipdp.partial_dependence(lambda x: x["a"] + x["b"] * x["c"], data[300:], grid=grid)
    for curve in table:
        # Of a stretch of ten the newest have up to 10 % more weight, with alpha = 0.01.
        np.testing.assert_allclose(found[curve.feature].average, curve.average, atol=0.02)
        assert found[curve.feature].n_samples == 600


def test_from_the_beginning_of_the_run(tmp_path):
    data = rows(400, 3)
    logged(tmp_path, data, alpha=0.001, grid=ipdp.grid.Fixed([-1.0, 1.0]))
    side = side_of(tmp_path, (0, 400), None, "a")
    assert side.period == (0, 400)
    assert side.curves["b"].n_samples == 400


def test_points_that_come_and_go_have_the_shape_that_they_had(tmp_path):
    # The range of the values goes up and down and steps of the default grid change: points are
    # there at some of the snapshots only. Both features act alone, so that their shapes are known
    # exactly, while "b" moves the level of both.
    rng = np.random.default_rng(7)
    wide = np.where(np.arange(3_000) // 500 % 2, 2.0, 0.6)
    levels = np.repeat(rng.normal(size=30), 100)
    data = [
        {"a": float(a * w), "b": float(b)}
        for a, w, b in zip(rng.uniform(-1, 1, 3_000), wide, levels, strict=True)
    ]
    logged(tmp_path, data, lambda x: x["a"] ** 2 + x["b"], every=100)
    for period in ((0, 1_000), (1_000, 2_000), (400, 1_700), (2_000, 3_000)):
        curve = side_of(tmp_path, period, None, "a").curves["a"]
        apart = curve.average[0] - curve.grid_values[0].astype(float) ** 2
        assert np.ptp(apart[curve.supported]) < 0.02


def test_a_category_that_came_later_has_the_level_of_all_stretches(tmp_path):
    # The level is 10 until the category comes and 0 from then on: only its distance from the other
    # one is known, and that is 1.
    data = [{"k": "y" if t >= 600 and t % 2 else "x", "v": 10.0 * (t < 600)} for t in range(1_200)]
    logged(tmp_path, data, lambda x: float(x["k"] == "y") + x["v"], alpha=0.01)
    curve = side_of(tmp_path, (100, 1_200), None, "a").curves["k"]
    at = dict(zip(curve.grid_values[0].tolist(), curve.average[0], strict=True))
    assert at["y"] - at["x"] == pytest.approx(1.0, abs=0.02)


def test_a_category_that_came_later(tmp_path):
    data = [{"k": "x" if t < 300 or t % 2 else "y"} for t in range(900)]
    logged(tmp_path, data, lambda x: float(x["k"] == "y"), alpha=0.01)
    side = side_of(tmp_path, (100, 900), None, "a")
    curve = side.curves["k"]
    at = dict(zip(curve.grid_values[0].tolist(), curve.average[0], strict=True))
    assert at == pytest.approx({"x": 0.0, "y": 1.0})


@pytest.mark.parametrize(
    ("period", "message"),
    [((200, 100), "ends after it begins"), ((1_000, 2_000), "no snapshot after 1000 up to 2000")],
)
def test_periods_that_are_none(tmp_path, period, message):
    logged(tmp_path, rows(300, 1))
    with pytest.raises(Exception, match=message):
        ipdp.compare(tmp_path, at=period, against=300)


def test_a_model_that_learned_has_said_nothing_impossible(tmp_path):
    # The curve of the model as it is now is worth fewer observations than the mean that is logged
    # beside it: stretches computed with that number left the probabilities by far.
    slope = {"a": 0.0}

    def model(x):
        p = 1 / (1 + np.exp(-slope["a"] * x["a"]))
        return {False: 1 - p, True: p}

    def learning():
        for k, x in enumerate(rows(1_500, 4)):
            slope["a"] = 2.0 * np.sin(k / 200)
            yield x

    pdp = ipdp.IncrementalPDP(model, alpha=0.002, n_ice=0)
    ipdp.run(learning(), model, pdp, learn=False, log=tmp_path, snapshot_every=25)
    for period in ((0, 700), (700, 1_500)):
        side = side_of(tmp_path, period, None, "a")
        for curve in side.curves.values():
            assert curve.average[:, curve.supported].min() > -0.05
            assert curve.average[:, curve.supported].max() < 1.05
