"""Lines of a file, a compressed file or a pipe, one at a time, with their places."""

from __future__ import annotations

import gzip
import io
import zlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ipdp.sources.values import BadRecord

MAX_LINE = 1 << 20
"""Bytes that a line may have; a longer one is an error and is not held in memory."""

_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end: its bytes (None: too many), its number from 1, where it ends."""

    content: bytes | None
    number: int
    end: int

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
    """Reads lines of bounded length and remembers where it is.

    Parameters
    ----------
    file
        A binary file, positioned at its start; it need not be able to seek.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._offset = self.number = 0
        self._again: deque[Line] = deque()

    def read(self) -> Line | None:
        """The next line; None at the end."""
        if self._again:
            return self._again.popleft()
        content: bytes | None = self._file.readline(MAX_LINE + 2)
        assert content is not None
        if not content:
            return None
        if self._offset == 0:
            content = self._without_bom(content)
        self._offset += len(content)
        self.number += 1
        # A line may be as long as allowed and have an end of two bytes.
        if len(content.rstrip(b"\r\n")) > MAX_LINE or not self._is_complete(content):
            self._pass_over(content)
            content = None
        elif content.endswith(b"\r\n"):
            content = content[:-2]
        elif content.endswith(b"\n"):
            content = content[:-1]
        return Line(content, self.number, self._offset)

    def unread(self, lines: list[Line]) -> None:
        """Give lines back, to be read again."""
        self._again.extendleft(reversed(lines))

    def go(self, offset: int, number: int) -> None:
        """Go to where a line has ended."""
        self._again.clear()
        if self._file.seekable():
            size = self._file.seek(0, io.SEEK_END) if _is_plain(self._file) else offset
            if size < offset:
                raise BadRecord(f"it has {size:,} bytes and {offset:,} were read before")
            self._file.seek(offset)
        else:
            self._discard(offset - self._offset)
        self._offset, self.number = offset, number

    def _without_bom(self, content: bytes) -> bytes:
        for bom, encoding in _OTHER_BOMS.items():
            if content.startswith(bom):
                raise BadRecord(f"the text is {encoding}; save it as UTF-8")
        if content.startswith(_BOM):
            self._offset += len(_BOM)
            return content[len(_BOM) :]
        return content

    def _is_complete(self, content: bytes) -> bool:
        return content.endswith(b"\n") or len(content) < MAX_LINE + 2

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


def open_binary(path: Path) -> IO[bytes]:
    """A file, decompressed on the way if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path)  # type: ignore[return-value]  # it reads like a file
    return path.open("rb")


def _is_plain(file: IO[bytes]) -> bool:
    """Whether the size of a file is known without reading it."""
    return isinstance(file, (io.BufferedReader, io.BytesIO))


DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)
"""What a damaged or incomplete compressed file raises."""
