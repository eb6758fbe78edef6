"""A checkpoint on disk: whole or not at all, and harmless whatever is in it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.runs.checkpoint import CheckpointError, pack, read, unpack, write

PARTS = {"run": {"n": 12, "means": [0.1, 1e300, -0.0]}, "pdp": None, "pickle": b"\x00\xff" * 50}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(), json_values | st.binary(), max_size=4))
def test_what_is_packed_is_unpacked(parts):
    again = unpack(pack(parts))
    assert again == parts
    assert repr(again) == repr(parts)  # -0.0 and 0.0 are equal and not the same


def test_a_file_holds_what_was_written(tmp_path):
    path = tmp_path / "run.ipdp"
    assert write(path, PARTS) == path.stat().st_size
    assert read(path) == PARTS
    assert os.listdir(tmp_path) == ["run.ipdp"]


def test_a_long_part_that_says_little_is_not_taken_for_a_bomb(tmp_path):
    write(tmp_path / "run.ipdp", {"zeros": [0.0] * 1_000_000})
    assert read(tmp_path / "run.ipdp") == {"zeros": [0.0] * 1_000_000}


# What is wrong with a file.


def sealed(index: object, *blobs: bytes, version: int = 1) -> bytes:
    """A file with a right checksum and anything in it, as somebody with bad intentions makes it."""
    head = json.dumps(index).encode() if not isinstance(index, bytes) else index
    body = struct.pack("<I", len(head)) + head + b"".join(blobs)
    digest = hashlib.sha256(body).digest()
    return struct.pack("<8sIQ32s", b"\x89ipdp\r\n\x1a", version, len(body), digest) + body


class Hostile:
    """Leaves a file behind if anybody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


BOMB = zlib.compress(b"[" + b"0," * 20_000_000 + b"0]", 9)
DEEP = b"[" * 200_000 + b"]" * 200_000
WRONG = {
    "empty": (b"", "is empty"),
    "text": (b"n = 12\n", "is not a checkpoint of ipdp"),
    "head cut": (pack(PARTS)[:20], "is cut off"),
    "cut": (pack(PARTS)[:-1], "is cut off: it has"),
    "longer": (pack(PARTS) + b"x", "is damaged: its checksum"),
    "flipped": (pack(PARTS)[:-9] + b"\x01" + pack(PARTS)[-8:], "is damaged: its checksum"),
    "newer": (sealed([], version=2), "of version 2, from a newer ipdp"),
    "deep": (sealed([["run", "json", len(DEEP), len(DEEP)]], DEEP), "not one that ipdp wrote"),
    "deep index": (sealed(DEEP), "not one that ipdp wrote"),
    "bomb": (
        sealed([["run", "json+zlib", len(BOMB), 40_000_003]], BOMB),
        "far more than it should",
    ),
    "bomb that lies": (sealed([["run", "json+zlib", len(BOMB), 9]], BOMB), "not the size"),
    "too long": (sealed([["run", "bytes", 99, 99]], b"x"), "longer than the file"),
    "negative": (sealed([["run", "bytes", -1, 1]], b"x"), "longer than the file"),
    "more": (sealed([], b"x"), "more in it than its index says"),
    "kind": (sealed([["run", "pickle", 1, 1]], b"x"), "unknown kind 'pickle'"),
    "index": (sealed({"run": 1}), "not one that ipdp wrote"),
    "number": (sealed(7), "not one that ipdp wrote"),
    "not json": (sealed([["run", "json", 1, 1]], b"{"), "not one that ipdp wrote"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_sentence(tmp_path, name):
    data, sentence = WRONG[name]
    path = tmp_path / "run.ipdp"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=sentence) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == data


def test_a_pickle_in_disguise_executes_nothing(tmp_path):
    trace = tmp_path / "executed"
    data = pickle.dumps(Hostile(trace))
    path = tmp_path / "run.ipdp"
    for disguise in (data, sealed([["run", "json", len(data), len(data)]], data)):
        path.write_bytes(disguise)
        with pytest.raises(CheckpointError):
            read(path)
    path.write_bytes(sealed([["model", "bytes", len(data), len(data)]], data))
    assert read(path) == {"model": data}  # bytes stay bytes
    assert not trace.exists()


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_damage_is_noticed(data):
    good = pack(PARTS)
    at = data.draw(st.integers(0, len(good) - 1))
    if data.draw(st.booleans()):
        bad = good[:at]
    else:
        bad = good[:at] + bytes([good[at] ^ data.draw(st.integers(1, 255))]) + good[at + 1 :]
    with pytest.raises(CheckpointError):
        unpack(bad)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_refused_or_read_as_plain_values(data, seal):
    try:
        parts = unpack(sealed(data) if seal else data)
    except CheckpointError:
        return
    assert type(parts) is dict


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot read the checkpoint .*: No such file"):
        read(tmp_path / "nothing.ipdp")
    with pytest.raises(CheckpointError, match="Is a directory"):
        read(tmp_path)


# When writing fails.


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_when_a_step_fails_the_old_one_is_there(tmp_path, monkeypatch, step):
    path = tmp_path / "run.ipdp"
    write(path, {"n": 1})

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), full)
    with pytest.raises(
        CheckpointError, match="No space left on device; the one before it is still there"
    ):
        write(path, {"n": 2})
    assert read(path) == {"n": 1}
    assert os.listdir(tmp_path) == ["run.ipdp"]


def test_a_full_disk(small_disk):
    path = small_disk / "run.ipdp"
    write(path, {"n": 1})
    with pytest.raises(CheckpointError, match="No space left on device"):
        write(path, {"model": os.urandom(300_000)})
    assert read(path) == {"n": 1}
    assert os.listdir(small_disk) == ["run.ipdp"]


def test_a_read_only_directory(read_only):
    with pytest.raises(CheckpointError, match=r"cannot write the checkpoint .*: Permission denied"):
        write(read_only / "run.ipdp", {"n": 1})
