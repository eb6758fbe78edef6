"""What a block of values says: place, width, missing values, shares, seasons."""

import json

import numpy as np
import pytest

from ipdp.monitor.data.value_blocks import MISSING, N_SHARES, PLACE, WIDTH, ValueBlocks, as_floats

TIMES = list(range(32))


def learnt(values, period=0.0, is_category=False):
    blocks = ValueBlocks(1, [period])
    blocks.is_category = [is_category]
    blocks.take_scale(0, values)
    return blocks


def read(blocks, values, times=TIMES):
    return blocks.read([[value] for value in values], times)[0][0]


def test_place_and_width_on_the_scale_of_the_first_values():
    rng = np.random.default_rng(1)
    blocks = learnt(rng.normal(50, 10, size=4000).tolist())
    assert (blocks.middle[0], blocks.spread[0]) == pytest.approx((50, 10), rel=0.05)
    values = rng.normal(50, 10, size=32)
    usual = read(blocks, values.tolist())
    moved = read(blocks, (values + 10).tolist())
    assert moved[PLACE] - usual[PLACE] == pytest.approx(1.0, abs=0.15)
    assert moved[WIDTH] == pytest.approx(usual[WIDTH], abs=1e-9)
    wider = read(blocks, (3 * values).tolist())
    assert wider[WIDTH] - usual[WIDTH] == pytest.approx(np.log(3), abs=0.05)
    # Far out the scale is logarithmic: 1,000 and 10,000 times as large are as far apart as ever.
    far = [read(blocks, (factor * values).tolist())[PLACE] for factor in (1e3, 1e4, 1e5)]
    assert np.diff(far) == pytest.approx(3 * np.log(10), rel=0.01)


def test_a_step_within_a_block_makes_it_no_wider():
    blocks = learnt(np.random.default_rng(2).normal(size=400).tolist())
    values = np.random.default_rng(3).normal(size=32)
    stepped = values + 5 * (np.arange(32) >= 12)
    assert read(blocks, stepped.tolist())[WIDTH] - read(blocks, values.tolist())[WIDTH] < 0.5


def test_missing_values_of_all_sorts():
    blocks = learnt([float(k % 10) for k in range(100)])
    values = [None, float("nan"), float("inf"), 10**400] * 2 + [5.0] * 24
    own = read(blocks, values)
    assert own[MISSING] == pytest.approx(8 / 32)
    assert own[PLACE] == pytest.approx(read(blocks, [5.0] * 32)[PLACE])
    own = read(blocks, [None] * 20 + [5.0] * 12)
    assert own[MISSING] == pytest.approx(20 / 32)
    assert np.isnan(own[[PLACE, WIDTH]]).all()


@pytest.mark.parametrize(
    ("values", "spread"), [([7.0] * 50, 7e-3), ([0.0] * 50, 1.0), ([0.0] * 49 + [50.0], 1.0)]
)
def test_the_scale_of_constants_and_rare_values(values, spread):
    assert learnt(values).spread[0] == pytest.approx(spread)


def test_no_scale_from_few_values():
    assert np.isnan(learnt([1.0, 2.0] * 10).middle[0])
    assert np.isnan(read(learnt([]), [1.0] * 32)[PLACE])


def test_shares_of_the_frequent_categories_and_of_the_rest():
    known = [c for k in range(10) for c in "abcdefghij"[: k + 1]] * 5
    blocks = learnt(known, is_category=True)
    assert blocks.categories[0] == list("abcdefg")
    own = read(blocks, ["a"] * 16 + ["j"] * 4 + ["new"] * 4 + [None] * 8)
    assert own[MISSING] == pytest.approx(8 / 32)
    assert own[1] == pytest.approx(16 / 24)
    assert own[2 : 1 + len(blocks.categories[0])] == pytest.approx(0.0)
    assert own[N_SHARES] == pytest.approx(8 / 24)


def test_booleans_are_categories_or_numbers():
    own = read(learnt([True, False] * 50, is_category=True), [True] * 8 + [False] * 24)
    assert sorted(own[1:3]) == pytest.approx([0.25, 0.75])
    own = read(learnt([True, False] * 50), [True] * 8 + [False] * 24)
    assert own[PLACE] < 0


@pytest.mark.parametrize(("period", "step"), [(48.0, 1.0), (86_400.0, 900.0)])
def test_a_known_season_is_taken_off(period, step):
    t = np.arange(96 * 32) * step
    noise = 0.1 * np.random.default_rng(5).normal(size=len(t))
    values = np.sin(2 * np.pi * t / period) + noise
    blocks = learnt(values[:256].tolist(), period)
    parts = values.reshape(-1, 32), t.reshape(-1, 32)
    places = [read(blocks, v.tolist(), s.tolist())[PLACE] for v, s in zip(*parts, strict=True)]
    plain = learnt(values[:256].tolist())
    without = [read(plain, v.tolist())[PLACE] for v in parts[0]]
    assert np.isnan(places[0])  # the season has to be seen first
    assert np.nanstd(places[-48:]) < 0.3 * np.std(without)


def test_its_state_goes_through_json():
    blocks = learnt([float(k % 7) for k in range(100)], period=7.0)
    read(blocks, [float(k % 7) for k in range(32)])
    other = ValueBlocks(1, [7.0])
    other.state = json.loads(json.dumps(blocks.state, allow_nan=False))
    assert other.state == blocks.state
    with pytest.raises(ValueError, match="other features"):
        ValueBlocks(2, [0.0, 0.0]).state = blocks.state


def test_what_is_no_number_is_missing():
    assert np.isnan(as_floats([["red", None, object()]])).all()
    assert as_floats([[True, 3, np.float32(2)]]).tolist() == [[1.0, 3.0, 2.0]]
