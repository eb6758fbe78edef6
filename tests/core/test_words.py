"""Numbers, counts and days as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from ipdp.core.times import moment
from ipdp.core.words import day_text, few_digits, listed, percent, times


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.029999, "0.03"),
        (0.12345, "0.123"),
        (12.345, "12.3"),
        (99.99, "100"),
        (100.4, "100"),
        (2024, "2,024"),
        (9999.4, "9,999"),
        (10_499, "10,500"),
        (184_861, "185,000"),
        (999_999, "1,000,000"),
        (-0.5, "-0.5"),
        (-73_250, "-73,200"),
        (1e-7, "1e-07"),
        (1.2345e10, "1.23e+10"),
        (math.nan, "unknown"),
        (math.inf, "unknown"),
    ],
)
def test_a_number_has_few_digits(value, text):
    assert few_digits(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50 %"), (0.995, "99.5 %"), (0.9999, "99.9 %"), (0.006, "0.6 %"), (math.nan, "unknown")],
)
def test_a_share_is_never_rounded_to_all_or_none(share, text):
    assert percent(share) == text


def test_counts_and_lists():
    assert [times(n) for n in (1, 2, 3, 1200)] == ["once", "twice", "3 times", "1,200 times"]
    assert listed([]) == ""
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcde")) == "a, b, c and 2 others"


def test_only_seconds_of_our_time_are_moments():
    assert moment(None) is None
    assert moment(45_312) is None
    assert moment(math.nan) is None
    assert moment(1_718_000_000) == datetime(2024, 6, 10, 6, 13, 20, tzinfo=UTC)


def test_days_are_spoken_of_from_the_day_that_it_is():
    now = datetime(2024, 1, 2, 9, tzinfo=UTC)
    assert day_text(datetime(2024, 1, 1, 23, tzinfo=UTC), now) == "yesterday"
    assert day_text(datetime(2023, 12, 28, tzinfo=UTC), now) == "on Thursday"
    assert day_text(datetime(2023, 12, 26, tzinfo=UTC), now) == "on 26 December 2023"
