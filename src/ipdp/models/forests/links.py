"""From the sum of all trees to what a library predicts."""

from __future__ import annotations

import numpy as np

from ipdp.core.typing import FloatArray


def identity(raw: FloatArray) -> FloatArray:
    """The sums themselves."""
    return raw


def sigmoid(raw: FloatArray, factor: float = 1.0) -> FloatArray:
    """Each sum, times a factor, as a probability."""
    with np.errstate(over="ignore"):  # 1 / (1 + infinity) is 0, as it should
        odds = np.exp(raw * -factor)
    odds += 1.0
    return np.reciprocal(odds, out=odds)


def two_classes(raw: FloatArray, factor: float = 1.0) -> FloatArray:
    """One sum as the probabilities of two classes."""
    both = np.empty((raw.shape[0], 2, *raw.shape[2:]))
    first, second = both[:, :1], both[:, 1:]
    np.multiply(raw, -factor, out=second)
    with np.errstate(over="ignore"):  # 1 / (1 + infinity) is 0, as it should
        np.exp(second, out=second)
    second += 1.0
    np.reciprocal(second, out=second)
    np.subtract(1.0, second, out=first)
    return both


def softmax(raw: FloatArray) -> FloatArray:
    """A sum for each class as probabilities."""
    shares: FloatArray = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def exponential(raw: FloatArray) -> FloatArray:
    """Counts and amounts."""
    return np.exp(raw)


def shares(raw: FloatArray) -> FloatArray:
    """Mean probabilities: rounding must not lead below 0 or above 1."""
    return np.clip(raw, 0.0, 1.0, out=raw)


def two_shares(raw: FloatArray) -> FloatArray:
    """The mean probability of the second of two classes as those of both."""
    second = shares(raw)
    return np.concatenate([1.0 - second, second], axis=1)
