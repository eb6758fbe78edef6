"""Names of the smoothing parameter against pandas, which has the same ones."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core.decay import Default, resolve_alpha

PROPERTY = settings(deadline=None, derandomize=True)
series = pd.Series(np.random.default_rng(0).normal(size=50))


@PROPERTY
@given(st.floats(0.01, 1e6))
def test_half_life_is_that_of_pandas(half_life):
    alpha = resolve_alpha(half_life=half_life)
    ours, theirs = series.ewm(alpha=alpha).mean(), series.ewm(halflife=half_life).mean()
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@PROPERTY
@given(st.floats(1, 1e6))
def test_span_is_that_of_pandas(span):
    alpha = resolve_alpha(span=span)
    ours, theirs = series.ewm(alpha=alpha).mean(), series.ewm(span=span).mean()
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("half_life", [0.5, 1, 10, 1e6])
def test_a_weight_has_halved_after_the_half_life(half_life):
    assert (1 - resolve_alpha(half_life=half_life)) ** half_life == pytest.approx(0.5)


@pytest.mark.parametrize("span", [1, 19, 1999])
def test_a_span_is_as_noisy_as_a_mean_of_so_many_values(span):
    # alpha / (2 - alpha) of the variance remains (Theorem 4), and 1 / span with 2 / (span + 1).
    alpha = resolve_alpha(span=span)
    assert alpha / (2 - alpha) == pytest.approx(1 / span)


def test_default_and_plain_mean():
    assert resolve_alpha() == Default.ALPHA.value == 0.001
    assert resolve_alpha(None) is None
    assert repr(Default.ALPHA) == "0.001"


@pytest.mark.parametrize("alpha", [1e-12, 0.5, 1, 1.0])
def test_alpha_is_taken_as_it_is(alpha):
    assert resolve_alpha(alpha) == alpha


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "alpha must be in"),
        ({"alpha": 5e-324}, "alpha must be in"),
        ({"alpha": -0.1}, "alpha must be in"),
        ({"alpha": 1.01}, "alpha must be in"),
        ({"alpha": float("nan")}, "alpha must be in"),
        ({"half_life": 0}, "half_life must be a positive number, got 0"),
        ({"half_life": float("inf")}, "half_life must be a positive number"),
        ({"half_life": float("nan")}, "half_life must be a positive number"),
        ({"span": 0.5}, "span must be at least 1, got 0.5"),
        ({"span": float("inf")}, "span must be at least 1"),
        ({"alpha": 0.1, "span": 3}, "only one of alpha, half_life and span, got alpha and span"),
        ({"alpha": None, "half_life": 3}, "got alpha and half_life"),
        ({"half_life": 3, "span": 3}, "got half_life and span"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        resolve_alpha(**settings)
