"""What CSV and JSON Lines have in common: one line after the other, each with its place."""

from __future__ import annotations

import gzip
import io
import zlib
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ipdp.sources.base import Interrupted, Source, SourceError
from ipdp.sources.columns import BadRecord

MAX_LINE = 1 << 20
"""Bytes that a line may have; a longer one is an error and is not held in memory."""

# Files up to this size are counted for the progress bar: some hundredths of a second.
_COUNTED = 128 << 20
_BOM = b"\xef\xbb\xbf"
_START_ANEW = "put the old file back, or begin a new run"
# What a damaged or incomplete compressed file raises.
_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


class TextSource(Source):
    """A source of lines: a path (compressed if it ends in .gz), or a binary file that is open."""

    _n_header = 0

    def __init__(self, file: str | Path | IO[bytes], *, name: str | None = None, **options: Any):
        self._path = Path(file) if isinstance(file, (str, Path)) else None
        super().__init__(name or str(self._path or "the input"), **options)
        self._file: Any = file
        if self._path is not None:
            opened: Any = gzip.open if self._is_compressed else open
            try:
                self._file = opened(self._path, "rb")
            except OSError as error:
                raise self._unreadable(error) from None
        self._lines = Lines(self._file)
        self._last = Line(b"", 0, 0, 0)  # of the last observation

    @property
    def is_live(self) -> bool:  # type: ignore[override]
        return self._path is None or not self._path.is_file()

    @property
    def _is_compressed(self) -> bool:
        return self._path is not None and self._path.suffix.lower() == ".gz"

    @property
    def _total(self) -> int | None:
        if self._path is None or self._is_compressed or not self._path.is_file():
            return None
        if self._path.stat().st_size > _COUNTED:
            return None
        last = b"\n"
        n_lines = 0
        with self._path.open("rb") as file:
            while chunk := file.read(1 << 20):
                n_lines += chunk.count(b"\n")
                last = chunk
        return max(n_lines + (not last.endswith(b"\n")) - self._n_header, 0)

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        while (line := self._read()) is not None:
            if line.content == b"":
                continue  # an empty line is nothing, not an error
            try:
                observation, last = self._parse(line)
            except BadRecord as error:
                self._reject(f"line {line.number:,}", error)
                continue
            self._last = last
            yield observation

    @abstractmethod
    def _parse(self, line: Line) -> tuple[tuple[dict[str, Any], Any], Line]:
        """The observation that begins with a line, and its last line."""

    def _read(self) -> Line | None:
        """The next line, or None at the end or when interrupted while waiting for it."""
        if self._is_interrupted:
            return None
        try:
            self._is_waiting = True
            line = self._lines.read()
            self._is_waiting = False  # here already, where an interrupt is caught
        except Interrupted:
            return None
        except _DAMAGED as error:
            after = f"after line {self._lines.number:,}"
            raise SourceError(f"{self.name} is damaged {after}: {error}") from None
        except OSError as error:
            raise self._unreadable(error) from None
        except BadRecord as error:
            raise SourceError(f"{self.name}: {error}") from None
        finally:
            self._is_waiting = False
        return line

    def _unreadable(self, error: Exception) -> SourceError:
        return SourceError(f"{self.name} cannot be read: {getattr(error, 'strerror', 0) or error}")

    def _where(self) -> dict[str, Any]:
        last = self._last
        where = {"offset": last.end, "line": last.number}
        return {**where, "last": [last.start, last.checksum]} if last.number else where

    def _go(self, position: Mapping[str, Any]) -> None:
        offset, number = position["offset"], position["line"]
        # Where the last line began, and its checksum; earlier versions did not keep them.
        start, checksum = position.get("last", (offset, None))
        try:
            self._lines.go(start, number - (checksum is not None), n_read=offset)
            last = None if checksum is None else self._lines.read()
        except (*_DAMAGED, OSError) as error:
            raise self._unreadable(error) from None
        if checksum is None:
            self._last = Line(b"", number, offset, offset)
        elif last is None or last.checksum != checksum:
            raise BadRecord(f"line {number:,} is not the one that was read last; {_START_ANEW}")
        else:
            self._last = last

    def close(self) -> None:
        if self._path is not None:
            self._file.close()


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end: its bytes (None: too many), its number from 1, where it is."""

    content: bytes | None
    number: int
    start: int
    end: int

    @property
    def checksum(self) -> int:
        """Tells it from other lines."""
        return zlib.crc32(self.content or b"")

    def text(self) -> str:
        """The line as text, or BadRecord."""
        if self.content is None:
            raise BadRecord(f"the line is longer than {MAX_LINE:,} bytes")
        if b"\0" in self.content:
            raise BadRecord("the line has a NUL character")
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise BadRecord(f"byte {error.start + 1} of the line is not UTF-8") from None


class Lines:
    """Reads lines of bounded length of a binary file, which need not be able to seek."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._offset = self.number = 0
        self._again: deque[Line] = deque()

    def read(self) -> Line | None:
        """The next line; None at the end."""
        if self._again:
            return self._again.popleft()
        start = self._offset
        content: bytes | None = self._file.readline(MAX_LINE + 2)
        if not content:
            return None
        if self._offset == 0:
            content = self._without_bom(content)
        self._offset += len(content)
        self.number += 1
        is_complete = content.endswith(b"\n") or len(content) < MAX_LINE + 2
        # A line may be as long as allowed and have an end of two bytes.
        if len(content.rstrip(b"\r\n")) > MAX_LINE or not is_complete:
            self._pass_over(content)
            content = None
        else:
            content = content.removesuffix(b"\r\n" if content.endswith(b"\r\n") else b"\n")
        return Line(content, self.number, start, self._offset)

    def unread(self, lines: list[Line]) -> None:
        """Give lines back, to be read again."""
        self._again.extendleft(reversed(lines))

    def go(self, offset: int, number: int, n_read: int) -> None:
        """Go to where a line has ended, in a file of which `n_read` bytes were read before."""
        self._again.clear()
        if self._file.seekable():
            # The size of a compressed file is not known without reading it.
            is_plain = isinstance(self._file, (io.BufferedReader, io.BytesIO))
            size = self._file.seek(0, io.SEEK_END) if is_plain else n_read
            if size < n_read:
                raise BadRecord(f"it has {size:,} bytes and {n_read:,} were read before")
            self._file.seek(offset)
        else:
            self._discard(offset - self._offset)
        self._offset, self.number = offset, number

    def _without_bom(self, content: bytes) -> bytes:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise BadRecord("the text is UTF-16; save it as UTF-8")
        if content.startswith(_BOM):
            self._offset += len(_BOM)
        return content.removeprefix(_BOM)

    def _pass_over(self, content: bytes) -> None:
        """Read on to the end of a line that is too long."""
        while content and not content.endswith(b"\n"):
            content = self._file.readline(MAX_LINE)
            self._offset += len(content)

    def _discard(self, n_bytes: int) -> None:
        while n_bytes > 0:
            chunk = self._file.read(min(n_bytes, MAX_LINE))
            if not chunk:
                raise BadRecord("the input is shorter than what was read before")
            n_bytes -= len(chunk)
