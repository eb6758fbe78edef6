"""Splits as small multiples with plotly."""

from __future__ import annotations

import numpy as np

from ipdp.plot import RegionsDisplay

from ..conftest import make_split, traces


def test_each_side_with_the_curve_of_all():
    split = make_split()
    figure = RegionsDisplay([split]).plot(backend="plotly")
    for line, curve in zip(traces(figure, "curve"), split.curves, strict=True):
        np.testing.assert_array_equal(line.y, curve.average[0])
    beside = traces(figure, "compare")
    assert [line.name for line in beside] == ["all observations"] * 2
    assert [line.showlegend for line in beside] == [True, False]
    for line in beside:
        np.testing.assert_array_equal(line.y, split.whole.average[0])
    titles = [note.text for note in figure.layout.annotations]
    assert titles == [
        "age, where sex = f <i>30 % of the data</i>",
        "age, where sex = m <i>70 % of the data</i>",
    ]
