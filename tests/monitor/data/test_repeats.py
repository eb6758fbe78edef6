"""Runs of equal values against brute force, stuck values, directions."""

import json
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.monitor.data.repeats import Repeats


def fed(values, block=32):
    values = np.asarray(values, dtype=float).reshape(len(values), -1)
    own = Repeats(values.shape[1])
    for first in range(0, len(values), block):
        own.update(values[first : first + block])
    return own


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=80), st.integers(1, 40))
@settings(deadline=None, derandomize=True)
def test_runs_are_those_of_brute_force(values, block):
    runs = [(key, len(list(group))) for key, group in groupby(values)]
    own = fed([np.nan if value is None else value for value in values], block)
    ended = [n for key, n in runs[:-1] if key is not None]
    assert own.run[0] == (runs[-1][1] if runs[-1][0] is not None else 0)
    assert own.longest[0] == max(ended, default=0)
    assert own._n_runs[0] == len(ended)


def test_a_value_that_usually_changes_is_stuck_when_it_does_not():
    usual = np.random.default_rng(1).normal(size=320)
    assert not fed(usual).is_stuck()[0]
    assert not fed([*usual, *[1.0] * 32]).is_stuck()[0]
    assert fed([*usual, *[1.0] * 32]).may_be_stuck(0)
    assert fed([*usual, *[1.0] * 64]).is_stuck()[0]


@pytest.mark.parametrize("values", [[3.0] * 640, [0.0] * 200 + [1.0] + [0.0] * 600])
def test_what_usually_stays_the_same_is_not_stuck(values):
    own = fed(values)
    assert not own.is_stuck()[0]
    assert not own.may_be_stuck(0)


def test_only_what_never_goes_back_grows():
    n = np.arange(32 * 96.0)
    columns = [n, -n, n // 48, np.where(n == 3000, 0, n), np.zeros(len(n)), n % 500]
    own = fed(np.column_stack(columns))
    assert own.only_grows().tolist() == [1, -1, 1, 0, 0, 0]
    assert fed(n[: 32 * 95]).only_grows().tolist() == [0]
    assert fed(n[: 32 * 95]).direction().tolist() == [1]


def test_its_state_goes_through_json():
    values = np.random.default_rng(2).integers(0, 2, size=(96, 2)).astype(float)
    values[40:50, 1] = np.nan
    one, other = fed(values[:64]), Repeats(2)
    other.state = json.loads(json.dumps(one.state, allow_nan=False))
    for own in (one, other):
        own.update(values[64:])
    assert one.state == other.state
