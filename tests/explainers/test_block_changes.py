"""What blocks would be by the model as it is now, from what past observations tell."""

import numpy as np
import pytest

from ipdp.core.blocks import Blocks
from ipdp.explainers.state.block_changes import BlockChanges
from ipdp.explainers.state.correction import Changes
from ipdp.explainers.state.groups import Groups
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target
from ipdp.grid import Fixed

SIZE, N_BLOCKS = 16, 40


def two_curves():
    """The columns of two curves, of three points and of two."""
    grids = [Fixed([0.0, 1.0, 2.0]), Fixed([0.0, 1.0])]
    targets = [Target(name, (name,), [grid]) for name, grid in zip("ab", grids, strict=True)]
    return Groups(Layout.of(targets, [0, 1], [(0, 1, 2), (0, 1)], [(False,), (False,)]))


def blocks_of(mean):
    blocks = Blocks(alpha=0.01, n_columns=5)
    blocks.size = SIZE
    weight = (1 - 0.99**SIZE) / 0.01
    numbers = np.arange(len(mean), dtype=float)
    blocks.put(numbers, np.full((len(mean), 5), weight), mean)
    return blocks


def changes(times, difference, known=None, is_asked=None, since=0.0):
    n, t = len(times), float(N_BLOCKS * SIZE)
    known = np.ones((n, 5), dtype=bool) if known is None else known
    is_asked = np.ones(n, dtype=bool) if is_asked is None else is_asked
    weights = 0.99 ** (t - times)
    return Changes(times, difference, known, weights, t, since + 0 * difference, is_asked)


def test_the_change_of_a_block_is_the_mean_of_its_observations():
    rng = np.random.default_rng(0)
    times = np.sort(rng.choice(N_BLOCKS * SIZE, size=90, replace=False)).astype(float)
    difference, known = rng.normal(size=(90, 1, 5)), rng.random((90, 5)) < 0.9
    difference = np.where(known[:, None], difference, 0.0)
    blocks = blocks_of(np.zeros((N_BLOCKS, 2, 5)))
    found = BlockChanges.of(blocks, changes(times, difference, known), two_curves())
    for column in range(5):
        last = None
        own = [
            [
                difference[i, 0, column]
                for i in range(90)
                if times[i] // SIZE == k and known[i, column]
            ]
            for k in range(N_BLOCKS)
        ]
        first = next(np.mean(values) for values in own if values)
        for k in range(N_BLOCKS):
            last = np.mean(own[k]) if own[k] else last
            expected = first if last is None else last
            assert found.mean[k, 0, column] == pytest.approx(expected, abs=1e-12)


def test_nothing_is_left_to_chance_of_a_block_that_is_kept_whole():
    rng = np.random.default_rng(1)
    times = np.arange(N_BLOCKS * SIZE, dtype=float)
    difference, before = rng.normal(size=(len(times), 1, 5)), rng.normal(size=(N_BLOCKS, 2, 5))
    whole = BlockChanges.of(blocks_of(before), changes(times, difference), two_curves())
    assert whole.noise.max() < 0.02
    every_fourth = changes(times[::4], difference[::4])
    part = BlockChanges.of(blocks_of(before), every_fourth, two_curves())
    # At least the variance of a mean of four of sixteen: that of one is rather too large.
    assert 0.75 / 4 < part.noise.mean() < 2 * 0.75 / 4
    valid = np.ones((N_BLOCKS, 5), dtype=bool)
    found, left = whole.applied(before[:, 1:], valid, two_curves())
    mean = difference.reshape(N_BLOCKS, SIZE, 1, 5).mean(axis=1)
    np.testing.assert_allclose(found, before[:, 1:] + mean, atol=0.1)
    assert left.min() > 0.95


def test_blocks_of_which_little_is_known_are_drawn_to_their_mean():
    """By the noise of their observations, and where these were not asked about by now."""
    rng = np.random.default_rng(2)
    times = np.arange(0, N_BLOCKS * SIZE, 8, dtype=float)
    before, valid = rng.normal(size=(N_BLOCKS, 2, 5)) / 4, np.ones((N_BLOCKS, 5), dtype=bool)
    noisy = changes(times, 10 * rng.normal(size=(len(times), 1, 5)))
    old = changes(times, np.zeros((len(times), 1, 5)), is_asked=times < 0, since=10.0)
    for each in (noisy, old):
        found, left = BlockChanges.of(blocks_of(before), each, two_curves()).applied(
            before[:, 1:], valid, two_curves()
        )
        assert left.max() < 0.05
        assert np.ptp(found, axis=0).max() < 0.5 * np.ptp(before[:, 1:], axis=0).min()
