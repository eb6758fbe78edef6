"""What the model said when it was asked again at a check, against what it had said."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray

RECENT = 512
"""A short while, in observations."""

# What a difference counts at most: the squares of those that are larger would be infinite.
_LARGEST_ANSWER = 1e140


class Asked(NamedTuple):
    """Differences now minus then, at the knots of all features, each curve centred."""

    ages: Array  # (n_rows, n_features) of the earlier answers, in observations
    is_young: Array  # (n_rows,): chosen to see whether the model differs from a short while ago
    counts: Array  # (n_rows, n_features): where it can be compared
    difference: FloatArray  # (n_rows, n_outputs, n_features, width)


class Summed(NamedTuple):
    """Sums over what was asked at one check, so that each window only adds up a few of them.

    First over the rows that were not chosen as young ones, then over those of a short while ago.
    """

    n: FloatArray  # (2, n_features) rows that count
    moments: FloatArray  # (2, 2, n_outputs, n_features, width) differences and their squares
    moves: bool  # whether the model has given another answer

    @classmethod
    def of(cls, asked: Asked) -> Summed:
        """The sums over one check."""
        recent = asked.counts & (asked.ages <= RECENT)
        picked = np.array([asked.counts & ~asked.is_young[:, None], recent], dtype=float)
        difference = bounded(asked.difference)
        moments = np.array([difference, difference * difference])
        sums = (picked[:, None, :, None, :, None] * moments).sum(axis=2)
        return cls(picked.sum(axis=1), sums, bool(asked.difference.any()))


class Joined(NamedTuple):
    """The same of all checks of the window, and at which of them it was asked, 0 the newest."""

    checks_ago: Array
    ages: Array
    is_young: Array
    counts: Array
    difference: FloatArray


def bounded(difference: FloatArray) -> FloatArray:
    """Differences whose squares are finite."""
    return np.minimum(np.maximum(difference, -_LARGEST_ANSWER), _LARGEST_ANSWER)
