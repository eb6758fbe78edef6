"""When a model changed, by how much and where: read off the answers of then and now."""

import numpy as np
import pytest

from ipdp.monitor.model.answers import Answers
from ipdp.monitor.model.candidate import Compared

PLACES = np.array([-1.0, 0.0, 1.0])


def answers(slopes, places=PLACES, level=0.0):
    """Observations whose slopes went from 1 to these; numbers are every third, times twice that."""
    slopes = np.asarray(slopes, dtype=float)
    n = 3 * np.arange(1, len(slopes) + 1)
    then = np.tile(places, (len(slopes), 1))[:, None]
    return Answers(n, 2.0 * n, places, then, slopes[:, None, None] * places + level)


def test_the_answers_show_when_it_changed():
    compared = Compared.at(answers([3.0] * 40 + [1.0] * 25), 0)
    assert compared.last == 3 * 40
    assert len(compared.before.numbers) == 40
    assert compared.size == pytest.approx(np.sqrt((2 * PLACES) @ (2 * PLACES) / 3))
    assert compared.errors == np.inf
    change = compared.to_change("a", "prediction", 500.0)
    assert (change.began, change.n_asked, change.size) == (240.0, 40, 2.0)
    np.testing.assert_allclose(change.after.average[0] - change.before.average[0], 2 * PLACES)


def test_all_are_from_before_a_change_of_just_now():
    assert Compared.at(answers([3.0] * 40), 0).last == 3 * 40
    assert Compared.at(answers([3.0] * 7), 0) is None
    assert Compared.at(answers([3.0] * 40), 0, last=70).last == 69


def test_an_interaction_has_no_mean():
    rng = np.random.default_rng(1)
    slopes = 1 + rng.normal(size=150)
    compared = Compared.at(answers(slopes), 0, last=10**6)
    # The mean of 150 slopes has a standard error of 0.08; its square is freed of that.
    assert compared.size < 0.2
    assert compared.hidden == pytest.approx(np.sqrt(2 / 3), rel=0.2)
    assert compared.errors < 4


def test_where_and_level():
    places = np.linspace(0, 1, 11)
    then = np.zeros((20, 1, 11))
    now = np.tile(np.maximum(places - 0.8, 0), (20, 1))[:, None] + 7
    both = Answers(np.arange(20), np.arange(20.0), places, then, now)
    compared = Compared.at(both, 0, last=20)
    low, high = compared.where
    assert (0.85 < low < 0.95, high) == (True, 1.0)
    assert compared.to_change("a", "prediction", 30.0).level == pytest.approx(now.mean())
