"""From the word that names a source to the source."""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any

from ipdp.core.redaction import redacted, redacted_query
from ipdp.core.validation import did_you_mean
from ipdp.core.words import shown
from ipdp.sources.base import Source, SourceError

_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
# What was to be one, and may hold a password all the same: kafka:/me:word@host/topic.
_MISWRITTEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+:)[^@]*@|\s*(kafka:)", re.IGNORECASE)

SOURCES: dict[str, tuple[str, ...]] = {
    "ipdp.sources.csv:CsvSource": (".csv", ".txt"),
    "ipdp.sources.csv:TsvSource": (".tsv", ".tab"),
    "ipdp.sources.jsonl:JsonLinesSource": (".jsonl", ".ndjson", ".json"),
    "ipdp.sources.parquet:ParquetSource": (".parquet", ".pq"),
    "ipdp.sources.kafka:KafkaSource": ("kafka://host:port/topic?group=name",),
}
"""Every class of source: the suffixes of its files, the first naming the format, or its address.

A source of your own is a line here: `SOURCES["package.module:Class"] = ("scheme://...",)`.
"""


def formats() -> list[str]:
    """How a file can hold its rows.

    Examples
    --------
    >>> formats()
    ['csv', 'tsv', 'jsonl', 'parquet']
    """
    return [words[0][1:] for words in SOURCES.values() if words[0].startswith(".")]


def addresses() -> list[str]:
    """How the sources that are no files are written, such as `kafka://host:port/topic`."""
    return [words[0] for words in SOURCES.values() if "://" in words[0]]


def open_source(
    spec: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know
    delimiter: str | None = None,
    header: bool = True,
    decimal: str = "auto",
    **options: Any,
) -> Source:
    r"""A source of observations (x, y) from a word.

    Parameters
    ----------
    spec
        A file (.csv, .tsv, .jsonl, .parquet, the text ones also with .gz), "-" for standard input,
        `kafka://host:port/topic?group=name`, the name of a data set of `ipdp.datasets`, with
        settings if need be (`agrawal?seed=7&n_samples=5000`), or the import path of one of river's:
        `river.datasets.synth.SEA(seed=1)`.
    format
        How a file or standard input holds its rows (`formats()`); by default the suffix says it,
        for standard input its first character.
    delimiter
        What stands between the fields of a CSV file; by default the header tells.
    header
        Whether the first line of a CSV file names the columns; without it they are column_1, ...
    decimal
        "," if the numbers of a CSV file have a decimal comma, "." if not; "auto" takes one for it
        wherever commas do not separate the fields.
    **options
        As in `Source`: `target`, `features`, `drop`, `types`, `on_error`, `limit`. Data sets know
        their own target.

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
    if format is not None and format not in formats():
        raise ValueError(f"format must be one of {', '.join(formats())}, got {shown(format)}")
    text = str(spec)
    written: dict[str, Any] = {"delimiter": delimiter, "header": header, "decimal": decimal}
    if text == "-":
        return open_stdin(format, **written, **options)
    if (kind := _kind_at(text)) is not None:
        return kind(text, **options)
    if format is None and not os.path.exists(text):  # which takes any text, unlike Path.exists
        from ipdp.sources.named import CountedSource, named_stream

        if (stream := named_stream(text)) is not None:
            return CountedSource(stream, text, **options)
    _must_be_a_file(text)
    path = Path(spec)
    made = format or _format_of(path)
    try:
        return _rows(path, made, {**written, **options})
    except SourceError as error:
        hint = "" if os.path.exists(path) else did_you_mean(path, readable_files(path.parent))
        raise SourceError(f"{error}; {hint}" if hint else str(error)) from None


def _must_be_a_file(text: str) -> None:
    """Refuse an address of another kind, without the password that may be in it."""
    if os.path.exists(text):
        return
    if _ADDRESS.match(text):
        told = f"{redacted_query(text.strip())} is an address of no kind that is read"
        raise SourceError(f"{told} ({', '.join(addresses())}): fetch the file")
    if found := _MISWRITTEN.match(text):
        told = f"{found[1] or found[2]}{redacted(text)} is no address that is read"
        raise SourceError(f"{told}: {', '.join(addresses())}")


def open_stdin(
    format: str | None,  # noqa: A002
    *,
    file: IO[bytes] | None = None,
    **options: Any,
) -> Source:
    """A source of the rows that come in through a pipe, or from a file that is open.

    Without a format it waits for the first character: JSON Lines begin with "{".
    """
    from ipdp.sources.lines import TextSource

    if format is not None and not issubclass(_kind_of(format), TextSource):
        raise SourceError(f"{format.capitalize()} cannot be read from a pipe: give the file")
    stream = file or sys.stdin.buffer
    if file is None and sys.stdin.isatty():
        raise SourceError("standard input is a terminal: pipe a file into the command")
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    if format is None:
        start = buffered.peek(16)[:16].removeprefix(b"\xef\xbb\xbf").lstrip()
        format = "jsonl" if start.startswith(b"{") else "csv"  # noqa: A001
    return _rows(buffered, format, {**options, "name": "standard input"})


def is_address(spec: str) -> bool:
    """Whether a word names a source on some machine, and not a file or a data set.

    Examples
    --------
    >>> is_address("kafka://localhost:9092/loans"), is_address("loans.csv")
    (True, False)
    """
    return _kind_at(spec) is not None


def without_secrets(spec: str) -> str:
    """The word that names a source, as it may be shown: passwords are left out of an address.

    Examples
    --------
    >>> without_secrets("kafka://localhost:9092/loans?group=a&sasl.password=hunter2")
    'kafka://localhost:9092/loans?group=a&sasl.password=redacted-f52fbd'
    >>> without_secrets("loans.csv")
    'loans.csv'
    """
    kind = _kind_at(spec)
    return spec if kind is None else kind.without_secrets(spec)


def _rows(file: Any, format: str, options: dict[str, Any]) -> Source:  # noqa: A002
    kind = _kind_of(format)
    known = inspect.signature(kind).parameters
    # How a text file is written, which means nothing for other formats.
    left_out = {name for name in ("delimiter", "header", "decimal") if name not in known}
    return kind(file, **{name: each for name, each in options.items() if name not in left_out})


def _kind_of(format: str) -> type[Source]:  # noqa: A002
    path = next(path for path, words in SOURCES.items() if f".{format}" in words)
    kind: type[Source] = resolve_name(path)
    return kind


def _kind_at(address: str) -> type[Source] | None:
    """The class for an address; None if it is none."""
    for path, words in SOURCES.items():
        scheme, separator, _ = words[0].partition("://")
        if separator and address.startswith(f"{scheme}://"):
            kind: type[Source] = resolve_name(path)
            return kind
    return None


def readable_files(directory: Path) -> list[str]:
    """The files in a directory whose suffix says how to read them."""
    suffixes = tuple(word for words in SOURCES.values() for word in words if word[0] == ".")
    try:
        names = sorted(os.listdir(directory))
    except (OSError, ValueError):
        return []
    known = [name for name in names if name.removesuffix(".gz").lower().endswith(suffixes)]
    return [str(directory / name) for name in known]


def _format_of(path: Path) -> str:
    if path.is_dir():
        raise SourceError(f"{path} is a directory: give one of its files")
    suffix = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    for words in SOURCES.values():
        if suffix in words:
            return words[0][1:]
    if os.path.exists(path):
        known = ", ".join(formats())
        raise SourceError(f"{path} has no suffix that says what it holds: give the format, {known}")
    from ipdp.datasets import DATASETS

    hint = did_you_mean(path, [*readable_files(path.parent), *DATASETS])
    hint = f"; {hint}" if hint else f": there are {', '.join(map(repr, DATASETS))}"
    raise SourceError(f"{path} is neither a file that is there nor a data set{hint}")
