"""What is drawn of a curve, as plain data that every figure takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from ipdp.plot import OverviewDisplay
from ipdp.plot.shown.curve import shown_curve

from ..conftest import (
    make_categories,
    make_curve,
    make_history,
    make_pair,
    texts_of,
    traces,
)


def test_points_band_labels_and_rug():
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    shown = shown_curve(curve, band=0.8)
    (line,) = shown.lines
    np.testing.assert_array_equal([line.x, line.y], [curve.grid_values[0], curve.average[0]])
    ends = np.array(curve.band(0.8, simultaneous=True))[:, 0]
    np.testing.assert_array_equal([line.low, line.high], ends)
    assert line.missing.high - line.missing.y == pytest.approx(1.2816 * 0.5, abs=1e-3)
    assert (shown.feature, shown.label) == ("age", "prediction")
    assert shown.title == "t = 300, band: the whole curve with probability 0.8"
    assert shown.rug.counts.sum() == 50
    np.testing.assert_array_equal(shown.rug.left[1:], shown.rug.right[:-1])
    assert len(line.ice) == 3


def test_a_provisional_band_says_so():
    curve = replace(make_curve(), provisional=True)
    text = "t = 300, band: the whole curve with probability 0.95, provisional yet"
    assert shown_curve(curve).title == text
    assert shown_curve(curve, band=None).title == "t = 300"


def test_a_centred_curve_has_its_own_error():
    curve = make_curve()
    centred = replace(
        curve, centred_std_error=curve.std_error / 10, centred_path_length=np.zeros(1)
    )
    narrow, wide = (shown_curve(c, centred=True).lines[0] for c in (centred, curve))
    assert (narrow.high - narrow.low < (wide.high - wide.low) / 9).all()


def test_what_is_not_wanted_is_not_there():
    shown = shown_curve(make_curve(), band=None, rug=False, ice=False)
    assert (shown.band, shown.rug, shown.lines[0].ice) == (None, None, [])
    assert np.isnan(shown.lines[0].low).all()


def test_the_histogram_is_the_same_in_every_figure(ax):
    for curve in (make_curve(), make_categories("a", "b")):
        left, right, counts = shown_curve(curve).rug
        (bars,) = traces(curve.plot(backend="plotly"), "rug")
        np.testing.assert_array_equal([bars.x, bars.y], [(left + right) / 2, counts])
        patches = curve.plot(Figure().subplots()).rug_ax_.patches
        drawn = (
            patches[0].get_data().values if len(patches) == 1 else [p.get_height() for p in patches]
        )
        np.testing.assert_array_equal(drawn, counts)


def test_few_values_have_few_bars():
    for n, most in ((9, 6), (100, 20), (10_000, 40)):
        rug = np.random.default_rng(1).uniform(0.0, 4.0, n)
        assert len(shown_curve(make_curve(rug=[rug])).rug.counts) == most


def test_categories_that_few_data_are_behind_are_faint(ax):
    support = np.array([200.0, 200.0, 3.0])
    curve = make_categories("a", "b", "c", n_effective_points=support)
    assert shown_curve(curve).thin.tolist() == [False, False, True]
    (points,) = traces(curve.plot(backend="plotly"), "curve")
    assert points.marker.opacity.tolist() == [1.0, 1.0, 0.3]
    display = curve.plot(ax)
    assert display.lines_[0].get_alpha() == 0.3
    solid = next(line for line in ax.lines if line.get_alpha() is None)
    np.testing.assert_array_equal(solid.get_ydata(), [1, 2, np.nan])


def test_beside_other_curves_it_has_a_name_and_no_title():
    trail = make_history(2)
    shown = shown_curve(make_curve(t=900), trail=trail)
    assert (shown.lines[0].name, shown.title) == ("t = 900", "")
    assert shown.trail_name == "t = 100 to 200"
    assert [path.time for path in shown.lines[0].trail] == ["t = 100", "t = 200"]
    assert shown_curve(make_curve(t=None), trail=trail).lines[0].name == "now"


NO_OUTPUT = {"outputs": (), "average": np.empty((0, 5)), "std_error": np.empty((0, 5)), "ice": None}


def test_a_curve_without_outputs_says_that_there_is_nothing_yet(ax):
    # As before the first label of a model that has not met any class.
    curve = make_curve(**NO_OUTPUT)
    surface = {"average": np.empty((0, 4, 3)), "std_error": np.empty((0, 4, 3))}
    for item in (curve, make_pair(**{**NO_OUTPUT, **surface})):
        for centred in (False, True):
            axes = Figure().subplots()
            item.plot(axes, centred=centred)
            assert "nothing yet" in texts_of(axes.figure)
            notes = item.plot(backend="plotly", centred=centred).layout.annotations
            assert [note.text for note in notes] == ["nothing yet"]
        assert "nothing yet" in item._repr_html_()
    assert OverviewDisplay([curve]).plot(ax).displays_[0].lines_ == []


def with_past(curve, gap):
    return replace(curve, smoothed=curve.average + gap)


def test_the_mean_of_the_past_is_beside_the_model_now_where_they_differ():
    curve = with_past(make_curve(), np.array([0.0, 0.0, 0.0, 0.0, 2.0]))
    shown = shown_curve(curve)
    np.testing.assert_array_equal(shown.lines[0].past.y, curve.smoothed[0])
    np.testing.assert_array_equal(shown.lines[0].past.x, curve.grid_values[0])
    assert shown.lines[0].name == "model now"
    centred = shown_curve(curve, centred=True).lines[0].past.y
    assert centred.mean() == pytest.approx(0)


@pytest.mark.parametrize(
    "why", ["none", "within the band", "too small to see", "few data", "trail"]
)
def test_where_it_says_the_same_or_too_much_is_drawn_it_is_not(why):
    curve, options = with_past(make_curve(), np.array([0.0, 0.0, 0.0, 0.0, 2.0])), {}
    if why == "none":
        curve = replace(curve, smoothed=None)
    elif why == "within the band":
        curve = replace(curve, std_error=np.full((1, 5), 2.0))
    elif why == "too small to see":
        curve = replace(with_past(curve, 0.15), std_error=np.full((1, 5), 0.001))
    elif why == "few data":
        curve = replace(curve, n_effective_points=np.array([200.0, 200, 200, 200, 0.5]))
    else:
        options = {"trail": make_history(2)}
    line = shown_curve(curve, **options).lines[0]
    assert line.past is None
    assert line.name != "model now"


def test_a_probability_has_to_move_by_a_hundredth_to_be_seen():
    flat = make_curve(
        outputs=("no", "yes"),
        average=np.full((2, 5), 0.5),
        std_error=np.full((2, 5), 1e-4),
        ice=None,
    )
    gaps = (np.array([[-gap], [gap]]) for gap in (0.009, 0.011))
    assert [shown_curve(with_past(flat, gap)).lines[0].past is None for gap in gaps] == [
        True,
        False,
    ]


def test_of_several_outputs_only_those_that_moved_have_their_past():
    average = np.array([[1.0] * 5, [2.0] * 5, [5.0] * 5])
    curve = make_curve(outputs=("a", "b", "c"), average=average, std_error=0 * average, ice=None)
    shown = shown_curve(with_past(curve, np.array([[0.0], [3.0], [0.0]])))
    assert [line.past is None for line in shown.lines] == [True, False, True]
    assert [line.name for line in shown.lines] == ["a", "b", "c"]
