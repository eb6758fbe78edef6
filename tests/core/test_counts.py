"""The counts of a window against `collections.Counter` of the window itself."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core.counts import WindowedCounts, in_order

PROPERTY = settings(deadline=None, derandomize=True)
values = st.lists(st.sampled_from(["a", "b", "c", 1, 2, 2.5]), max_size=60)
windows = st.integers(1, 10)


def filled(window, xs):
    counts = WindowedCounts(window=window)
    for x in xs:
        counts.update(x)
    return counts


@PROPERTY
@given(values, windows)
def test_counts_are_those_of_the_window_at_every_step(xs, window):
    counts = WindowedCounts(window=window)
    for n, x in enumerate(xs, start=1):
        counts.update(x)
        inside = xs[max(0, n - window) : n]
        assert dict(counts.most_common()) == Counter(inside)
        assert counts.recent == inside
        assert len(counts) == len(set(inside))
        assert counts.n_values == n


@PROPERTY
@given(values, windows)
def test_most_common_is_in_order_of_frequency(xs, window):
    counts = filled(window, xs)
    ranked = Counter(xs[-window:])
    natural = in_order(list(ranked))
    assert counts.most_common() == sorted(
        ranked.items(), key=lambda item: (-item[1], natural.index(item[0]))
    )
    assert counts.most_common(2) == counts.most_common()[:2]


def test_at_a_tie_the_order_is_the_natural_one():
    assert filled(10, ["b", "a", "c", "c"]).most_common() == [("c", 2), ("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("categories", "ordered"),
    [
        (["b", "a"], ("a", "b")),
        ([True, False], (False, True)),
        ([10, 9], (9, 10)),
        (["b", 2, "a"], (2, "a", "b")),
        (["2", 2], (2, "2")),
        ([("b", 1), ("a", 2)], (("a", 2), ("b", 1))),
        ([], ()),
    ],
)
def test_the_natural_order(categories, ordered):
    assert in_order(categories) == ordered
    assert in_order(categories[::-1]) == ordered


@PROPERTY
@given(values, windows)
def test_version_changes_exactly_when_a_value_comes_or_goes(xs, window):
    counts = WindowedCounts(window=window)
    before, version = set(), counts.version
    for n, x in enumerate(xs, start=1):
        counts.update(x)
        now = set(xs[max(0, n - window) : n])
        # A value may leave and come back in the same step; then the version may change as well.
        if now != before:
            assert counts.version != version
        elif xs[max(0, n - 1 - window) : n].count(x) > 1:
            assert counts.version == version
        before, version = now, counts.version


@PROPERTY
@given(values, windows, st.integers(0, 60), values)
def test_merge_of_any_split_is_the_whole(xs, window, cut, continuation):
    joined = filled(window, xs[:cut]).merge(filled(window, xs[cut:]))
    whole = filled(window, xs)
    for x in [*continuation, "end"]:
        assert joined.recent == whole.recent
        assert joined.n_values == whole.n_values
        assert joined.most_common() == whole.most_common()
        joined.update(x)
        whole.update(x)


def test_merge_leaves_its_parts_alone():
    first, second = filled(3, "abc"), filled(3, "de")
    states = first.state, second.state
    first.merge(second).update("f")
    assert (first.state, second.state) == states


@PROPERTY
@given(values, windows, values)
def test_state_round_trip_goes_on_as_before(xs, window, continuation):
    counts = filled(window, xs)
    restored = WindowedCounts(window=window)
    restored.state = counts.state
    for x in [*continuation, "end"]:
        assert restored.most_common() == counts.most_common()
        assert restored.state == counts.state
        counts.update(x)
        restored.update(x)


def test_copy_is_independent():
    counts = filled(3, "ab")
    counts.copy().update("c")
    assert counts.recent == ["a", "b"]


def test_errors():
    with pytest.raises(ValueError, match=r"window must be .*at least 1, got 0"):
        WindowedCounts(window=0)
    with pytest.raises(ValueError, match="windows differ: 2 and 3"):
        WindowedCounts(window=2).merge(WindowedCounts(window=3))
