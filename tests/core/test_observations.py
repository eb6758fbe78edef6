"""Rows of whatever holds them, as dicts."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ipdp.core.observations import arranged, as_observation, observations, without_missing

ROWS = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize(
    "table", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), ROWS, (dict(row) for row in ROWS)]
)
def test_rows_come_as_dicts_of_plain_values(table):
    rows = observations(table)
    assert list(rows) == ROWS
    assert len(rows) == 2
    assert {type(value) for row in rows for value in row.values()} == {int}


def test_the_columns_of_an_array_are_named_or_numbered():
    array = np.array([[1, 2], [3, 4]])
    assert list(observations(array, names=["a", "b"])) == ROWS
    assert list(observations(array)) == [{0: 1, 1: 2}, {0: 3, 1: 4}]


def test_a_row_of_a_frame_is_an_observation():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": ["x", "y"]})
    assert as_observation(frame.iloc[0]) == {"a": 1, "b": "x"}
    assert as_observation(frame.iloc[1]) == {"a": None, "b": "y"}
    row = next(frame.itertuples(index=False, name="Row"))
    assert as_observation(row) == {"a": 1, "b": "x"}
    with pytest.raises(TypeError, match="got DataFrame; use explain_many for a table"):
        as_observation(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, list])
def test_rows_are_made_some_at_a_time(make):
    every = [{"a": k, "b": f"{k}"} for k in range(5_000)]
    rows = observations(make(every))
    assert list(rows) == every
    assert rows[0] == every[0]
    assert rows[-1] == every[-1]
    assert rows[4_990:] == every[4_990:]
    assert rows[10:2_500:3] == every[10:2_500:3]
    with pytest.raises(IndexError, match="5000 rows"):
        rows[5_000]
    assert rows[7] is not rows[7]  # a model may change what it is given
    assert not observations(make(every[:0]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_comes_in_blocks_of_columns(make):
    every = [{"a": k, "b": f"{k}"} for k in range(25)]
    blocks = list(observations(make(every)).blocks(10))
    assert [len(block) for block in blocks] == [10, 10, 5]
    assert [x for block in blocks for x in block] == every
    assert blocks[1].columns["a"] == list(range(10, 20))
    assert list(blocks[2][1:3]) == every[21:23]
    assert list(blocks[0].take([7, 2])) == [every[7], every[2]]
    assert next(iter(blocks[2].arranged(("b", "c")))) == {"b": "20", "c": None}
    assert blocks[0].arranged(("a", "b")) is blocks[0]


def test_a_long_table_is_not_made_into_dicts_at_once():
    table = np.zeros((50_000, 10))
    tracemalloc.start()
    try:
        assert sum(len(row) for row in observations(table)) == 500_000
        assert tracemalloc.get_traced_memory()[1] < 5e6  # 20 MB of dicts alone
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("table", "names", "message"),
    [
        ({"a": 1}, None, "one observation is a dict"),
        ("data.csv", None, "read the file into a frame first"),
        ([[1, 2]], None, "must be a dict, got list"),
        (ROWS, ["a"], "names are for arrays"),
        (np.zeros(3), None, "has two dimensions, got 1"),
        (np.zeros((3, 2)), ["a"], "1 names for 2 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "two columns that are called 'a'"),
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
