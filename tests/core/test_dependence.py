"""Errors of smoothed means against their spread over many runs, and a bootstrap of blocks."""

import statistics
from itertools import pairwise

import numpy as np
import pytest

from ipdp.core.blocks import Blocks
from ipdp.core.dependence import (
    BlockWeights,
    Changed,
    independent_errors,
    mean_errors,
    of_neighbours,
)
from ipdp.core.smoothing import Smoothing
from ipdp.core.student_t import pointwise_level, student_quantile


def autoregressive(rng, n, runs, rho):
    z = np.empty((n, runs))
    z[0] = rng.normal(size=runs)
    steps = rng.normal(size=(n, runs)) * np.sqrt(1 - rho**2)
    for t in range(1, n):
        z[t] = rho * z[t - 1] + steps[t]
    return z


def cycle(rng, n, runs, period):
    phase = np.arange(n)[:, None] / period + rng.uniform(size=runs)
    return (rng.normal(size=(n, runs)) + 2 * np.sin(2 * np.pi * phase)) / np.sqrt(3)


def blocks_of(z, alpha, size):
    """Blocks of many series, worked out from all values, and the smoothed means at the end."""
    n, runs = z.shape
    decay = 1.0 if alpha is None else 1 - alpha
    blocks = Blocks(alpha=alpha, n_columns=runs)
    kernel = decay ** np.arange(size, 0, -1.0)
    parts = z[: n // size * size].reshape(-1, size, runs)
    blocks.size = size
    blocks.put(
        np.arange(len(parts), dtype=float),
        np.full((len(parts), runs), kernel.sum()),
        (np.tensordot(parts, kernel, axes=(1, 0)) / kernel.sum())[:, None],
    )
    weights = decay ** np.arange(n - 1, -1, -1.0)
    return blocks, weights @ z / weights.sum()


def errors_of(z, alpha, size):
    blocks, means = blocks_of(z, alpha, size)
    weights = BlockWeights(blocks, len(z))
    return mean_errors(blocks, weights, blocks.mean), means


STREAMS = {
    "independent": (lambda rng, n, runs: rng.normal(size=(n, runs)), (0.92, 0.98)),
    "AR(.5)": (lambda rng, n, runs: autoregressive(rng, n, runs, 0.5), (0.92, 0.98)),
    "AR(.9)": (lambda rng, n, runs: autoregressive(rng, n, runs, 0.9), (0.9, 0.985)),
    "daily": (lambda rng, n, runs: cycle(rng, n, runs, 57.6), (0.9, 0.985)),
    "weekly": (lambda rng, n, runs: cycle(rng, n, runs, 403.2), (0.9, 0.985)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_band_covers_the_truth_as_often_as_it_says(name):
    """With 1 / alpha = 200 instead of 1,000, and cycles that are shorter by as much."""
    make, (low, high) = STREAMS[name]
    z = make(np.random.default_rng(5), 2_560, 1_000)
    errors, means = errors_of(z, 0.005, 40)
    half = student_quantile(0.975, errors.degrees) * errors.std_error
    # 1,000 runs are off by 2 % at three standard errors.
    assert low - 0.02 <= np.mean(np.abs(means) <= half) <= high + 0.013


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.005, None])
def test_the_error_is_the_spread_over_runs(rho, alpha):
    z = autoregressive(np.random.default_rng(2), 2_560, 600, rho)
    errors, means = errors_of(z, alpha, 40)
    # Relative standard error of a deviation from 600 runs: 3 %; three of them, and a bias of 10 %.
    assert np.median(errors.std_error) == pytest.approx(means.std(), rel=0.2)


def test_the_error_is_that_of_a_bootstrap_of_blocks():
    """Series of blocks drawn with replacement have the memory within, and none between, blocks."""
    z = autoregressive(np.random.default_rng(3), 12_800, 40, 0.8)
    errors, _ = errors_of(z, None, 200)
    rng, length = np.random.default_rng(4), 200
    starts = rng.integers(0, len(z) - length, size=(400, len(z) // length))
    drawn = np.array([z[(s[:, None] + np.arange(length)).ravel()].mean(axis=0) for s in starts])
    # Both have 64 blocks: a relative standard error of 15 % and 9 % each, 3 % for the median of 40.
    ratio = errors.std_error[0] / drawn.std(axis=0)
    assert np.median(ratio) == pytest.approx(1, rel=0.1)


def test_a_constant_has_no_error():
    errors, _ = errors_of(np.full((1_000, 3), 0.1), 0.01, 10)
    assert (errors.std_error == 0).all()


def test_heavy_tails_have_few_degrees_of_freedom():
    rng = np.random.default_rng(0)
    heavy, _ = errors_of(rng.standard_t(2, size=(640, 50)), 0.01, 10)
    light, _ = errors_of(rng.normal(size=(640, 50)), 0.01, 10)
    assert np.median(heavy.degrees) < 0.7 * np.median(light.degrees)


def test_memory_means_few_stretches():
    rng = np.random.default_rng(0)
    long, _ = errors_of(autoregressive(rng, 640, 50, 0.995), 0.01, 10)
    short, _ = errors_of(rng.normal(size=(640, 50)), 0.01, 10)
    assert np.median(long.stretches) < 8
    assert np.median(short.stretches) > 40


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.99])
def test_all_points_at_once(rho):
    """The level of single points against simulated maxima of errors along a path."""
    rng = np.random.default_rng(1)
    n = 12
    errors = autoregressive(rng, n, 20_000, rho)
    length = (n - 1) * np.arccos(rho)
    of_point = pointwise_level(0.95, n=n, path_length=length)
    half = student_quantile((1 + of_point) / 2, np.inf)
    covered = np.mean((np.abs(errors) <= half).all(axis=0))
    # Never below the level (but for 0.5 %, three standard errors of 20,000), and not far above.
    assert 0.945 <= covered <= 0.98


def test_points_that_move_together_need_no_more_than_one():
    assert pointwise_level(0.9, n=10, path_length=0.0) == pytest.approx(0.9)
    assert pointwise_level(0.9, n=10) == pytest.approx(0.99)
    assert pointwise_level(0.9, n=1) == pytest.approx(0.9)


def heavy(rng, n, runs):
    return rng.standard_t(3, size=(n, runs))


@pytest.mark.parametrize(
    ("make", "low", "worth"),
    [
        (lambda rng, n, runs: rng.normal(size=(n, runs)), 0.93, (300, 500)),
        # An autoregression of 0.9 is worth 19 times fewer observations.
        (lambda rng, n, runs: autoregressive(rng, n, runs, 0.9), 0.9, (14, 30)),
        (heavy, 0.9, (200, 500)),
    ],
    ids=["independent", "AR(.9)", "t3"],
)
def test_a_smoothed_mean_is_worth_its_number_of_independent_observations(make, low, worth):
    runs = 400
    smoothing, blocks = Smoothing(alpha=0.005, n_columns=runs), Blocks(alpha=0.005, n_columns=runs)
    for t, values in enumerate(make(np.random.default_rng(17), 2_000, runs)):
        if t >= blocks.until:
            blocks.advance(smoothing, t)
        smoothing.update(values[None], t=t)
    error, n = independent_errors(smoothing, blocks)
    half = student_quantile(0.975, n - 1) * error
    # 400 runs are off by 3.3 % at three standard errors.
    assert low - 0.033 <= np.mean(np.abs(smoothing.mean) <= half) <= 0.995
    assert worth[0] < np.median(n) < worth[1]


def test_nothing_is_known_of_a_memory_at_first():
    smoothing, blocks = Smoothing(alpha=0.01, n_columns=3), Blocks(alpha=0.01, n_columns=3)
    for t, values in enumerate(np.random.default_rng(2).normal(size=(40, 3))):
        if t >= blocks.until:
            blocks.advance(smoothing, t)
        smoothing.update(values[None], t=t)
    error, n = independent_errors(smoothing, blocks)
    np.testing.assert_array_equal(error, smoothing.std_error)
    np.testing.assert_array_equal(n[0], smoothing.n_effective)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-200, 2.0**330, 2.0**465, 2.0**495])
@pytest.mark.parametrize("name", STREAMS)
def test_errors_are_on_the_scale_of_the_values(name, scale):
    """Of 1e-120 to 1e149; powers of 2, so that no digit is rounded otherwise."""
    stream, _ = STREAMS[name]
    z = stream(np.random.default_rng(5), 2_400, 6)
    z[:, 0] = np.sign(z[:, 0])
    z[:, 1] = 0.5
    blocks, _ = blocks_of(z, 0.005, 20)
    weights = BlockWeights(blocks, len(z))
    one = np.ones(blocks.mean.shape[1:])
    changes = [Changed(s * blocks.mean, one, one / 4) for s in (1.0, scale)]
    for before, after in ((None, None), changes):
        plain = mean_errors(blocks, weights, blocks.mean, changed=before)
        scaled = mean_errors(blocks, weights, scale * blocks.mean, changed=after)
        np.testing.assert_allclose(scaled.std_error / scale, plain.std_error, rtol=1e-9)
        np.testing.assert_allclose(scaled.degrees, plain.degrees, rtol=1e-9)


def seasonal_blocks(level_changes_by=0.0):
    """Blocks of a wave of two thousand steps, in the middle of which the level may change."""
    rng, n = np.random.default_rng(6), 9_000
    wave = np.sin(2 * np.pi * (np.arange(n)[:, None] / 2_000 + rng.random(5)))
    z = wave + rng.normal(size=(n, 5)) + level_changes_by * (np.arange(n)[:, None] > n / 2)
    blocks, _ = blocks_of(z, 0.001, 64)
    return blocks, BlockWeights(blocks, n)


def test_the_errors_of_a_model_that_has_changed_know_a_season():
    """As those of one that has not, if the change of each block is known."""
    still, weights = seasonal_blocks()
    moved, _ = seasonal_blocks(level_changes_by=5.0)
    expected = mean_errors(still, weights, still.mean)
    one = np.ones(still.mean.shape[1:])
    found = mean_errors(moved, weights, still.mean, changed=Changed(moved.mean, one, one))
    np.testing.assert_allclose(found.std_error, expected.std_error, rtol=1e-9)
    np.testing.assert_allclose(found.degrees, expected.degrees, rtol=1e-9)


def test_a_change_that_is_not_known_is_no_error():
    """Then errors are what one block differs by from the next, to which a season adds little."""
    still, weights = seasonal_blocks()
    moved, _ = seasonal_blocks(level_changes_by=5.0)
    season = mean_errors(still, weights, still.mean).std_error
    one = np.ones(still.mean.shape[1:])
    errors = [
        mean_errors(blocks, weights, 0 * blocks.mean, changed=Changed(blocks.mean, one, 0 * one))
        for blocks in (still, moved)
    ]
    assert (errors[0].std_error > 0).all()
    assert (errors[0].std_error < 0.6 * season).all()
    np.testing.assert_allclose(errors[1].std_error, errors[0].std_error, rtol=0.1)


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_the_variance_of_neighbours_is_the_median_over_those_that_count(n):
    rng = np.random.default_rng(n)
    x, valid = rng.normal(size=(n, 2, 40)), rng.random((n, 40)) < 0.7
    got = of_neighbours(x, valid)
    for row, column in np.ndindex(2, 40):
        pairs = zip(x[:, row, column], valid[:, column], strict=True)
        squares = [
            (after - before) ** 2
            for (before, was_valid), (after, is_valid) in pairwise(pairs)
            if was_valid and is_valid
        ]
        want = statistics.median(squares) / (2 * 0.4549) if squares else 0.0
        assert got[row, column] == pytest.approx(want, rel=1e-3)
