"""A checkpoint on disk: whole or not at all, and harmless whatever is in it."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core import packing
from ipdp.runs.checkpoint import CheckpointError, pack, read, unpack, write

PARTS = {"run": {"n": 12, "means": [0.1, 1e300, -0.0]}, "pdp": None, "pickle": b"\x00\xff" * 50}

names = st.from_regex("[a-z_]{1,9}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(names, json_values | st.binary(), max_size=4))
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


def test_any_program_can_open_it(tmp_path):
    write(tmp_path / "run.ipdp", PARTS)
    with zipfile.ZipFile(tmp_path / "run.ipdp") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["run.packed", "pdp.packed", "pickle.bin"]
        assert packing.unpack(archive.read("run.packed")) == PARTS["run"]


def test_a_file_of_version_2_is_read():
    members = {"run.json": json.dumps(PARTS["run"]).encode(), "pickle.bin": PARTS["pickle"]}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        read_again = unpack(sealed(members, version=2, method=method))
        assert read_again == {"run": PARTS["run"], "pickle": PARTS["pickle"]}


def test_the_same_parts_are_the_same_bytes():
    assert pack(PARTS) == pack(PARTS)


def test_a_part_needs_a_plain_name():
    with pytest.raises(ValueError, match="a part of a checkpoint cannot be called"):
        pack({"../run": 1})


# What is wrong with a file.


def sealed(
    members: dict[str, bytes], *, version: int = 2, method: int = zipfile.ZIP_STORED
) -> bytes:
    """A file with a right checksum and anything in it, as somebody with bad intentions makes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return signed(file.getvalue(), version)


def signed(data: bytes, version: int = 2) -> bytes:
    """A zip file, or anything else, with the end of a checkpoint."""
    end = b"ipdp checkpoint %d sha256 " % version
    data = data[:-2] + struct.pack("<H", len(end) + 64) + end
    return data + hashlib.sha256(data).hexdigest().encode()


def lying(data: bytes, size: int) -> bytes:
    """A file of one member whose size when unpacked is said to be another."""
    directory = data.index(b"PK\x01\x02")
    end = data.index(b"ipdp checkpoint")
    data = data[: directory + 24] + struct.pack("<I", size) + data[directory + 28 : end]
    return signed(data)


def twice(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(name, b"2")
    return signed(file.getvalue())


def sealed_v1(index: object, *blobs: bytes, version: int = 1) -> bytes:
    """The same in the format of version 1."""
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


ZEROS = b"[" + b"0," * 20_000_000 + b"0]"
BOMB = zlib.compress(ZEROS, 9)
BOMB_ZIP = sealed({"run.json": ZEROS}, method=zipfile.ZIP_DEFLATED)
# As short, but with what keeps it from being too short.
CROWD = sealed(
    {"run.json": b"[" + b"[],[]," * 800_000 + b'"' + os.urandom(200_000).hex().encode() + b'"]'},
    method=zipfile.ZIP_DEFLATED,
)
# Each of 200 parts is as much as a part of few bytes may be: 100 kB took 2 GB.
PARTS_OF_LITTLE = {f"a{k}.packed": packing.pack([{}] * 2**17) for k in range(200)}
MANY = [[f"a{k}", "json", 2, 2] for k in range(200)]
DEEP = b"[" * 200_000 + b"]" * 200_000
WRONG = {
    "empty": (b"", "is empty"),
    "text": (b"n = 12\n", "is not a checkpoint of ipdp"),
    "head cut": (pack(PARTS)[:20], "is cut off"),
    "cut": (pack(PARTS)[:-1], "is cut off or damaged"),
    "longer": (pack(PARTS) + b"x", "is cut off or damaged: it does not end with its checksum"),
    "flipped": (pack(PARTS)[:90] + b"\xfe" + pack(PARTS)[91:], "is damaged: its checksum"),
    "newer": (sealed({"a.json": b"1"}, version=4), "of version 4, from a newer ipdp"),
    "another zip": (sealed({"a.json": b"1"})[:-90], "is cut off or damaged"),
    "no zip": (signed(b"PK\x03\x04" + b"x" * 80), "not one that ipdp wrote"),
    "deep": (sealed({"run.json": DEEP}), "not one that ipdp wrote"),
    "bomb": (BOMB_ZIP, "far more than it should"),
    "crowd": (CROWD, "far more memory than it should"),
    "many": (sealed(PARTS_OF_LITTLE, version=3), "200 parts, far more than it should"),
    "bomb that lies": (lying(BOMB_ZIP, 9), "not one that ipdp wrote"),
    "too long": (lying(sealed({"run.bin": b"x"}), 99), "not the size|not one that ipdp wrote"),
    "kind": (sealed({"run.pickle": b"x"}), "unknown kind 'pickle'"),
    "no kind": (sealed({"run": b"x"}), "unknown kind 'run'"),
    "twice": (twice("run.bin"), "two parts called 'run'"),
    "method": (sealed({"a.bin": b"xyz"}, method=zipfile.ZIP_LZMA), "compressed in another way"),
    "not packed": (sealed({"run.packed": b"{}"}), "not a state of ipdp"),
    "packed twice": (
        sealed({"run.packed": packing.pack({"a": 1})}, method=zipfile.ZIP_DEFLATED),
        "compressed twice",
    ),
    "not json": (sealed({"run.json": b"{"}), "not one that ipdp wrote"),
}
WRONG_V1 = {
    "head cut": (sealed_v1([])[:20], "is cut off"),
    "cut": (sealed_v1([])[:-1], "is cut off: it has"),
    "longer": (sealed_v1([]) + b"x", "is damaged: its checksum"),
    "newer": (sealed_v1([], version=2), "it says that it is of version 2"),
    "deep": (sealed_v1([["run", "json", len(DEEP), len(DEEP)]], DEEP), "not one that ipdp wrote"),
    "deep index": (sealed_v1(DEEP), "not one that ipdp wrote"),
    "bomb": (
        sealed_v1([["run", "json+zlib", len(BOMB), 40_000_003]], BOMB),
        "far more than it should",
    ),
    "many": (sealed_v1(MANY, b"{}" * 200), "200 parts, far more than it should"),
    "bomb that lies": (sealed_v1([["run", "json+zlib", len(BOMB), 9]], BOMB), "not the size"),
    "too long": (sealed_v1([["run", "bytes", 99, 99]], b"x"), "longer than the file"),
    "negative": (sealed_v1([["run", "bytes", -1, 1]], b"x"), "longer than the file"),
    "more": (sealed_v1([], b"x"), "more in it than its index says"),
    "kind": (sealed_v1([["run", "pickle", 1, 1]], b"x"), "unknown kind 'pickle'"),
    "index": (sealed_v1({"run": 1}), "not one that ipdp wrote"),
    "number": (sealed_v1(7), "not one that ipdp wrote"),
    "not packed": (sealed({"run.packed": b"{}"}), "not a state of ipdp"),
    "not json": (sealed_v1([["run", "json", 1, 1]], b"{"), "not one that ipdp wrote"),
}


@pytest.mark.parametrize(("data", "sentence"), [*WRONG.values(), *WRONG_V1.values()])
def test_a_wrong_file_is_one_sentence(tmp_path, data, sentence):
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
    old = sealed_v1([["run", "json", len(data), len(data)]], data)
    for disguise in (data, sealed({"run.json": data}), old):
        path.write_bytes(disguise)
        with pytest.raises(CheckpointError):
            read(path)
    for disguise in (
        sealed({"model.bin": data}),
        sealed_v1([["model", "bytes", len(data), len(data)]], data),
    ):
        path.write_bytes(disguise)
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


def edited(data: bytes) -> bytes:
    """A checkpoint of which each tenth byte or so is another, and the checksum right."""
    good = bytearray(pack(PARTS)[: -len(b"ipdp checkpoint 2 sha256 ") - 64])
    for k, byte in enumerate(data):
        good[(7 * k + byte) % len(good)] ^= byte
    return signed(bytes(good))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200), st.sampled_from([bytes, sealed_v1, signed, edited]))
def test_any_bytes_are_refused_or_read_as_plain_values(data, seal):
    try:
        parts = unpack(seal(data))
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
        write(path, {"model": os.urandom(600_000)})
    assert read(path) == {"n": 1}
    assert os.listdir(small_disk) == ["run.ipdp"]


def test_a_read_only_directory(read_only):
    with pytest.raises(CheckpointError, match=r"cannot write the checkpoint .*: Permission denied"):
        write(read_only / "run.ipdp", {"n": 1})


# Of before.


def test_a_file_of_version_1_is_read():
    parts = read(Path(__file__).parent / "data" / "version_1.ipdp")
    assert list(parts) == ["run", "pdp", "monitor", "pfi"]
    assert parts["run"]["feed"]["n"] == 60


def test_a_part_with_a_long_name_in_its_header_is_refused_in_a_sentence():
    """Other than in the directory of the archive: zipfile quotes all of it."""
    data = bytearray(pack({"run": {"text": "x" * 3_000}})[: -hashlib.sha256().digest_size * 2])
    data[26:28] = struct.pack("<H", 2_500)  # the length of the first name
    sealed = bytes(data) + hashlib.sha256(data).hexdigest().encode()
    with pytest.raises(CheckpointError) as refused:
        unpack(sealed)
    assert len(str(refused.value)) < 400
