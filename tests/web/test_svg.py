"""Drawings as SVG text."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest

from ipdp.core.words import few_digits, percent
from ipdp.web.svg import Drawing, Scale, diverging, png, ticks, viridis


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (-3.0, 7.0, [-2.5, 0.0, 2.5, 5.0]),
        (0.02, 0.03, [0.02, 0.0225, 0.025, 0.0275, 0.03]),
        (5.0, 5.0, [5.0]),
    ],
)
def test_ticks_are_round_numbers_within_the_range(low, high, expected):
    assert ticks(low, high) == expected


def test_a_scale_holds_what_is_known():
    scale = Scale.around([2.0, np.nan, 4.0], 100, 0)
    assert (scale(2.0), scale(3.0), scale(4.0)) == (100, 50, 0)
    alone = Scale.around([3.0], 0, 10)
    assert alone(3.0) == 5
    assert Scale.around([], 0, 10)(0.5) == 5


def read_png(data):
    """The colours of a PNG with one chunk of data and no filters."""
    columns, rows = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    raw = np.frombuffer(zlib.decompress(data[start : start + length]), dtype=np.uint8)
    lines = raw.reshape(rows, 1 + 4 * columns)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(rows, columns, 4)


def test_a_picture_is_a_png_of_its_colours():
    colours = np.random.default_rng(1).integers(0, 256, (5, 7, 4)).astype(np.uint8)
    np.testing.assert_array_equal(read_png(png(colours)), colours)


def test_colours_are_clear_where_nothing_is_known_and_grey_where_that_matters():
    shown = viridis(np.array([[0.0, 1.0, np.nan]]), 0.0, 1.0)
    assert shown[0, :, 3].tolist() == [255, 255, 0]
    assert shown[0, 0, :3].tolist() == [0x44, 0x01, 0x54]
    effect = diverging(np.array([[-2.0, 0.0, 1.0, np.nan]]), 2.0)
    assert effect[0, :, 3].tolist() == [255, 0, 128, 46]
    assert effect[0, 0, :3].tolist() == [0, 114, 178]
    assert effect[0, 2, :3].tolist() == [213, 94, 0]


def test_names_are_text_and_lines_are_broken_where_nothing_is_known():
    drawing = Drawing(100, 50, '<b>"&')
    drawing.text(1, 2, "</svg><script>")
    drawing.path([0, 1, 2, 3], [0, np.nan, 2, 3], "d-line")
    drawing.area([0, 1], [np.nan, np.nan], [1, 1])
    drawing.dot(np.nan, 1, "d-now")
    root = ET.fromstring(str(drawing))
    assert root.attrib["aria-label"] == '<b>"&'
    assert [part.tag for part in root] == ["text", "path"]
    assert root[0].text == "</svg><script>"
    assert root[1].attrib["d"] == "M0.0 0.0M2.0 2.0L3.0 3.0"


def test_ticks_that_need_room_are_left_out_evenly():
    drawing = Drawing(200, 50, "")
    places = [95_000.0 + 2_500 * k for k in range(7)]
    drawing.x_axis(Scale(95_000, 110_000, 20, 180), 30, few_digits, places)
    said = [part.text for part in ET.fromstring(str(drawing)).iter() if part.text]
    assert said == ["95,000", "100,000", "105,000"]


def test_all_ticks_have_the_same_decimals():
    drawing = Drawing(100, 100, "")
    drawing.y_axis(Scale(0.8, 0.9, 0, 100), (0, 100), percent)
    said = [part.text for part in ET.fromstring(str(drawing)).iter() if part.text]
    assert said == ["80.0 %", "82.5 %", "85.0 %", "87.5 %", "90.0 %"]


def test_two_ticks_never_read_the_same():
    drawing = Drawing(100, 100, "")
    drawing.y_axis(Scale(12.16, 12.24, 0, 100), (0, 100), few_digits)
    said = [part.text for part in ET.fromstring(str(drawing)).iter() if part.text]
    assert said == ["12.16", "12.18", "12.20", "12.22", "12.24"]
    names = Drawing(100, 100, "")
    names.y_axis(Scale(0, 2, 0, 100), (0, 100), lambda _: "Monday", [0, 1])
    assert str(names).count("Monday") == 2
