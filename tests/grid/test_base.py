"""What grids have in common: which values they take, and when two of them are the same."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.grid.base import is_missing, numbered

MISSING = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, float("inf"), np.float32("-inf")]


@pytest.mark.parametrize("x", MISSING)
def test_missing_values(x):
    assert is_missing(x)


@pytest.mark.parametrize("x", [0, 0.0, "", "nan", False, np.float64(0), [], (), 10**400])
def test_values_that_are_not_missing(x):
    assert not is_missing(x)


@pytest.mark.parametrize(
    ("x", "admitted"),
    [
        (1.5, 1.5),
        (2, 2),
        (True, 1),
        (np.True_, 1),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (decimal.Decimal("0.25"), 0.25),
        (fractions.Fraction(1, 4), 0.25),
        (np.array(1.5), 1.5),
        (decimal.Decimal("nan"), None),
        # So large that a range of them could not be divided.
        (1e300, None),
        (-(10**400), None),
        (np.float64(1e200), None),
        *[(x, None) for x in MISSING],
    ],
)
@pytest.mark.parametrize("grid", [MinMax(), Quantiles(), Fixed([1, 2])], ids=repr)
def test_numbers_are_admitted_as_python_s_own(grid, x, admitted):
    value = grid.admit(x)
    assert value == admitted
    assert type(value) is type(admitted)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("red", "'red' is not a number, which MinMax needs; use ipdp.grid.Categories"),
        ("3", "'3' is not a number"),
        (b"3", "is not a number"),
        ([1], "a value of type list is not a number, which MinMax needs"),
        ({}, "a value of type dict is not a number"),
        (datetime.date(2020, 1, 1), "a value of type date is not a number"),
    ],
)
def test_what_is_not_a_number_is_refused(x, message):
    with pytest.raises(TypeError, match=message):
        MinMax().admit(x)


def test_numbered_keys_are_one_tuple_for_each_number():
    assert numbered(3) == (0, 1, 2)
    assert numbered(3) is numbered(3)


@pytest.mark.parametrize("kind", [MinMax, QuantileRange, Quantiles, Categories, Auto])
def test_warm_up_must_be_positive(kind):
    with pytest.raises(ValueError, match=r"warm_up must be .*at least 1, got 0"):
        kind(warm_up=0)


def test_grids_are_equal_if_their_settings_are():
    grid = MinMax(5, 100)
    grid.update(1.0)
    assert grid == MinMax(5, 100)
    assert hash(grid) == hash(MinMax(5, 100))
    assert grid != MinMax(6, 100)
    assert grid != Categories(5, 100)
    assert repr(grid) == "MinMax(size=5, window=100, integers=None, warm_up=20, missing=False)"


def test_a_seed_is_given_where_there_is_none():
    assert Quantiles().fresh(seed=3).seed == 3
    assert Quantiles(seed=1).fresh(seed=3).seed == 1
    assert Quantiles().fresh().seed is None
