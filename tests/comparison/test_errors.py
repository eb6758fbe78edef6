"""Errors of shape and level."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp
from ipdp.comparison.errors import Errors, output_variance

from .making import explained, make_curve, rows


def model(x):
    return x["a"] + x["b"] * x["c"] + x["c"] ** 2


def test_of_a_curve_that_knows_them():
    errors = Errors.of(make_curve([0, 1, 2], error=0.1))
    np.testing.assert_allclose(errors.shape, 0.1)
    np.testing.assert_allclose(errors.level, 0.1)  # 0.02 - 0.01
    assert errors.degrees == [200.0]


def brute_force(memory, name):
    """Standard deviations of the shape and the level of curves over 600 rows of other streams."""
    grid = ipdp.grid.Fixed([-1.0, 0.0, 2.0])
    curves = [
        ipdp.partial_dependence(model, rows(600, seed, memory=memory), [name], grid=grid)[0]
        for seed in range(300, 400)
    ]
    values = np.array([curve.average[0] for curve in curves])
    level = values.mean(axis=1, keepdims=True)
    return (values - level).std(axis=0), level.std()


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_of_a_table_from_its_rows(memory):
    # The standard deviation of 100 streams is known to 7 %; an error of one stream, of few blocks,
    # varies by a third of itself: the mean of ten by a tenth.
    shape, level = brute_force(memory, "b")
    grid = ipdp.grid.Fixed([-1.0, 0.0, 2.0])
    found = [
        Errors.of(ipdp.partial_dependence(model, rows(600, s, memory=memory), ["b"], grid=grid)[0])
        for s in range(10)
    ]
    np.testing.assert_allclose(np.mean([e.shape[0] for e in found], axis=0), shape, rtol=0.35)
    assert np.mean([e.level[0] for e in found]) == pytest.approx(level, rel=0.35)


def test_without_blocks_the_spread_of_the_rows_tells():
    curve = make_curve([0, 1], centred_std_error=None, ice_spread=np.full((1, 2), 2.0), n=400.0)
    np.testing.assert_allclose(Errors.of(curve).shape, 0.1)
    curve = make_curve([0, 1], centred_std_error=None, error=0.2)
    np.testing.assert_allclose(Errors.of(curve).shape, curve.std_error)


def test_the_variance_of_the_predictions():
    # a + b c + c^2 has the variance 1 + 1 + 2; the median feature of 4,000 rows tells it to 20 %.
    curves = explained(model, rows(4_000, 1), alpha=None).curves.values()
    assert np.median([output_variance(curve)[0] for curve in curves]) == pytest.approx(4, rel=0.2)


def test_a_point_that_joined_late_is_the_mean_of_other_observations():
    n = np.array([100.0, 100.0, 75.0])
    curve = make_curve([0, 1, 2], error=0.0, std_error=np.full((1, 3), 0.2), n_effective_points=n)
    np.testing.assert_allclose(Errors.of(curve).shape[0], [0.0, 0.0, 0.1])
