"""Quantiles of Student's t."""

from __future__ import annotations

import pytest
from scipy import stats

from ipdp.core.student_t import tail_quantile


@pytest.mark.parametrize("degrees", [2.5, 3.0, 5.5, 12.0, 60.0, 1e4, 1e9])
@pytest.mark.parametrize("outside", [0.2, 0.05, 1e-3, 1e-5, 1e-8])
def test_far_outside(outside, degrees):
    exact = stats.t.ppf(1 - outside / 2, degrees)
    assert tail_quantile(outside, degrees) == pytest.approx(exact, rel=2e-4)
