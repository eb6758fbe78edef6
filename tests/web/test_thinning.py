"""Thinning keeps what matters."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.web.thinning import thin

times = st.lists(st.integers(0, 10_000), unique=True, min_size=2, max_size=200).map(sorted)


@given(times, st.integers(2, 50), st.lists(st.integers(0, 10_000), max_size=10))
@settings(deadline=None)
def test_ends_and_moments_stay(n, limit, moments):
    n = np.array(n)
    kept = thin(n, limit, moments)
    assert len(kept) == min(limit, len(n))
    assert (np.diff(kept) > 0).all()
    assert {kept[0], kept[-1]} == {0, len(n) - 1}
    special = {0, len(n) - 1, *(max(0, int((n <= moment).sum()) - 1) for moment in moments)}
    if len(special) <= limit:
        assert special <= set(kept.tolist())


@given(st.integers(10, 2000), st.integers(2, 50))
@settings(deadline=None)
def test_the_rest_is_spread_evenly(length, limit):
    kept = thin(np.arange(length), limit)
    gaps = np.diff(kept)
    # Middles of equal parts: next to the ends half a part is missing.
    assert gaps.max() <= np.ceil(2 * length / limit) + 1
