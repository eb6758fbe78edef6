"""JSON-safe values as a few bytes: states that are kept by the thousand, or sent.

Most of a state is lists of floats. They are taken out, and put one after the other, bit for bit;
what is left is small and is written as JSON. Nothing in the bytes says what to import or to call.

    head        magic, version, and for each of the three parts: how many bytes there are, and how
                many they are when unpacked; then a checksum of all that follows
    tree        the value as JSON, where {"": shape} stands for floats of this shape, {"": "n"} for
                the next n packed bytes, and {"": [value]} for a dict with a name that is empty
    floats      first all their first bytes, then all their second ones, ...: alike ones are short
    packed      arrays that were packed before (`jsonable.pack_floats`), without their base64
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import operator
import os
import struct
import zlib
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ipdp.core.files import read_plain

VERSION = 1
"""Of the bytes that are written; every version up to it is read."""

_MAGIC = b"\x89ipdps\r\n"
_HEAD = struct.Struct("<8sH6Q16s")
# A part is at most so many times larger when it is unpacked, unless it is small: what would be
# more is written as it is. So a few bytes cannot ask for much memory.
_RATIO, _SMALL = 32, 2**20
# Nor has it many more values than bytes, each of which takes some sixty in memory; states have less
# than one value a byte.
_PER_BYTE, _FEW = 2, 2**18
_LISTS = 2  # for each number: those of one row are in one list each, and in one for all
_MARK = ""
_OTHERS = frozenset((int, str, bool, type(None)))  # that stay where they are
_DEEPEST = 60  # lists of floats in lists, ... of one array, and nested values


def pack(value: Any) -> bytes:
    """A JSON-safe value as bytes; lists of floats take the least room.

    Examples
    --------
    >>> data = pack({"t": 3, "mean": [[0.1, 0.2], [0.3, 0.4]]})
    >>> unpack(data)
    {'t': 3, 'mean': [[0.1, 0.2], [0.3, 0.4]]}
    """
    floats: list[float] = []
    blobs: list[bytes] = []
    tree = json.dumps(_taken(value, floats, blobs), separators=(",", ":")).encode()
    by_byte = np.array(floats, dtype="<f8").view(np.uint8).reshape(-1, 8).T.tobytes()
    parts = [tree, by_byte, b"".join(blobs)]
    written = [_shortened(tree), _shortened(by_byte), parts[2]]
    if _n_values(tree) > _most_values(sum(map(len, written))):
        written[0] = tree
    body = b"".join(written)
    sizes = [
        size for part, own in zip(written, parts, strict=True) for size in (len(part), len(own))
    ]
    return _HEAD.pack(_MAGIC, VERSION, *sizes, _checksum(sizes, body)) + body


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as what `pack` gave."""
    try:
        return read_plain(Path(path), most=len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def unpack(data: bytes) -> Any:
    """The value that `pack` was given; a ValueError says in one sentence what is wrong."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a state is given as bytes, got {type(data).__name__}")
    data = bytes(data)
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEAD.size:
        raise ValueError("these bytes are not a state of ipdp, or are cut off")
    _, version, *sizes, checksum = _HEAD.unpack_from(data)
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"these bytes are of version {version}, from a newer ipdp; this one reads up to "
            f"version {VERSION}: update ipdp"
        )
    body = data[_HEAD.size :]
    if len(body) != sum(sizes[::2]) or _checksum(sizes, body) != checksum:
        raise ValueError("the state is cut off or damaged: its checksum does not agree")
    try:
        tree, by_byte, blobs = _parts(body, sizes)
        columns = np.frombuffer(by_byte, dtype=np.uint8).reshape(8, -1).T
        floats = np.ascontiguousarray(columns).view("<f8").ravel()
        reader = _Reader(floats, blobs)
        value = reader.value(json_of(tree, len(data)))
        reader.must_be_at_its_end()
    # Only what was made on purpose gets past the checksum.
    except Exception as error:
        raise ValueError(f"the state is not one that ipdp wrote: {error}") from None
    return value


def json_of(text: bytes, size: int) -> Any:
    """What a JSON text says that came out of so many bytes, unless it says far too much for them.

    Examples
    --------
    >>> json_of(b'{"n": 3}', 12)
    {'n': 3}
    """
    if _n_values(text) > _most_values(size):
        raise ValueError("it would take far more memory than it should")
    return json.loads(text)


# Out.


def _taken(value: Any, floats: list[float], blobs: list[bytes]) -> Any:
    """The value without its lists of floats and its packed arrays, which go to the others."""
    kind = type(value)
    if kind is dict:
        if value.keys() == {"shape", "floats"} and (blob := _blob(value["floats"])) is not None:
            blobs.append(blob)
            return {"shape": value["shape"], "floats": {_MARK: str(len(blob))}}
        own = {name: _taken(item, floats, blobs) for name, item in value.items()}
        return {_MARK: [own]} if _MARK in own else own
    if kind is list or kind is tuple:
        if _OTHERS.issuperset(map(type, value)):
            return value
        shape = _shape(value)
        if shape is not None:
            _extend(floats, value, len(shape))
            return {_MARK: shape}
        return [_taken(item, floats, blobs) for item in value]
    return value


def _shape(value: Any) -> list[int] | None:
    """The shape of an array of floats; None for a list that is not one."""
    if not value:
        return None
    kinds = set(map(type, value))
    if kinds == {float}:
        return [len(value)]
    if kinds != {list}:
        return None
    first = _shape(value[0])
    if first is None or any(_shape(item) != first for item in value[1:]):
        return None
    return [len(value), *first]


def _extend(floats: list[float], value: Any, depth: int) -> None:
    if depth == 1:
        floats.extend(value)
        return
    for item in value:
        _extend(floats, item, depth - 1)


def _blob(text: Any) -> bytes | None:
    """What a text in base64 holds; None if it would not come back as it is."""
    try:
        blob = base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return None
    return blob if base64.b64encode(blob).decode("ascii") == text else None


def _shortened(part: bytes) -> bytes:
    """A part compressed, unless that is of no use or looks like an attempt to fill the memory."""
    short = zlib.compress(part, 1)
    return short if len(short) < len(part) <= _most(len(short)) else part


def _most(size: int) -> int:
    """How large a part of so many bytes may become."""
    return max(_SMALL, _RATIO * size)


def _most_values(size: int) -> int:
    """How many values may come out of so many bytes."""
    return max(_FEW, _PER_BYTE * size)


def _n_values(text: bytes) -> int:
    """At least as many values as a JSON text holds, almost."""
    return sum(map(text.count, (b",", b"[", b"{")))


def _checksum(sizes: list[int], body: bytes) -> bytes:
    head = struct.pack("<6Q", *sizes)
    return hashlib.blake2b(head + body, digest_size=16).digest()


# In.


def _parts(body: bytes, sizes: list[int]) -> list[bytes]:
    if sizes[-2] != sizes[-1]:
        raise ValueError("its packed bytes are packed twice")
    parts, start = [], 0
    for size, unpacked in zip(sizes[::2], sizes[1::2], strict=True):
        part, start = body[start : start + size], start + size
        if size != unpacked:
            part = _unpacked(part, unpacked)
        parts.append(part)
    return parts


def _unpacked(part: bytes, size: int) -> bytes:
    if size > _most(len(part)):
        raise ValueError("it would unpack to far more than it should")
    unpacker = zlib.decompressobj()
    whole = unpacker.decompress(part, size + 1)
    if len(whole) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError("a part has not the size that it should")
    return whole


class _Reader:
    """Puts the floats and packed arrays back where they were, in the order of the tree."""

    def __init__(self, floats: Any, blobs: bytes) -> None:
        self._floats, self._blobs = floats, blobs
        self._at = self._blob_at = self._n_lists = 0

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            is_plain = _OTHERS.issuperset(map(type, tree))
            return tree if is_plain else [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if _MARK not in tree:
            return {name: self.value(item) for name, item in tree.items()}
        (mark,) = tree.values()
        if isinstance(mark, str):
            return self._next_blob(int(mark))
        if len(mark) == 1 and isinstance(mark[0], dict):
            return {name: self.value(item) for name, item in mark[0].items()}
        return self._next_floats(mark)

    def _next_floats(self, shape: list[int]) -> Any:
        sound = 0 < len(shape) <= _DEEPEST and all(type(n) is int and n > 0 for n in shape)
        stop = self._at + math.prod(shape) if sound else math.inf
        if stop > len(self._floats):
            raise ValueError("it has fewer numbers than it should")
        # One number may be in many lists, each of which takes as much as some numbers do.
        self._n_lists += sum(accumulate(shape[:-1], operator.mul))
        if self._n_lists > _FEW + _LISTS * len(self._floats):
            raise ValueError("it would take far more memory than it should")
        own, self._at = self._floats[self._at : int(stop)], int(stop)
        return own.reshape(shape).tolist()

    def _next_blob(self, size: int) -> str:
        stop = self._blob_at + size
        if not self._blob_at <= stop <= len(self._blobs):
            raise ValueError("it has fewer packed bytes than it should")
        own, self._blob_at = self._blobs[self._blob_at : stop], stop
        return base64.b64encode(own).decode("ascii")

    def must_be_at_its_end(self) -> None:
        if (self._at, self._blob_at) != (len(self._floats), len(self._blobs)):
            raise ValueError("there is more in it than it says")
