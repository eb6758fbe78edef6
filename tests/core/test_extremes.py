"""Algorithm 2 against the maximum and the minimum of the window itself."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp import NotEnoughSamples, WindowedExtremes

PROPERTY = settings(deadline=None, derandomize=True)

# Few different numbers make ties, sorted lists make trends, floats make neither.
values = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=60),
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60),
    st.lists(st.integers(), min_size=1, max_size=60).map(sorted),
    st.lists(st.integers(), min_size=1, max_size=60).map(lambda x: sorted(x, reverse=True)),
)
windows = st.integers(1, 20)


def filled(window, xs):
    extremes = WindowedExtremes(window=window)
    for x in xs:
        extremes.update(x)
    return extremes


@PROPERTY
@given(values, windows)
def test_extremes_are_those_of_the_window_at_every_step(xs, window):
    extremes = WindowedExtremes(window=window)
    for n, x in enumerate(xs, start=1):
        extremes.update(x)
        inside = xs[max(0, n - window) : n]
        assert (extremes.min, extremes.max) == (min(inside), max(inside))
        assert extremes.n_values == n


@PROPERTY
@given(values, windows)
def test_version_changes_exactly_when_an_extreme_does(xs, window):
    extremes = WindowedExtremes(window=window)
    before, version = None, extremes.version
    for x in xs:
        extremes.update(x)
        now = (extremes.min, extremes.max)
        assert (extremes.version != version) == (now != before)
        before, version = now, extremes.version


@PROPERTY
@given(values, windows, st.lists(st.integers(0, 60), min_size=1, max_size=3), values)
def test_merge_of_any_split_is_the_whole(xs, window, cuts, continuation):
    cuts = [0, *sorted(min(cut, len(xs)) for cut in cuts), len(xs)]
    parts = [filled(window, xs[a:b]) for a, b in pairwise(cuts)]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.merge(part)
    whole = filled(window, xs)
    # The join has to go on as the whole does, too: what it forgot would show later.
    for x in continuation:
        assert (joined.min, joined.max) == (whole.min, whole.max)
        assert (joined.n_values, joined.n_stored) == (whole.n_values, whole.n_stored)
        joined.update(x)
        whole.update(x)


def test_merge_leaves_its_parts_alone():
    first, second = filled(3, [5, 1, 2]), filled(3, [9, 8])
    states = first.state, second.state
    first.merge(second).update(100)
    assert (first.state, second.state) == states


@pytest.mark.parametrize("xs", [range(1000), range(1000, 0, -1)], ids=["rising", "falling"])
def test_a_trend_fills_one_queue_and_empties_the_other(xs):
    # On a trend each value is the next extreme on one side, so that queue holds the whole window;
    # on the other side the newest value beats all others.
    extremes = filled(50, xs)
    assert extremes.n_stored == 50 + 1


def test_a_falling_trend_is_exact():
    extremes = WindowedExtremes(window=7)
    for x in range(1000, 0, -1):
        extremes.update(x)
        assert extremes.min == x
        assert extremes.max == min(1000, x + 6)


def test_ties_are_stored_once():
    assert filled(50, [4] * 1000).n_stored == 2


def test_exchangeable_data_need_a_logarithmic_storage():
    # A value stays in the queue for the maximum if it is the largest of the newest i, which has
    # the probability 1/i: on average the harmonic number of the window, H(1000) = 7.485, in each
    # of the two. The 100 looks are 1,000 steps apart, so independent; the variance of one queue is
    # H - sum 1/i^2 = 5.84, so the mean of 100 sums of two (at most twice as variable as one each)
    # has a standard error below sqrt(4 * 5.84 / 100) = 0.48, and 4 of these are allowed.
    rng = np.random.default_rng(0)
    extremes = WindowedExtremes(window=1000)
    stored = []
    for n, x in enumerate(rng.normal(size=101_000).tolist(), start=1):
        extremes.update(x)
        if n % 1000 == 0:
            stored.append(extremes.n_stored)
    harmonic = sum(1 / i for i in range(1, 1001))
    assert abs(np.mean(stored[1:]) - 2 * harmonic) < 4 * 0.48


@PROPERTY
@given(values, windows)
def test_the_cost_of_an_update_is_constant_on_average(xs, window):
    # Each update adds two entries, so no more than that can ever be taken away: the work of n
    # updates is at most 2n additions and 2n removals.
    extremes = WindowedExtremes(window=window)
    removals = 0
    for x in xs:
        before = extremes.n_stored
        extremes.update(x)
        removals += before + 2 - extremes.n_stored
        assert 2 <= extremes.n_stored <= 2 * window
    assert 0 <= removals <= 2 * len(xs)


def test_state_round_trip_goes_on_as_before():
    xs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
    extremes = filled(4, xs[:6])
    restored = WindowedExtremes(window=4)
    restored.state = extremes.state
    for x in xs[6:]:
        extremes.update(x)
        restored.update(x)
        assert restored.state == extremes.state


def test_copy_is_independent():
    extremes = filled(3, [1, 2])
    twin = extremes.copy()
    twin.update(10)
    assert (extremes.max, twin.max) == (2, 10)


def test_infinite_values_are_values():
    extremes = filled(2, [-math.inf, 1.0, math.inf])
    assert (extremes.min, extremes.max) == (1.0, math.inf)


@pytest.mark.parametrize("name", ["min", "max"])
def test_nothing_to_read_before_the_first_value(name):
    with pytest.raises(NotEnoughSamples, match="call update first"):
        getattr(WindowedExtremes(window=3), name)


def test_errors():
    with pytest.raises(ValueError, match=r"window must be .*at least 1, got 0"):
        WindowedExtremes(window=0)
    with pytest.raises(ValueError, match="windows differ: 2 and 3"):
        WindowedExtremes(window=2).merge(WindowedExtremes(window=3))
