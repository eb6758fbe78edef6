"""Checked arguments: what is taken, and the words about what is not."""

import math
from decimal import Decimal

import numpy as np
import pytest

from ipdp.core.validation import did_you_mean, next_time, sample_weight, unknown, whole_number


@pytest.mark.parametrize("value", [1, 100, np.int64(7)])
def test_whole_numbers_are_taken(value):
    assert whole_number("window", value) == value


@pytest.mark.parametrize("value", [0, -1, 2.5, 3.0, True, "3", None])
def test_what_is_not_a_whole_number_is_refused(value):
    with pytest.raises(ValueError, match="window must be a whole number of at least 1, got"):
        whole_number("window", value)


def test_the_least_may_be_another():
    assert whole_number("n_ice", 0, least=0) == 0
    with pytest.raises(ValueError, match="n_ice must be a whole number of at least 0, got -1"):
        whole_number("n_ice", -1, least=0)


def test_sample_weights():
    assert [sample_weight(w) for w in (0, 2, 0.5)] == [0.0, 2.0, 0.5]
    with pytest.raises(ValueError, match="a sample weight must be a number of at least 0, got -1"):
        sample_weight(-1)
    assert type(sample_weight(Decimal(2))) is float


def test_times_are_counted_or_given():
    assert next_time(None, None) == 1
    assert next_time(None, 4) == 5
    assert next_time(7.5, 4) == 7.5
    assert next_time(4, 4) == 4
    assert type(next_time(np.float64(7.5), None)) is float


def test_time_does_not_go_back():
    with pytest.raises(ValueError, match=r"time must not go back: got t = 3 after 4"):
        next_time(3, 4)
    assert repr(next_time(np.int64(7), 4)) == "7"
    assert repr(next_time(Decimal("7.5"), 4)) == "7.5"


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, np.array([1.0]), [1.0], "1", 10**400, 1j, Decimal("NaN")]
)
def test_weights_and_times_are_finite_numbers(value):
    error = ValueError if isinstance(value, (float, int, Decimal)) else TypeError
    with pytest.raises(error, match=r"a sample weight must be a (finite )?number, got "):
        sample_weight(value)
    with pytest.raises(error, match=r"a time must be a (finite )?number, got "):
        next_time(value, 4)


def test_a_name_that_is_like_another():
    assert did_you_mean("salry", ["age", "salary"]) == "did you mean 'salary'?"
    assert did_you_mean("x", ["age", "salary"]) == ""


def test_a_name_that_is_not_there():
    sentence = "there is no feature 'salry' (did you mean 'salary'?); there are: 'age', 'salary'"
    assert unknown("feature", "salry", ["age", "salary"]) == sentence
    assert unknown("feature", "x", range(30)).endswith("17, 18, 19, ...")
