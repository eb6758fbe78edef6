"""Parquet files, a batch of rows in memory at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from ipdp.sources.base import Source, SourceError
from ipdp.sources.columns import BadRecord

_BATCH = 1024


class ParquetSource(Source):
    """The rows of a Parquet file; dates and times are given as text."""

    def __init__(self, file: str | Path, **options: Any) -> None:
        super().__init__(str(file), **options)
        try:
            pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise ImportError("Parquet files need pyarrow: pip install 'ipdp[arrow]'") from None
        try:
            self._file: Any = parquet.ParquetFile(file, page_checksum_verification=True)
            self.columns.start(self._file.schema_arrow.names)
        except (OSError, pa.ArrowException) as error:
            raise SourceError(f"{self.name} cannot be read: {_sentence(error)}") from None
        except BadRecord as error:
            raise SourceError(f"{self.name}: {error}") from None
        self._damage = (OSError, pa.ArrowException)
        self._row = self._start = 0
        self._last: dict[str, Any] | None = None  # the last row

    @property
    def _total(self) -> int | None:
        return int(self._file.metadata.num_rows)

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        row = self._start
        for record in self._records():
            if self._is_interrupted:
                return
            row += 1
            plain = {name: _plain(value) for name, value in record.items()}
            try:
                observation = self.columns.of_values(plain)
            except BadRecord as error:
                self._reject(f"row {row:,}", error)
                continue
            self._row, self._last = row, plain
            yield observation

    def _records(self) -> Iterator[dict[str, Any]]:
        """The rows from the start position on; row groups before it are not read."""
        groups, skip = list(range(self._file.num_row_groups)), self._start
        while groups and skip >= (size := self._file.metadata.row_group(groups[0]).num_rows):
            del groups[0]
            skip -= size
        try:
            for batch in self._file.iter_batches(_BATCH, groups, [*self.columns.wanted]):
                records = batch.to_pylist()[skip:]
                skip = max(skip - len(batch), 0)
                yield from records
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
            self._last = {name: _plain(value) for name, value in next(self._records()).items()}
            if _checksum(self._last) != position["last"]:
                raise BadRecord(
                    f"row {row:,} is not the one that was read last; "
                    "put the old file back, or begin a new run"
                )
        self._start = self._row = row

    def close(self) -> None:
        self._file.close()


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
