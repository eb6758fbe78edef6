"""Data sets that lie in a file: where to look, how to read, what to say when there is none."""

from __future__ import annotations

import csv
import gzip
import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from river.datasets import base

Example = tuple[dict[str, Any], Any]
"""An observation and its target."""

VARIABLE = "IPDP_DATA"
"""Environment variable that names a directory to look in first."""

# What the libraries raise when a file is not what its name says, or only a part of it.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    UnicodeDecodeError,
)


class Rows(base.Dataset):
    """A finite data set with river's interface, read anew each time it is iterated over.

    `rows` gives the examples from the first on; `source` says where they come from.
    """

    def __init__(
        self,
        rows: Callable[[], Iterable[Example]],
        *,
        name: str,
        source: str,
        task: str,
        n_features: int,
        n_samples: int,
        n_classes: int | None = None,
    ) -> None:
        super().__init__(  # type: ignore[no-untyped-call] # river is not typed there
            task=task, n_features=n_features, n_samples=n_samples, n_classes=n_classes, n_outputs=1
        )
        self.name = name
        self.source = source
        self._rows = rows

    def __iter__(self) -> Iterator[Example]:
        yield from self._rows()

    @property
    def desc(self) -> str:
        """Where the data come from."""
        return f"{self.name}, from {self.source}"

    def __repr__(self) -> str:
        return f"<{self.desc}: {self.n_samples:,} observations, {self.n_features} features>"


def find(path: str | Path | None, names: Sequence[str]) -> Path | None:
    """The first of these names that is in a directory, or the file itself if one was given.

    None looks where IPDP_DATA says.
    """
    place = path or os.environ.get(VARIABLE)
    if not place:
        return None
    place = Path(place).expanduser()
    if path and place.is_file():
        return place
    if not place.is_dir():
        what = "There is no file" if path else f"{VARIABLE} is no directory:"
        raise FileNotFoundError(f"{what} {place}")
    found = next((place / name for name in names if (place / name).is_file()), None)
    if path and not found:
        raise FileNotFoundError(f"There is none of {', '.join(names)} in {place}")
    return found


def read_csv(
    path: Path, columns: Sequence[str], convert: Callable[[dict[str, str]], Example]
) -> Iterator[Example]:
    """The rows of a csv file, plain or in .gz, .zip or .tgz.

    These columns must be in its first line; a .data file has no such line, and these columns.
    """
    with _text(path) as (name, file):
        reader = csv.DictReader(file, fieldnames=columns if name.endswith(".data") else None)
        absent = [name for name in columns if name not in (reader.fieldnames or ())]
        if absent:
            raise ValueError(f"{path} has no column {', '.join(absent)}: it is another file")
        for row in reader:
            try:
                example = convert(row)
            except (TypeError, ValueError, KeyError, ZeroDivisionError) as error:
                raise ValueError(f"line {reader.line_num} of {path}: {error}") from error
            yield example


@contextmanager
def _text(path: Path) -> Iterator[tuple[str, IO[str]]]:
    """The table in a file: its name and its text."""
    try:
        with ExitStack() as stack:
            name = path.name
            file: Any = None  # of bytes, as every library calls it
            if path.suffix == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                name = _table(archive.namelist(), path)
                file = stack.enter_context(archive.open(name))
            elif path.suffix == ".tgz":
                tar = stack.enter_context(tarfile.open(path))
                name = _table(tar.getnames(), path)
                file = tar.extractfile(name)
            elif path.suffix == ".gz":
                file = stack.enter_context(gzip.open(path))
            binary = file or stack.enter_context(path.open("rb"))
            yield name, io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
    except _DAMAGED as error:
        raise ValueError(f"{path} cannot be read, it may be damaged: {error}") from error


def _table(names: Sequence[str], path: Path) -> str:
    table = next((name for name in names if name.endswith((".csv", ".data"))), None)
    if table is None:
        raise ValueError(f"there is no csv file in {path}")
    return table
