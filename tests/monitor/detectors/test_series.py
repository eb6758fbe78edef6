"""How far a range has moved."""

import pytest

from ipdp.monitor.detectors.series import moved


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0.0, 2.0), (0.0, 2.0), 0.0),
        ((0.0, 2.0), (1.0, 3.0), 2 / 3),
        ((0.0, 1.0), (5.0, 6.0), 1.0),
        ((1.0, 1.0), (1.0, 1.0), 0.0),
        (frozenset("ab"), frozenset("bc"), 2 / 3),
        (frozenset("ab"), (0.0, 1.0), 1.0),
    ],
)
def test_moved(before, after, expected):
    assert moved(before, after) == pytest.approx(expected)
