"""One file that a run can go on from: atomic, checksummed, versioned, with no pickle of ours.

A fixed head (magic, version, length and SHA-256 of the rest), an index in JSON, and the parts one
after the other. A part is a JSON value or plain bytes, and nothing in the file says what to
import or to call: reading it makes dicts, lists, numbers, strings and bytes, whoever wrote it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ipdp.runs.errors import CheckpointError

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


VERSION = 1
"""Of the format that is written; every version up to it is read."""

# As in PNG: a byte that is no ASCII, line ends of both kinds, and a control character show at once
# that the file went through something that took it for text.
_MAGIC = b"\x89ipdp\r\n\x1a"
_HEAD = struct.Struct("<8sIQ32s")
_INDEX = struct.Struct("<I")
# Compressed parts are at most so many times larger when unpacked: what would be more is written as
# it is. So a file cannot unpack to much more than its own size.
_RATIO = 32

Parts = Mapping[str, Any]
"""What a checkpoint holds: by name, bytes, or anything that JSON takes."""


def pack(parts: Parts) -> bytes:
    """The bytes of a checkpoint.

    Examples
    --------
    >>> unpack(pack({"n": 12, "model": b"..."}))
    {'n': 12, 'model': b'...'}
    """
    index, blobs = [], []
    for name, value in parts.items():
        kind, blob, size = _packed(value)
        index.append([name, kind, len(blob), size])
        blobs.append(blob)
    head = json.dumps(index).encode()
    body = b"".join([_INDEX.pack(len(head)), head, *blobs])
    return _HEAD.pack(_MAGIC, VERSION, len(body), hashlib.sha256(body).digest()) + body


def unpack(data: bytes) -> dict[str, Any]:
    """The parts of a checkpoint; a CheckpointError says what is wrong with the bytes."""
    body = _checked_body(data)
    try:
        return _parts(body)
    # Only what was made on purpose gets past the checksum: too deep, too large, not what it says.
    except (ValueError, TypeError, RecursionError, MemoryError, struct.error, zlib.error) as error:
        raise CheckpointError(f"is not one that ipdp wrote ({error}); nothing was used") from None


def _packed(value: Any) -> tuple[str, bytes, int]:
    """How a value is written, its bytes, and its size when unpacked."""
    if isinstance(value, bytes):
        return "bytes", value, len(value)
    text = json.dumps(value, separators=(",", ":")).encode()
    small = zlib.compress(text, 1)
    if len(small) >= len(text) or len(text) > _RATIO * len(small):
        return "json", text, len(text)
    return "json+zlib", small, len(text)


def _checked_body(data: bytes) -> bytes:
    if not data:
        raise CheckpointError("is empty")
    if data[: len(_MAGIC)] != _MAGIC[: len(data)]:
        raise CheckpointError("is not a checkpoint of ipdp")
    if len(data) < _HEAD.size:
        raise CheckpointError("is cut off: not even its head is whole")
    _, version, length, digest = _HEAD.unpack_from(data)
    if version > VERSION:
        raise CheckpointError(
            f"is of version {version}, from a newer ipdp; this one reads up to version {VERSION}: "
            "update ipdp"
        )
    if version < 1:
        raise CheckpointError("is damaged: it says that it is of version 0")
    body = data[_HEAD.size :]
    if len(body) < length:
        raise CheckpointError(f"is cut off: it has {len(data):,} of {length + _HEAD.size:,} bytes")
    if len(body) > length or hashlib.sha256(body).digest() != digest:
        raise CheckpointError("is damaged: its checksum does not agree")
    return body


def _parts(body: bytes) -> dict[str, Any]:
    (size,) = _INDEX.unpack_from(body)
    start = _INDEX.size + size
    parts = {}
    for name, kind, length, unpacked in json.loads(body[_INDEX.size : start]):
        if not (isinstance(length, int) and 0 <= length <= len(body) - start):
            raise ValueError("a part is longer than the file")
        blob = body[start : start + length]
        start += length
        parts[str(name)] = _value(kind, blob, unpacked)
    if start != len(body):
        raise ValueError("there is more in it than its index says")
    return parts


def _value(kind: str, blob: bytes, size: int) -> Any:
    if kind == "bytes":
        return blob
    if kind == "json":
        return json.loads(blob)
    if kind != "json+zlib":
        raise ValueError(f"a part is of the unknown kind {kind!r}")
    if size > _RATIO * len(blob):
        raise ValueError("a part would unpack to far more than it should")
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(blob, size + 1)
    if len(text) != size or not unpacker.eof:
        raise ValueError("a part has not the size that it should")
    return json.loads(text)
