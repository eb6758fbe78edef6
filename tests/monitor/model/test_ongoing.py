"""What follows a change that goes on: more of the same, or another change."""

import pytest

from ipdp.monitor.model.ongoing import OngoingChange


def followed_after(sizes, least=0.1):
    """The number of the check at which another change is seen; None if there is none."""
    change = OngoingChange(n=1_000, output=0, first=0, last=990, peak=0.15, peak_n=1_000)
    for k, size in enumerate(sizes):
        if change.is_followed(1_000 + 32 * (k + 1), size, least):
            return k
    return None


ADAPTS = [0.2, 0.3, 0.5, 0.8, 1.0, 1.1, 1.0, 1.1]


@pytest.mark.parametrize(
    ("sizes", "is_found"),
    [
        (ADAPTS, None),
        ([*ADAPTS, *[1.0] * 20, 1.5, 1.6, 1.6], None),
        ([0.2] * 10 + [0.3, 0.5, 0.6, 0.9], 12),
        ([0.2] * 3 + [0.3, 0.5, 0.6, 0.9], None),  # without a pause
        ([0.2] * 10 + [0.5, 0.2, 0.2, 0.5, 0.2], None),  # for an instant
        ([0.002 * k for k in range(500)], None),  # gradual
        ([0.02 * (k // 10) for k in range(500)], None),  # gradual, in steps with a pause
        ([float("nan")] * 10 + [0.5, 0.6, 0.6], None),  # nothing was known before
        ([0.02] * 10 + [0.06] * 10, None),  # hardly anything
    ],
)
def test_what_follows(sizes, is_found):
    assert followed_after(sizes) == is_found


def test_goes_on_from_its_list():
    change = OngoingChange(n=1_000, output=0, first=0, last=990)
    for k in range(10):
        change.is_followed(1_032 + 32 * k, 0.2, 0.1)
    again = OngoingChange(*change.to_list())
    assert [c.is_followed(1_352, 0.6, 0.1) for c in (change, again)] == [False] * 2
    assert [c.is_followed(1_384, 0.6, 0.1) for c in (change, again)] == [True] * 2
