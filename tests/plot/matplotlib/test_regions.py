"""Splits as small multiples."""

from __future__ import annotations

import numpy as np

from ipdp.plot import RegionsDisplay

from ..conftest import make_split


def test_a_row_of_two_panels_for_each_split():
    splits = [make_split(feature="b"), make_split(feature="a", spread=0.1)]
    display = RegionsDisplay(splits).plot()
    display.figure_.draw_without_rendering()
    assert [panel.get_title(loc="left") for panel in display.axes_] == [
        "b, where sex = f",
        "b, where sex = m",
        "a, where sex = f",
        "a, where sex = m",
    ]
    assert len({panel.get_ylim() for panel in display.axes_}) == 1
    one, other, *_ = display.displays_
    for drawn, curve in ((one, splits[0].curves[0]), (other, splits[0].curves[1])):
        np.testing.assert_array_equal(drawn.lines_[0].get_ydata(), curve.average[0])
        whole = drawn.compare_[0].get_ydata()
        np.testing.assert_array_equal(whole, splits[0].whole.average[0])
    assert [text.get_text() for text in display.legend_.get_texts()] == ["all observations"]


def test_a_split_plots_itself():
    split = make_split()
    assert split.plot().splits == [split]
