"""A comparison with matplotlib."""

from __future__ import annotations

import numpy as np

import ipdp
from ipdp.plot import ComparisonDisplay

from ..conftest import make_curve, texts_of


def test_both_lines_the_band_and_where(ax, render):
    one = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    other = make_curve(std_error=one.std_error, average=one.average[:, ::-1], ice=None)
    found = ipdp.compare(one, other, names=("old", "new"), margin=0.5)
    display = found.plot(ax)
    assert isinstance(display, ComparisonDisplay)
    each = found["age"]
    np.testing.assert_allclose(display.a_[0].get_ydata(), each.a - each.a.mean())
    np.testing.assert_allclose(display.b_[0].get_ydata() - display.a_[0].get_ydata(), each.shape)
    assert len(display.where_[0]) == 2
    assert {"age", "different (model)", "old", "new"} <= set(texts_of(ax.figure))
    render(display.axes_[0])


def test_a_figure_of_its_own_has_the_sentence():
    curve = make_curve(ice=None)
    display = ipdp.compare([curve], [curve], names=("a", "b")).plot()
    assert "b against a: no effect is different" in texts_of(display.figure_)
