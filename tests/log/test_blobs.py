"""Curves and changes come back bit for bit."""

import dataclasses
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.log.making import FEATURES, curves, make_change, make_curve, names, objects, same

from ipdp import Curve, Importance
from ipdp.log import LogError
from ipdp.log.blobs import (
    RUG_SIZE,
    change_of,
    change_text,
    curve_blob,
    curve_of,
    name_of,
    name_text,
    result_blob,
    result_of,
    thinned,
)

IMPORTANCES = st.builds(
    Importance,
    feature=names,
    value=st.floats(),
    std_error=st.floats(),
    n_samples=st.integers(0, 2**40),
    n_effective=st.floats(),
    t=st.one_of(st.none(), st.integers(), st.floats()),
)
PROPERTY = settings(deadline=None, derandomize=True)


@PROPERTY
@given(st.one_of(curves(), IMPORTANCES))
def test_any_result_comes_back_bit_for_bit(result):
    assert same(result_of(result.feature, result_blob(result)), result)


def test_what_is_no_result_is_refused():
    with pytest.raises(TypeError, match="a Curve or an Importance can be logged, not a float"):
        result_blob(0.5)
    with pytest.raises(LogError, match="a curve of 'a' is damaged in the log: it is none"):
        curve_of("a", result_blob(Importance("a", 1.0, 0.1, 5, 5.0)))


@PROPERTY
@given(curves())
def test_any_curve_comes_back_bit_for_bit(curve):
    assert same(curve_of(curve.feature, curve_blob(curve)), curve)


@PROPERTY
@given(curves())
def test_a_curve_from_a_dict_comes_back_too(curve):
    n_axes = len(curve.grid_values)
    plain = dataclasses.replace(
        curve,
        grid_values=[np.arange(len(axis)) for axis in curve.grid_values],
        categorical=(False,) * n_axes,
        t=None,
        rug=[],
    )
    plain = Curve.from_dict(plain.to_dict())
    assert same(curve_of(plain.feature, curve_blob(plain)), plain)


@PROPERTY
@given(st.lists(curves(), min_size=2, max_size=2), names, st.lists(names, max_size=3))
def test_any_change_comes_back_bit_for_bit(both, output, where):
    before, after = (dataclasses.replace(curve, feature="a") for curve in both)
    change = make_change(
        "a",
        output=output,
        before=before,
        after=after,
        where=tuple(where) or None,
        level=float("-inf"),
        shares={"real": 1 / 3, "virtual": 2 / 3},
    )
    assert same(change_of(change_text(change), curve_blob(before), curve_blob(after)), change)


def test_numpy_s_scalars_become_python_s():
    curve = make_curve(n_samples=np.int64(5), t=np.float64(7.5), outputs=(np.str_("yes"),), size=3)
    read = curve_of("a", curve_blob(curve))
    assert (type(read.n_samples), type(read.t), type(read.outputs[0])) == (int, float, str)
    assert (read.n_samples, read.t, read.outputs) == (5, 7.5, ("yes",))


def test_ice_is_left_out_and_the_rug_thinned_with_both_ends():
    rug = np.arange(1000.0)
    curve = make_curve(ice=np.zeros((1, 5, 20)), ice_grid_values=[np.zeros((5, 20))], rug=[rug])
    read = curve_of("a", curve_blob(curve))
    assert read.ice is None
    assert read.ice_grid_values is None
    assert len(read.rug[0]) == RUG_SIZE
    assert read.rug[0][[0, -1]].tolist() == [0.0, 999.0]
    assert np.ptp(np.diff(read.rug[0])) <= 1
    assert len(curve.rug[0]) == 1000


@pytest.mark.parametrize("size", [0, 1, RUG_SIZE])
def test_a_short_rug_is_kept_as_it_is(size):
    rug = objects(range(size))
    assert thinned(rug) is rug


def test_what_is_read_can_be_changed_without_harm():
    blob = curve_blob(make_curve())
    curve_of("a", blob).average[:] = 0
    assert curve_of("a", blob).average.any()


@pytest.mark.parametrize("dtype", ["f4", "i2", ">f8", "?", "U5", "u8"])
def test_other_types_of_numbers_are_kept(dtype):
    axis = np.array([0, 1, 0]).astype(dtype)
    read = curve_of("a", curve_blob(make_curve(size=3, grid_values=[axis])))
    assert read.grid_values[0].dtype == axis.dtype
    assert read.grid_values[0].tolist() == axis.tolist()


@pytest.mark.parametrize("name", [*FEATURES, True, 1.5, float("inf"), None])
def test_names_keep_their_type(name):
    read = name_of(name_text(name))
    assert (read, type(read)) == (name, type(name))
    name_text(name).encode("ascii")


@pytest.mark.parametrize("name", [b"bytes", frozenset("a"), 1j])
def test_a_name_that_json_does_not_have_is_refused(name):
    with pytest.raises(TypeError, match="names and categories must be strings, numbers"):
        name_text(name)
    with pytest.raises(TypeError, match="names and categories must be strings, numbers"):
        curve_blob(make_curve(outputs=(name,)))


@pytest.mark.parametrize("blob", [b"", b"\0", b"\xff\xff\xff\xff[", b"\x02\0\0\0[}"])
def test_bytes_that_are_no_curve_are_an_error_of_the_log(blob):
    with pytest.raises(LogError, match="a curve of 'a' is damaged in the log"):
        curve_of("a", blob)


def test_a_cut_blob_is_an_error_of_the_log():
    blob = curve_blob(make_curve())
    with pytest.raises(LogError, match="damaged"):
        curve_of("a", blob[:-8])


def test_a_curve_of_a_newer_version_is_refused():
    blob = curve_blob(make_curve()).replace(b"[2,", b"[9,", 1)
    with pytest.raises(LogError, match="version 9; this ipdp reads version 1 and 2"):
        curve_of("a", blob)


def test_a_curve_of_version_1_is_read():
    """Its arrays stood in a fixed order, without their names."""
    curve = make_curve()
    header = {
        "average": curve.average,
        "std_error": curve.std_error,
        "n_effective_points": curve.n_effective_points,
    }
    parts = [*curve.grid_values, *curve.rug, *header.values()]
    said = [[array.dtype.str, *array.shape] for array in parts]
    axes, rug, arrays = said[:1], said[1 : 1 + len(curve.rug)], said[1 + len(curve.rug) :]
    first = [1, curve.n_samples, curve.t, list(curve.outputs), list(curve.categorical)]
    text = json.dumps([*first, axes, rug, [*arrays, None, None]]).encode()
    blob = struct.pack("<I", len(text)) + text + b"".join(part.tobytes() for part in parts)
    again = curve_of(curve.feature, blob)
    for name, array in header.items():
        np.testing.assert_array_equal(getattr(again, name), array)
    assert again.smoothed is None


def changed(blob, **arrays):
    """The curve's bytes with another word for some of its arrays in the header."""
    length = struct.unpack_from("<I", blob)[0]
    header = json.loads(blob[4 : 4 + length])
    header[-1] |= arrays
    text = json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + blob[4 + length :]


@pytest.mark.parametrize(
    "said",
    [
        ["V1000000000", 1],
        ["|S999999999", 1],
        ["V0", 10**12],
        ["|S0", 10**12],
        ["O", 1],
        ["<f8," * 1000, 1],
        ["<f8", -1],
        ["(,f8", 1],
        ["f8,f8", 1],
        ["<f8", 1.5],
        ["<f8", 0, 10**18],
        ["<f8", 1, 1],
        {"dtype": "<U1000000000", "values": ["a"]},
        {"dtype": "V1000000000", "values": []},
        {"dtype": "<f8", "values": {"a": 1}},
        "text",
        7,
    ],
)
def test_arrays_that_no_curve_has_are_refused_before_they_are_made(said):
    blob = changed(curve_blob(make_curve()), average=said)
    with pytest.raises(LogError, match="a curve of 'a' is damaged in the log"):
        curve_of("a", blob)


def test_arrays_that_do_not_fit_the_grid_are_refused():
    curve = make_curve(size=6)
    for name in ("average", "std_error", "n_effective_points"):
        wrong = dataclasses.replace(curve, **{name: getattr(curve, name)[..., :-1]})
        with pytest.raises(LogError, match="a curve of 'a' is damaged in the log"):
            curve_of("a", curve_blob(wrong))


def test_a_header_without_end_is_an_error_of_the_log():
    text = b"[" * 100_000
    with pytest.raises(LogError, match="is damaged in the log"):
        result_of("a", struct.pack("<I", len(text)) + text)
    with pytest.raises(LogError, match="is damaged in the log"):
        name_of("[" * 100_000)
