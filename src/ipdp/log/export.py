"""Writing a table of the log as CSV, JSON Lines, Parquet or Arrow."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.files import written_whole
from ipdp.core.jsonable import readable
from ipdp.log.errors import LogError
from ipdp.log.files import PathLike
from ipdp.log.tables import TABLES

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader

Columns = dict[str, str]
Rows = Iterable[tuple[Any, ...]]

# A spreadsheet takes text that begins like this for a formula and would compute it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
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
    an apostrophe in front of text that a spreadsheet would take for a formula; NaN is an empty
    cell there, and null in JSON Lines, as is infinity.
    """
    path = Path(path)
    write = _FORMATS[_format(path, form)]
    if what not in TABLES:
        raise ValueError(f"what must be one of {list(TABLES)}, got {what!r}")
    columns, rows = TABLES[what]
    try:
        with written_whole(path) as draft:
            write(draft, columns, rows(log))
    except OSError as error:
        raise LogError(f"{path} could not be written: {error.strerror or error}") from error


def _format(path: Path, form: str | None) -> str:
    if form is None:
        suffix = path.suffix.lower().removeprefix(".")
        form = {"ndjson": "jsonl", "feather": "arrow", "pq": "parquet"}.get(suffix, suffix)
    if form not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{form!r} is no format for a log: give one of {known}")
    return form


def _csv(path: Path, columns: Columns, rows: Rows) -> None:
    convert = [_CSV[kind] for kind in columns.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows([f(value) for f, value in zip(convert, row, strict=True)] for row in rows)


def _jsonl(path: Path, columns: Columns, rows: Rows) -> None:
    convert = [_JSON[kind] for kind in columns.values()]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            values = [f(value) for f, value in zip(convert, row, strict=True)]
            file.write(json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False))
            file.write("\n")


def _parquet(path: Path, columns: Columns, rows: Rows) -> None:
    schema = _schema(columns)
    with _pyarrow("pyarrow.parquet").ParquetWriter(path, schema) as table:
        for batch in _batches(columns, rows):
            table.write_batch(batch)


def _arrow(path: Path, columns: Columns, rows: Rows) -> None:
    schema = _schema(columns)
    with _pyarrow().ipc.new_file(os.fspath(path), schema) as table:
        for batch in _batches(columns, rows):
            table.write_batch(batch)


def _pyarrow(module: str = "pyarrow") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            "Parquet and Arrow files need pyarrow: pip install 'ipdp[arrow]', or export to CSV"
        ) from None


def _schema(columns: Columns) -> Any:
    pa = _pyarrow()
    types = {
        "int": pa.int64(),
        "float": pa.float64(),
        "text": pa.string(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _batches(columns: Columns, rows: Rows) -> Iterator[Any]:
    pa, schema = _pyarrow(), _schema(columns)
    remaining = iter(rows)
    while part := list(islice(remaining, _BATCH)):
        arrays = [
            pa.array([_ARROW[columns[field.name]](value) for value in values], field.type)
            for field, values in zip(schema, zip(*part, strict=True), strict=True)
        ]
        yield pa.record_batch(arrays, schema=schema)


def _same(value: Any) -> Any:
    return value


def _text(text: str | None) -> str | None:
    """Text without lone surrogates, which no file of UTF-8 can hold."""
    return text and text.encode(errors="backslashreplace").decode()


def _harmless(text: str | None) -> str | None:
    return f"'{_text(text)}" if text and text.startswith(_FORMULA) else _text(text)


def _without_nan(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _iso(seconds: float) -> str:
    return _when(seconds).isoformat()


_Converters = dict[str, Callable[[Any], Any]]
_CSV: _Converters = {"int": _same, "float": _without_nan, "text": _harmless, "time": _iso}
_JSON: _Converters = {"int": _same, "float": readable, "text": _text, "time": _iso}
_ARROW: _Converters = {"int": _same, "float": _same, "text": _text, "time": _when}
_FORMATS = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet, "arrow": _arrow}
