"""What a change says of its place."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.monitor.judging import Verdict
from ipdp.monitor.report import Case, _where


def case(kind, verdict):
    """A case of the one feature and the one output."""
    return Case(row=0, output=0, cut=1, kind=kind, verdict=verdict, statistic="shape")


class OneOutput:
    """All that is asked of a watch here."""

    outputs = (1,)


PLACES = np.array([0.0, 1.0, 2.0, 3.0])


def test_the_model_is_believed_before_the_mean_of_the_curves():
    seen = np.array([2.0, 0.0, -1.0, -1.0])
    at_model = np.array([[9.0, 0.0, 0.0, 0.0], [-1.0, -1.0, -1.0, 3.0]])
    verdict = Verdict(PLACES, at_model, np.ones_like(at_model))
    assert _where(case("real", verdict), OneOutput, PLACES, seen) == (2.625, 3.0)
    assert _where(case("both", verdict), OneOutput, PLACES, seen) == (2.625, 3.0)
    assert _where(case("real", None), OneOutput, PLACES, seen) == (0.0, 0.5)
    assert _where(case("unclear", verdict), OneOutput, PLACES, seen) == (0.0, 0.5)
    assert _where(case("virtual", verdict), OneOutput, PLACES, seen) is None


def test_what_the_model_says_between_the_knots_is_not_lost():
    at_model = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]])
    verdict = Verdict(PLACES, at_model, np.ones_like(at_model))
    knots = np.array([0.25, 1.75, 2.5])  # the largest difference lies between two of them
    axis, difference = verdict.along(knots)
    assert axis.tolist() == [0.25, 1.0, 1.75, 2.0, 2.5]
    level = (1.0 + 1.0 + 0.0) / 3  # it is centred at the knots
    assert difference[1] == pytest.approx(np.array([1.0, 4.0, 1.0, 0.0, 0.0]) - level)
    half = (4 - level) / 2
    width = (4 - level - half) / 4
    where = _where(case("real", verdict), OneOutput, knots, np.zeros(3))
    assert where == pytest.approx((1 - width, 1 + width))


def test_where_nobody_is_no_place_is_told():
    at_model = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 9.0]])
    verdict = Verdict(PLACES, at_model, np.ones_like(at_model))
    axis, _ = verdict.along(np.array([0.5, 1.5]))  # the knots lie where the data are
    assert axis.tolist() == [0.5, 1.0, 1.5]


def test_categories_are_their_own_places():
    names = np.array(["a", "b", "c"], dtype=object)
    verdict = Verdict(names[:2], np.array([[0.0, 3.0]]), np.ones((1, 2)))
    axis, difference = verdict.along(names)
    assert axis is names
    assert difference[0].tolist() == [-1.0, 2.0, -1.0]
