"""The density of data over a pair."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde

from ipdp.plot.shown.pair import SHARES, density_of

from ..conftest import make_curve, make_pair

RNG = np.random.default_rng(42)
POINTS = RNG.multivariate_normal([1.5, 25.0], [[0.1, 1.2], [1.2, 20.0]], size=400)
ROWS = [{"age": a, "salary": b} for a, b in POINTS.tolist()]


def test_density_is_that_of_a_kernel_estimate():
    found = density_of(make_pair(), ROWS)
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    # scipy's kernel has the covariance of the data, ours is along the axes: alike, not equal.
    theirs = gaussian_kde(POINTS.T)(np.stack([x.ravel(), y.ravel()])).reshape(x.shape)
    assert np.corrcoef(found.z.ravel(), theirs.ravel())[0, 1] > 0.97


def test_contours_lie_around_the_shares_they_say():
    found = density_of(make_pair(), ROWS)
    total = found.z.sum()
    inside = [found.z[found.z >= level].sum() / total for level in found.levels[::-1]]
    np.testing.assert_allclose(inside, SHARES, atol=0.02)


@pytest.mark.parametrize("data", [ROWS, pd.DataFrame(ROWS)])
def test_density_is_drawn_over_the_surface(data, ax, render):
    display = make_pair().plot(ax, data=data)
    render(ax)
    assert len(display.density_.levels) == len(SHARES)
    assert display.density_.get_zorder() > display.mesh_.get_zorder()


def test_categories_have_dots_as_large_as_their_counts(ax):
    axis = np.array(["low", "high", "none"], dtype=object)
    curve = make_pair(grid_values=[make_pair().grid_values[0], axis], categorical=(False, True))
    rows = [
        {"age": 0.1, "salary": "low"},
        {"age": -3.0, "salary": "low"},
        {"age": 2.4, "salary": "high"},
        {"age": None, "salary": "high"},
        {"age": 1.0, "salary": "unheard of"},
    ]
    assert density_of(curve, rows).tolist() == [[2, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
    sizes = curve.plot(ax, data=rows).density_.get_sizes().reshape(4, 3)
    assert sizes[0, 0] == 2 * sizes[2, 1] > 0


def test_too_few_data_have_no_density(ax):
    assert make_pair().plot(ax, data=ROWS[:5]).density_ is None
    same = [{"age": 1.0, "salary": 20.0}] * 50
    assert make_pair().plot(ax, data=same).density_ is None


def test_data_without_the_features_are_refused(ax):
    with pytest.raises(ValueError, match="no observation with both 'age' and 'salary'"):
        make_pair().plot(ax, data=[{"age": 1.0}])
    with pytest.raises(TypeError, match="one observation is a dict"):
        make_pair().plot(ax, data={"age": 1.0})


def test_data_are_for_pairs(ax):
    with pytest.raises(ValueError, match="data is for the surface of a pair"):
        make_curve().plot(ax, data=ROWS)
