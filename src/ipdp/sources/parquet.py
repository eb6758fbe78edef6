"""Parquet files, a batch of rows in memory at a time."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ipdp.core.typing import Array
from ipdp.core.words import shown
from ipdp.sources.base import Source, SourceError
from ipdp.sources.columns import BadRecord
from ipdp.sources.lines import MAX_LINE

_BATCH = 64  # rows that are read at a time, each of which may be long


class ParquetSource(Source):
    """The rows of a Parquet file; dates and times are given as text."""

    def __init__(self, file: str | Path, **options: Any) -> None:
        super().__init__(str(file), **options)
        try:
            pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise ImportError("Parquet files need pyarrow: pip install 'ipdp[arrow]'") from None
        try:
            # Whole, since hdfs:/rows.parquet is an address to Arrow, to which it would connect.
            path = os.path.abspath(file)
            self._file: Any = parquet.ParquetFile(path, page_checksum_verification=True)
            self.columns.start(self._file.schema_arrow.names)
            self._must_hold_values()
        except (OSError, pa.ArrowException) as error:
            raise SourceError(f"{self.name} cannot be read: {_sentence(error)}") from None
        except BadRecord as error:
            raise SourceError(f"{self.name}: {error}") from None
        self._damage = (OSError, pa.ArrowException)
        self._row = self._start = 0
        self._last: dict[str, Any] | None = None  # the last row

    def _must_hold_values(self) -> None:
        """Refuse lists, which are no values: of some kilobytes Arrow makes gigabytes of them."""
        schema = self._file.schema
        lists = (c.path for c in map(schema.column, range(len(schema))) if c.max_repetition_level)
        for path in lists:
            for name in self.columns.wanted:
                if f"{path}.".startswith(f"{name}."):
                    raise BadRecord(
                        f"the column {shown(name)} holds lists, which are no values of a feature: "
                        "drop it"
                    )

    @property
    def _total(self) -> int | None:
        return int(self._file.metadata.num_rows)

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        row = self._start
        for record in self._records():
            if self._is_interrupted:
                return
            row += 1
            plain = {name: _plain(value) for name, value in (record or {}).items()}
            try:
                if record is None:
                    raise BadRecord(f"a value is longer than {MAX_LINE:,} bytes")
                observation = self.columns.of_values(plain)
            except BadRecord as error:
                self._reject(f"row {row:,}", error)
                continue
            self._row, self._last = row, plain
            yield observation

    def _records(self) -> Iterator[dict[str, Any] | None]:
        """The rows from the start position on, None for one that is too long.

        Row groups before it are not read.
        """
        groups, skip = list(range(self._file.num_row_groups)), self._start
        while groups and skip >= (size := self._file.metadata.row_group(groups[0]).num_rows):
            del groups[0]
            skip -= size
        try:
            for batch in self._file.iter_batches(_BATCH, groups, [*self.columns.wanted]):
                rows = batch[skip:]
                skip = max(skip - len(batch), 0)
                yield from _records_of(rows)
        except self._damage as error:
            raise SourceError(f"{self.name} is damaged: {_sentence(error)}") from None

    def _where(self) -> dict[str, Any]:
        where = {"row": self._row}
        return where if self._last is None else {**where, "last": _checksum(self._last)}

    def _go(self, position: Mapping[str, Any]) -> None:
        row = position["row"]
        if row > (n_rows := self._file.metadata.num_rows):
            raise BadRecord(f"it has {n_rows:,} rows and {row:,} were read")
        if "last" in position:  # earlier versions did not keep it
            self._start = row - 1
            last = next(self._records()) or {}
            self._last = {name: _plain(value) for name, value in last.items()}
            if _checksum(self._last) != position["last"]:
                raise BadRecord(
                    f"row {row:,} is not the one that was read last; "
                    "put the old file back, or begin a new run"
                )
        self._start = self._row = row

    def close(self) -> None:
        self._file.close()


def _records_of(rows: Any) -> Iterator[dict[str, Any] | None]:
    """The rows of a batch; one that is too long is not made, which would take several times more.

    A file of some kilobytes may hold a text of gigabytes.
    """
    is_long = _longest(rows) > MAX_LINE if rows.nbytes > MAX_LINE else np.zeros(1, dtype=bool)
    if not is_long.any():
        yield from rows.to_pylist()
        return
    for k, is_one in enumerate(is_long.tolist()):
        yield None if is_one else rows[k : k + 1].to_pylist()[0]


def _longest(rows: Any) -> Array:
    """Bytes of the longest value of each row, of those that can be of any length."""
    pc, types = import_module("pyarrow.compute"), import_module("pyarrow.types")
    longest = np.zeros(len(rows))
    for column in rows.columns:
        if types.is_dictionary(column.type) and _is_text(types, column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices).fill_null(0)
        elif _is_text(types, column.type):
            lengths = pc.binary_length(column).fill_null(0)
        elif types.is_nested(column.type):
            lengths = [column[k : k + 1].nbytes for k in range(len(column))]
        else:
            continue
        longest = np.maximum(longest, np.asarray(lengths))
    return longest


def _is_text(types: Any, kind: Any) -> bool:
    is_small = types.is_string(kind) or types.is_binary(kind)
    return bool(is_small or types.is_large_string(kind) or types.is_large_binary(kind))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if value is None or isinstance(value, (bool, int, float, str, bytes, list, dict)):
        return value
    return str(value)


def _checksum(row: Mapping[str, Any]) -> int:
    return zlib.crc32(repr(row).encode(errors="surrogatepass"))


def _sentence(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
