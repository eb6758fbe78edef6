"""One file that a run can go on from: atomic, checksummed, versioned, with no pickle of ours.

A zip file with a member for each part: a JSON-safe value (.packed, see `core/packing.py`) or plain
bytes (.bin). Nothing in it says what to import or to call: reading it makes dicts, lists, numbers,
strings and bytes, whoever wrote it. Its comment, the last bytes, holds the version and the SHA-256
of all bytes before it. Version 2 had the values as JSON (.json), some of them compressed. Version 1
was a fixed head (magic, version, length and SHA-256 of the rest), an index in JSON, and the parts
one after the other.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any

from ipdp.core import packing
from ipdp.core.files import read_plain, write_whole

VERSION = 3
"""Of the format that is written; every version up to it is read."""

_START = b"PK"  # of a zip file
_START_1 = b"\x89ipdp\r\n\x1a"
_HEAD_1, _INDEX_1 = struct.Struct("<8sIQ32s"), struct.Struct("<I")
_DIGEST = 64  # of SHA-256 in hexadecimal digits
_END = re.compile(rb"ipdp checkpoint (\d+) sha256 ([0-9a-f]{64})\Z")
# Compressed members, which version 2 had, are at most so many times larger when unpacked. So a file
# cannot unpack to much more than its own size.
_RATIO = 32
# A run's has four. A short part may unpack to some megabytes, so there are not many of them.
_MOST_PARTS = 6
# Letters of a reason: zipfile quotes names, which may be anything.
_LONGEST = 200

Where = str | bytes | os.PathLike[Any]
"""A path."""

Parts = Mapping[str, Any]
"""What a checkpoint holds: by name, bytes, or anything that JSON takes."""


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be written, read, or gone on from; the text says why.

    Examples
    --------
    >>> read("nowhere.ipdp")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ipdp.runs.checkpoint.CheckpointError: cannot read the checkpoint nowhere.ipdp: No such file...
    """


def write(path: Where, parts: Parts) -> int:
    """Write a checkpoint, and give its size in bytes; the one before stays until it is on disk."""
    file = Path(os.fsdecode(path))
    data = pack(parts)
    try:
        write_whole(file, data, sync=True)
    except OSError as error:
        kept = "; the one before it is still there" if file.exists() else ""
        raise CheckpointError(
            f"cannot write the checkpoint {file}: {error.strerror or error}{kept}"
        ) from error
    return len(data)


def read(path: Where) -> dict[str, Any]:
    """The parts of a checkpoint; whatever is in the file, nothing of it is executed."""
    file = Path(os.fsdecode(path))
    try:
        data = read_plain(file)
    except OSError as error:
        raise CheckpointError(
            f"cannot read the checkpoint {file}: {error.strerror or error}"
        ) from None
    try:
        return unpack(data)
    except CheckpointError as error:
        raise CheckpointError(f"the checkpoint {file} {error}") from None


def pack(parts: Parts) -> bytes:
    """The bytes of a checkpoint."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in parts.items():
            _add(archive, name, value)
        archive.comment = b"ipdp checkpoint %d sha256 %s" % (VERSION, b"0" * _DIGEST)
    data = file.getvalue()[:-_DIGEST]
    return data + hashlib.sha256(data).hexdigest().encode()


def unpack(data: bytes) -> dict[str, Any]:
    """The parts of a checkpoint; a CheckpointError says what is wrong with the bytes."""
    if not data:
        raise CheckpointError("is empty")
    is_old = data.startswith(_START_1)
    check, parts = (_must_be_whole_1, _parts_1) if is_old else (_must_be_whole, _parts)
    try:
        check(data)
        return parts(data)
    except CheckpointError:
        raise
    # Only what was made on purpose gets past the checksum: too deep, too large, not what it says.
    except Exception as error:
        reason = str(error)[:_LONGEST]
        raise CheckpointError(f"is not one that ipdp wrote ({reason}); nothing was used") from None


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    if not name.isidentifier():
        raise ValueError(f"a part of a checkpoint cannot be called {name!r}")
    is_plain = isinstance(value, bytes)
    kind, content = ("bin", value) if is_plain else ("packed", packing.pack(value))
    # With no time in it: the same parts are the same bytes.
    archive.writestr(zipfile.ZipInfo(f"{name}.{kind}"), content)


def _must_be_whole(data: bytes) -> None:
    if data[: len(_START)] != _START[: len(data)]:
        raise CheckpointError("is not a checkpoint of ipdp")
    end = _END.search(data, max(0, len(data) - 200))
    if end is None:
        raise CheckpointError("is cut off or damaged: it does not end with its checksum")
    version = int(end[1])
    if version > VERSION:
        raise CheckpointError(
            f"is of version {version}, from a newer ipdp; this one reads up to version {VERSION}: "
            "update ipdp"
        )
    if hashlib.sha256(data[:-_DIGEST]).hexdigest().encode() != end[2]:
        raise CheckpointError("is damaged: its checksum does not agree")


def _parts(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > _RATIO * len(data):
            raise ValueError("it would unpack to far more than it should")
        _must_be_few(members)
        parts: dict[str, Any] = {}
        for member in members:
            name, _, kind = member.filename.rpartition(".")
            if name in parts:
                raise ValueError(f"it has two parts called {name!r}")
            if kind == "packed" and member.compress_type != zipfile.ZIP_STORED:
                raise ValueError("a part is compressed twice")
            parts[name] = _value(kind, _content(archive, member), len(data) // len(members))
    return parts


def _must_be_few(members: Sized) -> None:
    if len(members) > _MOST_PARTS:
        raise ValueError(f"it has {len(members):,} parts, far more than it should")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("a part is compressed in another way")
    with archive.open(member) as file:
        content = file.read(member.file_size)  # no more, whatever it would unpack to
    if len(content) != member.file_size:
        raise ValueError("a part has not the size that it should")
    return content


def _value(kind: str, content: bytes, size: int) -> Any:
    """What a part says, whose share of the checkpoint is so many bytes."""
    if kind in ("bin", "bytes"):
        return content
    if kind == "packed":
        return packing.unpack(content)
    if kind != "json":
        raise ValueError(f"a part is of the unknown kind {kind!r}")
    return packing.json_of(content, size)


def _must_be_whole_1(data: bytes) -> None:
    if len(data) < _HEAD_1.size:
        raise CheckpointError("is cut off: not even its head is whole")
    _, version, length, digest = _HEAD_1.unpack_from(data)
    if version != 1:
        raise CheckpointError(f"is damaged: it says that it is of version {version}")
    whole = _HEAD_1.size + length
    if len(data) < whole:
        raise CheckpointError(f"is cut off: it has {len(data):,} of {whole:,} bytes")
    if hashlib.sha256(data[_HEAD_1.size :]).digest() != digest:
        raise CheckpointError("is damaged: its checksum does not agree")


def _parts_1(data: bytes) -> dict[str, Any]:
    start = _HEAD_1.size + _INDEX_1.size
    (size,) = _INDEX_1.unpack_from(data, _HEAD_1.size)
    index, start = json.loads(data[start : start + size]), start + size
    _must_be_few(index)
    parts = {}
    for name, kind, length, unpacked in index:
        if not (isinstance(length, int) and 0 <= length <= len(data) - start):
            raise ValueError("a part is longer than the file")
        content, start = data[start : start + length], start + length
        if kind == "json+zlib":
            content = _decompressed(content, unpacked)
        parts[str(name)] = _value(kind.removesuffix("+zlib"), content, len(data) // len(index))
    if start != len(data):
        raise ValueError("there is more in it than its index says")
    return parts


def _decompressed(content: bytes, size: int) -> bytes:
    if size > _RATIO * len(content):
        raise ValueError("a part would unpack to far more than it should")
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(content, size + 1)
    if len(text) != size or not unpacker.eof:
        raise ValueError("a part has not the size that it should")
    return text
