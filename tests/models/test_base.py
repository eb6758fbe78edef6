"""When two answers are the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ipdp.models.base import Outputs, agree, agree_at, aligned


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (0.25, True),
        (0.25 * (1 + 5e-10), True),
        (0.25 * (1 + 5e-9), False),
        (math.nan, False),
        (math.inf, False),
    ],
)
def test_how_close_is_the_same(value, same):
    labels, values = ("a", "b"), np.array([[0.5, value], [0.5, 0.75]])
    plain = Outputs(("b", "a"), np.array([[[0.5, 0.75], [0.5, 0.25]]]))
    assert agree(labels, values, plain) is same
    assert agree_at(labels, values, 1, {"b": 0.75, "a": 0.25}) is same


def test_what_is_not_finite_has_to_be_the_same():
    for value in (math.nan, math.inf):
        values = np.array([[1.0, value]])
        assert agree(("prediction",), values, Outputs(("prediction",), values[None]))
        assert agree_at(("prediction",), values, 1, value)


def test_next_to_nothing_counts_as_nothing():
    """A share of 1e-14 may have lost digits; next to the others of its curve it is none."""
    values = np.array([[0.9, 1e-14]])
    assert agree(("a",), values, Outputs(("a",), np.array([[[0.9, 1.1e-14]]])))
    assert agree_at(("a",), values, 1, {"a": 1.1e-14})


def test_a_class_that_only_one_side_knows():
    values = np.array([[1.0], [0.0]])
    assert agree(("a", "b"), values, Outputs(("a",), np.array([[[1.0]]])))
    assert not agree(("a",), values[:1], Outputs(("a", "b"), np.array([[[1.0], [0.0]]])))
    assert not agree_at(("a",), values[:1], 0, {"a": 1.0, "b": 0.0})
    assert aligned(Outputs(("a",), np.array([[[1.0]]])), ("b", "a")).values.tolist() == [
        [[0.0], [1.0]]
    ]
