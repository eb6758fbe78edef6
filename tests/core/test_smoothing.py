"""Smoothing against explicit weighted sums, against pandas, and against itself in parts."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp import NotEnoughSamples, Smoothing

PROPERTY = settings(deadline=None, derandomize=True)

alphas = st.sampled_from([None, 1e-4, 0.001, 0.1, 0.5, 1.0])
# Times that repeat and leave gaps, but do not go back.
gaps = st.sampled_from([0, 1, 1, 1, 2, 5.5])
weights = st.floats(0.01, 100)
observations = st.lists(st.tuples(st.floats(-100, 100), weights, gaps), min_size=1, max_size=30)


def unzip(rows):
    """Values, weights and times of some observations."""
    y, w, gap = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return y, w, 1 + np.cumsum(gap)


def folded(alpha, y, w, t):
    smoothing = Smoothing(alpha=alpha)
    for value, weight, time in zip(y, w, t, strict=True):
        smoothing.update(value, weight, time)
    return smoothing


def explicit(alpha, y, w, t):
    """The sums of the module's docstring, as they are written there."""
    decay = 1.0 if alpha is None else 1.0 - alpha
    k = w * decay ** (t[-1] - t)
    mean = (k * y).sum() / k.sum()
    return k.sum(), mean, (k * (y - mean) ** 2).sum(), (k**2).sum()


def assert_same(one, other, tolerance=1e-9):
    # Means of values up to 100 are known to about 1e-13, and a spread to the weight times the
    # deviation times that: where the deviation is too small for the relative tolerance, the
    # absolute one is far above it.
    assert (one.n, one.t) == (other.n, other.t)
    np.testing.assert_allclose(one.weight, other.weight, rtol=tolerance, atol=1e-300)
    np.testing.assert_allclose(one.squares, other.squares, rtol=tolerance, atol=1e-300)
    there = one.weight > 0
    np.testing.assert_allclose(one.mean[:, there], other.mean[:, there], rtol=tolerance, atol=1e-9)
    np.testing.assert_allclose(
        one.spread, other.spread, rtol=tolerance, atol=1e-12 * one.weight.max()
    )


@PROPERTY
@given(alphas, observations)
def test_the_state_is_the_explicit_weighted_sum(alpha, rows):
    y, w, t = unzip(rows)
    smoothing = folded(alpha, y, w, t)
    weight, mean, spread, squares = explicit(alpha, y, w, t)
    assert smoothing.weight[0] == pytest.approx(weight, rel=1e-9)
    assert smoothing.squares[0] == pytest.approx(squares, rel=1e-9)
    assert smoothing.value == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert smoothing.spread[0, 0] == pytest.approx(spread, rel=1e-6, abs=1e-9 * weight)
    assert smoothing.n_effective[0] == pytest.approx(weight**2 / squares, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.001, 0.1, 0.5, 0.9])
def test_mean_and_variance_are_those_of_pandas(alpha):
    y = np.random.default_rng(0).normal(3, 2, 200)
    theirs = pd.Series(y).ewm(alpha=alpha, adjust=True)
    mean, variance = theirs.mean().to_numpy(), theirs.var(bias=False).to_numpy()
    smoothing = Smoothing(alpha=alpha)
    for value, expected, spread in zip(y, mean, variance, strict=True):
        smoothing.update(value)
        assert smoothing.value == pytest.approx(expected, rel=1e-12)
        assert smoothing.variance[0, 0] == pytest.approx(spread, rel=1e-9, nan_ok=True)


def test_the_plain_mean_is_that_of_numpy():
    y = np.random.default_rng(0).normal(3, 2, 200)
    smoothing = folded(None, y, np.ones(200), np.arange(1, 201))
    assert smoothing.value == pytest.approx(y.mean(), rel=1e-12)
    assert smoothing.variance[0, 0] == pytest.approx(y.var(ddof=1), rel=1e-12)
    assert smoothing.n_effective[0] == pytest.approx(200)
    assert smoothing.std_error[0, 0] == pytest.approx(y.std(ddof=1) / np.sqrt(200), rel=1e-12)


def test_sample_weights_are_those_of_numpy():
    rng = np.random.default_rng(0)
    y, w = rng.normal(size=50), rng.uniform(0.1, 5, 50)
    smoothing = folded(None, y, w, np.arange(1, 51))
    assert smoothing.value == pytest.approx(np.average(y, weights=w), rel=1e-12)
    assert smoothing.variance[0, 0] == pytest.approx(float(np.cov(y, aweights=w)), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.001, 0.1, 0.5])
def test_effective_sample_size_tends_to_its_limit(alpha):
    # sum of k = 1 / alpha and sum of k^2 = 1 / (1 - (1 - alpha)^2) give (2 - alpha) / alpha; after
    # n steps (1 - alpha)^n is missing, here at most exp(-20).
    n = round(20 / alpha)
    smoothing = Smoothing(alpha=alpha)
    smoothing.update_many(np.zeros((n, 1, 1)), np.ones(n), np.arange(1.0, n + 1))
    assert smoothing.n_effective[0] == pytest.approx((2 - alpha) / alpha, rel=1e-8)


@PROPERTY
@given(alphas, observations, observations)
def test_update_many_is_update_one_by_one(alpha, before, rows):
    y, w, t = unzip(before + rows)
    n = len(before)
    one_by_one = folded(alpha, y, w, t)
    at_once = folded(alpha, y[:n], w[:n], t[:n])
    at_once.update_many(y[n:, None, None], w[n:], t[n:])
    assert_same(at_once, one_by_one, tolerance=1e-8)


def test_update_many_of_nothing_changes_nothing():
    smoothing = folded(0.1, [1.0, 2.0], [1, 1], [1, 2])
    before = smoothing.state
    smoothing.update_many(np.empty((0, 1, 1)), np.empty(0), np.empty(0))
    assert smoothing.state == before


def test_observations_of_weight_zero_only_let_the_past_age():
    smoothing = folded(0.5, [1.0, 3.0], [1, 1], [1, 2])
    value, weight = smoothing.value, smoothing.weight[0]
    smoothing.update_many(np.full((2, 1, 1), 9.0), np.zeros(2), np.array([3.0, 6.0]))
    assert smoothing.value == value
    assert smoothing.t == 6
    assert smoothing.weight[0] == pytest.approx(weight * 0.5**4)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1])
@pytest.mark.parametrize("alpha", [None, 0.001, 0.3, 1.0])
def test_a_constant_series_keeps_its_value_to_the_last_bit(alpha, value):
    n = 50
    one_by_one = folded(alpha, [value] * n, np.ones(n), np.arange(1, n + 1))
    assert one_by_one.value == value
    assert one_by_one.spread[0, 0] == 0


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1])
@pytest.mark.parametrize("alpha", [None, 0.001, 0.3, 1.0])
def test_a_constant_series_in_batches_keeps_its_value_to_the_last_bit(alpha, value):
    smoothing = Smoothing(alpha=alpha)
    for start in range(0, 350, 50):
        t = np.arange(start + 1.0, start + 51)
        smoothing.update_many(np.full((50, 1, 1), value), np.ones(50), t)
        assert smoothing.value == value
        assert smoothing.spread[0, 0] == 0


@PROPERTY
@given(alphas, observations, st.data())
def test_merge_is_associative_and_commutative_on_a_common_clock(alpha, rows, data):
    y, w, t = unzip(rows)
    # Any partition of the observations, not only one into segments.
    part = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y), max_size=len(y))))
    a, b, c = (folded(alpha, y[part == k], w[part == k], t[part == k]) for k in range(3))
    whole = folded(alpha, y, w, t)
    for joined in (
        a.merge(b).merge(c),
        a.merge(b.merge(c)),
        b.merge(a).merge(c),
        c.merge(a).merge(b),
        c.merge(b.merge(a)),
    ):
        assert_same(joined, whole, tolerance=1e-8)


def test_an_empty_state_is_neutral():
    smoothing, empty = folded(0.1, [1.0, 4.0], [1, 2], [3, 4]), Smoothing(alpha=0.1)
    assert smoothing.merge(empty).state == smoothing.state
    assert empty.merge(smoothing).state == smoothing.state
    assert empty.merge(empty).state == empty.state


def test_merge_leaves_its_parts_alone():
    first, second = folded(0.1, [1.0], [1], [1]), folded(0.1, [2.0], [1], [2])
    states = first.state, second.state
    first.merge(second).update(5.0)
    assert (first.state, second.state) == states


@pytest.mark.parametrize("offset", [1e9, -1e9, 1e12])
def test_a_large_offset_keeps_the_variance(offset):
    # A value of 1e12 is known to 1.2e-4, so that a variance of 1 is known to about 1e-4. From raw
    # sums nothing would be left of it: the squares are known to 1e24 * 1e-16 = 1e8.
    noise = np.random.default_rng(0).normal(size=400)
    y = offset + noise
    w, t = np.ones(400), np.arange(1.0, 401)
    one_by_one = folded(0.01, y, w, t)
    at_once = Smoothing(alpha=0.01)
    for part in np.split(np.arange(400), 8):
        at_once.update_many(y[part, None, None], w[part], t[part])
    expected = folded(0.01, noise, w, t).variance[0, 0]
    tolerance = 10 * np.finfo(float).eps * abs(offset)
    assert one_by_one.variance[0, 0] == pytest.approx(expected, rel=tolerance)
    assert at_once.variance[0, 0] == pytest.approx(expected, rel=tolerance)


def test_a_long_absence_forgets_without_overflow():
    # (1 - alpha)^(-t) would overflow from t = 1,032 on.
    smoothing = Smoothing(alpha=0.5)
    smoothing.update(3.0, t=1)
    smoothing.update(7.0, t=100_000)
    assert smoothing.value == 7.0
    assert smoothing.weight[0] == 1.0
    early = Smoothing(alpha=0.5)
    early.update(3.0, t=-100_000)
    assert early.merge(smoothing).value == 7.0


def two_ages():
    """Two rows, and two columns of which the second was born later."""
    smoothing = Smoothing(alpha=0.5, n_rows=2)
    smoothing.update([[1.0], [3.0]])
    smoothing.update([[2.0], [5.0]])
    smoothing = smoothing.take([0, -1])
    smoothing.update([[4.0, 6.0], [8.0, 7.0]])
    smoothing.update([[1.0, 1.0], [2.0, 2.0]])
    return smoothing


def test_a_column_that_is_born_late_has_its_own_weights():
    smoothing = two_ages()
    old, young = Smoothing(alpha=0.5, n_rows=2), Smoothing(alpha=0.5, n_rows=2)
    for value in ([1.0, 3.0], [2.0, 5.0], [4.0, 8.0], [1.0, 2.0]):
        old.update(np.array(value)[:, None])
    for value in ([6.0, 7.0], [1.0, 2.0]):
        young.update(np.array(value)[:, None])
    for column, alone in enumerate((old, young)):
        for name in ("weight", "squares", "n_effective"):
            assert getattr(smoothing, name)[column] == pytest.approx(getattr(alone, name)[0])
        for name in ("mean", "spread", "variance", "std_error"):
            np.testing.assert_allclose(
                getattr(smoothing, name)[:, column], getattr(alone, name)[:, 0]
            )


@PROPERTY
@given(alphas, observations, observations)
def test_merge_and_update_many_with_columns_of_different_age(alpha, before, rows):
    y, w, t = unzip(before + rows)
    n = len(before)
    late = folded(alpha, y[:n], w[:n], t[:n]).take([0, -1])
    one_by_one, at_once, apart = (
        late.copy(),
        late.copy(),
        Smoothing(alpha=alpha, n_columns=2),
    )
    for k in range(n, len(y)):
        one_by_one.update([[y[k], -y[k]]], w[k], t[k])
        apart.update([[y[k], -y[k]]], w[k], t[k])
    at_once.update_many(np.stack([y[n:], -y[n:]], axis=1)[:, None, :], w[n:], t[n:])
    assert_same(at_once, one_by_one, tolerance=1e-8)
    assert_same(late.merge(apart), one_by_one, tolerance=1e-8)


@PROPERTY
@given(alphas, observations, observations)
def test_beside_puts_two_states_side_by_side_at_the_later_time(alpha, first, second):
    one, other = folded(alpha, *unzip(first)), folded(alpha, *unzip(second))
    both = one.beside(other)
    last = max(one.t, other.t)
    assert (both.n, both.t) == (one.n, last)
    # What happens next must be the same for each column as if it had been alone.
    both.update([[1.0, 2.0]], t=last + 1)
    one.update(1.0, t=last + 1)
    other.update(2.0, t=last + 1)
    for column, alone in enumerate((one, other)):
        assert_same_column(both, column, alone)


def assert_same_column(smoothing, column, alone):
    assert smoothing.weight[column] == pytest.approx(alone.weight[0], rel=1e-9)
    assert smoothing.squares[column] == pytest.approx(alone.squares[0], rel=1e-9)
    assert smoothing.mean[0, column] == pytest.approx(alone.mean[0, 0], rel=1e-9, abs=1e-9)
    # Squares of up to 100 are known to 1e-12 or so; a decay by several steps rounds them once more.
    allowed = 1e-9 * alone.weight[0]
    assert smoothing.spread[0, column] == pytest.approx(alone.spread[0, 0], rel=1e-8, abs=allowed)


def test_beside_an_empty_state():
    smoothing, nothing = two_ages(), Smoothing(alpha=0.5, n_rows=2, n_columns=0)
    assert smoothing.beside(nothing).state == smoothing.state
    assert nothing.beside(nothing).mean.shape == (2, 0)
    newborn = smoothing.beside(Smoothing(alpha=0.5, n_rows=2))
    np.testing.assert_array_equal(newborn.weight, [*smoothing.weight, 0])
    assert newborn.t == smoothing.t


def test_take_picks_columns_and_rows_and_makes_new_ones():
    smoothing = two_ages()
    taken = smoothing.take([1, -1, 0], rows=[1, -1])
    assert taken.mean.shape == (2, 3)
    # A new column is empty; a new row has had the value 0 so far, with the weight of the others.
    for name in ("weight", "squares"):
        old, young = getattr(smoothing, name)
        np.testing.assert_array_equal(getattr(taken, name), [young, 0, old])
    for name in ("mean", "spread"):
        old, young = getattr(smoothing, name)[1]
        np.testing.assert_array_equal(getattr(taken, name), [[young, 0, old], [0, 0, 0]])
    assert (taken.n, taken.t) == (smoothing.n, smoothing.t)


def test_a_new_row_goes_on_as_if_it_had_been_zero_all_along():
    late, always = Smoothing(alpha=0.2), Smoothing(alpha=0.2, n_rows=2)
    for value in [3.0, 1.0, 4.0]:
        late.update(value)
        always.update([[value], [0.0]])
    late = late.take([0], rows=[0, -1])
    for smoothing in (late, always):
        smoothing.update([[1.0], [5.0]])
    assert_same(late, always)


def test_take_is_a_copy():
    smoothing = Smoothing(alpha=0.5, n_columns=2)
    smoothing.update([[1.0, 2.0]])
    taken = smoothing.take([0, 1])
    taken.update([[9.0, 9.0]])
    assert smoothing.mean.tolist() == [[1.0, 2.0]]


def test_values_are_not_changed():
    values = np.array([[1.0, 2.0]])
    many = np.ones((3, 1, 2))
    smoothing = Smoothing(alpha=0.5, n_columns=2)
    smoothing.update(values)
    smoothing.update_many(many, np.ones(3), np.array([2.0, 3.0, 4.0]))
    assert values.tolist() == [[1.0, 2.0]]
    assert (many == 1).all()


@PROPERTY
@given(alphas, observations)
def test_state_round_trip(alpha, rows):
    y, w, t = unzip(rows)
    smoothing = folded(alpha, y, w, t)
    restored = Smoothing.from_state(json.loads(json.dumps(smoothing.state)))
    assert restored.state == smoothing.state
    smoothing.update(1.5)
    restored.update(1.5)
    assert restored.state == smoothing.state


def test_state_round_trip_with_columns_of_different_age():
    smoothing = two_ages()
    restored = Smoothing.from_state(json.loads(json.dumps(smoothing.state)))
    smoothing.update([[1.0, 2.0], [3.0, 4.0]])
    restored.update([[1.0, 2.0], [3.0, 4.0]])
    assert restored.state == smoothing.state


def test_state_round_trip_without_rows_or_columns():
    for n_rows, n_columns in [(0, 3), (2, 0), (0, 0)]:
        smoothing = Smoothing(alpha=0.1, n_rows=n_rows, n_columns=n_columns)
        restored = Smoothing.from_state(smoothing.state)
        assert restored.mean.shape == (n_rows, n_columns)
        assert restored.weight.shape == (n_columns,)


def test_one_value_has_no_variance():
    smoothing = Smoothing(alpha=0.1)
    assert np.isnan(smoothing.std_error[0, 0])
    smoothing.update(1.0)
    assert np.isnan(smoothing.variance[0, 0])
    assert np.isnan(smoothing.std_error[0, 0])
    smoothing.update(2.0)
    assert np.isfinite(smoothing.std_error[0, 0])


def test_alpha_one_keeps_the_last_value_only():
    smoothing = folded(1.0, [1.0, 2.0, 5.0], np.ones(3), [1, 2, 3])
    assert (smoothing.value, smoothing.weight[0]) == (5.0, 1.0)
    assert np.isnan(smoothing.variance[0, 0])


def test_errors():
    with pytest.raises(NotEnoughSamples, match="call update first"):
        _ = Smoothing(alpha=0.1).value
    with pytest.raises(ValueError, match=r"alpha is 0\.1 and 0\.2"):
        Smoothing(alpha=0.1).merge(Smoothing(alpha=0.2))
    with pytest.raises(ValueError, match=r"shapes differ: \(1, 1\) and \(1, 2\)"):
        Smoothing(alpha=0.1).merge(Smoothing(alpha=0.1, n_columns=2))


def test_columns_may_have_weights_of_their_own():
    """As if each column were a smoothing of its own, which sees the values of a positive weight."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2, 3))
    weights = rng.choice([0.0, 0.5, 2.0], size=(60, 3))
    together = Smoothing(alpha=0.1, n_rows=2, n_columns=3)
    alone = [Smoothing(alpha=0.1, n_rows=2) for _ in range(3)]
    for t, (values, w) in enumerate(zip(rows, weights, strict=True), start=1):
        together.update(values, w, t)
        for k, smoothing in enumerate(alone):
            if w[k]:
                smoothing.update(values[:, k : k + 1], float(w[k]), t)
    for k, smoothing in enumerate(alone):
        column = together.take([k])
        assert column.mean == pytest.approx(smoothing.mean, rel=1e-12)
        assert column.std_error == pytest.approx(smoothing.std_error, rel=1e-9)
        assert column.n_effective == pytest.approx(smoothing.n_effective, rel=1e-12)


@pytest.mark.parametrize(
    "made",
    [
        lambda whole: whole.take([0, 1]),
        lambda whole: Smoothing.from_state(whole.state),
        lambda whole: whole.take([0]).beside(whole.take([1])),
        lambda whole: whole.merge(Smoothing(alpha=0.01, n_columns=2)),
    ],
    ids=["take", "state", "beside", "merge"],
)
def test_columns_whose_weights_alone_differ_go_on(made):
    """As after a long time: weights differ in the last bit, and their squares no longer do."""
    state = {"alpha": 0.01, "n": 5, "t": 5, "weight": [1.0, 1.0 + 2**-52], "squares": [0.5, 0.5]}
    whole = Smoothing.from_state({**state, "mean": [[1.0, 2.0]], "spread": [[0.0, 0.0]]})
    smoothing = made(whole)
    smoothing.update([[1.0, 2.0]], t=6)
    np.testing.assert_allclose(smoothing.mean, [[1.0, 2.0]])
    assert smoothing.n == 6


def test_equal_weights_of_unequal_squares_can_be_gone_on_from():
    """Two columns: one of weight 2 at once, one of weight 1 twice."""
    one, two = Smoothing(alpha=None), Smoothing(alpha=None)
    one.update(3.0, w=2.0, t=2)
    for t in (1, 2):
        two.update(5.0, t=t)
    both = one.beside(two)
    both.update([[3.0, 5.0]], t=3)
    assert both.mean.tolist() == [[3.0, 5.0]]
    assert both.weight.tolist() == [3.0, 3.0]
    assert both.squares.tolist() == [5.0, 3.0]
