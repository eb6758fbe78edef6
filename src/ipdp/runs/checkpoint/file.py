"""A checkpoint on disk: the old one or the new one, never a part of one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from ipdp.runs.checkpoint.errors import CheckpointError
from ipdp.runs.checkpoint.format import Parts, pack, unpack

Where = str | bytes | os.PathLike[Any]
"""A path."""


def prepare(path: Where) -> None:
    """Make the directory of a checkpoint, and see whether it can be written: now, not hours later.

    Parameters
    ----------
    path
        The file, which is not touched.
    """
    file = Path(os.fsdecode(path))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _part(file).touch()
        _part(file).unlink()
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {file}: {error.strerror or error}"
        ) from error


def write(path: Where, parts: Parts) -> int:
    """Write a checkpoint; the one that was there before stays until the new one is on disk.

    Parameters
    ----------
    path
        The file.
    parts
        What it holds: by name, bytes, or anything that JSON takes.

    Returns
    -------
    The size of the file in bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     size = write(f"{directory}/run.ipdp", {"n": 1_000, "curve": [0.25, 0.5]})
    ...     read(f"{directory}/run.ipdp")
    {'n': 1000, 'curve': [0.25, 0.5]}
    """
    file = Path(os.fsdecode(path))
    part = _part(file)
    data = pack(parts)
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
        _sync_directory(file.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        kept = "; the one before it is still there" if file.exists() else ""
        raise CheckpointError(
            f"cannot write the checkpoint {file}: {error.strerror or error}{kept}"
        ) from error
    return len(data)


def read(path: Where) -> dict[str, Any]:
    """The parts of a checkpoint; whatever is in the file, nothing of it is executed.

    Parameters
    ----------
    path
        The file.
    """
    file = Path(os.fsdecode(path))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"cannot read the checkpoint {file}: {error.strerror or error}"
        ) from None
    try:
        return unpack(data)
    except CheckpointError as error:
        raise CheckpointError(f"the checkpoint {file} {error}") from None


def _part(file: Path) -> Path:
    # One name for all of them, so that a kill leaves one at most.
    return file.with_name(f".{file.name}.part")


def _sync_directory(directory: Path) -> None:
    """Bring the renaming itself to disk, where a directory can be opened (not on Windows)."""
    if os.name != "posix":
        return
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
