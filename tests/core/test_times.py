"""Times as they stand in files."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from ipdp.core.times import is_wall_clock, seconds

EXPECTED = 1_718_000_000.0


@pytest.mark.parametrize(
    "value",
    [
        "2024-06-10 06:13:20",
        "2024-06-10T06:13:20Z",
        "2024-06-10T08:13:20+02:00",
        " 10.06.2024 06:13:20 ",
        1_718_000_000,
        1_718_000_000_000,
        1_718_000_000_000_000_000,
        dt.datetime(2024, 6, 10, 6, 13, 20),
        dt.datetime(2024, 6, 10, 8, 13, 20, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        np.datetime64("2024-06-10T06:13:20"),
    ],
)
def test_the_same_time(value):
    assert seconds(value) == EXPECTED


def test_days():
    midnight = dt.datetime(2024, 6, 10, tzinfo=dt.UTC).timestamp()
    assert seconds("2024-06-10") == seconds("2024/06/10") == seconds(dt.date(2024, 6, 10))
    assert seconds("2024-06-10") == midnight


@pytest.mark.parametrize(
    "value", ["", "soon", "3.5", "1-2", "99-99-99", None, float("nan"), pd.NaT, True]
)
def test_what_is_no_time(value):
    assert seconds(value) is None


def test_a_clock_of_its_own():
    assert seconds(17) == 17.0
    assert seconds(np.int64(17)) == 17.0


def test_data_of_the_nineties_have_a_clock():
    """elec2 begins in May 1996."""
    assert is_wall_clock(seconds("1996-05-07 00:00:00"))
