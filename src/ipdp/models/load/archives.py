"""How much memory a model in the format of skops takes, before any of it is read."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# In bytes: a model that takes no more is loaded, however well it was packed.
_SMALL = 64 << 20
# One that takes more has at most so many times the bytes of its file.
_RATIO = 32


def must_be_as_large_as_it_seems(file: Path | io.BytesIO, size: int) -> None:
    """Refuse an archive of some bytes that would take far more of them when it is loaded.

    Its parts may be compressed, hold archives themselves, or be named many times over.
    """
    most = max(_SMALL, _RATIO * size)
    with zipfile.ZipFile(file) as archive:
        schema = archive.getinfo("schema.json")
        total, known = schema.file_size, dict[str, int]()
        for name in _parts(archive, schema) if total <= most else ():
            if name not in known:
                known[name] = _size(archive, name, most)
            total += known[name]
    if total > most:
        raise ValueError(f"it would take {total >> 20:,} MB, far more than the file has")


def _parts(archive: zipfile.ZipFile, schema: zipfile.ZipInfo) -> Iterator[str]:
    """The file of each part; parts that have a number are read once."""
    seen = set()
    inner: list[Any] = [json.loads(archive.read(schema))]
    while inner:
        node = inner.pop()
        if isinstance(node, dict):
            name, number = node.get("file"), node.get("__id__")
            if isinstance(name, str) and not (number and (name, repr(number)) in seen):
                seen.add((name, repr(number)))
                yield name
            inner.extend(node.values())
        elif isinstance(node, list):
            inner.extend(node)


def _size(archive: zipfile.ZipFile, name: str, most: int) -> int:
    """Bytes of a part when it is unpacked; a sparse matrix is an archive again."""
    if name not in archive.namelist():
        return 0  # as skops will say
    size = archive.getinfo(name).file_size
    if not name.endswith(".npz") or size > most:
        return size
    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as matrix:
        return size + sum(each.file_size for each in matrix.infolist())
