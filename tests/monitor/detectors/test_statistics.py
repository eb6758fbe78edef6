"""One number for a curve, against a reference on their common support."""

import numpy as np
import pytest

from ipdp.monitor.detectors.statistics import STATISTICS

X = np.linspace(0.0, 4.0, 9)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("importance", 2 * X, 2 * X.std(ddof=1)),
        ("l2", X + 1, 1.0),
        ("derivative", X + 1, 0.0),
        ("derivative", -X, 2.0),
        ("sign", -X, 1.0),
        ("sign", 3 * X - 2, 0.0),
    ],
)
def test_against_the_identity(name, values, expected):
    assert STATISTICS[name]((X, values), (X, X)) == pytest.approx(expected)


def test_only_the_common_support_counts():
    # On [2, 4] the curve is the reference; on [4, 6] there is no reference.
    moved, values = X + 2, np.where(X + 2 <= 4, X + 2, 100.0)
    for name in ("l2", "derivative", "sign"):
        assert STATISTICS[name]((moved, values), (X, X)) == 0.0


def test_nothing_in_common():
    for name in ("l2", "derivative", "sign"):
        assert STATISTICS[name]((X + 10, X), (X, X)) == 0.0
