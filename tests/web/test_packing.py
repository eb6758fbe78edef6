"""What is packed is what was there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.web.packing import pack, unpack

values = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30)


@given(values)
@settings(deadline=None)
def test_numbers_come_back_to_a_millionth_of_their_spread(numbers):
    array = np.array(numbers, dtype=float)
    back = unpack(pack(array)).astype(float)
    known = np.isfinite(array)
    np.testing.assert_array_equal(np.isnan(back), np.isnan(array))
    np.testing.assert_array_equal(back[~known], array[~known])
    with np.errstate(over="ignore"):
        spread = np.ptp(array[known]) if known.any() else 0.0
    if np.isfinite(spread):
        np.testing.assert_allclose(back[known], array[known], rtol=0, atol=1e-6 * spread)


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([], "f"),
        ([0.1, 0.2], "f"),
        ([0.1, 0.1], "d"),  # no spread: exact
        ([1.7e9, 1.7e9 + 60], "d"),  # times, which single precision would move by a minute
        ([1e300, 0.0], "d"),
        ([True, False], "b"),
    ],
)
def test_single_precision_is_taken_where_nobody_sees_it(numbers, kind):
    text = pack(np.array(numbers))
    assert text[0] == kind
    if kind == "d":
        np.testing.assert_array_equal(unpack(text), numbers)
