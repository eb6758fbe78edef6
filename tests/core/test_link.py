"""Scales of probabilities."""

import numpy as np
import pytest

from ipdp.core.curve import Curve
from ipdp.core.link import LEAST, checked_link, linked, origin, slope

P = np.array([0.0, 1e-9, 1e-4, 0.3, 0.5, 0.999, 1.0])


def logit(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def test_logit_and_log_are_those_of_numpy():
    np.testing.assert_allclose(linked(P, "logit") + origin("logit"), logit(P), rtol=1e-9)
    np.testing.assert_allclose(linked(P, "log") + origin("log"), np.log(P.clip(1e-6)), rtol=1e-12)
    assert linked(np.zeros(3), "logit").tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("link", ["logit", "log"])
def test_slope_is_the_derivative(link):
    inner, step = np.array([0.01, 0.3, 0.9]), 1e-7
    numeric = (linked(inner + step, link) - linked(inner - step, link)) / (2 * step)
    np.testing.assert_allclose(slope(inner, link), numeric, rtol=1e-5)
    assert slope(np.array([0.0, LEAST / 2]), link).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "link", "said"),
    [
        ([0.2, 1.5], "logit", "gives probabilities, from 0 to 1, and it answered 1.5"),
        ([0.2, -0.5], "logit", "answered -0.5"),
        ([0.2, -0.5], "log", "gives no negative numbers, and it answered -0.5"),
    ],
)
def test_what_has_no_place_on_the_scale_is_refused(values, link, said):
    with pytest.raises(ValueError, match=said):
        linked(np.array(values), link)


def test_rounding_is_granted_and_what_is_not_finite_left_to_others():
    assert np.isfinite(linked(np.array([-1e-9, 1 + 1e-9]), "logit")).all()
    assert np.isnan(linked(np.array([np.nan]), "logit")).all()
    with pytest.raises(ValueError, match="link must be one of logit, log, got 'probit'"):
        checked_link("probit")


def curve(outputs, values, link, **more):
    values = np.array(values, dtype=float)
    return Curve(
        "age", outputs, [np.array([20.0, 40.0])], values, values, 9, np.full(2, 9.0), link=link,
        **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "values", "link", "text", "main"),
    [
        ((False, True), [[2.0, 1.0], [-2.0, -1.0]], "logit", "log-odds of True", True),
        ((False, True), np.log([[0.9, 0.5], [0.1, 0.3]]), "log", "log of the chance of True", True),
        (("prediction",), [[-2.0, -1.0]], "logit", "log-odds of the prediction", "prediction"),
        (("prediction",), [[2.0, 9.0]], "log", "log of the prediction", "prediction"),
        (("sold", "stock"), [[2.0, 9.0], [1.0, 4.0]], "log", "log of the predicted stock", "sold"),
    ],
)
def test_numbers_are_called_by_their_scale(outputs, values, link, text, main):
    found = curve(outputs, values, link)
    assert found.output_text(outputs[-1]) == text
    assert found.main_output == main
    assert not found.are_probabilities
    assert Curve.from_dict(found.to_dict()).link == link
