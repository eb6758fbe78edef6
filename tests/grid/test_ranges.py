"""MinMax, QuantileRange and Quantiles against numpy on the window itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp import Reservoir
from ipdp.grid import MinMax, QuantileRange, Quantiles

PROPERTY = settings(deadline=None, derandomize=True)

floats = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
# A constant, few different ones, a wide range.
integers = st.one_of(
    st.lists(st.just(7), min_size=1, max_size=40),
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=40),
)
sizes = st.integers(2, 12)
windows = st.integers(1, 20)


def filled(grid, xs):
    for x in xs:
        grid.update(x)
    return grid


@PROPERTY
@given(floats, sizes, windows)
def test_min_max_is_a_linspace_over_the_window(xs, size, window):
    grid = MinMax(size, window)
    for n, x in enumerate(xs, start=1):
        grid.update(x)
        inside = xs[max(0, n - window) : n]
        # One rounding of a number of up to 1e6 is 1e-10.
        np.testing.assert_allclose(
            grid.points, np.linspace(min(inside), max(inside), size), rtol=1e-12, atol=1e-9
        )
        assert grid.range == (min(inside), max(inside))


@PROPERTY
@given(floats, sizes, windows)
def test_quantile_range_is_a_linspace_between_two_quantiles(xs, size, window):
    grid = filled(QuantileRange(size, 0.1, 0.8, window=window), xs)
    low, high = np.quantile(xs[-window:], [0.1, 0.8])
    np.testing.assert_allclose(grid.points, np.linspace(low, high, size), rtol=1e-12, atol=1e-9)


@PROPERTY
@given(floats, sizes, windows)
def test_quantiles_are_those_of_numpy(xs, size, window):
    grid = filled(Quantiles(size, window=window), xs)
    expected = np.quantile(xs[-window:], np.linspace(0, 1, size))
    np.testing.assert_allclose(grid.points, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("kind", [QuantileRange, Quantiles])
@pytest.mark.parametrize("select", ["oldest", "age", "uniform"])
def test_the_storage_is_algorithm_3(kind, select):
    xs = np.random.default_rng(0).normal(size=2000).tolist()
    grid = filled(kind(window=400, storage_size=100, select=select, seed=5), xs)
    reservoir = Reservoir(size=100, probability=0.25, select=select, seed=5)
    for x in xs:
        reservoir.update(x)
    ends = (0.05, 0.95) if kind is QuantileRange else (0, 1)
    assert grid.range == pytest.approx([reservoir.quantile(q) for q in ends])
    np.testing.assert_allclose(grid.points[[0, -1]], grid.range)


@pytest.mark.parametrize(("window", "stored"), [(100, 100), (500, 500), (10_000, 500)])
def test_all_of_the_window_is_stored_up_to_500(window, stored):
    assert QuantileRange(window=window).storage.size == stored
    assert QuantileRange(window=window).storage.window == window


def test_an_outlier_moves_the_ends_of_min_max_and_not_the_quantiles():
    xs = [*np.random.default_rng(0).normal(size=500).tolist(), 1e6]
    assert filled(MinMax(), xs).range[1] == 1e6
    assert filled(QuantileRange(), xs).range[1] < 3


def test_a_constant_feature_has_the_same_point_everywhere():
    for kind in (MinMax, QuantileRange, Quantiles):
        assert filled(kind(4), [2.5] * 30).points.tolist() == [2.5] * 4


# Whole numbers.


# Rounding moves a point by one half; which way a half itself goes, the last bit may decide.
HALF = 0.5 + 1e-9


def assert_whole_and_distinct(grid):
    assert grid.points.dtype == np.int64
    assert len(set(grid.points.tolist())) == len(grid.points) == len(grid.keys)
    assert (np.diff(grid.points) > 0).all()


@PROPERTY
@given(integers, sizes, windows)
def test_whole_numbers_get_distinct_whole_points(xs, size, window):
    grid = filled(MinMax(size, window), xs)
    low, high = min(xs[-window:]), max(xs[-window:])
    assert_whole_and_distinct(grid)
    if high - low < size:
        assert grid.points.tolist() == list(range(low, high + 1))
    else:
        assert np.abs(grid.points - np.linspace(low, high, size)).max() <= HALF
        assert (grid.points[0], grid.points[-1]) == (low, high)


@PROPERTY
@given(integers, sizes)
def test_whole_quantiles_are_distinct_whole_numbers(xs, size):
    grid = filled(Quantiles(size, window=50), xs)
    assert_whole_and_distinct(grid)
    # Each quantile has its point, and each point its quantile.
    quantiles = np.quantile(xs, np.linspace(0, 1, size))
    distances = np.abs(quantiles[:, None] - grid.points)
    assert distances.min(axis=1).max() <= HALF
    assert distances.min(axis=0).max() <= HALF


@PROPERTY
@given(integers, sizes)
def test_whole_points_between_two_quantiles(xs, size):
    grid = filled(QuantileRange(size, window=50), xs)
    low, high = np.quantile(xs, [0.05, 0.95])
    assert_whole_and_distinct(grid)
    assert len(grid.points) <= size
    assert low - HALF <= grid.points[0] <= low + HALF
    assert high - HALF <= grid.points[-1] <= high + HALF


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles])
def test_one_fraction_ends_the_whole_numbers_for_good(kind):
    grid = filled(kind(3, window=5), [0, 1, 2, 3, 4])
    assert grid.points.dtype == np.int64
    # The fraction does not even change the range, and is long gone in the end.
    filled(grid, [2.5])
    assert grid.points.dtype == float
    assert len(grid.keys) == len(grid.points) == 3
    filled(grid, [0, 1, 2, 3, 4, 0])
    assert grid.points.dtype == float


def test_integers_can_be_forced_and_forbidden():
    assert filled(MinMax(3, integers=True), [0.2, 10.2]).points.tolist() == [0, 5, 10]
    assert filled(MinMax(3, integers=False), [0, 5]).points.tolist() == [0, 2.5, 5]


def test_numpy_s_and_python_s_integers_are_the_same():
    grid = MinMax(3)
    for x in (np.int32(0), np.int64(4), True):
        grid.update(grid.admit(x))
    assert grid.points.tolist() == [0, 2, 4]
    assert grid.points.dtype == np.int64


# The points' identity, which tells the explainer that nothing moved.


@PROPERTY
@given(floats, sizes, windows)
def test_points_are_the_same_array_exactly_until_they_move(xs, size, window):
    grid = MinMax(size, window, integers=False)
    before = None
    for x in xs:
        grid.update(x)
        points, ends = grid.points, grid.range
        assert grid.points is points
        assert grid.keys is grid.keys
        if before is not None:
            assert (points is before[0]) == (ends == before[1])
        before = points, ends


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles])
@pytest.mark.parametrize(
    "xs",
    [
        pytest.param([-9e69, 9e69], id="the widest range"),
        pytest.param([0.0, 5e-324], id="the smallest number"),
        pytest.param([10**18, 10**18 + 10**6], id="large whole numbers"),
        pytest.param([2**70, 2**70 + 10**9], id="whole numbers beyond 64 bits"),
        pytest.param([2**70, 2**70 + 3], id="few whole numbers beyond 64 bits"),
    ],
)
def test_ranges_at_the_limits_of_the_numbers(kind, xs):
    grid = kind(5)
    for x in xs:
        assert grid.admit(x) == x
        grid.update(x)
    points = grid.points.astype(float)
    assert np.isfinite(points).all()
    assert (np.diff(points) >= 0).all()
    # To rounding, and to whole numbers.
    slack = 1 + 1e-12 * abs(xs[1])
    assert xs[0] - slack <= points[0] <= points[-1] <= xs[1] + slack


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (MinMax, {"size": 1}, "size must be .*at least 2, got 1"),
        (Quantiles, {"size": 1}, "size must be .*at least 2, got 1"),
        (MinMax, {"size": 10**9}, "size must be at most 100,000, got 1000000000"),
        (MinMax, {"size": 2.5}, "size must be a whole number of at least 2, got 2.5"),
        (MinMax, {"window": 0}, "window must be .*at least 1, got 0"),
        (QuantileRange, {"window": 0}, "window must be .*at least 1, got 0"),
        (QuantileRange, {"lower": 0.9, "upper": 0.1}, "got 0.9 and 0.1"),
        (QuantileRange, {"lower": -0.1}, "0 <= lower < upper <= 1 must hold"),
        (QuantileRange, {"upper": 1.1}, "0 <= lower < upper <= 1 must hold"),
        (Quantiles, {"window": 10, "storage_size": 11}, "storage_size must be at most window = 10"),
        (Quantiles, {"storage_size": 0}, "size must be .*at least 1, got 0"),
        (Quantiles, {"select": "youngest"}, "select must be one of oldest, age, uniform"),
    ],
)
def test_errors(kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**settings)
