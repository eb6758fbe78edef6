"""A feature that is a time has dates along its axis, in every figure."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

import ipdp
from ipdp.plot import CarpetDisplay

START = datetime(2024, 3, 1)


@pytest.fixture(scope="module")
def pdp():
    def model(x):
        return x["when"].month + x["a"]

    rows = [{"when": START + timedelta(days=k * 37 % 100), "a": k % 7 / 7} for k in range(60)]
    features = ["when", ("when", "a"), ("a", "when")]
    found = ipdp.IncrementalPDP(model, features, alpha=0.1, grid=ipdp.grid.Auto(6), seed=1)
    found.earlier = []
    for x in rows:
        found.explain_one(x)
        found.earlier.append(found.curves.get("when"))
    return found


def has_dates(texts):
    """Days of March to June, and no seconds since 1970."""
    return bool(texts) and all(text.split()[-1] in {"Mar", "Apr", "May", "Jun"} for text in texts)


@pytest.mark.parametrize(("pair", "axis"), [(("when", "a"), "xaxis"), (("a", "when"), "yaxis")])
def test_pairs(pdp, pair, axis):
    curve = pdp.curve(pair)
    drawn = curve.plot()
    assert has_dates([label.get_text() for label in getattr(drawn.ax_, axis).get_ticklabels()])
    figure = curve.plot(backend="plotly")
    assert has_dates(figure.layout[axis].ticktext)
    assert "when: 2024-0" in figure.data[0].text[0][0]
    assert "2024-0" in curve._repr_html_()


def test_carpets(pdp):
    curves = [curve for curve in pdp.earlier if curve is not None]
    drawn = CarpetDisplay(curves).plot()
    assert has_dates([label.get_text() for label in drawn.ax_.yaxis.get_ticklabels()])
    figure = CarpetDisplay(curves).plot(backend="plotly")
    assert has_dates(figure.layout.yaxis.ticktext)
    assert "when: 2024-0" in figure.data[0].text[0][-1]
