"""What a change says of its place."""

from __future__ import annotations

import numpy as np

from ipdp.monitor.judging import Verdict
from ipdp.monitor.report import Case, _where


def case(kind, verdict):
    """A case of the one feature and the one output."""
    return Case(row=0, output=0, cut=1, kind=kind, verdict=verdict, statistic="shape")


class OneOutput:
    """All that is asked of a watch here."""

    outputs = (1,)


def test_the_model_is_believed_before_the_mean_of_the_curves():
    places = np.array([0.0, 1.0, 2.0, 3.0])
    seen = np.array([2.0, 0.0, -1.0, -1.0])
    at_model = np.array([[9.0, 0.0, 0.0, 0.0], [-1.0, -1.0, -1.0, 3.0]])
    verdict = Verdict(places, at_model, np.ones_like(at_model))
    assert _where(case("real", verdict), OneOutput, places, seen) == (3.0, 3.0)
    assert _where(case("both", verdict), OneOutput, places, seen) == (3.0, 3.0)
    assert _where(case("real", None), OneOutput, places, seen) == (0.0, 0.0)
    assert _where(case("unclear", verdict), OneOutput, places, seen) == (0.0, 0.0)
    assert _where(case("virtual", verdict), OneOutput, places, seen) is None
