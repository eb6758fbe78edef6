from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipdp.datasets.drift import Drift


def test_sudden_drift_begins_after_so_many_observations():
    drift, rng = Drift(3), random.Random(0)
    assert [drift.happened(t, rng) for t in range(6)] == [False, False, False, True, True, True]


@given(
    st.floats(0, 1e6), st.floats(1e-3, 1e6), st.integers(0, 2_000_000), st.integers(0, 2_000_000)
)
def test_probability_rises_from_0_to_1(position, width, first, second):
    drift = Drift(position, width)
    low, high = sorted((first, second))
    assert 0 <= drift.probability(low) <= drift.probability(high) <= 1


def test_probability_is_rivers_sigmoid():
    drift = Drift(500, width=200)
    for t in (300, 450, 500, 620):
        assert drift.probability(t) == pytest.approx(
            1 / (1 + 2.718281828459045 ** (-4 * (t - 500) / 200))
        )


def test_far_from_a_drift_nothing_overflows():
    assert Drift(1_000_000, width=1).probability(0) == 0.0
    assert Drift(0, width=1).probability(1_000_000) == 1.0


@pytest.mark.parametrize(("position", "width"), [(-1, 0), (0, -1)])
def test_negative_settings_are_refused(position, width):
    with pytest.raises(ValueError, match="must not be negative"):
        Drift(position, width)
