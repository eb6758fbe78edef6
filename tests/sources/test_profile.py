"""What the first observations look like."""

from __future__ import annotations

import pytest

from ipdp.sources.profile import Profile


def profile(target="y", **columns):
    n = len(next(iter(columns.values())))
    names = [name for name in columns if name != target]
    rows = [{name: columns[name][k] for name in names} for k in range(n)]
    labels = columns.get(target, [None] * n)
    return Profile(list(zip(rows, labels, strict=True)), target)


def test_the_sentence():
    found = profile(
        age=[20, 31, 24] * 10,
        job=["a", "b", None] * 10,
        date=[f"2024-06-{1 + k:02}" for k in range(30)],
        row=list(range(1, 31)),
        smoker=[True, False, True] * 10,
        nothing=[None] * 30,
        y=["ok", "bad", "ok"] * 10,
    )
    assert found.sentence() == (
        "the first 30 rows: 2 numbers, 1 bool (smoker), 2 texts (job and date), nothing always "
        "missing, target y with 2 classes (bad and ok); 1 column looks like a clock (date), "
        "1 like an id (row)"
    )


def test_a_target_of_numbers():
    found = profile(a=[1.5, 2.5] * 30, y=[k / 7 for k in range(60)])
    assert "target y from 0 to 8.43" in found.sentence()
    classes = profile(a=[1, 2, 1], y=[0, 1, 1]).sentence()
    assert classes.endswith("target y with 2 classes (0 and 1)")


@pytest.mark.parametrize(
    ("values", "is_clock"),
    [
        ([f"2024-06-01T12:{k:02}:00Z" for k in range(20)], True),
        ([f"{1 + k:02}.06.2024 08:30" for k in range(20)], True),
        ([1_718_000_000 + 60 * k for k in range(20)], True),
        ([1_718_000_000_000 + 60 * k for k in range(20)], True),
        ([1_718_000_000 - 60 * k for k in range(20)], False),  # numbers that go back
        ([20240601 + k for k in range(20)], False),  # a whole number that grows: an id
        ([f"2024-06-{1 + k:02}" for k in (*range(12), 10, *range(12, 20))], True),  # one is late
        ([f"2024-06-{1 + k:02}" for k in range(20, 0, -1)], True),  # the newest first
        (
            [f"2024-06-{1 + 7 * k % 29:02}" for k in range(20)],
            False,
        ),  # dates, but of something else
        (["2024"] * 20, False),
        ([f"{k}-{k}" for k in range(20)], False),
        ([k / 19 for k in range(20)], False),
    ],
)
def test_clocks(values, is_clock):
    assert (profile(a=values).clocks == ["a"]) is is_clock


@pytest.mark.parametrize(
    ("values", "is_id"),
    [
        ([f"C{k:03}" for k in range(20)], True),
        ([10 + 3 * k for k in range(20)], True),
        ([k % 7 for k in range(20)], False),
        (list("abcdefghij") * 2, False),
        ([k + 0.5 for k in range(20)], False),
        ([1, 2, 3], False),  # too few to tell
    ],
)
def test_ids(values, is_id):
    assert (profile(a=values).ids == ["a"]) is is_id


def test_dates_in_no_order_are_neither_clocks_nor_ids():
    found = profile(a=[f"2024-06-{1 + 7 * k % 29:02}" for k in range(20)], b=["x", "y"] * 10)
    assert (found.dates, found.clocks, found.ids) == (["a"], [], [])
    assert found.different == ["a"]


def test_decimal_commas_are_no_ids():
    found = profile(a=[f"{k},5" for k in range(20)], b=["1.234,5"] * 20, c=["1,5", "x"] * 10)
    assert found.decimal_commas == ["a", "b"]
    assert found.ids == []
