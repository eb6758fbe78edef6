"""What can be wrong with a log, in one sentence each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LogError(ValueError):
    """A log could not be read or written; the message says why and what to do."""


_SENTENCES = {
    "SQLITE_FULL": "the disk of {path} is full: make room and go on, what was logged is kept",
    "SQLITE_NOTADB": "{path} is no log of ipdp: it is not a SQLite file",
    "SQLITE_CORRUPT": "{path} is damaged ({error}): take a copy of it from before",
    "SQLITE_READONLY": "{path} cannot be written: the file or its directory is read-only",
    "SQLITE_CANTOPEN": "{path} cannot be opened: its directory is read-only or not accessible",
    "SQLITE_PERM": "{path} cannot be opened: its directory is read-only or not accessible",
    "SQLITE_BUSY": "{path} is locked by another program: close what is open on it",
    "SQLITE_IOERR": "{path} could not be read or written ({error}): check its disk",
}


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Say what SQLite or the operating system has against a file in a sentence."""
    try:
        yield
    except PermissionError as error:
        raise LogError(_SENTENCES["SQLITE_PERM"].format(path=path)) from error
    except UnicodeDecodeError as error:  # text that is none, in the tables themselves
        raise LogError(_SENTENCES["SQLITE_CORRUPT"].format(path=path, error=error)) from error
    except sqlite3.Error as error:
        # SQLITE_IOERR_SHORT_READ, SQLITE_READONLY_DIRECTORY, ... are kinds of what comes first.
        name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
        sentence = _SENTENCES.get(name, "{path} could not be used: {error}")
        raise LogError(sentence.format(path=path, error=error)) from error


def following(path: Path, last: float, newest: int) -> int:
    """Where the next page begins; it must lie further on, which a damaged file does not grant."""
    if newest <= last:
        raise LogError(_SENTENCES["SQLITE_CORRUPT"].format(path=path, error="rows out of order"))
    return newest
