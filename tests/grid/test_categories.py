"""Categories and Fixed."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.grid import Categories, Fixed

PROPERTY = settings(deadline=None, derandomize=True)
letters = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60)


def filled(grid, xs):
    for x in xs:
        grid.update(x)
    return grid


@PROPERTY
@given(letters, st.integers(1, 20))
def test_every_category_of_the_window_has_a_point(xs, window):
    grid = Categories(window=window)
    for n, x in enumerate(xs, start=1):
        grid.update(x)
        assert grid.points.tolist() == sorted(set(xs[max(0, n - window) : n]))
        assert grid.keys == tuple((category,) for category in grid.points)


@PROPERTY
@given(letters, st.integers(1, 20), st.integers(1, 4))
def test_the_most_frequent_ones_have_the_points(xs, window, size):
    grid = Categories(size, window)
    for n, x in enumerate(xs, start=1):
        grid.update(x)
        counts = Counter(xs[max(0, n - window) : n])
        points = grid.points.tolist()
        assert points == sorted(points)
        assert len(points) == min(size, len(counts))
        # At a tie the first in the alphabet.
        ranked = sorted(counts, key=lambda category: (-counts[category], category))
        assert set(points) == set(ranked[:size])
        assert grid.n_categories == len(counts)


@PROPERTY
@given(letters, st.integers(1, 10))
def test_points_are_the_same_array_until_one_comes_or_goes(xs, window):
    grid = Categories(3, window)
    before = None
    for x in xs:
        grid.update(x)
        points, keys = grid.points, grid.keys
        assert grid.points is points
        if before is not None:
            assert (points is before) == (points.tolist() == before.tolist())
        assert grid.keys is keys
        before = points


def test_the_number_three_and_the_third_point_are_different_keys():
    assert filled(Categories(), [3, 1]).keys == ((1,), (3,))


@pytest.mark.parametrize(
    ("x", "admitted"),
    [
        ("red", "red"),
        (True, True),
        (np.True_, True),
        (np.int64(3), 3),
        (np.str_("red"), "red"),
        (2.5, 2.5),
        (None, None),
        (float("nan"), None),
        (np.float32("nan"), None),
        # As for numbers: infinity never enters a storage.
        (float("inf"), None),
        (np.float64("-inf"), None),
    ],
)
def test_categories_are_admitted_as_python_s_own(x, admitted):
    value = Categories().admit(x)
    assert value == admitted
    assert type(value) is type(admitted)


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(TypeError, match="a value of type list cannot be a category"):
        Categories().admit([1])


def test_categories_that_are_tuples_stay_whole():
    grid = filled(Categories(), [("a", 1), ("b", 2)])
    assert grid.points.shape == (2,)
    assert grid.points.tolist() == [("a", 1), ("b", 2)]


def test_the_rug_is_the_newest_200_in_order():
    grid = filled(Categories(window=1000), [str(k % 7) for k in range(500)])
    assert grid.rug.tolist() == [str(k % 7) for k in range(300, 500)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 10**9}, "size must be at most 100,000, got 1000000000"),
        ({"size": 0}, "size must be .*at least 1, got 0"),
        ({"window": 0}, "window must be .*at least 1"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        Categories(**settings)


# Fixed


@pytest.mark.parametrize(
    ("values", "points", "categorical"),
    [
        ([3, 1, 2], [1, 2, 3], False),
        ([0.5, -1], [-1, 0.5], False),
        ((4,), [4], False),
        (np.array([2.0, 1.0]), [1, 2], False),
        (range(3), [0, 1, 2], False),
        (["low", "high"], ["low", "high"], True),
        ([True, False], [True, False], True),
        (["a", 1], ["a", 1], True),
    ],
)
def test_fixed_points(values, points, categorical):
    grid = Fixed(values)
    assert grid.points.tolist() == points
    assert grid.categorical is categorical
    assert (grid.points.dtype == object) is categorical


@PROPERTY
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10, unique=True), st.lists(st.floats()))
def test_fixed_points_stay_whatever_comes(values, xs):
    grid = Fixed(values)
    points, keys = grid.points, grid.keys
    assert grid.ready
    assert points.tolist() == sorted(values)
    for x in xs:
        value = grid.admit(x)
        if value is not None:
            grid.update(value)
        assert grid.points is points
        assert grid.keys is keys


def test_whole_fixed_points_stay_whole():
    assert Fixed([1, 2]).points.dtype == np.int64
    assert Fixed([1, 2.5]).points.dtype == float


def test_the_values_are_left_as_they_are():
    values = [3, 1, 2]
    Fixed(values).update(5)
    assert values == [3, 1, 2]


def test_the_caller_s_list_is_not_shared():
    values = [3, 1, 2]
    grid = Fixed(values)
    values.append(7)
    assert grid.values == [3, 1, 2]
    assert grid.fresh().points.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one point"),
        ([1.0, float("nan")], "no missing or infinite one"),
        (["a", None], "no missing or infinite one"),
        ([1, 1], "values must be distinct"),
        (["a", "a"], "values must be distinct"),
        ([1.0, float("inf")], "no missing or infinite one"),
        ([(1, 2), (3, 4)], "finite numbers, or strings or booleans"),
    ],
)
def test_fixed_errors(values, message):
    with pytest.raises(ValueError, match=message):
        Fixed(values)
