"""Reading checkpoints of version 1, which were written before they were zip files.

A fixed head (magic, version, length and SHA-256 of the rest), an index in JSON, and the parts one
after the other, each a JSON value or plain bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import Any

from ipdp.runs.errors import CheckpointError

MAGIC = b"\x89ipdp\r\n\x1a"
"""What such a file begins with."""

_HEAD = struct.Struct("<8sIQ32s")
_INDEX = struct.Struct("<I")
# Compressed parts are at most so many times larger when unpacked.
_RATIO = 32


def unpack(data: bytes) -> dict[str, Any]:
    """The parts of a checkpoint, from bytes that begin with the magic."""
    if len(data) < _HEAD.size:
        raise CheckpointError("is cut off: not even its head is whole")
    _, version, length, digest = _HEAD.unpack_from(data)
    if version != 1:
        raise CheckpointError(f"is damaged: it says that it is of version {version}")
    body = data[_HEAD.size :]
    if len(body) < length:
        raise CheckpointError(f"is cut off: it has {len(data):,} of {length + _HEAD.size:,} bytes")
    if len(body) > length or hashlib.sha256(body).digest() != digest:
        raise CheckpointError("is damaged: its checksum does not agree")
    return _parts(body)


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
