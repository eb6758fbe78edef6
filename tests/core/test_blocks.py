"""Block means against all values kept; segments of a stream put together."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core.blocks import N_BLOCKS, Blocks
from ipdp.core.smoothing import Smoothing

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)
ALPHAS = [0.001, 0.02, 0.3, None]


def followed(values, times, alpha, weights=None):
    """A smoothing of (n, n_rows, n_columns) and its blocks."""
    n, n_rows, n_columns = values.shape
    smoothing = Smoothing(alpha=alpha, n_rows=n_rows, n_columns=n_columns)
    blocks = Blocks(alpha=alpha, n_rows=n_rows, n_columns=n_columns)
    weights = np.ones(n) if weights is None else weights
    for x, t, w in zip(values, times, weights, strict=True):
        if t >= blocks.until:
            blocks.advance(smoothing, t)
        smoothing.update(x, w, t=t)
    blocks.close(smoothing)
    return smoothing, blocks


def brute_force(values, times, size, alpha, weights):
    """For each block its number, weight at its end and mean, from all values."""
    decay = 1.0 if alpha is None else 1 - alpha
    found = {}
    for number in sorted({math.floor(t / size) for t in times}):
        end = (number + 1) * size
        inside = [i for i, t in enumerate(times) if math.floor(t / size) == number]
        kernel = [weights[i] * decay ** (end - times[i]) for i in inside]
        total = math.fsum(kernel)
        if total:
            mean = sum(k * values[i] for k, i in zip(kernel, inside, strict=True)) / total
            found[number] = total, mean
    return found


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [5, 100, 3_000])
def test_they_are_the_means_of_the_values_in_between(alpha, n):
    rng = np.random.default_rng(1)
    values, weights = rng.normal(3, 1, size=(n, 2, 3)), rng.uniform(0.5, 2, size=n)
    times = np.cumsum(rng.integers(1, 3, size=n)).tolist()
    _, blocks = followed(values, times, alpha, weights)
    wanted = brute_force(values, times, blocks.size, alpha, weights)
    assert len(blocks.numbers) <= N_BLOCKS + 1  # the last one goes on
    assert blocks.numbers.tolist() == sorted(wanted)[-len(blocks.numbers) :]
    for number, weight, mean in zip(blocks.numbers, blocks.weight, blocks.mean, strict=True):
        total, average = wanted[int(number)]
        np.testing.assert_allclose(weight, total, rtol=1e-9)
        np.testing.assert_allclose(mean, average, rtol=1e-9)


def test_they_reach_back_ten_times_as_far_as_the_smoothing():
    values, times = np.zeros((20_000, 1, 1)), range(1, 20_001)
    _, blocks = followed(values, times, 0.001)
    assert len(blocks.numbers) * blocks.size > 10_000
    _, whole = followed(values, times, None)
    assert whole.numbers[0] == 0
    assert N_BLOCKS / 2 <= len(whole.numbers) <= N_BLOCKS


def test_a_constant_stays_what_it_is():
    _, blocks = followed(np.full((2_000, 1, 1), 0.1), range(2_000), 0.001)
    assert (blocks.mean == 0.1).all()


@pytest.mark.parametrize("alpha", [*ALPHAS, 1.0])
def test_times_may_be_far_apart(alpha):
    times = [-5.5, 0.25, 1e3, 1e9, 1.5e9, 1e300]
    _, blocks = followed(np.arange(6.0).reshape(6, 1, 1), times, alpha)
    assert 1 <= len(blocks.numbers) <= N_BLOCKS
    assert blocks.mean[-1, 0, 0] == 5.0


@PROPERTY
@given(
    alpha=st.sampled_from(ALPHAS),
    cuts=st.lists(st.integers(0, 1_200), min_size=2, max_size=2).map(sorted),
    n=st.integers(1, 1_200),
    seed=st.integers(0, 5),
)
def test_segments_put_together_are_the_whole(alpha, cuts, n, seed):
    values = np.random.default_rng(seed).normal(size=(n, 1, 2))
    times = np.arange(1, n + 1)
    _, whole = followed(values, times, alpha)
    parts = [
        followed(values[a:b], times[a:b], alpha)[1]
        for a, b in zip([0, *cuts], [*cuts, n], strict=True)
    ]
    for joined in (
        parts[0].merge(parts[1]).merge(parts[2]),
        parts[0].merge(parts[1].merge(parts[2])),
    ):
        assert joined.size == whole.size
        assert joined.numbers.tolist() == whole.numbers.tolist()
        np.testing.assert_allclose(joined.weight, whole.weight, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(joined.mean, whole.mean, rtol=1e-6, atol=1e-9)


def test_columns_come_and_go():
    values, times = np.random.default_rng(0).normal(size=(40, 1, 2)), range(40)
    smoothing, blocks = followed(values, times, 0.1)
    taken = blocks.take([1, -1], rows=[0, -1])
    assert (taken.weight[:, 1] == 0).all()
    assert (taken.mean[:, 1] == 0).all()
    np.testing.assert_array_equal(taken.mean[:, 0, 0], blocks.mean[:, 0, 1])
    later = smoothing.take([1, -1], rows=[0, -1])
    taken.restart(later)
    for t in range(40, 60):
        if t >= taken.until:
            taken.advance(later, t)
        later.update(np.full((2, 2), 7.0), t=t)
    taken.close(later)
    # What a column was before does not reach the blocks after.
    np.testing.assert_allclose(taken.mean[-2:], 7.0, rtol=1e-12)


def test_state_goes_through_json_and_goes_on_bit_for_bit():
    rng = np.random.default_rng(0)
    values, times = rng.normal(size=(203, 2, 2)), range(203)
    smoothing, blocks = followed(values, times, 0.01)
    twin = Blocks(alpha=0.01, n_rows=2, n_columns=2)
    twin.restore(json.loads(json.dumps(blocks.state)))
    for t in range(203, 300):
        x = rng.normal(size=(2, 2))
        for each in (blocks, twin):
            if t >= each.until:
                each.advance(smoothing, t)
        smoothing.update(x, t=t)
    assert twin.state == blocks.state


def test_blocks_that_never_close_have_a_state():
    """Those of a table, whose rows have no order; parts of one are sent by Spark."""
    blocks = Blocks(alpha=None, n_rows=1, n_columns=2)
    blocks.until = math.inf
    twin = Blocks(alpha=None, n_rows=1, n_columns=2)
    twin.restore(blocks.state)
    assert twin.until == math.inf


@pytest.mark.parametrize("name", ["weight", "mean", "start_weight", "start_mean"])
def test_a_damaged_state_is_refused(name):
    _, blocks = followed(np.ones((30, 1, 2)), range(30), 0.1)
    with pytest.raises(ValueError, match=f"damaged: {name}"):
        Blocks(alpha=0.1, n_columns=2).restore({**blocks.state, name: [1.0, math.nan]})


@pytest.mark.parametrize("alpha", [0.02, None])
@pytest.mark.parametrize("cut", [500, 515])
def test_two_segments_know_as_many_blocks_as_one(alpha, cut):
    # Also where a block is cut in two, and where the oldest one is about to go.
    values = np.random.default_rng(3).normal(size=1_400)

    def followed(part, start):
        smoothing, blocks = Smoothing(alpha=alpha), Blocks(alpha=alpha)
        for t, value in enumerate(part, start=start):
            if t >= blocks.until:
                blocks.advance(smoothing, t)
            smoothing.update(value, t=t)
        return smoothing, blocks

    for n in range(1_021, 1_040, 3):
        _, whole = followed(values[:n], 1)
        parts = [followed(values[:cut], 1), followed(values[cut:n], cut + 1)]
        for smoothing, blocks in parts:
            blocks.close(smoothing)
        joined = parts[0][1].merge(parts[1][1])
        one, two = whole.closed(n), joined.closed(n)
        assert (one.size, one.numbers.tolist()) == (two.size, two.numbers.tolist())
        np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9, atol=1e-12)
