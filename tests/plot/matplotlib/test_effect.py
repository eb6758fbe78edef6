"""PDP, ALE and the spread of single observations in one figure of matplotlib."""

from dataclasses import replace

import numpy as np

from ipdp.plot import EffectDisplay

from ..conftest import make_categories, make_curve


def both():
    pdp = make_curve(std_error=np.full((1, 5), 0.05), ice_spread=np.full((1, 5), 0.5))
    ale = replace(pdp, average=pdp.average - [[0, 0, 0, 3, 3]], ice_spread=None, kind="ale")
    return pdp, ale


def test_lines_spread_shade_and_words():
    display = EffectDisplay(*both(), off_data=0.4).plot()
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == [
        "partial dependence (PDP)", "local effects (ALE)", "single observations (± 1 sd)",
    ]  # fmt: skip
    (shade,) = display.where_
    assert (shade.get_x(), shade.get_width()) == (2.5, 2.0)
    assert "40 % of what the PDP asks" in display.title_.get_text()
    assert display.ax_.get_ylabel() == "effect on the prediction"


def test_without_the_spread_and_without_an_ale():
    pdp, ale = both()
    assert EffectDisplay(pdp, ale).plot(spread=False).curves_[0].spread_ == []
    assert len(EffectDisplay(pdp).plot().curves_) == 1


def test_the_spread_of_categories():
    curve = make_categories("red", "green", ice=None)
    curve = replace(curve, ice_spread=np.full(curve.average.shape, 0.5))
    (bars,) = curve.plot(spread=True).spread_
    heights = [path.vertices[:, 1] for path in bars.get_paths()]
    np.testing.assert_allclose(
        heights, np.stack([curve.average[0] - 0.5, curve.average[0] + 0.5], 1)
    )
