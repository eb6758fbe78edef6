"""The lattice: fixed positions that come and go with the range."""

import math
import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.grid.lattice import Lattice
from ipdp.grid.steps import Steps

PROPERTY = settings(deadline=None, derandomize=True)

# Ranges follow one another: with a window of two, the range is that of the last two values.
jumping = st.lists(
    st.tuples(st.floats(-1e4, 1e4, allow_subnormal=False), st.floats(-3, 3)).map(
        lambda place: (place[0], place[0] + 10 ** place[1])
    ),
    min_size=1,
    max_size=30,
)


def wandering(moves):
    """Ranges whose ends move by a share of their distance, so that knots at the ends are held."""
    low, high = 0.3, 5.1
    pairs = []
    for down, up in moves:
        low, high = low + down * (high - low), high + up * (high - low)
        pairs.append((low, high))
    return pairs


shares = st.floats(-0.15, 0.15)
ranges = st.one_of(
    jumping, st.lists(st.tuples(shares, shares), min_size=1, max_size=30).map(wandering)
)
sizes = st.integers(5, 50)


def filled(grid, xs):
    for x in xs:
        grid.update(x)
    return grid


def moving(size):
    """A lattice whose range is that of the last two values."""
    return Lattice(MinMax(size, window=2))


def step_of(points):
    """The distance of neighbours, which must all be the same up to rounding: a power of two."""
    steps = np.diff(points)
    step = 2.0 ** round(math.log2(np.median(steps)))
    assert np.allclose(steps, step, rtol=1e-6)
    return step


def drifting(n, seed):
    """Numbers whose mean wanders and whose spread breathes."""
    rng = np.random.default_rng(seed)
    where = np.cumsum(rng.normal(0, 0.1, n))
    wide = np.exp(np.cumsum(rng.normal(0, 0.02, n)))
    return (where + wide * rng.normal(size=n)).tolist()


@PROPERTY
@given(ranges, sizes)
def test_knots_are_a_third_of_a_step_from_its_multiples(pairs, size):
    grid = moving(size)
    for pair in pairs:
        filled(grid, pair)
        step = step_of(grid.points)
        above = grid.points / step - np.floor(grid.points / step)
        assert np.allclose(above, 1 / 3 if math.log2(step) % 2 == 0 else 2 / 3, atol=1e-6)


@PROPERTY
@given(st.floats(-1e6, 1e6), st.integers(-20, 20), st.booleans())
def test_the_finer_lattice_contains_the_coarser_one(x, exponent, thirds):
    coarse, fine = Steps(exponent, thirds), Steps(exponent - 1, thirds)
    knot = coarse.nearest(x)
    assert fine.nearest(knot) == knot  # the very same number: it keeps its key


@PROPERTY
@given(st.integers(-(10**6), 10**6), st.integers(-6, 3), st.integers(-10, 10))
def test_no_knot_is_a_round_number(digits, power, exponent):
    x = digits * 10.0**power
    steps = Steps(exponent, thirds=True)
    # A round number is m / 10^k; a knot is n 2^j / 3, whose distance from it is at least this.
    assert abs(steps.nearest(x) - x) > 0.3 * min(1.0, steps.size) * 10.0 ** min(power, 0)


@PROPERTY
@given(st.floats(-1e9, 1e9), st.integers(-20, 20), st.booleans())
def test_knots_below_and_above_are_next_to_a_number(x, exponent, thirds):
    steps = Steps(exponent, thirds)
    below, above = steps.below(x), steps.above(x)
    assert steps.at(below) <= x < steps.at(below + 1)
    assert steps.at(above - 1) < x <= steps.at(above)


@PROPERTY
@given(ranges, sizes)
def test_knots_cover_the_range_and_little_more(pairs, size):
    grid = moving(size)
    for low, high in pairs:
        filled(grid, (low, high))
        step = step_of(grid.points)
        # The first knot half a step below, until the range has withdrawn from it by 2.5 steps.
        assert 0 <= low - grid.points[0] <= 2.5 * step
        assert 0 <= grid.points[-1] - high <= 2.5 * step


@PROPERTY
@given(ranges, sizes)
def test_the_number_of_knots_stays_near_the_size(pairs, size):
    grid = moving(size)
    for pair in pairs:
        filled(grid, pair)
        # The step is the distance of the grid's points or up to 2.22 times less (an octave and the
        # slack), and there may be five more knots than are in the range.
        assert size / 1.12 <= len(grid.points) <= 2.22 * size + 6


@pytest.mark.parametrize("kind", [MinMax, QuantileRange])
@pytest.mark.parametrize("size", [5, 10, 20])
def test_on_drifting_data_knots_cover_the_range_in_the_right_number(kind, size):
    grid = Lattice(kind(size, window=200))
    for n, x in enumerate(drifting(3000, seed=size)):
        grid.update(x)
        if n < 20 or (n + 1) % 8:  # the range is looked at with every eighth value
            continue
        low, high = grid.grid.range
        assert grid.points[0] <= low
        assert high <= grid.points[-1]
        assert size / 1.12 <= len(grid.points) <= 2.22 * size + 4


def test_knots_stay_where_they_are_while_the_range_moves():
    grid = Lattice(MinMax(20, window=200))
    knots, steps = [], []
    for n, x in enumerate(np.random.default_rng(0).normal(size=5000).tolist()):
        grid.update(x)
        if n > 200:
            knots.append(set(grid.keys))
            steps.append(step_of(grid.points))
    # The range changes hundreds of times and spans 4 to 8, which is 1.5 octaves at most: one
    # or two steps are used, and 8 / step + 2 knots of each, with some room for extremes.
    assert len(set(steps)) <= 2
    assert len(set.union(*knots)) <= 2.22 * 20 * 2


def test_a_jump_leaves_the_old_knots_at_once():
    grid = filled(moving(10), [0.0, 1.0])
    filled(grid, [100.0, 101.0])
    assert grid.points[0] > 98


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles])
def test_knots_do_not_depend_on_when_points_are_read(kind):
    xs = drifting(1500, seed=3)
    pattern = Lattice(kind(10, window=100))
    watched, alone = pattern.fresh(seed=1), pattern.fresh(seed=1)
    for x in xs:
        watched.update(x)
        watched.points, watched.keys, watched.limits, watched.grid.points  # noqa: B018
    filled(alone, xs)
    assert alone.keys == watched.keys
    assert alone.state == watched.state


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles])
def test_whole_numbers_get_whole_knots(kind):
    grid = Lattice(kind(10, window=100))
    for n, x in enumerate(drifting(1500, seed=4)):
        grid.update(round(10 * x))
        if n > 20:
            assert grid.points.dtype == np.int64
            assert (np.diff(grid.points) > 0).all()
            assert all(type(key) is int for key in grid.keys)


def test_the_range_of_a_sample_seldom_moves_knots():
    # The 1 % quantile of 500 values varies by half a step; a knot at its end came and went twice
    # in 1,000 values when there was no room for that.
    rng = np.random.default_rng(11)
    changes = 0
    for number in range(8):
        grid = filled(Lattice(Auto().fresh(number)), rng.normal(size=1_000).tolist())
        keys = grid.keys
        for x in rng.normal(size=3_000).tolist():
            grid.update(x)
            changes += grid.keys is not keys
            keys = grid.keys
    assert changes < 8 * 3


def test_few_whole_numbers_have_a_knot_each():
    assert filled(Lattice(MinMax(10)), [3, 1, 7]).points.tolist() == list(range(1, 8))


def test_the_first_fraction_makes_the_knots_finer():
    grid = filled(Lattice(MinMax(10)), [0, 4])
    assert grid.points.tolist() == [0, 1, 2, 3, 4]
    grid.update(2.5)
    assert grid.points.dtype == float
    assert step_of(grid.points) == 0.25


def test_numbers_that_cease_to_be_whole_keep_their_knots():
    grid = filled(Lattice(MinMax(10)), [k % 5 for k in range(100)])
    grid.update(2.5)
    assert {0, 1, 2, 3, 4} <= set(grid.keys)
    assert grid.points.dtype == float


@PROPERTY
@given(st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=60), st.integers(2, 12))
def test_every_quantile_has_a_knot_of_its_own_nearby(xs, size):
    grid = Lattice(Quantiles(size, window=20))
    for x in xs:
        grid.update(x)
        quantiles, knots = np.unique(grid.grid.points), grid.points
        gaps = np.diff(quantiles)
        assert len(knots) <= size
        if len(quantiles) < 2 or gaps.min() < 1e-6:
            continue  # rounding of the values themselves
        # The step is at most half of the smallest distance to a neighbour (a quarter, doubled),
        # and a knot is held while its quantile is within 0.75 of a step.
        around = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
        assert len(knots) == len(quantiles)
        assert (np.abs(quantiles - knots) <= 0.75 * around / 2 * (1 + 1e-9)).all()


def test_points_of_unequal_distance_keep_it():
    class Logarithmic(MinMax):
        @property
        def points(self):
            low, high = self.range
            return np.geomspace(low, high, self.size)

    grid = filled(Lattice(Logarithmic(10)), np.geomspace(1, 1e6, 50).tolist())
    assert np.allclose(grid.points, np.geomspace(1, 1e6, 10), rtol=0.2)


def test_knots_of_quantiles_are_thirds_of_powers_of_two():
    grid = Lattice(Quantiles(10, window=100))
    for x in drifting(1500, seed=5):
        grid.update(x)
    finest = 2.0**-20
    assert np.allclose((3 * grid.points / finest) % 1, 0, atol=1e-6)
    assert not np.allclose((grid.points / finest) % 1, 0, atol=1e-6)


@PROPERTY
@given(ranges, sizes)
def test_limits_reach_half_a_step_beyond_the_range(pairs, size):
    grid = moving(size)
    for low, high in pairs:
        filled(grid, (low, high))
        half = step_of(grid.points) / 2
        assert grid.limits == (low - half, high + half)
        shown = (grid.points >= grid.limits[0]) & (grid.points <= grid.limits[1])
        assert shown.sum() >= len(grid.points) - 4


def test_a_constant_feature_has_one_knot_at_its_value():
    grid = filled(Lattice(MinMax(10)), [0.3] * 5)
    assert grid.points.tolist() == [0.3]
    assert grid.limits is None
    filled(grid, [0.7])
    assert grid.points[0] <= 0.3
    assert grid.points[-1] >= 0.7


def test_a_value_that_was_constant_for_long_keeps_its_knot_among_others():
    grid = filled(Lattice(MinMax(10, window=100)), [0.3] * 50)
    filled(grid, [0.7])
    assert 0.3 in grid.keys
    twin = grid.copy()
    filled(grid, [0.6, 0.7] * 100)
    filled(twin, [0.6, 0.7] * 100)
    assert 0.3 not in grid.keys
    assert twin.keys == grid.keys


@pytest.mark.parametrize("source", [Fixed([3, 1]), Fixed(["b", "a"]), Categories()])
def test_categories_and_fixed_points_stay_as_they_are(source):
    grid = Lattice(source.fresh())
    filled(grid, ["a"] * 3 if source.categorical else [1.5] * 3)
    assert grid.points is grid.grid.points
    assert grid.keys is grid.grid.keys
    assert grid.limits is None


@pytest.mark.parametrize("n_first", [2, 3, 4, 5])
@pytest.mark.parametrize("n_second", [2, 3, 4, 5])
def test_after_a_merge_knots_follow_the_range_as_before(n_first, n_second):
    grid = filled(Lattice(MinMax(10)), [float(k) for k in range(n_first)])
    grid = grid.merge(filled(Lattice(MinMax(10)), [float(k) for k in range(n_second)]))
    for x in (10.0, 20.0, -5.0):
        grid.update(x)
        low, high = grid.grid.range
        assert grid.points[0] <= low
        assert high <= grid.points[-1]


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles])
@pytest.mark.parametrize(
    "xs",
    [
        pytest.param([0.0, 5e-324], id="the smallest number"),
        pytest.param([-9e149, 9e149], id="the widest range"),
        pytest.param([2.0**53, 2.0**53 + 2], id="large neighbours"),
        pytest.param([1.7e9, 1.7e9 + 1e-6], id="times that differ by a microsecond"),
        pytest.param([10**18, 10**18 + 300], id="large whole numbers"),
        pytest.param([2**70, 2**70 + 10**9], id="whole numbers beyond 64 bits"),
    ],
)
def test_ranges_at_the_limits_of_the_numbers_have_distinct_knots(kind, xs):
    # Not likely, but a grid that raises would stop the stream with the explainer half updated.
    grid = filled(Lattice(kind(20)), xs)
    assert len(set(grid.keys)) == len(grid.keys) >= 1
    assert np.isfinite(grid.points.astype(float)).all()


def test_whole_numbers_beyond_64_bits_are_numbers():
    lattice = Lattice(MinMax(5))
    for value in (2**70, 2**70 + 3) * 20:
        lattice.update(value)
    assert lattice.points.dtype == float
    assert lattice.points == pytest.approx(2.0**70)


CATEGORIES = {
    "few": [k % 4 for k in range(60)],
    "one comes and goes": [9 if 20 < k < 24 else k % 3 for k in range(90)],
    "a range in the end": [k % 3 if k < 30 else k for k in range(90)],
    "no whole number": [k % 3 if k != 40 else 1.0 for k in range(60)],
    "texts": ["abcde"[k % (3 + k // 40)] for k in range(90)],
    "more texts than points": [f"text {k % (5 if k < 50 else 31)}" for k in range(120)],
    "of two kinds": [(True, "yes", 2)[k % 3] for k in range(60)],
}


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("again", [True, False], ids=["asked each time", "asked after a change"])
def test_what_takes_categories_in_does_what_update_does(name, again):
    pattern = Lattice(Auto(4, window=40, warm_up=6))
    plain, watched = pattern.fresh(seed=1), pattern.fresh(seed=1)
    intake, keys, version = watched.intake, None, None
    for k, value in enumerate(CATEGORIES[name]):
        x = plain.admit(value)
        plain.update(x)
        watched.update(x) if intake is None else intake.offer(x)
        assert watched.state == plain.state, k
        if not watched.ready:
            continue
        if intake is not None and intake.version == version:
            assert watched.keys == keys  # it has said of each change
        elif again or watched.keys != keys:
            intake = watched.intake
        keys, version = watched.keys, intake and intake.version
    assert (intake is None) == (name in {"of two kinds", "more texts than points"})


HOURS = [datetime(2024, 1, 1) + timedelta(hours=k // 2) for k in range(160)]
GROWING = {
    "a clock": [0.5 * k for k in range(160)],
    "a clock that is set back": [0.5 * (k if k < 90 else k - 70) for k in range(160)],
    "a clock that stands still": [0.5 * min(k, 90) for k in range(160)],
    "a counter": list(range(1000, 1160)),
    "a counter that begins anew": [k % 90 for k in range(160)],
    "a counter that gets a fraction": [k if k != 80 else 80.5 for k in range(160)],
    "a counter with gaps": [None if k % 7 == 3 else k for k in range(160)],
    "a counter that becomes text": [k if k < 80 else f"row {k}" for k in range(160)],
    "a half-hour of the day": [k % 48 for k in range(160)],
    "times that stay or grow": HOURS,
    "times that go back": [*HOURS[:90], *HOURS[:70]],
}


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("pattern", [Auto(), Auto(12, window=50)], ids=["default", "small"])
@pytest.mark.parametrize("again", [True, False], ids=["asked each time", "asked now and then"])
def test_what_takes_a_clock_in_does_what_update_does(name, pattern, again):
    plain, watched = (Lattice(pattern.fresh(seed=1)) for _ in range(2))
    intake, taken = None, set()
    for grid in (plain, watched):
        grid.be_wary()
    for k, value in enumerate(GROWING[name]):
        x = plain.admit(value)
        if x is None:
            continue
        plain.update(x)
        watched.update(x) if intake is None else intake.offer(x)
        taken.add(type(intake).__name__)
        assert watched.state == plain.state, k
        assert (watched.looks_like, watched.ready) == (plain.looks_like, plain.ready), k
        if again or k % 20 == 19:
            watched, intake = pickle.loads(pickle.dumps((watched, watched.intake)))
    assert "GrowthWatch" in taken


def test_a_clock_that_is_trusted_is_a_range_from_then_on():
    plain, watched = (Lattice(Auto().fresh(seed=1)) for _ in range(2))
    for grid in (plain, watched):
        grid.be_wary()
        filled(grid, range(60))
    intake = watched.intake
    for k in range(60, 90):
        plain.update(k)
        intake.offer(k)
    for grid in (plain, watched):
        grid.trust()
    assert watched.intake is None  # categories are ruled out first
    for k in range(90, 120):
        plain.update(k)
        watched.update(k) if watched.intake is None else watched.intake.offer(k)
        assert watched.state == plain.state
