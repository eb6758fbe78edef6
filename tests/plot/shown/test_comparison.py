"""What is drawn of a comparison."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp
from ipdp.plot.shown.comparison import shown_comparison

from ..conftest import make_categories, make_curve, make_pair


def other_of(curve, **changes):
    return make_curve(
        **{"average": curve.average[:, ::-1], "std_error": curve.std_error, **changes}
    )


def test_the_panels_that_differ_come_first():
    one = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    same, turned = (make_curve(feature=name, ice=None) for name in ("same", "turned"))
    b = [one, same, other_of(turned, feature="turned", ice=None, std_error=one.std_error)]
    shown = shown_comparison(ipdp.compare([one, same, turned], b, names=("old", "new"), margin=0.5))
    assert [panel.feature for panel in shown.panels] == ["turned", "age", "same"]
    assert [panel.is_different for panel in shown.panels] == [True, False, False]
    assert shown.sentence == "new against old: different effect of turned"
    assert shown.names == ("old", "new")


def test_b_leaves_the_band_where_it_is_shaded():
    one = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    comparison = ipdp.compare(one, other_of(one, ice=None), margin=0.5)
    (panel,) = shown_comparison(comparison).panels
    outside = (panel.b < panel.low) | (panel.b > panel.high)
    assert outside.tolist() == [True, True, False, True, True]
    assert panel.parts == [(-0.5, 1.5), (2.5, 4.5)]
    np.testing.assert_allclose([panel.a.mean(), panel.b.mean()], 0.0, atol=1e-12)


def test_the_level_is_in_the_sentence():
    one = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    raised = make_curve(std_error=one.std_error, average=one.average + 9, ice=None)
    shown = shown_comparison(ipdp.compare(one, raised, names=("a", "b"), margin=0.5))
    assert shown.sentence == "b against a: no effect is different, level up by 9"


def test_a_wide_band_does_not_flatten_the_curves():
    known = make_curve(std_error=np.full((1, 5), 0.01), ice=None)
    unknown = make_curve(feature="other", std_error=np.full((1, 5), 99.0), ice=None)
    other = make_curve(feature="other", std_error=unknown.std_error, ice=None)
    shown = shown_comparison(ipdp.compare([known, unknown], [known, other], margin=0.5))
    wide = next(panel for panel in shown.panels if panel.feature == "other")
    high = max(panel.a.max() for panel in shown.panels)
    low = min(panel.a.min() for panel in shown.panels)
    np.testing.assert_allclose(wide.high, high + (high - low))
    np.testing.assert_allclose(wide.low, low - (high - low))


def test_categories_have_places():
    curve = make_categories("u", "v", ice=None)
    (panel,) = shown_comparison(ipdp.compare(curve, curve)).panels
    assert panel.categories == ["u", "v"]
    assert panel.x.tolist() == [0.0, 1.0]


def test_nothing_to_draw():
    pair = make_pair()
    with pytest.raises(ValueError, match="no curves of one feature"):
        ipdp.compare(pair, pair).plot()
