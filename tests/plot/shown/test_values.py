"""Where data are thin, and which values are shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.plot.shown.values import is_whole, round_levels, thin_points

from ..conftest import make_categories, make_curve


def test_an_outlier_leaves_the_rest_of_the_range_thin():
    rug = np.append(np.linspace(0.0, 1.0, 199), 4.0)
    # Within 0.4 of 0, 1, 2 and 3 are many, many, none and none of 200; at 4 there is one, of two.
    assert thin_points(make_curve(rug=[rug])).tolist() == [False, False, True, True, True]


def test_seldom_evaluated_points_are_thin():
    support = np.array([200.0, 200.0, 19.0, 20.0, 0.0])
    curve = make_curve(n_effective_points=support, rug=[])
    assert thin_points(curve).tolist() == [False, False, True, False, True]


@pytest.mark.parametrize(
    "curve",
    [
        make_curve(rug=[np.zeros(19)]),  # too few values to say where there are none
        make_curve(rug=[]),
        make_curve(grid_values=[np.full(5, 7.0)], rug=[np.zeros(50)]),
        make_categories("a", "b"),
    ],
)
def test_nothing_is_thin_where_nothing_is_known(curve):
    assert not thin_points(curve).any()


def test_thin_data_are_dotted_by_the_rug_too(ax):
    rug = np.append(np.linspace(0.0, 1.0, 199), 4.0)
    curve = make_curve(rug=[rug])
    display = curve.plot(ax)
    assert display.lines_[0].get_linestyle() == ":"
    solid = next(line for line in ax.lines if line.get_linestyle() == "-")
    np.testing.assert_array_equal(solid.get_ydata(), [1, 3, np.nan, np.nan, np.nan])


def test_whole_numbers():
    assert is_whole(make_curve(rug=[np.arange(9)]))
    assert not is_whole(make_curve())
    assert is_whole(make_curve(rug=[], grid_values=[np.arange(5)]))
    assert not is_whole(make_categories(1, 2))


def test_whole_numbers_have_whole_ticks_and_a_bar_each(ax, render):
    curve = make_curve(grid_values=[np.linspace(0.0, 3.0, 5)], rug=[np.array([0, 1, 1, 3])])
    display = curve.plot(ax)
    render(ax)
    assert all(float(tick) == int(tick) for tick in ax.get_xticks())
    counts, edges, _ = display.rug_ax_.patches[0].get_data()
    assert counts.tolist() == [1, 2, 0, 1]
    assert edges.tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5]


@settings(deadline=None)
@given(low=st.floats(-1e9, 1e9), width=st.floats(1e-6, 1e9))
def test_levels_are_round_even_and_around_all_values(low, width):
    high = low + width
    levels = round_levels(low, high)
    steps = np.diff(levels)
    slack = 1e-6 * width + 1e-9 * abs(low)
    assert levels[0] <= low + slack
    assert levels[-1] >= high - slack
    assert 3 <= len(levels) <= 15
    np.testing.assert_allclose(steps, steps[0], atol=1e-6 * abs(levels).max())


def test_levels_do_not_go_beyond_0_and_1():
    assert round_levels(0.0, 1.0)[[0, -1]].tolist() == [0.0, 1.0]
    assert round_levels(0.01, 0.99)[[0, -1]].tolist() == [0.0, 1.0]
