"""The log as long tables: one row for each point, change or metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Array
from ipdp.log.records import Snapshot

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader

Table = tuple[dict[str, str], Callable[["LogReader"], Iterator[tuple[Any, ...]]]]
"""The columns with their types (int, float, text or time), and what gives the rows."""

_CURVES = {
    "n": "int",
    "time": "time",
    "reason": "text",
    "feature": "text",
    "feature_2": "text",
    "output": "text",
    "point": "int",
    "value": "float",
    "category": "text",
    "value_2": "float",
    "category_2": "text",
    "average": "float",
    "std_error": "float",
    "n_effective": "float",
}
_CHANGES = {
    "id": "int",
    "n": "int",
    "t": "float",
    "began": "float",
    "feature": "text",
    "output": "text",
    "kind": "text",
    "size": "float",
    "size_in_errors": "float",
    "real": "float",
    "virtual": "float",
    "level": "float",
    "statistic": "text",
    "summary": "text",
}
_METRICS = {"n": "int", "metric": "text", "value": "float"}


def _curves(log: LogReader) -> Iterator[tuple[Any, ...]]:
    for snapshot in log.between(0, math.inf):
        for curve in snapshot.curves.values():
            yield from _points(snapshot, curve)


def _points(snapshot: Snapshot, curve: Curve) -> Iterator[tuple[Any, ...]]:
    names = curve.features if len(curve.grid_values) == 2 else (curve.feature, None)
    start = (snapshot.n, snapshot.time, snapshot.reason, *map(_text, names))
    axes = [
        _places(axis, is_category)
        for axis, is_category in zip(curve.grid_values, curve.categorical, strict=True)
    ]
    if len(axes) == 1:
        axes.append([(None, None)])
    places = list(product(*axes))
    n_effective = curve.n_effective_points.ravel().tolist()
    for k, label in enumerate(curve.outputs):
        output = _text(label)
        average, errors = curve.average[k].ravel().tolist(), curve.std_error[k].ravel().tolist()
        for point, (first, second) in enumerate(places):
            yield (
                *start, output, point, *first, *second,
                average[point], errors[point], n_effective[point],
            )  # fmt: skip
        if curve.missing is not None and curve.missing_std_error is not None:
            # What the model says without the feature: at no point of the axis.
            missing = float(curve.missing[k]), float(curve.missing_std_error[k])
            yield (*start, output, None, None, None, None, None, *missing, None)


def _places(axis: Array, is_category: bool) -> list[tuple[float | None, str | None]]:
    """The points of an axis: a number and no category, or the other way round."""
    if is_category or axis.dtype.kind not in "biuf":
        return [(None, str(value)) for value in axis.tolist()]
    return [(float(value), None) for value in axis.tolist()]


def _changes(log: LogReader) -> Iterator[tuple[Any, ...]]:
    for logged in log.changes():
        change = logged.change
        yield (
            logged.id, logged.n, float(change.t), float(change.began),
            _text(change.feature), _text(change.output), change.kind,
            change.size, change.size_in_errors,
            change.shares.get("real"), change.shares.get("virtual"),
            change.level, change.statistic, change.summary(),
        )  # fmt: skip


def _metrics(log: LogReader) -> Iterator[tuple[Any, ...]]:
    rows = [
        (n, name, value)
        for name, (numbers, values) in log.metrics().items()
        for n, value in zip(numbers.tolist(), values.tolist(), strict=True)
    ]
    yield from sorted(rows, key=lambda row: row[0])


def _text(name: Any) -> str | None:
    return None if name is None else str(name)


TABLES: dict[str, Table] = {
    "curves": (_CURVES, _curves),
    "changes": (_CHANGES, _changes),
    "metrics": (_METRICS, _metrics),
}
"""What can be exported."""
