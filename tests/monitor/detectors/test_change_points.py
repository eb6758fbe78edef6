"""The test of all cuts at once, against plain Python and on series where nothing changes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.monitor.detectors.change_points import Scan

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)


def fed(values, **setup):
    scan = Scan(values.shape[1], **setup)
    for row in values:
        scan.update(row[None])
    return scan


def ratio_by_hand(values, cut, n_series, delta):
    """The bound of the module's docstring, written out for one series and one cut."""
    older, newer = values[:cut], values[cut:]
    mean_0, mean_1 = np.mean(older), np.mean(newer)
    within = ((older - mean_0) ** 2).sum() + ((newer - mean_1) ** 2).sum()
    variance = within / (len(values) - 2)
    h = 1 / len(older) + 1 / len(newer)
    log = math.log(2 * n_series * math.log(len(values)) / delta)
    third = np.abs(values - values.mean()).max() * log * h / 3
    return abs(mean_1 - mean_0) / (third + math.sqrt(third**2 + 2 * variance * log * h))


def test_agrees_with_the_formula_at_every_cut():
    values = np.random.default_rng(1).normal(size=(40, 3))
    values[20:, 1] += 1
    cuts = fed(values, clock=8, delta=0.01).check()
    for series in range(3):
        expected = [ratio_by_hand(values[:, series], cut, 3, 0.01) for cut in (8, 16, 24, 32)]
        # 1e-9 of the means is allowed on top, for rounding.
        assert cuts.ratio[series] == pytest.approx(max(expected), rel=1e-6)
        assert cuts.at[series] == 1 + int(np.argmax(expected))


@given(st.integers(0, 10_000), st.integers(1, 300))
@PROPERTY
def test_buckets_hold_all_values(seed, n):
    values = np.random.default_rng(seed).normal(size=(n, 2))
    known = np.random.default_rng(seed + 1).random((n, 2)) < 0.7
    scan = Scan(2, clock=4)
    for row, which in zip(values, known, strict=True):
        scan.update(row[None], which[None])
    whole = n - n % 4
    if whole < 8:
        return
    older, newer = scan.sides(1)
    assert (older.n + newer.n).tolist() == known[:whole].sum(axis=0).tolist()
    total = older.n * np.nan_to_num(older.mean) + newer.n * np.nan_to_num(newer.mean)
    expected = np.where(known, values, 0.0)[:whole].sum(axis=0)
    np.testing.assert_allclose(total, expected, atol=1e-12 * n)


@pytest.mark.parametrize("shape", ["normal", "skewed", "rare", "heavy"])
def test_no_alarm_when_nothing_changes(shape):
    rng = np.random.default_rng(3)
    draw = {
        "normal": lambda: rng.normal(size=(8_000, 30)),
        "skewed": lambda: rng.exponential(size=(8_000, 30)),
        "rare": lambda: (rng.random((8_000, 30)) < 0.005).astype(float),
        "heavy": lambda: rng.standard_t(3, size=(8_000, 30)),
    }
    scan, worst = Scan(30), 0.0
    for row in draw[shape]():
        if scan.update(row[None]):
            worst = max(worst, scan.check().ratio.max())
    assert 0 < worst < 1


def test_a_change_is_found_where_it_is():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(6_400, 20))
    values[6_080:, 7] += 1
    scan = fed(values)
    cuts = scan.check()
    assert np.flatnonzero(cuts.ratio > 1).tolist() == [7]
    # Buckets of the newest 5 * 32 values are 32 wide, those before 64: the cut is that exact.
    assert abs(float(scan.steps_since(cuts.at)[7]) - 320) <= 64


def test_series_that_are_treated_as_normal_need_less():
    values = np.random.default_rng(6).normal(size=(960, 2))
    values[800:] += 1
    ratio = fed(values, normal=np.array([True, False])).check().ratio
    assert ratio[0] > ratio[1]


def test_constant_series_never_change_and_large_numbers_do_not_round_into_one():
    values = np.full((640, 2), 0.1) * np.array([1.0, 1e9])
    assert fed(values).check().ratio.max() < 1


def test_forgetting():
    values = np.random.default_rng(7).normal(size=(640, 2))
    values[320:] += 5
    scan = fed(values)
    at = scan.check().at
    scan.forget(np.array([0]), int(at[0]))
    scan.forget(np.array([1]))
    assert scan.check().ratio.max() < 1
    older, newer = scan.sides(int(at[0]))
    assert older.n.tolist() == [0, 0]
    assert newer.n.tolist() == [320, 0]


def test_several_steps_at_once_are_the_same():
    rng = np.random.default_rng(9)
    values = rng.integers(-8, 8, size=(96, 3)).astype(float)  # so that sums have no rounding
    known = rng.random((96, 3)) < 0.8
    one, many = Scan(3, clock=32), Scan(3, clock=32)
    due = [
        one.update(v[None], k[None], t=t)
        for t, (v, k) in enumerate(zip(values, known, strict=True))
    ]
    assert np.flatnonzero(due).tolist() == [31, 63, 95]
    for first, last in ((0, 20), (20, 32), (32, 33), (33, 64), (64, 96)):
        assert many.update(values[first:last], known[first:last], t=last - 1) == due[last - 1]
    assert many.state == one.state
    assert many.time_of(2) == 63
    with pytest.raises(ValueError, match="a check is due in 32 steps"):
        many.update(np.zeros((33, 3)))


def test_memory_is_bounded():
    scan = fed(np.zeros((30_000, 1)), clock=2)
    # Eight widths of at most five buckets, and one that waits to be joined.
    assert len(scan._buckets) <= 8 * 5 + 1


def test_state_goes_on_bit_for_bit():
    values = np.random.default_rng(8).normal(size=(500, 3))
    whole, first, second = fed(values), fed(values[:205]), Scan(3)
    second.state = json.loads(json.dumps(first.state, allow_nan=False))
    for row in values[205:]:
        second.update(row[None])
    assert second.state == whole.state
    assert second.check().ratio.tolist() == whole.check().ratio.tolist()
