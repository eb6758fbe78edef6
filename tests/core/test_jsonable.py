"""Plain values come back with their types."""

from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ipdp.core.jsonable import decode, encode

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


@pytest.mark.parametrize("value", [object(), print, b"bytes", 1j, [object()], np.arange(3)])
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
