"""What the model said when it was asked again at a check, against what it had said."""

from __future__ import annotations

from typing import NamedTuple

from ipdp.core.typing import Array, FloatArray

RECENT = 512
"""A short while, in observations."""


class Asked(NamedTuple):
    """Differences now minus then, at the knots of all features, each curve centred."""

    ages: Array  # (n_rows, n_features) of the earlier answers, in observations
    is_young: Array  # (n_rows,): chosen to see whether the model differs from a short while ago
    counts: Array  # (n_rows, n_features): where it can be compared
    difference: FloatArray  # (n_rows, n_outputs, n_features, width)
