"""The pace keeps to the budget, whatever the times are."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.runs.step import Budget

positive = st.floats(1e-5, 1e-1)


def share_of(budget: Budget, explain: float, passing: float, rest: float, n: int, *, seed=None):
    """The share of the time that explaining took in n observations."""
    rng = random.Random(seed)
    explaining = others = 0.0
    for _ in range(n):
        noise = 1.0 if seed is None else rng.expovariate(1)
        seconds = (explain if budget.wants() else passing) * noise
        budget.update(seconds, rest * noise)
        explaining += seconds
        others += rest * noise
    return explaining / (explaining + others)


@settings(deadline=None, max_examples=60)
@given(share=st.floats(0.05, 0.8), explain=positive, rest=positive)
def test_the_smallest_pace_within_the_budget(share, explain, rest):
    budget = Budget(share)
    share_of(budget, explain, 0.0, rest, 3_000)
    spent = explain / budget.every
    if budget.every < 200:  # a slower one has not settled by then
        assert spent / (spent + rest) <= share * 1.001
        if budget.every > 1:
            faster = explain / (budget.every - 1)
            assert faster / (faster + rest) > share * 0.999


def test_passing_an_observation_by_has_a_price_too():
    budget = Budget(0.2)
    share_of(budget, 4e-3, 1e-4, 1e-3, 2_000)
    assert share_of(budget, 4e-3, 1e-4, 1e-3, 10_000) <= 0.2 * 1.01


def test_noise_does_not_throw_it_off():
    budget = Budget(0.2)
    share_of(budget, 2e-3, 1e-5, 1e-3, 3_000, seed=1)
    assert share_of(budget, 2e-3, 1e-5, 1e-3, 20_000, seed=2) == pytest.approx(0.2, rel=0.2)


def test_it_follows_when_the_model_grows_and_shrinks():
    budget = Budget(0.25)
    share_of(budget, 1e-3, 0, 1e-3, 1_000)
    assert budget.every == 3
    share_of(budget, 10e-3, 0, 1e-3, 4_000)
    assert budget.every == 30
    share_of(budget, 1e-3, 0, 1e-3, 4_000)
    assert budget.every == 3


def test_where_there_is_no_room_at_all_it_hardly_explains():
    budget = Budget(0.1)
    share_of(budget, 1e-3, 1e-3, 1e-3, 30_000)
    assert budget.every > 1_000


def test_state():
    one, other = Budget(0.2), Budget(0.2)
    share_of(one, 2e-3, 1e-5, 1e-3, 77, seed=3)
    other.state = one.state
    assert share_of(one, 2e-3, 1e-5, 1e-3, 500, seed=4) == share_of(
        other, 2e-3, 1e-5, 1e-3, 500, seed=4
    )
    assert one.state == other.state


@pytest.mark.parametrize("share", [0, 1, -0.1, 20])
def test_a_share_is_a_share(share):
    with pytest.raises(ValueError, match=r"budget must be in \(0, 1\)"):
        Budget(share)
