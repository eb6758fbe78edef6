"""The loss of a single observation, from a river metric or a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ipdp.core.words import shown

Loss = Callable[[Any, Any], float]
"""The loss of single observations, by river's metrics or by functions."""

# So many pairs of classes have their loss remembered.
_MOST_PAIRS = 1024


def per_sample_loss(loss: Any) -> tuple[Loss, bool]:
    """The loss of one observation, and whether it wants labels instead of probabilities.

    Parameters
    ----------
    loss
        A river metric that is a mean over observations, or a function.

    Examples
    --------
    >>> from river import metrics
    >>> loss, wants_labels = per_sample_loss(metrics.Accuracy())
    >>> loss("yes", "no") - loss("yes", "yes"), wants_labels
    (1.0, True)
    >>> per_sample_loss(metrics.R2())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: R2 is not a mean over observations, so it has no value for a single one; ...
    """
    if isinstance(loss, type):
        raise TypeError(f"{loss.__name__} is a class: give a metric, {loss.__name__}()")
    if not (hasattr(loss, "get") and hasattr(loss, "update") and hasattr(loss, "clone")):
        if not callable(loss):
            raise TypeError(
                f"loss must be a river metric or a function of y_true and y_pred, got {shown(loss)}"
            )
        return loss, False
    wants_labels = bool(getattr(loss, "requires_labels", False))
    _need_mean(loss, wants_labels)
    return _MetricLoss(loss, wants_labels), wants_labels


class _MetricLoss:
    """The loss of one observation by a fresh copy of a metric."""

    def __init__(self, metric: Any, wants_labels: bool) -> None:
        self.metric = metric
        self.sign = -1.0 if metric.bigger_is_better else 1.0
        # A confusion matrix is slow to make, and there are only so many pairs of classes.
        self.known: dict[tuple[Any, Any], float] | None = {} if wants_labels else None

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        if self.known is None:
            return self._computed(y_true, y_pred)
        pair = y_true, y_pred
        if pair not in self.known:
            if len(self.known) >= _MOST_PAIRS:
                self.known.clear()
            self.known[pair] = self._computed(y_true, y_pred)
        return self.known[pair]

    def _computed(self, y_true: Any, y_pred: Any) -> float:
        fresh = self.metric.clone()
        fresh.update(y_true, y_pred)
        return self.sign * float(fresh.get())


# Enough to tell a mean from anything else; positive numbers, because some metrics take logarithms.
_NUMBERS = [(1.0, 2.0), (3.0, 2.5), (2.0, 5.0), (4.0, 4.0)]
_LABELS = [(True, True), (True, False), (True, True), (False, True), (False, False)]
_PROBABILITIES = [(True, 0.9), (True, 0.2), (False, 0.6), (False, 0.3), (True, 0.5)]


def _need_mean(metric: Any, wants_labels: bool) -> None:
    """Raise unless the metric of some pairs is the mean of its values for each of them."""
    pairs: Sequence[tuple[Any, Any]] = _NUMBERS
    if wants_labels:
        pairs = _LABELS
    elif hasattr(metric, "requires_labels"):
        pairs = [(y, {True: p, False: 1 - p}) for y, p in _PROBABILITIES]
    together, single = metric.clone(), []
    try:
        for y_true, y_pred in pairs:
            alone = metric.clone()
            alone.update(y_true, y_pred)
            single.append(float(alone.get()))
            together.update(y_true, y_pred)
        is_mean = math.isclose(float(together.get()), sum(single) / len(single), rel_tol=1e-9)
    except Exception:  # whatever a metric says to a single pair, it is no mean
        is_mean = False
    if not is_mean:
        raise ValueError(
            f"{type(metric).__name__} is not a mean over observations, so it has no value for a "
            "single one; take a metric that is (Accuracy, CrossEntropy, LogLoss, MAE, MSE, ...), "
            "or a function loss(y_true, y_pred)"
        )
