"""What a change says of its place."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.monitor.candidate import Candidate, ModelDifference


def where(kind, difference, places, seen):
    """The place of a candidate of the one feature and the one output."""
    candidate = Candidate(0, 0, cut=1, kind=kind, difference=difference, statistic="shape")
    return candidate._where(OneOutput, places, seen)


class OneOutput:
    """All that is read of the series here."""

    outputs = (1,)


PLACES = np.array([0.0, 1.0, 2.0, 3.0])


def test_the_compared_models_count_before_the_mean_of_the_curves():
    seen = np.array([2.0, 0.0, -1.0, -1.0])
    at_model = np.array([[9.0, 0.0, 0.0, 0.0], [-1.0, -1.0, -1.0, 3.0]])
    difference = ModelDifference(PLACES, at_model, np.ones_like(at_model))
    assert where("real", difference, PLACES, seen) == (2.625, 3.0)
    assert where("both", difference, PLACES, seen) == (2.625, 3.0)
    assert where("real", None, PLACES, seen) == (0.0, 0.5)
    assert where("unclear", difference, PLACES, seen) == (0.0, 0.5)
    assert where("virtual", difference, PLACES, seen) is None


def test_a_difference_between_the_knots_is_not_lost():
    at_model = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]])
    difference = ModelDifference(PLACES, at_model, np.ones_like(at_model))
    knots = np.array([0.25, 1.75, 2.5])  # the largest difference lies between two of them
    axis, along = difference.along(knots)
    assert axis.tolist() == [0.25, 1.0, 1.75, 2.0, 2.5]
    level = (1.0 + 1.0 + 0.0) / 3  # it is centred at the knots
    assert along[1] == pytest.approx(np.array([1.0, 4.0, 1.0, 0.0, 0.0]) - level)
    half = (4 - level) / 2
    width = (4 - level - half) / 4
    found = where("real", difference, knots, np.zeros(3))
    assert found == pytest.approx((1 - width, 1 + width))


def test_a_place_lies_where_the_data_are():
    at_model = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 9.0]])
    difference = ModelDifference(PLACES, at_model, np.ones_like(at_model))
    axis, _ = difference.along(np.array([0.5, 1.5]))  # the knots lie where the data are
    assert axis.tolist() == [0.5, 1.0, 1.5]


def test_categories_are_their_own_places():
    names = np.array(["a", "b", "c"], dtype=object)
    difference = ModelDifference(names[:2], np.array([[0.0, 3.0]]), np.ones((1, 2)))
    axis, along = difference.along(names)
    assert axis is names
    assert along[0].tolist() == [-1.0, 2.0, -1.0]
