"""Standard input: CSV or JSON Lines, whichever it turns out to be."""

from __future__ import annotations

import io
import sys
from typing import IO, Any

from ipdp.sources.base import Source, SourceError
from ipdp.sources.open import Format, open_rows


def open_stdin(
    format: Format | None,  # noqa: A002
    *,
    delimiter: str | None = None,
    file: IO[bytes] | None = None,
    **options: Any,
) -> Source:
    """A source of the rows that come in through a pipe.

    Parameters
    ----------
    format
        "csv", "tsv" or "jsonl"; None waits for the first character: JSON Lines begin with "{".
    delimiter, **options
        As in `open_source`.
    file
        What to read instead of standard input, for tests.
    """
    if format == "parquet":
        raise SourceError("Parquet cannot be read from a pipe: give the file")
    stream = file or sys.stdin.buffer
    if file is None and sys.stdin.isatty():
        raise SourceError("standard input is a terminal: pipe a file into the command")
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    if format is None:
        start = buffered.peek(16)[:16].removeprefix(b"\xef\xbb\xbf").lstrip()
        format = "jsonl" if start.startswith(b"{") else "csv"  # noqa: A001
    return open_rows(buffered, format, delimiter=delimiter, name="standard input", **options)
