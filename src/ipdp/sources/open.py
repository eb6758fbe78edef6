"""The one door from a word to its source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ipdp.sources.base import OnError, Source, SourceError
from ipdp.sources.columns import similar

Format = Literal["csv", "tsv", "jsonl", "parquet"]
"""How a file holds its rows."""

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def open_source(
    spec: str | Path,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    limit: int | None = None,
    format: Format | None = None,  # noqa: A002  # the word that users know
    delimiter: str | None = None,
) -> Source:
    r"""A source of observations (x, y) from a word.

    Parameters
    ----------
    spec
        A file (.csv, .tsv, .jsonl, .parquet, the text ones also with .gz), "-" for standard input,
        `kafka://host:port/topic?group=name`, or the name of a data set of `ipdp.datasets`, with
        settings if need be: `agrawal?seed=7&n_samples=5000`.
    target
        Name of the column that is y; None: y is None. Data sets know their own.
    features
        Names of the columns that are x; None: all but the target.
    drop
        Names of columns to leave out of x.
    types
        Kinds of columns by name, "number", "bool" or "text", where the first value does not tell.
    on_error
        "raise" a SourceError at a record that is not an observation, or "skip" and count it.
    limit
        Number of observations after which it ends; None: it ends where it ends.
    format
        How a file or standard input holds its rows; by default the suffix says it, for standard
        input its first character.
    delimiter
        What stands between the fields of a CSV file; by default the header tells.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "loans.csv")
    >>> _ = path.write_text("age,income,granted\n31,52000.5,True\n64,,False\n")
    >>> with open_source(path, target="granted") as source:
    ...     for x, y in source:
    ...         print(x, y)
    {'age': 31, 'income': 52000.5} True
    {'age': 64, 'income': None} False
    """
    options: dict[str, Any] = {
        "target": target,
        "features": features,
        "drop": drop,
        "types": types,
        "on_error": on_error,
        "limit": limit,
    }
    if format is not None and format not in get_args(Format):
        raise ValueError(f"format must be one of {', '.join(get_args(Format))}, got {format!r}")
    text = str(spec)
    if text == "-":
        from ipdp.sources.stdin import open_stdin

        return open_stdin(format, delimiter=delimiter, **options)
    if text.startswith("kafka://"):
        from ipdp.sources.kafka import KafkaSource

        return KafkaSource(text, **options)
    path = Path(spec)
    if format is None and not os.path.exists(path):  # which takes any text, unlike Path.exists
        from ipdp.sources.named import NamedSource, is_data_set

        if is_data_set(text):
            return NamedSource(text, **options)
    return open_rows(path, format or _format_of(path), delimiter=delimiter, **options)


def open_rows(
    file: Any,
    format: Format,  # noqa: A002
    *,
    delimiter: str | None = None,
    **options: Any,
) -> Source:
    """A source of the rows of a file."""
    if format == "parquet":
        from ipdp.sources.parquet import ParquetSource

        return ParquetSource(file, **options)
    if format == "jsonl":
        from ipdp.sources.jsonl import JsonLinesSource

        return JsonLinesSource(file, **options)
    from ipdp.sources.csv import CsvSource

    return CsvSource(file, delimiter=delimiter or ("\t" if format == "tsv" else None), **options)


def _format_of(path: Path) -> Format:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    if os.path.exists(path):
        raise SourceError(
            f"{path} has no suffix that says what it holds: give the format, "
            f"{', '.join(get_args(Format))}"
        )
    from ipdp.datasets import DATASETS

    raise SourceError(
        f"{path} is neither a file that is there nor a data set{similar(str(path), DATASETS)}"
    )
