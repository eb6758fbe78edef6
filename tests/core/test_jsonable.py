"""Plain values come back with their types."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ipdp.core.jsonable import (
    decode,
    decode_name,
    decode_value,
    encode,
    encode_name,
    encode_value,
    must_be_savable,
    pack_floats,
    readable,
    unpack_floats,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.datetimes()
    | st.datetimes(timezones=st.just(dt.UTC))
    | st.dates()
    | st.timedeltas()
    | st.floats(width=32).map(np.float32)
    | st.integers(-100, 100).map(np.int8)
)
hashable = st.integers() | st.text() | st.dates() | st.tuples(st.text(), st.integers())
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
        | st.frozensets(hashable, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(values)
@example([math.nan, dt.datetime(2000, 1, 1, fold=1)])
def test_a_value_comes_back_through_json(value):
    again = decode(json.loads(json.dumps(encode(value))))
    assert type(again) is type(value)
    # As it is written: NaN is not equal to itself, and sets have no order.
    assert json.dumps(encode(again)) == json.dumps(encode(value))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0])
def test_numbers_that_json_does_not_have(value):
    assert repr(decode(json.loads(json.dumps(encode(value), allow_nan=False)))) == repr(value)


@pytest.mark.parametrize("value", [object(), print, [object()], np.array([object()])])
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(TypeError, match="cannot be saved without pickle"):
        encode(value)


@pytest.mark.parametrize(
    "state",
    [{"object": 1}, {}, {"tuple": 3}, {"a": 1, "b": 2}, {"numpy": ["O", 1]}, {"datetime": "x"}],
)
def test_what_encode_never_gives_is_refused(state):
    with pytest.raises((ValueError, TypeError)):
        decode(state)


@pytest.mark.parametrize(
    "state",
    [
        {"fraction": "1e2000000000"},
        {"fraction": "1." + "0" * 3_000 + "e1999999999"},
        {"numpy": ["<i8", {"decimal": "1e2000000000"}]},
        {"numpy": ["<f8", {"decimal": "1e2000000000"}]},
        {"array": ["<i8", [1], [{"decimal": "1e2000000000"}]]},
        {"array": ["<f8", [1], [{"fraction": "1/3"}]]},
    ],
)
def test_few_letters_do_not_ask_for_a_number_without_end(state):
    with pytest.raises(ValueError, match=r"int\(\)|is no number of numpy"):
        decode(state)


def test_what_stands_in_the_file():
    assert encode({"a": (1, 2.5)}) == {"dict": [["a", {"tuple": [1, 2.5]}]]}
    assert encode_name(("a", math.inf)) == ["a", {"float": "inf"}]


@pytest.mark.parametrize("name", ["a", 3, 2.5, True, None, -math.inf, ("a", (1, math.inf))])
def test_a_name_comes_back_through_json(name):
    again = decode_name(json.loads(json.dumps(encode_name(name), allow_nan=False)))
    assert again == name
    assert type(again) is type(name)


def test_a_name_may_be_numpys_and_nothing_else_than_plain():
    assert type(encode_name(np.int64(3))) is int
    with pytest.raises(TypeError, match="must be strings, numbers, booleans or times"):
        encode_name({"a": 1})


def test_what_people_read():
    shown = readable({"a": np.array([1.5, np.nan]), "b": (True, len), "c": np.float32(0.5)})
    assert shown == {"a": [1.5, None], "b": [True, "<built-in function len>"], "c": 0.5}


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 0), (2, 3, 4)])
def test_packed_floats_come_back_bit_for_bit(shape):
    floats = np.random.default_rng(0).normal(size=shape)
    floats.reshape(-1)[:2] = [-np.inf, np.nan][: floats.size]
    again = unpack_floats(json.loads(json.dumps(pack_floats(floats))))
    assert again.shape == shape
    assert again.tobytes() == floats.tobytes()


def test_times_are_values_of_observations():
    when = dt.datetime(2024, 6, 1, 12, 30, tzinfo=dt.UTC)
    for value in (when, when.date(), when.replace(tzinfo=None)):
        assert decode_name(json.loads(json.dumps(encode_name(value)))) == value
    assert decode_name(encode_name(pd.Timestamp(when))) == when
    assert decode_name(encode_name(np.datetime64("2024-06-01T12:30", "ns"))) == dt.datetime(
        2024, 6, 1, 12, 30
    )


@pytest.mark.parametrize("kind", ["<f8", "<f4", "<i2", "|b1"])
def test_a_column_may_hold_arrays(kind):
    value = np.arange(6).reshape(2, 3).astype(kind)
    again = decode_value(json.loads(json.dumps(encode_value(value))))
    assert again.dtype == value.dtype
    assert again.tolist() == value.tolist()


@pytest.mark.parametrize(
    "value",
    [
        *(Decimal("0.1"), Fraction(1, 3), 1j, b"x", dt.time(12, 30), UUID(int=3)),
        *(pd.Timedelta("1D"), pd.Timestamp("2024-01-01"), np.timedelta64(3, "D"), ["x", {1}]),
    ],
)
def test_what_a_column_holds_comes_back(value):
    must_be_savable({"a": 1.0, "b": value})
    assert decode_value(json.loads(json.dumps(encode_value(value)))) == value


@pytest.mark.parametrize("value", [pd.NA, pd.NaT, np.datetime64("NaT", "s"), None])
def test_what_is_missing_is_none(value):
    assert decode_value(encode_value(value)) is None


@pytest.mark.parametrize(
    "value", [int, len, object(), [print], np.array([object()])], ids=lambda v: type(v).__name__
)
def test_what_cannot_be_saved_is_named(value):
    with pytest.raises(TypeError, match=r"column 'b': .* cannot be saved .* leave it out"):
        must_be_savable({"a": 1.0, "b": value})
