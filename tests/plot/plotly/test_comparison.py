"""A comparison with plotly."""

from __future__ import annotations

import numpy as np

import ipdp

from ..conftest import make_categories, make_curve, traces


def test_both_lines_the_band_and_where():
    one = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    other = make_curve(std_error=one.std_error, average=one.average[:, ::-1], ice=None)
    found = ipdp.compare(one, other, names=("old", "new"), margin=0.5)
    figure = found.plot(backend="plotly")
    (a,), (b,), (band,) = (traces(figure, meta) for meta in ("a", "b", "band"))
    np.testing.assert_allclose(np.asarray(b.y) - np.asarray(a.y), found["age"].shape)
    assert len(band.y) == 2 * len(a.y)
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(-0.5, 1.5), (2.5, 4.5)]
    assert "different" in figure.layout.annotations[0].text


def test_categories_have_bars():
    curve = make_categories("u", "v", ice=None)
    figure = ipdp.compare(curve, curve).plot(backend="plotly")
    (band,) = traces(figure, "band")
    assert len(band.x) == 6
    assert list(figure.layout.xaxis.ticktext) == ["u", "v"]
