"""CSV files: a header, then a row of fields a line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ipdp.core.words import shown
from ipdp.sources.base import SourceError
from ipdp.sources.columns import DECIMAL_COMMA, BadRecord, number_of
from ipdp.sources.lines import MAX_LINE, Line, TextSource

_DELIMITERS = ",;\t|"
# Two stray quotes would else make one field of all the rows between them.
_MOST_LINES = 200
_LONG_FIELD = 1 << 17  # of Python's csv module


class CsvSource(TextSource):
    """A file of rows, with the names of the columns in the first line.

    Fields may be quoted, and a row with quoted fields may go over 200 lines. A quote that is not
    closed by then makes its own line invalid and no other. The delimiter is that of comma,
    semicolon, tab and bar which the header has most of, unless it is given. Without a `header` the
    columns are called column_1, column_2, ...; with `decimal` "," numbers have a decimal comma,
    with "auto" they may have one wherever commas do not separate the fields.
    """

    _delimiter: str | None = None

    def __init__(
        self,
        file: Any,
        *,
        delimiter: str | None = None,
        header: bool = True,
        decimal: str = "auto",
        **options: Any,
    ) -> None:
        super().__init__(file, **options)
        self._n_header = int(header)
        self.decimal = decimal
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, got {shown(delimiter)}")
        self.delimiter = delimiter or self._delimiter
        self._header: tuple[str, ...] | None = None
        self._body: Line  # the last line of the header
        self._used: list[Line] = []  # the lines of the row that was read last

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        if self._header is None:
            self._read_header()
        return super()._observations()

    def _go(self, position: Mapping[str, Any]) -> None:
        if self._header is None:
            self._read_header()
            self.columns.restore(position)
        if position["offset"] < self._body.end:  # taken before anything was read
            position = {"offset": self._body.end, "line": self._body.number}
        super()._go(position)

    def _read_header(self) -> None:
        while (line := self._read()) is not None and line.content == b"":
            pass
        if line is None:
            if self._is_interrupted:
                return
            raise SourceError(f"{self.name} is empty: the first line must name the columns")
        try:
            fields: list[str] = []
            text = line.text()
            if self.delimiter is None:
                self.delimiter = max(_DELIMITERS, key=text.count)
            fields, last = self._fields(line)
            given = fields if self._n_header else [""] * len(fields)
            names = [name.strip() or f"column_{k}" for k, name in enumerate(given, start=1)]
            if len(counts := Counter(names)) < len(names):
                twice = next(name for name in names if counts[name] > 1)
                raise BadRecord(f"two columns are called {twice!r}")
            self.columns.start(names)
        except BadRecord as error:
            is_data = self._n_header and _has_numbers(fields)
            hint = "; if the first line is data, give --no-header" if is_data else ""
            where = f"{'header in ' * self._n_header}line {line.number}"
            raise SourceError(f"{self.name}, {where}: {error}{hint}") from None
        self._header, self._body = tuple(names), last
        if not self._n_header:  # the line is to be read again, as a row
            self._lines.unread(self._used)
            self._body = Line(b"", line.number - 1, line.start, line.start)

    def _parse(self, line: Line) -> tuple[tuple[dict[str, Any], Any], Line]:
        assert self._header is not None
        fields, last = self._fields(line)
        if len(fields) != len(self._header):
            much = "few" if len(fields) < len(self._header) else "many"
            raise BadRecord(f"too {much} fields: {len(fields)} for {len(self._header)} columns")
        if self.decimal == "," or (self.decimal == "auto" and self.delimiter != ","):
            fields = self._with_points(fields)
        return self.columns.of_texts(fields), last

    def _with_points(self, fields: list[str]) -> list[str]:
        """The fields of a row with a point for a decimal comma, but for those of text columns."""
        assert self._header is not None
        kinds = self.columns.kinds
        named = zip(self._header, fields, strict=True)
        return [field if kinds.get(name) == "text" else _with_point(field) for name, field in named]

    def _fields(self, line: Line) -> tuple[list[str], Line]:
        """The fields of the row that begins with a line, and the row's last line."""
        text = line.text()
        assert self.delimiter is not None
        used = self._used = [line]
        if '"' not in text and len(text) < _LONG_FIELD:
            return text.split(self.delimiter), line
        try:
            rows = csv.reader(self._more(used), delimiter=self.delimiter, strict=True)
            return next(rows), used[-1]
        except (csv.Error, BadRecord) as error:
            # Only the first line is bad for sure: the others may be rows of their own.
            self._lines.unread(used[1:])
            if "field limit" in str(error):
                raise BadRecord(f"a field has more than {_LONG_FIELD:,} characters") from None
            raise BadRecord(f"the quotes do not fit: {error}") from None

    def _more(self, used: list[Line]) -> Iterator[str]:
        """The texts of a row's lines, as far as they are asked for."""
        size = len(used[0].content or b"")
        yield used[0].text() + "\n"
        while size <= MAX_LINE and len(used) < _MOST_LINES and (line := self._read()) is not None:
            used.append(line)
            size += len(line.content or b"") + 1
            yield line.text() + "\n"


def _has_numbers(fields: list[str]) -> bool:
    return any(number_of(field.strip()) is not None for field in fields)


def _with_point(field: str) -> str:
    """A number with a decimal comma as one with a point, without points between thousands."""
    text = field.strip()
    return text.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else field


class TsvSource(CsvSource):
    """A file of rows with tabs between the fields."""

    _delimiter = "\t"
