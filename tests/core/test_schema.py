"""What was saved is checked before anything is taken from it."""

import base64
import math
import zlib

import numpy as np
import pytest

from ipdp.core import schema
from ipdp.core.jsonable import pack_floats, unpack_floats


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (schema.count, [0, 7], [-1, 1.0, True, None, "1", 2**70, math.nan]),
        (schema.number, [0, -1.5, 1e308], [math.nan, math.inf, 10**400, True, "1", None]),
        (schema.value, [1e150, -3], [1e151, math.inf]),
        (schema.weight, [0.0, 3], [-1e-9, math.nan]),
        (schema.flag, [True, False], [0, 1, None, "true"]),
        (schema.maybe(schema.count), [None, 3], [-1]),
        (schema.each(schema.count, 2), [[1, 2]], [[1], [1, 2, 3], 3, None, [1, "2"]]),
        (schema.one_of("a", None), ["a", None], ["b", 0, []]),
        (schema.below(3), [0, 2], [3, -1, 1.0]),
        (schema.power, [1, 64], [0, 3, -2, 2.0]),
        (schema.name, ["a", 3, ("a", 1), None], [[], {}, math.nan, math.inf]),
        (schema.category, ["a", 3], [("a", 1), [], math.nan]),
    ],
    ids=lambda part: part.words if isinstance(part, schema.Kind) else "",
)
def test_kinds(kind, good, bad):
    for value in good:
        schema.check({"part": value}, part=kind)
    for value in bad:
        with pytest.raises(ValueError, match="the state is damaged: part is"):
            schema.check({"part": value}, part=kind)


@pytest.mark.parametrize(
    "error",
    [KeyError("a"), IndexError(), TypeError("b\nc" * 500), zlib.error("d"), OverflowError()],
)
def test_every_damage_is_one_sentence(error):
    with (
        pytest.raises(ValueError, match="the state is damaged: ") as told,
        schema.intact("the state"),
    ):
        raise error
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 200


def test_a_few_bytes_cannot_ask_for_much_memory():
    packed = pack_floats(np.zeros(1_000_000))
    for shape in ([10], [2**40], [-1], ["1"], None):
        with pytest.raises(ValueError, match="damaged"):
            unpack_floats({**packed, "shape": shape})


def test_an_array_that_says_little_is_written_as_long_as_it_is_to_be_read():
    zeros = np.zeros((100, 1_001))
    packed = pack_floats(zeros)
    assert len(base64.b64decode(packed["floats"])) == 25_025
    assert unpack_floats(packed).tobytes() == zeros.tobytes()
    short = base64.b64encode(zlib.compress(zeros.tobytes())).decode()
    with pytest.raises(ValueError, match="far too many numbers"):
        unpack_floats({**packed, "floats": short})


@pytest.mark.parametrize("kind", [schema.number, schema.value, schema.weight])
@pytest.mark.parametrize(
    "odd", [math.nan, math.inf, -math.inf, -1.0, 1e200, -0.0, True, "1", None, 2, 10**400]
)
def test_many_floats_at_once_are_checked_as_one_by_one(kind, odd):
    for items in ([odd], [1.0, odd], [odd, 1.0, 0.0], [1e308, 1e308, odd]):
        assert schema.each(kind).fits(items) == all(map(kind.fits, items))
