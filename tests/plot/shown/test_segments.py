"""What is drawn of groups is their curves, on the points that any of them has."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.plot import SegmentsDisplay

from ..conftest import make_categories, make_curve, make_pair


def test_every_group_has_its_line():
    curve = make_curve(ice=None)
    n = curve.grid_values[0].size
    short = make_curve(
        ice=None,
        grid_values=[curve.grid_values[0][1:]],
        average=curve.average[:, 1:],
        std_error=curve.std_error[:, 1:],
        n_effective_points=curve.n_effective_points[1:],
    )
    display = SegmentsDisplay("age", {"AT": curve, "DE": short}, "country").plot()
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert {"AT", "DE"} <= set(lines)
    np.testing.assert_allclose(lines["AT"].get_ydata(), curve.average[0])
    drawn = np.asarray(lines["DE"].get_ydata(), dtype=float)
    assert np.isnan(drawn).sum() in {0, 1}  # left out, or a gap
    np.testing.assert_allclose(drawn[~np.isnan(drawn)], curve.average[0][1:])
    assert n - 1 <= len(drawn) <= n
    assert display.ax_.get_legend().get_title().get_text() == "country"


def test_plotly_has_the_same_lines():
    curve = make_curve(ice=None)
    figure = SegmentsDisplay("age", {"AT": curve, "DE": curve}, "country").plot(backend="plotly")
    assert {"AT", "DE"} <= {trace.name for trace in figure.data}
    assert figure.layout.legend.title.text == "country"


def test_categories_that_a_group_has_not_are_left_out():
    both, one = make_categories("u", "v", ice=None), make_categories("u", ice=None)
    display = SegmentsDisplay("k", {"AT": both, "DE": one}, "country").plot()
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["u", "v"]


def test_a_pair_is_refused():
    with pytest.raises(
        ValueError, match=r"is a pair: draw the surface of each group, as pdp.segment"
    ):
        SegmentsDisplay(("a", "b"), {"AT": make_pair()}, "country")
    with pytest.raises(ValueError, match="no group"):
        SegmentsDisplay("a", {}, "country")
