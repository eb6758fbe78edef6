"""What is news of a model that stood still, and of one that never does."""

import json

import numpy as np
import pytest

from ipdp.monitor.model.asked import RECENT, Asked
from ipdp.monitor.model.surprise import WINDOWS, Surprise

WEIGHTS = np.full((2, 3), 1 / 3)
SHAPE = np.array([-1.0, 0.0, 1.0]) * np.sqrt(1.5)  # of size 1


class Stream:
    """Checks of two features and one output with a standard deviation of 1."""

    def __init__(self, seed=1):
        self.surprise = Surprise(2, 1, tolerance=0.1, clock=32)
        self.rng = np.random.default_rng(seed)
        self.n = 0

    def check(self, size=0.0, single=0.0, young=0.0, going_on=(False, False)):
        """The first feature differs by a size on average, and by another one in single rows."""
        self.n += 32
        ages = np.array([2_000, 1_500, 1_000, 800, 200, 100])
        difference = np.zeros((6, 1, 2, 3))
        each = size + single * self.rng.normal(size=6)
        difference[:, 0, 0] = np.where(ages <= 512, young, each)[:, None] * SHAPE
        then = self.rng.normal(size=difference.shape)
        counts = np.ones((6, 2), dtype=bool)
        both = np.repeat(ages[:, None], 2, axis=1)
        self.surprise.add(Asked(both, ages <= 512, counts, difference), then, WEIGHTS)
        weighed = self.surprise.weigh(np.array(going_on), self.n)
        return bool(self.surprise.is_candidate(weighed)[0]), weighed


def test_a_model_that_stood_still_is_news_at_once():
    stream = Stream()
    assert not any(stream.check()[0] for _ in range(60))
    assert not stream.check(size=0.05)[0]
    assert stream.check(size=1.0)[0]
    is_candidate, weighed = stream.check(size=1.0)
    assert is_candidate
    assert not weighed.is_hidden[0]
    assert weighed.ratio[1] == 0.0


def test_differences_whose_squares_would_be_infinite_are_news_all_the_same():
    """An answer about the past is not refused, as one of a curve is."""
    stream = Stream()
    for _ in range(60):
        stream.check()
    is_candidate, weighed = stream.check(size=1e199, single=1e199, young=1e199)
    assert is_candidate
    assert np.isfinite(weighed.ratio).all()
    again = Surprise(2, 1, tolerance=0.1, clock=32)
    again.state = json.loads(json.dumps(stream.surprise.state, allow_nan=False))


def test_single_observations_that_differ_are_an_interaction():
    stream = Stream()
    for _ in range(60):
        stream.check()
    found = [stream.check(single=1.0) for _ in range(2)]
    assert found[-1][0]
    assert found[-1][1].is_hidden[0]


def test_what_always_happens_is_no_news_and_what_is_larger_must_last():
    stream = Stream()
    found = [stream.check(0.3 * stream.rng.uniform(), 0.1, young=0.3)[0] for _ in range(300)]
    assert not any(found[50:])
    assert 0.1 < stream.surprise.usual[0, 0, 0, 0] < 0.3
    assert not stream.check(0.6, 0.1, young=0.3)[0]  # for an instant
    for _ in range(20):
        stream.check(0.1, 0.1, young=0.3)
    found = [stream.check(0.9, 0.1, young=0.3)[0] for _ in range(12)]
    assert found.index(True) in range(1, 9)


def test_a_change_does_not_become_usual_before_it_counts():
    stream = Stream()
    for _ in range(300):
        stream.check(0.2, 0.1, young=0.2)
    usual = float(stream.surprise.usual[0, 0, 0, 0])
    assert usual > 0.15
    found = [stream.check(2.7 * usual, 0.1, young=0.2)[0] for _ in range(40)]
    assert any(found)  # about 1.5 times what is news


@pytest.mark.parametrize("seed", range(6))
def test_what_is_about_clear_counts_too(seed):
    stream = Stream(seed)
    for _ in range(200):
        stream.check(0.0, 0.6, young=0.1)
    # Of 96 rows the mean is 5.7 standard errors from zero, of 32 of them 3.3.
    assert any(stream.check(0.35, 0.6, young=0.1)[0] for _ in range(26))


def test_a_gradual_change_does_not_become_usual():
    stream = Stream()
    for _ in range(300):
        stream.check(0.05, young=0.05)
    found = [stream.check(0.001 * k, young=0.02)[0] for k in range(400)]
    assert any(found)


def test_what_is_usual_stays_while_a_change_goes_on():
    stream = Stream()
    for _ in range(200):
        stream.check(0.05, young=0.05)
    usual = stream.surprise.usual.copy()
    stream.check(3.0, young=1.0, going_on=(True, False))
    assert (stream.surprise.usual[:, :, 0] == usual[:, :, 0]).all()


def test_a_model_that_learns_must_have_changed_by_more():
    stream = Stream()
    for _ in range(60):
        stream.check()
    assert stream.surprise.least(0, 0) == (0.1, 0.2)
    stream = Stream()
    for _ in range(300):
        stream.check(0.05, young=0.05)
    assert stream.surprise.least(0, 0) == (0.2, 0.2 * 3)
    assert stream.surprise.least(1, 0) == (0.1, 0.2)  # the other feature stood still
    for _ in range(300):
        stream.check(1.0, young=1.0)
    mean, single = stream.surprise.least(0, 0)
    assert 0.4 < mean < single / 2


def test_settled():
    stream = Stream()
    for _ in range(20):
        stream.check()
    for _ in range(8):
        stream.check(1.0, young=0.5)
    assert not stream.surprise.has_settled(0, 0, since=5_000)
    for _ in range(8):
        stream.check(1.0, young=0.0)
    assert stream.surprise.has_settled(0, 0, since=5_000)
    assert not stream.surprise.has_settled(0, 0, since=50)  # nothing is known of so short a time


def test_settled_is_against_what_is_not_young():
    """The answers of a short while ago may be those of all that counts; others say how much."""
    stream = Stream()
    for _ in range(8):
        stream.check(1.0, young=0.2)
    # The ages below 512 are the young ones: 0.2 is more than a tenth of 1, and so of 0.2.
    assert not stream.surprise.has_settled(0, 0, since=5_000)
    for _ in range(8):
        stream.check(1.0, young=0.05)
    assert stream.surprise.has_settled(0, 0, since=5_000)


def test_state_through_json():
    stream, again = Stream(), Stream()
    for _ in range(20):
        stream.check(0.2, 0.1, young=0.1)
    again.surprise.state = json.loads(json.dumps(stream.surprise.state))
    again.rng, again.n = np.random.default_rng(3), stream.n
    stream.rng = np.random.default_rng(3)
    for _ in range(5):
        stream.check(0.4, 0.1)
        again.check(0.4, 0.1)
    assert again.surprise.state == stream.surprise.state


def measured_by_hand(own, n_checks, is_recent):
    """Number of rows, and sizes of the first feature, over the rows of some of the last checks."""
    rows = []
    for asked in list(own.window)[-n_checks:]:
        picked = asked.ages[:, 0] <= RECENT if is_recent else ~asked.is_young
        rows += list(asked.difference[asked.counts[:, 0] & picked, 0, 0])
    if len(rows) < 4:
        return len(rows), [0.0, 0.0, 0.0]
    mean, square = np.mean(rows, axis=0), np.mean(np.square(rows), axis=0)
    error = (square - mean**2) / (len(rows) - 1)
    sizes = [((mean**2 - error) @ WEIGHTS[0]), square @ WEIGHTS[0]]
    errors = np.abs(mean[[0, 2]]) / np.sqrt(error[[0, 2]])  # the middle knot is always 0
    std = float(own.output_std[0, 0])
    return len(rows), [*np.sqrt(np.maximum(sizes, 0)) / std, errors.max()]


def test_sizes_are_those_of_all_rows_of_the_windows():
    stream = Stream()
    rng = np.random.default_rng(3)
    for k in range(40):
        stream.check(size=rng.normal(), single=1.0, young=rng.normal())
        if k == 30:
            stream.surprise.forget(0)
        own = stream.surprise
        again = Surprise(2, 1, tolerance=0.1, clock=32)
        again.state = json.loads(json.dumps(own.state, allow_nan=False))
        for surprise in (own, again):
            surprise._measure()
            windows = [*[(n, False) for n in (*WINDOWS, 3)], (8, True)]
            for number, window in enumerate(windows):
                n, sizes = measured_by_hand(own, *window)
                assert surprise._n[number, 0] == n
                assert surprise._sizes[:, number, 0, 0] == pytest.approx(sizes, rel=1e-6)
            size = surprise.size(0, 0)
            assert np.isnan(size) if surprise._n[3, 0] < 4 else size == surprise._sizes[0, 3, 0, 0]
