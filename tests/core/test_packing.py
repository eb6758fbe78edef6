"""JSON-safe values as bytes, and back bit for bit; bytes that are not theirs are refused."""

import hashlib
import json
import math
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.core.jsonable import pack_floats
from ipdp.core.packing import pack, unpack

names = st.text(max_size=3) | st.sampled_from(["", "shape", "floats"])
floats = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | st.integers() | floats | st.text(max_size=5)
values = st.recursive(
    leaves | st.lists(floats, max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)
STATE = {"t": 5, "mean": [[0.1, -0.0], [1e300, 5e-324]], "name": "é", "old": [1, 2.0, None]}


@settings(deadline=None, derandomize=True, max_examples=300)
@given(values)
def test_what_is_packed_is_unpacked(value):
    # As text: -0.0 and 0.0, 1 and 1.0 and True are equal and not the same.
    assert json.dumps(unpack(pack(value))) == json.dumps(value)


def test_numbers_keep_every_bit():
    odd = [math.nan, math.inf, -math.inf, -0.0, 5e-324, np.nextafter(1.0, 2.0)]
    again = unpack(pack({"a": [odd, odd]}))["a"]
    assert struct.pack("<12d", *again[0], *again[1]) == struct.pack("<12d", *odd, *odd)


@pytest.mark.parametrize("shape", [(3,), (2, 5), (4, 3, 2), (1, 1, 1, 1)])
def test_arrays_of_any_shape(shape):
    array = np.random.default_rng(1).normal(size=shape).tolist()
    assert unpack(pack(array)) == array


@pytest.mark.parametrize(
    "value",
    [[[1.0], [2.0, 3.0]], [[1.0], [2]], [[], [1.0]], [[1.0], "a"], [1.0, 2], [1.0, True], []],
    ids=str,
)
def test_lists_that_are_no_arrays(value):
    assert json.dumps(unpack(pack(value))) == json.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"": 1},
        {"": [2]},
        {"": "3"},
        {"": {"": [1.0]}, "a": [1.0]},
        {"shape": [3], "floats": "no base64"},
        {"shape": [3], "floats": "AB=="},
        {"shape": [3], "floats": None},
        {"shape": [1.0, 2.0], "floats": "AAAA"},
    ],
    ids=str,
)
def test_values_that_look_like_marks(value):
    assert json.dumps(unpack(pack(value))) == json.dumps(value)


def test_arrays_that_were_packed_before_come_back_as_they_were():
    state = {"a": pack_floats(np.random.default_rng(2).normal(size=(30, 2))), "b": [0.5]}
    data = pack(state)
    assert unpack(data) == state
    assert len(data) < len(json.dumps(state))


def test_it_is_short():
    array = np.random.default_rng(3).normal(size=(50, 40))
    data = pack({"mean": array.tolist()})
    assert len(data) < 8 * array.size + 200
    assert len(json.dumps(array.tolist())) > 2 * len(data)


def test_a_long_list_that_says_little_comes_back():
    value = {"zeros": [0.0] * 1_000_000, "text": "a" * 3_000_000}
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("value", [[[]] * 1_000_000, [0] * 2_000_000, ["ab"] * 1_000_000])
def test_very_many_values_that_say_little_come_back(value):
    assert unpack(pack({"a": value})) == {"a": value}


def test_it_is_the_same_in_every_process():
    assert hashlib.sha256(pack(STATE)).hexdigest() == hashlib.sha256(pack(STATE)).hexdigest()
    assert pack(STATE)[:10] == b"\x89ipdps\r\n\x01\x00"


# What is wrong with the bytes.


def sealed(tree, floats=b"", blobs=b"", *, sizes=None, version=1):
    """Bytes with a right checksum and anything in them, as an attacker makes them."""
    tree = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    parts = [tree, floats, blobs]
    sizes = sizes or [len(part) for part in parts for _ in range(2)]
    body = b"".join(parts)
    checksum = hashlib.blake2b(struct.pack("<6Q", *sizes) + body, digest_size=16).digest()
    return struct.pack("<8sH6Q16s", b"\x89ipdps\r\n", version, *sizes, checksum) + body


def crowded(value, n=1_500_000):
    """Very many values in few bytes; what else there is keeps it from being too short."""
    rest = np.random.default_rng(1).bytes(len(value) * n // 60).hex().encode()
    tree = b"[" + b",".join([value] * n) + b',"' + rest + b'"]'
    short = zlib.compress(tree, 9)
    return sealed(short, sizes=[len(short), len(tree), 0, 0, 0, 0])


BOMB = zlib.compress(b"[" + b"0," * 50_000_000 + b"0]", 9)
SHORT = zlib.compress(bytes(9))
WRONG = {
    "empty": (b"", "not a state of ipdp"),
    "json": (b'{"version": 1}', "not a state of ipdp"),
    "head cut": (pack(STATE)[:30], "cut off"),
    "cut": (pack(STATE)[:-1], "cut off or damaged"),
    "longer": (pack(STATE) + b"x", "cut off or damaged"),
    "flipped": (pack(STATE)[:-9] + b"\x07" + pack(STATE)[-8:], "checksum does not agree"),
    "newer": (sealed({}, version=2), "of version 2, from a newer ipdp"),
    "bomb": (sealed(BOMB, sizes=[len(BOMB), 10**8 + 3, 0, 0, 0, 0]), "far more than it should"),
    "crowd of lists": (crowded(b"[[],[]]", 800_000), "far more"),
    "crowd of numbers": (crowded(b"1.5"), "far more"),
    "crowd of texts": (crowded(b'"ab"'), "far more"),
    "crowd of dicts": (crowded(b'{"a":{}}'), "far more"),
    "bomb that lies": (sealed(BOMB, sizes=[len(BOMB), 500_000, 0, 0, 0, 0]), "not the size"),
    "huge": (sealed({"": [10**15]}), "fewer numbers"),
    "overflow": (sealed({"": [2**40, 2**40]}, bytes(8)), "fewer numbers"),
    "negative": (sealed({"": [-1, -1]}, bytes(8)), "fewer numbers"),
    "not whole": (sealed({"": ["a"]}, bytes(8)), "fewer numbers"),
    "lists of one": (sealed({"": [131_072] + [1] * 59}, bytes(8 * 131_072)), "far more memory"),
    "flat": (sealed({"": []}), "fewer numbers"),
    "more": (sealed({"a": 1}, bytes(8)), "there is more in it"),
    "half a number": (sealed({"a": 1}, bytes(4)), "not one that ipdp wrote"),
    "blobs twice": (sealed({}, b"", SHORT, sizes=[2, 2, 0, 0, len(SHORT), 9]), "packed twice"),
    "blob": (sealed({"": "5"}, b"", b"abc"), "fewer packed bytes"),
    "blob back": (sealed({"": "-5"}, b"", b"abc"), "fewer packed bytes"),
    "mark": (sealed({"": 5}), "not one that ipdp wrote"),
    "mark and more": (sealed({"": [1], "a": 2}, bytes(8)), "not one that ipdp wrote"),
    "no json": (sealed(b"{"), "not one that ipdp wrote"),
    "deep": (sealed(b"[" * 200_000 + b"]" * 200_000), "not one that ipdp wrote"),
}


def test_an_array_with_rows_of_one_number_is_no_bomb():
    value = np.zeros((200_000, 1, 1)).tolist()
    assert unpack(pack(value)) == value


@pytest.mark.parametrize(("data", "message"), WRONG.values(), ids=WRONG)
def test_bytes_that_cannot_be_used(data, message):
    with pytest.raises(ValueError, match=message):
        unpack(data)


def test_any_changed_byte_is_noticed():
    data = pack(STATE)
    for k in range(len(data)):
        with pytest.raises(ValueError, match=r"ipdp|checksum"):
            unpack(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :])
