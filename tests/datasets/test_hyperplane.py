from __future__ import annotations

import math

import numpy as np
import pytest
from river.datasets import base
from scipy import stats

from ipdp.datasets import Hyperplane, Plane


def test_it_has_rivers_interface():
    stream = Hyperplane(seed=1)
    assert isinstance(stream, base.SyntheticDataset)
    assert stream.n_features == len(next(iter(stream))[0]) == 2
    assert "position" in repr(stream)
    assert stream.n_samples is None


def test_the_same_seed_gives_the_same_stream():
    first, second, other = (list(Hyperplane(seed=s).take(50)) for s in (7, 7, 8))
    assert first == second != other


def test_iterating_again_begins_anew():
    stream = Hyperplane(seed=7)
    assert list(stream.take(5)) == list(stream.take(5))


def test_features_have_the_moments_of_their_concept():
    rows = np.array([list(x.values()) for x, _ in Hyperplane(5_000, n_samples=10_000, seed=42)])
    before, after = rows[:5_000], rows[5_000:]
    # Four standard errors of a mean of 5,000 values.
    assert before.mean(axis=0) == pytest.approx([100, 200], abs=4 * 40 / math.sqrt(5_000))
    assert after.mean(axis=0) == pytest.approx([200, 100], abs=4 * 40 / math.sqrt(5_000))
    assert before.std(axis=0) == pytest.approx([20, 40], rel=0.05)
    assert after.std(axis=0) == pytest.approx([40, 20], rel=0.05)


@pytest.mark.parametrize("drifted", [False, True])
def test_partial_dependence_of_x1_is_the_analytic_one(drifted):
    x = np.linspace(50, 300, 26)
    if drifted:
        truth = stats.norm.cdf((105 + math.log(9) - x / 2) / math.sqrt(401))
    else:
        truth = stats.norm.cdf((x - 100 + 5 + math.log(9)) / math.sqrt(401))
    got = Hyperplane().partial_dependence("x1", x, drifted=drifted)
    np.testing.assert_allclose(got, truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("feature", ["x1", "x2"])
def test_partial_dependence_is_what_the_stream_does(feature):
    """Features are independent: the partial dependence is the share of class 1 given the value."""
    stream = Hyperplane(position=10**9, n_samples=40_000, seed=3)
    values, classes = zip(*((x[feature], y) for x, y in stream), strict=True)
    for low, high in ((60, 90), (95, 105), (180, 220)):
        inside = [k for k, value in enumerate(values) if low <= value <= high]
        if len(inside) < 300:
            continue
        expected = stream.partial_dependence(feature, [values[k] for k in inside]).mean()
        share = np.mean([classes[k] for k in inside])
        assert share == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(len(inside)))


def test_a_wide_drift_mixes_both_concepts():
    stream = Hyperplane(2_000, width=1_000, n_samples=4_000, seed=5)
    new = np.array([x["x1"] > 150 for x, _ in stream])
    # A value above 150 is of the old concept in one of 160 cases, of the new in eight of nine.
    assert new[:500].mean() < 0.05
    assert 0.3 < new[1_800:2_200].mean() < 0.6
    assert new[-500:].mean() > 0.8


def test_it_ends_where_it_is_told():
    assert len(list(Hyperplane(n_samples=7, seed=1))) == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 1.0}, "threshold"),
        ({"error": (0.0, -1.0)}, "standard deviation"),
        ({"position": -1}, "negative"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Hyperplane(**settings)


def test_bad_planes_and_features_are_refused():
    with pytest.raises(ValueError, match="standard deviations"):
        Plane(means=(0, 0), sds=(1, -1), betas=(1, 1))
    with pytest.raises(ValueError, match="x1, x2"):
        Hyperplane().partial_dependence("x3", [1.0])
