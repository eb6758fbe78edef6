"""Moves at many time scales: against brute force, and against what always moves."""

import json

import numpy as np
import pytest

from ipdp.monitor.data.block_scales import N_SCALES, BlockScales, Series


def scales(n=1, *, is_share=False, first_scale=0, least=0.0, warm_up=50, bound=4.65, bounded=False):
    series = Series(
        np.full(n, is_share), np.full(n, least), np.full(n, first_scale), np.full(n, -1)
    )
    if bounded:  # the second half are the widths of the first
        series.width[: n // 2] = np.arange(n // 2, n)
    return BlockScales(series, per_value=32, warm_up=warm_up, bound=bound)


def moves(own, values):
    """At which values, of shape (n, n_series), each series moved."""
    found = [own.update(row)[0] > 1 for row in values]
    return [np.flatnonzero(column).tolist() for column in np.array(found).T]


def test_the_past_is_that_of_the_block_means():
    values = np.random.default_rng(1).normal(size=200)
    own = scales()
    for value in values:
        own.update(np.array([value]))
    for scale, lag in ((0, 4), (1, 2), (2, 2), (3, 2)):
        size = 2**scale
        means = values[: len(values) // size * size].reshape(-1, size).mean(axis=1)
        past = means[: len(means) - lag - 1]
        count, mean, squares, steps, last, low, high = own._past[scale, :, 0]
        assert count == len(past)
        assert mean == pytest.approx(past.mean())
        assert squares == pytest.approx(((past - past.mean()) ** 2).sum())
        assert steps == pytest.approx((np.diff(past) ** 2).sum())
        assert (last, low, high) == pytest.approx((past[-1], past.min(), past.max()))


def test_a_jump_is_found_at_once_and_nothing_before():
    values = np.random.default_rng(2).normal(size=(400, 20))
    values[300:] += 8
    # 8 standard deviations, with noise, against 4.65 that are asked for.
    assert all(300 <= found[0] <= 302 for found in moves(scales(20), values))


def test_a_small_move_is_found_at_a_larger_scale():
    values = np.random.default_rng(3).normal(size=(1200, 20))
    values[800:] += 1.5
    own, firsts = scales(20), {}
    for k, row in enumerate(values):
        ratio, scale = own.update(row)
        for number in np.flatnonzero(ratio > 1):
            firsts.setdefault(number, (k, int(scale[number])))
    assert len(firsts) == 20
    assert min(k for k, _ in firsts.values()) >= 800
    assert np.median([scale for _, scale in firsts.values()]) >= 3


@pytest.mark.parametrize("kind", ["walk", "season", "trend"])
def test_what_always_moves_has_not_moved(kind):
    rng = np.random.default_rng(4)
    t = np.arange(700)[:, None]
    made = {
        "walk": rng.normal(size=(700, 40)).cumsum(axis=0),
        "season": 5 * np.sin(2 * np.pi * (t / 40 + rng.random(40))) + rng.normal(size=(700, 40)),
        "trend": 0.05 * t + rng.normal(size=(700, 40)),
    }
    # A chance of 3e-6 at each of 56,000 tests.
    assert sum(map(len, moves(scales(40), made[kind]))) <= 1


def test_a_series_that_takes_turns_moves_when_it_leaves_its_range():
    rng = np.random.default_rng(5)
    levels = np.repeat(2 * (-1.0) ** np.arange(60), 12)[:, None]
    values = levels + 0.2 * rng.normal(size=(720, 10))
    values[500:] += 6.5
    values = np.concatenate([values, np.zeros((720, 10))], axis=1)  # as wide as ever
    found = moves(scales(20, bounded=True), values)
    assert all(500 <= own[0] < 560 for own in found[:10])


def test_a_mean_that_varies_more_because_the_series_does_has_not_moved():
    rng = np.random.default_rng(6)
    # Wider from here on, by e^2, and known to be so.
    widths = np.where(np.arange(400)[:, None] < 300, 0.0, 2.0) + np.zeros(10)
    values = np.exp(widths) * rng.normal(size=(400, 10))
    known = moves(scales(20, bounded=True), np.concatenate([values, widths], axis=1))
    assert known[:10] == [[]] * 10
    assert sum(map(len, moves(scales(10), values))) > 10


def test_shares_of_rare_events():
    rng = np.random.default_rng(7)
    own = {"is_share": True, "first_scale": 1, "least": 0.05}
    rare = rng.binomial(32, 0.01, size=(600, 200)) / 32
    assert sum(map(len, moves(scales(200, **own), rare))) == 0
    rare[500:] = rng.binomial(32, 0.3, size=(100, 200)) / 32
    assert all(500 <= found[0] <= 505 for found in moves(scales(200, **own), rare))


def test_a_move_that_is_too_small_to_matter_and_one_that_does_not_last():
    values = np.random.default_rng(8).normal(size=(400, 10)) * 0.01
    values[300:] += 0.2
    assert moves(scales(10, least=0.5), values) == [[]] * 10
    values[300:] -= 0.2
    values[301] = 3.0
    assert moves(scales(10, first_scale=1), values) == [[]] * 10


def test_nothing_is_tested_before_the_warm_up_but_what_is_huge():
    values = np.random.default_rng(9).normal(size=(200, 2)) * 0.3
    values[60:, 0] += 4
    values[60:, 1] += 40
    early, huge = moves(scales(2, warm_up=100), values)
    assert huge[0] == 60
    assert not early or early[0] >= 99


def test_unknown_values_and_a_restart():
    values = np.random.default_rng(10).normal(size=(300, 2))
    values[::3] = np.nan
    own = scales(2)
    assert moves(own, values) == [[], []]
    own.restart(np.array([1]), own.warm_up[1])
    assert own.age.tolist() == [300, 0]
    assert own._past[:, 0, 1].sum() == 0
    # The first has its past, the second has to learn anew.
    assert [bool(found) for found in moves(own, np.full((10, 2), 9.0))] == [True, False]


def test_its_state_goes_through_json():
    values = np.random.default_rng(11).normal(size=(100, 3))
    values[::7, 1] = np.nan
    one, other = scales(3), scales(3)
    moves(one, values[:60])
    other.state = json.loads(json.dumps(one.state, allow_nan=False))
    for row in values[60:]:
        assert [part.tolist() for part in one.update(row)] == [
            part.tolist() for part in other.update(row)
        ]
    assert one.state == other.state
    with pytest.raises(ValueError, match="other series"):
        scales(4).state = one.state
    assert one._past.shape[0] == N_SCALES


@pytest.mark.parametrize("width", [0.0, 1.5])
def test_a_series_that_has_spread_more_widely_of_late_may_lie_further_off(width):
    values = np.random.default_rng(2).normal(size=(100, 2)) * [1.0, 0.05]
    values[96:99, 1] += width
    values[99] = 7.0, 0.0  # one narrow block of a series that has become wide
    assert moves(scales(2, bounded=True, warm_up=50), values)[0] == ([99] if not width else [])
