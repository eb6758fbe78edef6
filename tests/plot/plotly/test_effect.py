"""PDP, ALE and the spread of single observations in one figure of plotly."""

from dataclasses import replace

import numpy as np

from ipdp.plot import EffectDisplay

from ..conftest import make_categories, make_curve


def test_it_is_the_figure_of_matplotlib():
    pdp = make_curve(std_error=np.full((1, 5), 0.05), ice_spread=np.full((1, 5), 0.5))
    ale = replace(pdp, average=pdp.average - [[0, 0, 0, 3, 3]], ice_spread=None, kind="ale")
    display = EffectDisplay(pdp, ale)
    figure, drawn = display.plot(backend="plotly"), display.plot()
    kinds = [trace.meta for trace in figure.data]
    assert kinds.count("spread") == 1
    named = [trace.name for trace in figure.data if trace.showlegend]
    texts = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert sorted(named) == sorted(texts)
    (shade,) = figure.layout.shapes
    assert (shade.x0, shade.x1) == (2.5, 4.5)


def test_the_spread_of_categories():
    curve = make_categories("red", "green", ice=None)
    curve = replace(curve, ice_spread=np.full(curve.average.shape, 0.5))
    figure = curve.plot(spread=True, backend="plotly")
    (spread,) = [trace for trace in figure.data if trace.meta == "spread"]
    assert spread.y[0] == curve.average[0, 0] - 0.5
    assert spread.y[1] == curve.average[0, 0] + 0.5
