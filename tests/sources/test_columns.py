"""The rules for types."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipdp.core.words import shown
from ipdp.sources.columns import (
    MISSING,
    BadRecord,
    Columns,
    number_of,
    typed_text,
    typed_value,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("7.0", 7.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("inf", math.inf),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2.0**63),
        ("9" * 5000, math.inf),
    ],
)
def test_numbers(text, number):
    got = number_of(text)
    assert got == number
    assert type(got) is type(number)


@pytest.mark.parametrize("text", ["", "seven", "1_000", "1,5", "٣", "0x10", "1 2", "--1", "1e"])
def test_what_is_no_number(text):
    assert number_of(text) is None


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False)))
def test_numbers_are_given_back_as_written(number):
    got = number_of(repr(number))
    assert got == number
    assert type(got) is type(number)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("3", None, (3, "number")),
        ("true", None, (True, "bool")),
        ("FALSE", "bool", (False, "bool")),
        ("red", None, ("red", "text")),
        ("3", "text", ("3", "text")),
        ("True", "text", ("True", "text")),
        ("NAN", "number", (None, "number")),
    ],
)
def test_texts(text, kind, expected):
    assert typed_text(text, kind) == expected


@pytest.mark.parametrize("text", sorted(MISSING))
@pytest.mark.parametrize("kind", [None, "number", "bool", "text"])
def test_missing_values_decide_nothing(text, kind):
    assert typed_text(text, kind) == (None, kind)


def test_in_a_declared_text_only_nothing_is_missing():
    assert typed_text("NA", "text", is_declared=True) == ("NA", "text")
    assert typed_text("", "text", is_declared=True) == (None, "text")


@pytest.mark.parametrize(
    ("text", "kind"), [("red", "number"), ("true", "number"), ("1", "bool"), ("yes", "bool")]
)
def test_a_text_of_another_kind_is_an_error(text, kind):
    with pytest.raises(BadRecord, match=f"{text}' is not a {kind}"):
        typed_text(text, kind)


@pytest.mark.parametrize(
    ("value", "kind", "is_declared", "expected"),
    [
        (3, None, False, (3, "number")),
        (2.5, "number", False, (2.5, "number")),
        (math.nan, "number", False, (None, "number")),
        (10**400, None, False, (math.inf, "number")),
        (-(10**400), None, False, (-math.inf, "number")),
        (10**30, None, False, (1e30, "number")),
        (None, None, False, (None, None)),
        (True, None, False, (True, "bool")),
        ("x", None, False, ("x", "text")),
        (" 2.5", "number", True, (2.5, "number")),
        (7, "text", True, ("7", "text")),
    ],
)
def test_values(value, kind, is_declared, expected):
    assert typed_value(value, kind, is_declared=is_declared) == expected


@pytest.mark.parametrize(
    ("value", "kind", "sentence"),
    [
        ("3", "number", "'3' is not a number"),
        (True, "number", "True is not a number"),
        (3, "text", "3 is not a text"),
        ({}, None, "holds an object"),
        ([1], "number", "holds a list"),
        (b"x", None, "holds bytes"),
    ],
)
def test_values_of_another_kind(value, kind, sentence):
    with pytest.raises(BadRecord, match=sentence):
        typed_value(value, kind, is_declared=False)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="the type of 'a' must be number, bool, text, got 'int'"):
        Columns(None, None, (), {"a": "int"})


@given(st.text())
def test_what_is_shown_is_short_and_harmless(text):
    assert len(shown(text)) <= 40
    assert shown(text).isprintable()


class Name(str):
    """A name that counts how often one is compared with another."""

    __hash__ = str.__hash__
    n_compared = 0

    def __eq__(self, other):
        Name.n_compared += 1
        return str.__eq__(self, other)


def test_a_name_among_very_many_is_not_looked_for_in_all():
    columns = Columns(None, None, [], None)
    names = [Name(k) for k in range(2_000)]
    columns.start(names)
    assert columns.of_texts(["0"] * len(names))[0].keys() == set(names)
    assert Name.n_compared < 10 * len(names)
