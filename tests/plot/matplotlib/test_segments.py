"""The lines of groups with matplotlib."""

from __future__ import annotations

import numpy as np

from ipdp.plot import SegmentsDisplay

from ..conftest import make_curve


def test_a_line_a_band_and_an_entry_of_the_legend_for_each_group():
    curve = make_curve(ice=None)
    other = make_curve(ice=None, average=curve.average + 1)
    display = SegmentsDisplay("age", {"AT": curve, "DE": other}, "country").plot(centred=True)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    for line in (lines["AT"], lines["DE"]):
        drawn = np.asarray(line.get_ydata(), dtype=float)
        np.testing.assert_allclose(drawn, curve.average[0] - curve.average[0].mean(), atol=1e-9)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["AT", "DE"]
    assert len(display.bands_) == 2


def test_it_is_drawn_where_it_is_told_and_says_the_scale():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    curve = make_curve(ice=None, link="logit", outputs=("prediction",))
    display = SegmentsDisplay("age", {"AT": curve}, "country").plot(ax, band=None)
    assert display.ax_ is ax
    assert ax.get_ylabel() == "log-odds of the prediction"
