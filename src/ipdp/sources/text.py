"""What CSV and JSON Lines have in common: one line after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ipdp.sources.base import Interrupted, Source, SourceError
from ipdp.sources.lines import DAMAGED, Line, Lines, open_binary
from ipdp.sources.values import BadRecord

# Files up to this size are counted for the progress bar: some hundredths of a second.
_COUNTED = 128 << 20


class TextSource(Source):
    """A source of lines.

    Parameters
    ----------
    file
        A path (compressed if it ends in .gz), or a binary file that is open.
    name
        What the source is called in messages; the path by default.
    **options
        As in `Source`.
    """

    def __init__(self, file: str | Path | IO[bytes], *, name: str | None = None, **options: Any):
        self._path = Path(file) if isinstance(file, (str, Path)) else None
        super().__init__(name or str(self._path or "the input"), **options)
        try:
            self._file = open_binary(self._path) if self._path else file
        except OSError as error:
            raise SourceError(f"{self.name} cannot be read: {error.strerror or error}") from None
        self._lines = Lines(self._file)  # type: ignore[arg-type]  # paths are open by now
        self._end = self._number = 0

    @property
    def _total(self) -> int | None:
        if self._path is None or self._path.suffix.lower() == ".gz":
            return None
        if not self._path.is_file() or self._path.stat().st_size > _COUNTED:
            return None
        last = b"\n"
        n_lines = 0
        with self._path.open("rb") as file:
            while chunk := file.read(1 << 20):
                n_lines += chunk.count(b"\n")
                last = chunk
        return max(n_lines + (not last.endswith(b"\n")) - self._n_header, 0)

    _n_header = 0

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        while (line := self._read()) is not None:
            if not line.content and line.content is not None:
                continue  # an empty line is nothing, not an error
            try:
                observation, last = self._parse(line)
            except BadRecord as error:
                self._reject(f"line {line.number:,}", error)
                continue
            self._end, self._number = last.end, last.number
            yield observation

    def _parse(self, line: Line) -> tuple[tuple[dict[str, Any], Any], Line]:
        """The observation that begins with a line, and its last line."""
        raise NotImplementedError

    def _read(self) -> Line | None:
        """The next line, or None at the end or when interrupted while waiting for it."""
        if self._is_interrupted:
            return None
        try:
            self._is_waiting = True
            line = self._lines.read()
            self._is_waiting = False
        except Interrupted:
            return None
        except DAMAGED as error:
            raise SourceError(
                f"{self.name} is damaged after line {self._lines.number:,}: {error}"
            ) from None
        except OSError as error:
            raise SourceError(f"{self.name} cannot be read: {error.strerror or error}") from None
        except BadRecord as error:
            raise SourceError(f"{self.name}: {error}") from None
        finally:
            self._is_waiting = False
        return line

    def _where(self) -> dict[str, Any]:
        return {"offset": self._end, "line": self._number}

    def _go(self, position: Mapping[str, Any]) -> None:
        try:
            self._lines.go(position["offset"], position["line"])
        except (*DAMAGED, OSError) as error:
            raise SourceError(f"{self.name} cannot be read: {error}") from None
        self._end, self._number = position["offset"], position["line"]

    def close(self) -> None:
        if self._path is not None:
            self._file.close()  # type: ignore[union-attr]
