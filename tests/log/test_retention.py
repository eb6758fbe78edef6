"""What is kept of the past, against the rule said in other words, and its bound."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.log.making import make_change, make_curve

from ipdp.log import Log, Retention

PROPERTY = settings(deadline=None, derandomize=True)

rules = st.builds(Retention, recent=st.integers(1, 60), per_doubling=st.integers(1, 20))
times = st.lists(st.integers(1, 30), min_size=1, max_size=150)


def logged_at(steps):
    """Times of snapshots from the steps between them."""
    total, found = 0, []
    for step in steps:
        total += step
        found.append(total)
    return found


def kept(rule, logged):
    """What is left of the logged n when the last of them is written."""
    ends = [rule.expires(n, p) for n, p in zip(logged, [None, *logged], strict=False)]
    return [n for n, end in zip(logged, ends, strict=True) if end is None or end > logged[-1]]


def level(rule, age):
    """Which doubling of the age it is; 0 is the recent past."""
    doubling = 0
    while age >= rule.recent * 2**doubling:
        doubling += 1
    return doubling


@PROPERTY
@given(rules, times)
def test_kept_is_the_first_of_each_bucket_whose_width_doubles_with_the_age(rule, steps):
    logged = logged_at(steps)
    expected = []
    for n in logged:
        doubling = level(rule, logged[-1] - n)
        width = rule.width * 2 ** (doubling - 1) if doubling else 0
        if not doubling or n == min(m for m in logged if m // width == n // width):
            expected.append(n)
    # The first one is the first of every bucket, so it is always among them.
    assert kept(rule, logged) == expected


@PROPERTY
@given(rules, times, st.data())
def test_what_is_gone_stays_gone_and_the_rest_depends_on_n_alone(rule, steps, data):
    logged = logged_at(steps)
    cut = data.draw(st.integers(1, len(logged)))
    earlier = kept(rule, logged[:cut])
    assert {n for n in kept(rule, logged) if n <= logged[cut - 1]} <= set(earlier)


@PROPERTY
@given(rules, st.integers(1, 7), st.integers(1, 3000))
def test_the_number_of_snapshots_stays_under_its_bound(rule, every, n):
    logged = list(range(every, n + 1, every))
    if logged:
        assert len(kept(rule, logged)) <= rule.bound(n, every)


def test_the_bound_grows_with_the_logarithm():
    rule = Retention()
    assert rule.bound(10**8, every=100) < 4_000
    assert rule.bound(10**10, every=100) - rule.bound(10**9, every=100) < 1_100


def test_a_run_of_ten_million_observations_is_kept_evenly():
    rule = Retention(recent=10_000, per_doubling=50)
    logged = range(100, 10_000_001, 100)
    left = kept(rule, logged)
    assert len(left) <= rule.bound(10_000_000, every=100) < 750
    for n, following in pairwise(left):
        # A bucket is at most 2/50 of the age, and two neighbours lie within two of them.
        assert following - n <= max(100, 4 / 50 * (10_000_000 - n) + 400)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "many", 2**63])
@pytest.mark.parametrize("name", ["recent", "per_doubling"])
def test_bad_settings(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a positive integer, got {value!r}"):
        Retention(**{name: value})


# In the log


def write(path, ns, retention, changes=()):
    with Log(path, retention=retention) as log:
        for n in ns:
            log.snapshot({"a": make_curve(n_samples=n)}, n)
            log.metric({"MAE": n / 3}, n)
            if n in changes:
                log.change(make_change(t=n), n)
                log.snapshot({"a": make_curve(n_samples=n)}, n, "change")
        log.snapshot({"a": make_curve(n_samples=n)}, n, "end")
        return [info.n for info in log.snapshots()], log.metrics()["MAE"][0].tolist(), log.verify()


def test_the_log_keeps_what_the_rule_says_and_what_was_at_changes(tmp_path):
    rule = Retention(recent=50, per_doubling=5)
    logged = list(range(7, 2000, 7))
    changes = {logged[3], logged[40], logged[41], logged[200]}
    snapshots, metrics, problems = write(tmp_path, logged, rule, changes)
    assert snapshots == sorted({*kept(rule, logged), *changes})
    assert metrics == kept(rule, logged)
    assert problems == []


def test_without_retention_everything_is_kept(tmp_path):
    logged = list(range(1, 400))
    snapshots, metrics, _ = write(tmp_path, logged, None)
    assert snapshots == metrics == logged


def test_a_log_goes_on_with_the_retention_that_it_began_with(tmp_path):
    rule = Retention(recent=20, per_doubling=4)
    write(tmp_path, range(1, 50), rule)
    with Log(tmp_path) as log:
        assert log.retention == rule
        for n in range(50, 200):
            log.snapshot({"a": make_curve(n_samples=n)}, n)
        assert [info.n for info in log.snapshots()] == sorted({*kept(rule, range(1, 200)), 49})


def test_the_rule_of_a_log_can_be_changed(tmp_path):
    rule = Retention(recent=20, per_doubling=4)
    with Log(tmp_path) as log:
        assert log.retention is None
        log.retention = rule
        log.begin({})
    with Log(tmp_path) as log:
        assert log.retention == rule
        log.retention = None
        log.beat(1)
    with Log(tmp_path) as log:
        assert log.retention is None


def test_the_file_of_a_long_run_stays_small(tmp_path):
    """Space of what was thinned out is used again: no vacuum, and the file hardly grows."""
    rule = Retention(recent=2_000, per_doubling=20)
    features = [f"f{k}" for k in range(2)]
    curves = {name: make_curve(name) for name in features}
    sizes = []
    with Log(tmp_path, retention=rule) as log:
        for n in range(20, 100_001, 20):
            log.snapshot(curves, n)
            log.metric({"MAE": 0.5, "R2": 0.25}, n)
            if n % 100 == 0:
                log._batch.commit()  # as often as time would make it
            if n in (50_000, 100_000):
                log._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                sizes.append(log.path.stat().st_size)
        assert len(log.snapshots()) <= rule.bound(100_000, every=20)
        assert log.verify() == []
    # A curve and its row take less than 1.5 kB; pages are at worst half empty.
    assert sizes[1] < 2 * rule.bound(100_000, every=20) * len(features) * 1_500
    assert sizes[1] - sizes[0] < 0.25 * sizes[0]  # a doubling of the run
