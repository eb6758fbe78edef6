"""Thresholds of trees as points; `tests/models/test_splits.py` has what curves make of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipdp.grid import Fixed, Thresholds

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200)


@given(numbers, st.integers(1, 30))
def test_points_are_thresholds_and_one_beyond_on_either_side(values, size):
    points = Thresholds(values, size).points
    inside = points[1:-1]
    assert set(inside.tolist()) <= set(values)
    assert 1 <= len(inside) <= size
    if len(set(values)) <= size:
        assert inside.tolist() == sorted(set(values))
    assert points[0] < min(inside)
    assert points[-1] > max(inside)


@given(numbers, st.integers(1, 30))
def test_a_fresh_one_has_the_same_points(values, size):
    grid = Thresholds(values, size)
    np.testing.assert_array_equal(grid.fresh().points, grid.points)
    assert grid.fresh() == grid


def test_of_many_those_are_taken_that_divide_the_splits_evenly():
    """Nine splits of ten at 0: all but two of the others are of the one that is left."""
    values = [0.0] * 900 + list(range(1, 101))
    assert Thresholds(values, 11).values == [0.0, 100.0]
    assert len(Thresholds(range(100), 11).values) == 11


def test_a_single_threshold_has_two_steps():
    assert Thresholds([2.0]).points.tolist() == [1.9, 2.0, 2.1]
    assert Thresholds([0.0]).points.tolist() == [-0.05, 0.0, 0.05]


def test_segments_are_joined_as_they_are():
    first, later = Thresholds([1.0, 2.0], 7), Thresholds([1.0, 2.0], 7)
    first.update(3.0)
    later.update(4.0)
    joined = first.merge(later)
    assert type(joined) is Thresholds
    assert joined == first
    assert joined.rug.tolist() == [3.0, 4.0]
    assert type(Fixed([1]).merge(Fixed([1]))) is Fixed


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf], ["a"], [[1.0]], [1e200], [None]])
def test_what_is_no_threshold_is_refused(values):
    with pytest.raises(ValueError, match=r"finite numbers and at least one; ipdp\.models"):
        Thresholds(values)


def test_a_size_of_nothing_is_refused():
    with pytest.raises(ValueError, match="whole number of at least 1"):
        Thresholds([1.0], 0)


@pytest.mark.parametrize("at", [0.0, 1.0, -1.7e9, 1e69, 5e-324])
def test_points_are_distinct_where_thresholds_are_neighbours_among_the_floats(at):
    points = Thresholds([at, np.nextafter(at, np.inf)]).points
    assert np.all(np.diff(points) > 0)


@pytest.mark.parametrize("value", ["", "2", None, np.nan, 1e200, [1.0]])
@pytest.mark.parametrize("grid", [Thresholds([1.0, 2.0]), Fixed([1, 2])], ids=repr)
def test_recent_values_of_a_state_are_numbers(grid, value):
    for x in (1.5, 2, True, np.float32(1.0), np.int64(2), 1e69):
        grid.update(grid.admit(x))
    twin = type(grid)(**grid.settings)
    twin.state = grid.state
    assert twin.rug.tolist() == grid.rug.tolist()
    with pytest.raises((ValueError, TypeError)):
        twin.state = {"n": 1, "recent": [1.5, value]}
    assert twin.rug.tolist() == grid.rug.tolist()
