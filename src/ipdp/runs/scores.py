"""The metrics of a run, by name."""

from __future__ import annotations

from collections import UserList
from collections.abc import Mapping
from typing import Any


class Scores:
    """One metric of river, or several.

    Parameters
    ----------
    metric
        A metric, a sum or a list of them, or a dict by name; None for none.

    Examples
    --------
    >>> from river import metrics
    >>> scores = Scores([metrics.Accuracy(), metrics.F1()])
    >>> scores.update(True, True)
    >>> scores.values
    {'Accuracy': 1.0, 'F1': 1.0}
    """

    def __init__(self, metric: Any) -> None:
        self.by_name: dict[str, Any] = {}
        self.replace(_by_name(metric))

    def replace(self, by_name: dict[str, Any]) -> None:
        """Take other metrics instead."""
        self.by_name = by_name
        wants = [bool(getattr(m, "requires_labels", True)) for m in self.by_name.values()]
        self.wants_labels = all(wants)
        # Beside a metric of probabilities, one of labels gets the most probable class.
        self._updates = [
            (m.update, label and not self.wants_labels)
            for m, label in zip(self.by_name.values(), wants, strict=True)
        ]

    def __bool__(self) -> bool:
        return bool(self.by_name)

    def update(self, y: Any, y_pred: Any) -> None:
        """Count one prediction; the answer of an unfitted model that it has none is left out."""
        if y_pred is None or y_pred == {}:
            return
        for update, wants_label in self._updates:
            if wants_label and type(y_pred) is dict:
                update(y, max(y_pred, key=y_pred.__getitem__))
            else:
                update(y, y_pred)

    @property
    def values(self) -> dict[str, float]:
        """The metrics that are a number, as they stand."""
        values = {}
        for name, metric in self.by_name.items():
            try:
                values[name] = float(metric.get())
            except (TypeError, ValueError, NotImplementedError, ZeroDivisionError):
                continue  # a table, or nothing to say yet
        return values


def _by_name(metric: Any) -> dict[str, Any]:
    if metric is None:
        return {}
    if isinstance(metric, Mapping):
        given = {str(name): item for name, item in metric.items()}
    else:
        several = isinstance(metric, (list, tuple, UserList))
        given = {}
        for item in metric if several else [metric]:
            name = _name(item)
            given[name if name not in given else f"{name}_{len(given) + 1}"] = item
    for item in given.values():
        if isinstance(item, type):
            raise TypeError(f"{item.__name__} is a class: give a metric, {item.__name__}()")
        if not (hasattr(item, "update") and hasattr(item, "get")):
            raise TypeError(f"metric must be a metric of river, got {item!r}")
    return given


def _name(metric: Any) -> str:
    inner = getattr(metric, "obj", None)  # of river's Rolling
    if inner is None:
        return metric.__name__ if isinstance(metric, type) else type(metric).__name__
    width = getattr(metric, "window_size", getattr(metric, "period", ""))
    return f"{type(inner).__name__}_{width}"
