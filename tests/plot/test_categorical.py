from __future__ import annotations

import numpy as np

from .conftest import make_categories


def test_points_bars_and_counts(ax):
    curve = make_categories("blue", "green", "red")
    display = curve.plot(ax)
    points = display.lines_[0]
    assert points.get_linestyle() == "None"
    np.testing.assert_array_equal(points.get_xydata(), [[0, 1], [1, 2], [2, 3]])
    (errors,) = display.bands_[0].lines[2]
    lower, upper = curve.band(0.95)
    ends = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(ends, np.stack([lower[0], upper[0]], axis=1))
    assert [bar.get_height() for bar in display.rug_ax_.patches] == [10, 20, 30]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["blue", "green", "red"]


def test_ice_values_are_dashes_at_their_category(ax):
    curve = make_categories(False, True)
    paths = curve.plot(ax).ice_lines_[0].get_paths()
    np.testing.assert_array_equal(
        paths[1].vertices,
        [[-0.2, 2], [0.2, 2], [np.nan, 2], [0.8, 3], [1.2, 3], [np.nan, 3]],
    )
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["False", "True"]


def test_several_outputs_stand_side_by_side(ax):
    average = np.array([[1.0, 2.0], [5.0, 6.0]])
    curve = make_categories(
        "a", "b", outputs=("x", "y"), average=average, std_error=average, ice=None
    )
    first, second = curve.plot(ax).lines_
    np.testing.assert_allclose(first.get_xdata(), [-0.2, 0.8])
    np.testing.assert_allclose(second.get_xdata(), [0.2, 1.2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y"]


def test_a_later_curve_keeps_the_places_of_the_categories(ax):
    make_categories("b", "d").plot(ax)
    later = make_categories("a", "b", "d").plot(ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["b", "d", "a"]
    np.testing.assert_array_equal(later.lines_[0].get_xdata(), [2, 0, 1])
    assert later.rug_ax_.get_ylim()[1] > 30


def test_missing_stands_beside_the_categories(ax, render):
    curve = make_categories("a", "b", missing=np.array([4.0]), missing_std_error=np.array([0.1]))
    display = curve.plot(ax)
    render(ax)
    assert display.missing_ax_.get_xticklabels()[0].get_text() == "missing"
    assert display.missing_[0].lines[0].get_ydata().tolist() == [4.0]


def test_many_long_names_are_slanted(ax, render):
    make_categories(*[f"a long category {k}" for k in range(20)]).plot(ax)
    render(ax)
    assert {tick.get_rotation() for tick in ax.get_xticklabels()} == {35}


def test_categories_that_are_not_in_the_rug_have_no_bar(ax):
    rug = np.array(["a", "z"], dtype=object)
    display = make_categories("a", "b", rug=[rug]).plot(ax)
    assert [bar.get_height() for bar in display.rug_ax_.patches] == [1, 0]
