"""A log as long tables: CSV, JSON Lines, Parquet or Arrow with a row for each point."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve, feature_text
from ipdp.core.files import written_whole
from ipdp.core.importance import Importance, Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Array
from ipdp.core.words import shown
from ipdp.log.files import LogError, PathLike, must_not_replace

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader

Row = tuple[Any, ...]
Rows = Iterable[Row]
Columns = dict[str, str]
"""Names of columns with their types: int, float, text or time."""

# A spreadsheet takes text that begins like this for a formula and would compute it; those of East
# Asia take the wide forms, too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")  # noqa: RUF001
# Where commas are decimal, a cell ends at a semicolon, also in what we quote, and at a line's end.
_LATER_CELL = re.compile(r"([;\t\r\n][\s\"]*)(?=[=+\-@＝＋－＠])")  # noqa: RUF001
_BATCH = 50_000


def export(
    log: LogReader, path: PathLike, form: str | None = None, *, what: str = "curves"
) -> None:
    """Write a log as one table: the whole file or none.

    Parameters
    ----------
    log
        An open log.
    path
        The file to write; one that is there is replaced.
    form
        "csv", "jsonl", "parquet" or "arrow"; by default the suffix of the path says it.
    what
        "curves" (a row for each snapshot, feature, output and point), "importances" (a row for
        each snapshot, explainer and feature), "changes" or "metrics".

    Notes
    -----
    A grid point is a number (`value`) or a category; pairs have a second feature, value and
    category. The row without a point is what the model says when the feature is missing. CSV has
    an apostrophe in front of text that a spreadsheet would take for a formula, also behind a
    semicolon or a line break within a text; NaN is an empty
    cell there, and null in JSON Lines, as is infinity.
    """
    path = Path(path)
    write = _FORMATS[_format(path, form)]
    if what not in _TABLES:
        raise ValueError(f"what must be one of {list(_TABLES)}, got {shown(what)}")
    must_not_replace(path, log.path)
    names, rows = _TABLES[what]
    columns = dict(column.split(":") for column in names.split())
    try:
        with written_whole(path) as draft:
            write(draft, columns, rows(log))
    except OSError as error:
        raise LogError(f"{path} could not be written: {error.strerror or error}") from error


def _format(path: Path, form: str | None) -> str:
    if form is None:
        suffix = path.suffix.lower().removeprefix(".")
        form = {"ndjson": "jsonl", "feather": "arrow", "pq": "parquet"}.get(suffix, suffix)
    if not isinstance(form, str) or form not in _FORMATS:
        raise ValueError(f"{form!r} is no format for a log: give one of {', '.join(_FORMATS)}")
    return form


# The rows of each table.


def _curves(log: LogReader) -> Iterator[Row]:
    for start, curve in _results(log):
        if isinstance(curve, Curve):
            yield from _points(start, curve)


def _importances(log: LogReader) -> Iterator[Row]:
    for start, result in _results(log):
        error = result.std_error if isinstance(result, Importance) else None
        yield (*start, result.overall_importance, error, result.n_effective)


def _results(log: LogReader) -> Iterator[tuple[Row, Result]]:
    """Every result, and what its rows begin with."""
    for snapshot in log.between(0, math.inf):
        taken = snapshot.n, snapshot.time, snapshot.reason
        for explainer, results in snapshot.results.items():
            for feature, result in results.items():
                names = feature if isinstance(feature, tuple) else (feature, None)
                yield (*taken, explainer, *map(_name, names)), result


def _points(start: Row, curve: Curve) -> Iterator[Row]:
    axes = [_places(*axis) for axis in zip(curve.grid_values, curve.categorical, strict=True)]
    if len(axes) == 1:
        axes.append([(None, None)])
    places = list(product(*axes))
    n_effective = curve.n_effective_points.ravel().tolist()
    for k, label in enumerate(curve.outputs):
        output = _name(label)
        average, errors = curve.average[k].ravel().tolist(), curve.std_error[k].ravel().tolist()
        for point, (first, second) in enumerate(places):
            numbers = average[point], errors[point], n_effective[point]
            yield (*start, output, point, *first, *second, *numbers)
        if curve.missing is not None and curve.missing_std_error is not None:
            # What the model says without the feature: at no point of the axis.
            missing = float(curve.missing[k]), float(curve.missing_std_error[k])
            yield (*start, output, None, None, None, None, None, *missing, None)


def _places(axis: Array, is_category: bool) -> list[tuple[float | None, str | None]]:
    """The points of an axis: a number and no category, or the other way round."""
    if is_category or axis.dtype.kind not in "biuf":
        return [(None, str(value)) for value in axis.tolist()]
    return [(float(value), None) for value in axis.tolist()]


def _changes(log: LogReader) -> Iterator[Row]:
    for logged in log.changes():
        change = logged.change
        yield (
            logged.id, logged.n, float(change.t), float(change.began),
            feature_text(change.feature), _name(change.output), change.kind,
            change.size, change.size_in_errors,
            change.shares.get("real"), change.shares.get("virtual"),
            change.level, change.statistic, change.summary(),
        )  # fmt: skip


def _metrics(log: LogReader) -> Iterator[Row]:
    rows = [
        (n, name, value)
        for name, (numbers, values) in log.metrics().items()
        for n, value in zip(numbers.tolist(), values.tolist(), strict=True)
    ]
    yield from sorted(rows, key=lambda row: row[0])


def _name(name: Any) -> str | None:
    return None if name is None else str(name)


_RESULT = "n:int time:time reason:text explainer:text feature:text feature_2:text"
_TABLES: dict[str, tuple[str, Callable[[LogReader], Iterator[Row]]]] = {
    "curves": (
        f"{_RESULT} output:text point:int value:float category:text value_2:float category_2:text "
        "average:float std_error:float n_effective:float",
        _curves,
    ),
    "importances": (f"{_RESULT} importance:float std_error:float n_effective:float", _importances),
    "changes": (
        "id:int n:int t:float began:float feature:text output:text kind:text size:float "
        "size_in_errors:float real:float virtual:float level:float statistic:text summary:text",
        _changes,
    ),
    "metrics": ("n:int metric:text value:float", _metrics),
}


# The formats.


def _csv(path: Path, columns: Columns, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(_converted(_CSV, columns, rows))


def _jsonl(path: Path, columns: Columns, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for values in _converted(_JSON, columns, rows):
            file.write(json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False))
            file.write("\n")


def _parquet(path: Path, columns: Columns, rows: Rows) -> None:
    _write_batches(_pyarrow("pyarrow.parquet").ParquetWriter, path, columns, rows)


def _arrow(path: Path, columns: Columns, rows: Rows) -> None:
    _write_batches(_pyarrow().ipc.new_file, path, columns, rows)


def _pyarrow(module: str = "pyarrow") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            "Parquet and Arrow files need pyarrow: pip install 'ipdp[arrow]', or export to CSV"
        ) from None


def _write_batches(writer: Any, path: Path, columns: Columns, rows: Rows) -> None:
    pa = _pyarrow()
    time = pa.timestamp("us", tz="UTC")
    types = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "time": time}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    converted = _converted(_ARROW, columns, rows)
    with writer(os.fspath(path), schema) as table:
        while part := list(islice(converted, _BATCH)):
            by_column = zip(schema, zip(*part, strict=True), strict=True)
            arrays = [pa.array(values, field.type) for field, values in by_column]
            table.write_batch(pa.record_batch(arrays, schema=schema))


_Converters = dict[str, Callable[[Any], Any]]


def _converted(by_type: _Converters, columns: Columns, rows: Rows) -> Iterator[list[Any]]:
    convert = [by_type.get(kind) for kind in columns.values()]
    for row in rows:
        yield [f(value) if f else value for f, value in zip(convert, row, strict=True)]


def _text(text: str | None) -> str | None:
    """Text without lone surrogates, which no file of UTF-8 can hold."""
    return text and text.encode(errors="backslashreplace").decode()


def _harmless(text: str | None) -> str | None:
    if not text:
        return text
    text = _LATER_CELL.sub(r"\1'", text)
    is_formula = text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
    return f"'{_text(text)}" if is_formula else _text(text)


def _without_nan(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _iso(seconds: float) -> str:
    return _when(seconds).isoformat()


# What is not named is written as it is.
_CSV: _Converters = {"float": _without_nan, "text": _harmless, "time": _iso}
_JSON: _Converters = {"float": readable, "text": _text, "time": _iso}
_ARROW: _Converters = {"text": _text, "time": _when}
_FORMATS = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow}
