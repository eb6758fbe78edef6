"""Rows of whatever holds them, as dicts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ipdp.core.observations import arranged, observations, without_missing

ROWS = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize(
    "table", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), ROWS, (dict(row) for row in ROWS)]
)
def test_rows_come_as_dicts_of_plain_values(table):
    rows = observations(table)
    assert rows == ROWS
    assert {type(value) for row in rows for value in row.values()} == {int}


def test_the_columns_of_an_array_are_named_or_numbered():
    array = np.array([[1, 2], [3, 4]])
    assert observations(array, names=["a", "b"]) == ROWS
    assert observations(array) == [{0: 1, 1: 2}, {0: 3, 1: 4}]


@pytest.mark.parametrize(
    ("table", "names", "message"),
    [
        ({"a": 1}, None, "one observation is a dict"),
        ("data.csv", None, "read the file into a frame first"),
        ([[1, 2]], None, "must be a dict, got list"),
        (ROWS, ["a"], "names are for arrays"),
        (np.zeros(3), None, "has two dimensions, got 1"),
        (np.zeros((3, 2)), ["a"], "1 names for 2 columns"),
    ],
)
def test_what_holds_no_observations_is_refused(table, names, message):
    with pytest.raises((TypeError, ValueError), match=message):
        observations(table, names)


def test_features_in_a_given_order():
    assert list(arranged({"b": 2, "a": 1}, ("a", "b", "c")).items()) == [
        ("a", 1),
        ("b", 2),
        ("c", None),
    ]
    x = {"a": 1}
    assert arranged(x, ("a",)) is x


def test_none_is_left_out_with_a_warning():
    x = {"a": 1, "b": 2}
    assert without_missing(x) is x
    with pytest.warns(UserWarning, match="features that are None are left out"):
        assert without_missing({"a": 1, "b": None}) == {"a": 1}
