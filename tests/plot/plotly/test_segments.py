"""The lines of groups with plotly."""

from __future__ import annotations

import numpy as np

from ipdp.plot import SegmentsDisplay

from ..conftest import make_curve, traces


def test_a_line_for_each_group_in_its_own_colour():
    curve = make_curve(ice=None)
    other = make_curve(ice=None, average=curve.average + 1)
    display = SegmentsDisplay("age", {"AT": curve, "<b>": other}, "country")
    figure = display.plot(backend="plotly")
    first, second = traces(figure, "curve")
    np.testing.assert_allclose(first.y, curve.average[0])
    np.testing.assert_allclose(second.y, other.average[0])
    assert first.line.color != second.line.color
    assert second.name == "&#60;b&#62;"
    assert figure.layout.legend.title.text == "country"
    assert figure.layout.yaxis.title.text == curve.output_text(curve.main_output)
