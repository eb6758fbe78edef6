"""Which past observations are kept, against plain Python."""

from __future__ import annotations

import datetime as dt
import json
import math
from uuid import UUID

import numpy as np
import pytest

from ipdp.grid import MinMax
from ipdp.monitor.features import Layout, Target
from ipdp.monitor.history import History, Record

TARGETS = [Target("a", ("a",), (MinMax(2),))]
LAYOUT = Layout.of(TARGETS, [0], [(0, 1)], [(False,)])


def kept(n):
    """The history of n observations."""
    history = History()
    for k in range(1, n + 1):
        record = Record(k, float(k), {"a": k}, LAYOUT, np.full((1, 2), k), np.full((1, 2), -k))
        history.update(record)
    return history


def numbers(found):
    return [record.n for record in found]


def by_hand(n, close_by):
    """The newest 32 of each density; of every 16th observation so many."""
    found = set()
    for level in range(12):
        size = close_by if level == 4 else 32
        found |= set([k for k in range(1, n + 1) if (k - 1) % 2**level == 0][-size:])
    return sorted(found, reverse=True)


@pytest.mark.parametrize("n", [1, 31, 500, 5_000])
def test_a_closer_look_finds_more_and_changes_nothing_else(n):
    history = kept(n)
    assert numbers(history.between(1, n, at_most=10_000)) == by_hand(n, 32)
    assert numbers(history.between(1, n, at_most=10_000, closer=True)) == by_hand(n, 256)


def test_a_closer_look_reaches_far_enough_back():
    # A change is often found hundreds of observations later; what was before is compared.
    history = kept(5_000)
    for since in (4_900, 4_000, 2_500):
        found = numbers(history.evenly(1_000, since, at_most=192, closer=True))
        assert 80 <= len(found) <= 192
        assert found == sorted(set(found), reverse=True)
        assert found[0] > since - 16
        assert found[-1] < 1_100


def test_the_state_holds_them_all():
    history = kept(5_000)
    again = History.restored(json.loads(json.dumps(history.state)), TARGETS)
    for closer in (False, True):
        both = [r.between(1, 5_000, at_most=9_999, closer=closer) for r in (history, again)]
        assert numbers(both[0]) == numbers(both[1])
    assert again.state == history.state


def test_records_are_replaced_wherever_they_are():
    history = kept(600)
    every = history.all()
    assert numbers(every) == by_hand(600, 256)[::-1]
    history.replace([record._replace(t=-1.0) for record in every[:-1]])
    assert numbers(history.all()) == numbers(every)
    assert {record.t for record in history.all()} == {-1.0, 600.0}
    assert {r.t for r in history.between(1, 599, at_most=999, closer=True)} == {-1.0}
    assert every[0].t == 1.0


def through_json(x):
    history = History()
    history.update(Record(1, 1.0, x, LAYOUT, np.zeros((1, 2)), np.zeros((1, 2))))
    again = History.restored(json.loads(json.dumps(history.state, allow_nan=False)), TARGETS)
    return again.newest(1)[0].x


def test_columns_that_are_not_explained_may_hold_dates_and_lists():
    x = {
        "a": 1.0,
        "date": dt.date(2024, 2, 29),
        "moment": dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC),
        "path": ["x", 1.5, math.inf],
        "pair": ("x", 1),
        "tags": {"b", "a"},
        "id": UUID(int=7),
    }
    assert through_json(x) == x


def test_a_state_with_gaps_is_refused():
    """Records are found by their numbers, which are a power of two apart in each level."""
    state = kept(300).state
    assert numbers(History.restored(state, TARGETS).all()) == by_hand(300, 256)[::-1]
    del state["records"][-5]
    with pytest.raises(ValueError, match="not those that are kept"):
        History.restored(state, TARGETS)


@pytest.mark.parametrize("n", [1, 40, 700, 5_000])
def test_records_of_a_span_by_brute_force(n):
    history = kept(n)
    for first, last in [(0, n), (1, n // 2), (n // 3, n // 2), (n - 70, n + 9), (n, n), (n + 1, n)]:
        for closer, close_by in ((False, 32), (True, 256)):
            wanted = [k for k in by_hand(n, close_by) if first <= k <= last]
            found = history.between(first, last, at_most=10_000, closer=closer)
            assert numbers(found) == wanted
            assert numbers(history.between(first, last, at_most=3, closer=closer)) == numbers(
                found[:3]
            )
