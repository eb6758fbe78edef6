"""Files that are written completely or not at all, and read only if they are plain."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """A draft to write to, which takes the place of the file when the context ends.

    Who may read it stays as it was: a file that its owner has closed to others is not opened.
    After an error the file is what it was, and the draft is gone. `sync` waits until both the file
    and its name are on the disk, so that a power failure leaves the old file or the new one.
    """
    # The suffix is kept, by which libraries know the format. One name for all drafts of a file by
    # one process, so that a kill leaves one at most.
    draft = path.with_name(f".{path.stem[:100]}.{os.getpid()}.part{path.suffix}")
    try:
        _make_anew(draft, _mode(path))
        yield draft
        if sync:
            _sync(draft)
        draft.replace(path)
        if sync and os.name == "posix":  # a directory can be opened
            _sync(path.parent)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError) and str(error.filename) == str(draft):
            # The draft is nothing that anybody has named.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def write_whole(path: Path, data: bytes | str, *, sync: bool = False) -> None:
    """Write bytes, or text as UTF-8, to a file as a whole; see `written_whole`."""
    with written_whole(path, sync=sync) as draft:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)


def read_plain(path: Path, most: int = -1) -> bytes:
    """The bytes of a file, or the first of them.

    An OSError where it is a pipe or a device, which may never end.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        return file.read(most)


def must_be_another(path: Path, *read: Path) -> None:
    """Refuse to write a file in the place of one that is read: what is in it would be lost."""
    for each in read:
        with suppress(OSError):  # which one that is not there cannot be
            if os.path.samefile(path, each):
                raise ValueError(f"{path} is read here, and would be lost: give another file")


def _mode(path: Path) -> int | None:
    """Who may read and write a file; None where there is none."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    return None


def _make_anew(draft: Path, mode: int | None) -> None:
    """An empty file, whatever has its name: a link would be written through, a pipe waited for."""
    draft.unlink(missing_ok=True)
    # Never open to more than in the end, and always to its owner, who writes it now.
    given = 0o666 if mode is None else mode & 0o666 | stat.S_IRUSR | stat.S_IWUSR
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, given))


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # for somebody to write to a pipe


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
