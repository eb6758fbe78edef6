"""The log as long tables: one row for each point, change or metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve, feature_text
from ipdp.core.importance import Importance, Result
from ipdp.core.typing import Array

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader

Table = tuple[dict[str, str], Callable[["LogReader"], Iterator[tuple[Any, ...]]]]
"""The columns with their types (int, float, text or time), and what gives the rows."""

_RESULT = "n:int time:time reason:text explainer:text feature:text feature_2:text"
_CURVES = (
    f"{_RESULT} output:text point:int value:float category:text value_2:float category_2:text "
    "average:float std_error:float n_effective:float"
)
_IMPORTANCES = f"{_RESULT} importance:float std_error:float n_effective:float"
_CHANGES = (
    "id:int n:int t:float began:float feature:text output:text kind:text size:float "
    "size_in_errors:float real:float virtual:float level:float statistic:text summary:text"
)
_METRICS = "n:int metric:text value:float"


def _curves(log: LogReader) -> Iterator[tuple[Any, ...]]:
    for start, curve in _results(log):
        if isinstance(curve, Curve):
            yield from _points(start, curve)


def _importances(log: LogReader) -> Iterator[tuple[Any, ...]]:
    for start, result in _results(log):
        error = result.std_error if isinstance(result, Importance) else None
        yield (*start, result.overall_importance, error, result.n_effective)


def _results(log: LogReader) -> Iterator[tuple[tuple[Any, ...], Result]]:
    """Every result, and what its rows begin with."""
    for snapshot in log.between(0, math.inf):
        taken = snapshot.n, snapshot.time, snapshot.reason
        for explainer, results in snapshot.results.items():
            for feature, result in results.items():
                names = feature if isinstance(feature, tuple) else (feature, None)
                yield (*taken, explainer, *map(_text, names)), result


def _points(start: tuple[Any, ...], curve: Curve) -> Iterator[tuple[Any, ...]]:
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
            feature_text(change.feature), _text(change.output), change.kind,
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
    name: (dict(column.split(":") for column in columns.split()), rows)
    for name, columns, rows in (
        ("curves", _CURVES, _curves),
        ("importances", _IMPORTANCES, _importances),
        ("changes", _CHANGES, _changes),
        ("metrics", _METRICS, _metrics),
    )
}
"""What can be exported."""
