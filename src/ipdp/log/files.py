"""Finding, recognising, opening and locking the file of a log, and what can be wrong with it."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ipdp.core.files import must_be_another
from ipdp.log import schema

NAME = "log.db"
"""Name of the log in a run's directory."""

CHECKPOINT = "checkpoint.ipdp"
"""Name of the checkpoint beside it."""

PathLike = str | os.PathLike[str]
_TIMEOUT = 10.0
# In seconds: a file can be made so that a question to it never ends.
_PATIENCE = 60.0
# In steps of SQLite's machine, how often the clock is looked at.
_STEPS = 100_000
# What SQLite and ipdp put beside a log.
_BESIDE = ("-wal", "-shm", "-journal", "-lock", "-lock-wal", "-lock-shm", "-lock-journal")
# At the end of a journal that names one of several databases, behind the name.
_OF_SEVERAL = bytes.fromhex("d9d505f920a163d7")
# In bytes: no curve comes near to it.
_LARGEST_VALUE = 64 * 2**20
_BUSY = "{path} is being written by another run: wait until it ends, or log to another file"


class LogError(ValueError):
    """A log could not be read or written; the message says why and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ipdp
    >>> file = Path(tempfile.mkdtemp(), "log.db")
    >>> _ = file.write_text("this is no log")
    >>> try:
    ...     ipdp.LogReader(file)
    ... except ipdp.log.LogError:
    ...     print("it is refused, and left as it is")
    it is refused, and left as it is
    """


_SENTENCES = {
    "SQLITE_FULL": "the disk of {path} is full: make room and go on, what was logged is kept",
    "SQLITE_NOTADB": "{path} is no log of ipdp: it is not a SQLite file",
    "SQLITE_CORRUPT": "{path} is damaged ({error}): take a copy of it from before",
    "SQLITE_READONLY": "{path} cannot be written: the file or its directory is read-only",
    "SQLITE_CANTOPEN": "{path} cannot be opened: its directory is read-only or not accessible",
    "SQLITE_PERM": "{path} cannot be opened: its directory is read-only or not accessible",
    "SQLITE_BUSY": "{path} is locked by another program: close what is open on it",
    "SQLITE_INTERRUPT": "{path} took too long to answer: it is damaged, or was made to hang",
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


def find(path: PathLike) -> Path:
    """The log that a path means: the file itself, or the one in a run's directory."""
    path = Path(path)
    with sentences(path):
        is_directory = path.is_dir()
        file = path / NAME if is_directory else path
        if file.exists():
            return file
    if is_directory:
        raise FileNotFoundError(f"there is no log in {path}: a run's directory holds {NAME}")
    raise FileNotFoundError(f"there is no log at {path}: give a run's directory or its {NAME}")


def place(path: PathLike) -> Path:
    """Where a log is to be written; a path without a suffix is a run's directory."""
    path = Path(path)
    with sentences(path):
        file = path / NAME if path.is_dir() or not (path.suffix or path.exists()) else path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LogError(f"{file.parent} cannot be made: {error.strerror}") from error
        if _size(file):
            _recognise(file)  # before anything is put next to it
    return file


def must_not_replace(file: PathLike, log: Path) -> None:
    """Refuse to write a file in the place of a log that is read, or of what belongs to its run."""
    names = (log.name, *(log.name + end for end in _BESIDE), CHECKPOINT)
    must_be_another(Path(file), *(log.with_name(name) for name in names))


def _must_be_plain(path: Path) -> None:
    """Refuse a log that is a pipe or a device, which may never answer, and links beside it.

    SQLite opens what lies beside a log without asking what it is: a link would be written through.
    And when it takes back what a journal says was not finished, it deletes the file that the
    journal names as that of several databases at once, which ipdp never writes.
    """
    file = path.resolve()
    for name in (file, *(file.with_name(file.name + end) for end in _BESIDE)):
        try:
            mode = name.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise LogError(f"{name} is no plain file: what ipdp writes there is one")
        if name.name.endswith("-journal") and _ends_with(name, _OF_SEVERAL):
            raise LogError(f"{name} names a file that SQLite would delete: remove it")


def _ends_with(file: Path, end: bytes) -> bool:
    with file.open("rb") as journal:
        journal.seek(-min(len(end), file.stat().st_size), os.SEEK_END)
        return journal.read() == end


def _recognise(path: Path) -> None:
    """Refuse what is no log, or one of a newer version, without touching it."""
    _must_be_plain(path)
    # By SQLite itself: if this process writes the log, closing a handle of our own would drop the
    # writer's locks. As immutable, so that SQLite puts no files of its own beside it.
    address = f"{path.resolve().as_uri()}?immutable=1"
    with sentences(path), closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            _refuse_others(path, connection)
        except sqlite3.DatabaseError as error:
            name = getattr(error, "sqlite_errorname", "")
            if name == "SQLITE_NOTADB":
                raise LogError(f"{path} is no log of ipdp") from None
            if name != "SQLITE_CORRUPT":  # which a log that is being written may seem to be
                raise


def _refuse_others(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != schema.APPLICATION:
        raise LogError(f"{path} is no log of ipdp")
    _refuse_newer(path, schema.version(connection))


def _refuse_newer(path: Path, version: int) -> None:
    """Refuse a version that this ipdp does not know."""
    newest = len(schema.MIGRATIONS)
    if version > newest:
        raise LogError(
            f"{path} was written by a newer ipdp (log version {version}, this one knows up to "
            f"{newest}): update ipdp to read it"
        )


def _refuse_foreign(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse tables that are none, or not those of its version; further ones are left alone."""
    _refuse_others(path, connection)
    problem = schema.difference(connection)
    if problem:
        raise LogError(f"{path} is no log that ipdp has written: {problem}")


def open_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection; older versions are read as they are."""
    _recognise(path)
    address = path.resolve().as_uri()
    with sentences(path):
        try:
            connection = _connect(f"{address}?mode=ro")
        except sqlite3.OperationalError as error:
            denied = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
            if not error.sqlite_errorname.startswith(denied) or _size(Path(f"{path}-wal")):
                raise
            # A finished log in a read-only directory: there is no place for SQLite's own files,
            # and no need of them, since nobody writes.
            connection = _connect(f"{address}?immutable=1")
        with closed_on_error(connection):
            _refuse_foreign(path, connection)
    return connection


def open_to_write(path: Path, *, full: bool) -> sqlite3.Connection:
    """A connection that writes; makes the log, or brings it up to date, if need be."""
    if not _size(path):
        _create(path)
    _recognise(path)
    with sentences(path):
        connection = _connect(f"{path.resolve().as_uri()}?mode=rw")
        with closed_on_error(connection):
            _refuse_foreign(path, connection)
            connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")  # raises here, not later, if it is read-only
            connection.execute("ROLLBACK")
            schema.migrate(connection)
            connection.execute("PRAGMA foreign_keys = ON")
    return connection


def rows(
    path: Path, connection: sqlite3.Connection, query: str, values: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """The answer to a query, within a bound of time."""
    deadline = time.monotonic() + _PATIENCE
    with sentences(path):
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.set_progress_handler(None, 0)


def lock(path: Path, busy: str = _BUSY) -> sqlite3.Connection:
    """Be the one writer of a file, until the connection is closed or the process is gone.

    An empty SQLite file next to it is locked, since a lock on a log itself would shut its readers
    out. The operating system frees it when the process dies, however it dies.
    """
    with sentences(path):
        _must_be_plain(path)
        connection = sqlite3.connect(
            _lock_path(path), timeout=1.0, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            connection.close()
            if error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise LogError(busy.format(path=path)) from None
            if error.sqlite_errorname == "SQLITE_NOTADB":
                raise LogError(f"{_lock_path(path)} is no lock of ipdp: remove it") from None
            raise
    return connection


def is_locked(path: Path) -> bool:
    """Whether somebody is writing."""
    _must_be_plain(path)
    address = _lock_path(path).as_uri()
    try:
        with closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=0)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorname.startswith("SQLITE_BUSY")
    return False


def _lock_path(path: Path) -> Path:
    """The lock of a file, whatever links lead to it."""
    path = path.resolve()
    return path.with_name(path.name + "-lock")


def _connect(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, uri=True, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    with closed_on_error(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        # Whoever made the file: its views and indexes call none but harmless functions.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema")
    return connection


@contextmanager
def closed_on_error(*connections: sqlite3.Connection) -> Iterator[None]:
    """Close connections if what they are made ready for goes wrong."""
    try:
        yield
    except BaseException:
        for connection in connections:
            connection.close()
        raise


def _create(path: Path) -> None:
    """Make an empty log beside its place and move it there, so that no reader sees half of it."""
    draft = path.with_name(f"{path.name}-new")
    draft.unlink(missing_ok=True)
    try:
        with sentences(path), closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
            schema.migrate(connection)
            connection.execute("PRAGMA journal_mode = WAL")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def identity(path: Path) -> tuple[int, int] | None:
    """What tells the file at a path from others that were there; None if there is none."""
    with suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
