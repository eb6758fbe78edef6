"""All features side by side."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import ipdp
from ipdp.plot import OverviewDisplay

from ..conftest import make_categories, make_curve, make_pair, texts_of


def curves(n=3, **changes):
    """Curves f0, f1, ... the later the steeper."""
    base = make_curve().average
    return [make_curve(feature=f"f{k}", average=(k + 1) * base, **changes) for k in range(n)]


def test_panels_are_ordered_by_importance_and_share_the_output(ax):
    overview = OverviewDisplay(curves()).plot(ax)
    assert [curve.feature for curve in overview.curves] == ["f2", "f1", "f0"]
    assert [panel.get_title(loc="left") for panel in overview.axes_] == ["f2", "f1", "f0"]
    for display, curve in zip(overview.displays_, overview.curves, strict=True):
        np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.average[0])
    ax.figure.draw_without_rendering()
    assert len({panel.get_ylim() for panel in overview.axes_}) == 1
    assert overview.axes_[0].get_ylim()[1] > 15
    assert [panel.yaxis.label.get_visible() for panel in overview.axes_] == [True, False, False]
    assert plt.get_fignums() == []


def test_the_panels_lie_within_the_place_of_the_axes():
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    overview = OverviewDisplay(curves(5)).plot(right)
    figure.draw_without_rendering()
    assert min(p.get_window_extent().x0 for p in overview.axes_) > left.get_window_extent().x1
    assert not right.axison


def test_axes_of_the_users_own():
    axes = Figure().subplots(2, 2)
    overview = OverviewDisplay(curves()).plot(axes)
    assert overview.axes_ == list(axes.ravel()[:3])
    with pytest.raises(ValueError, match="5 panels need 5 axes, got 4"):
        OverviewDisplay(curves(5)).plot(axes)
    loose = Figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match="no place that could be divided"):
        OverviewDisplay(curves()).plot(loose)


def test_without_axes_there_is_a_new_figure():
    overview = OverviewDisplay(curves(30)).plot()
    assert set(overview.axes_) < set(overview.figure_.axes)
    width, height = overview.figure_.get_size_inches()
    assert width <= 13.5
    assert height > 12  # six rows


def test_several_outputs_have_one_legend():
    average = np.array([[0.2] * 5, [0.3] * 5, [0.5] * 5])
    several = {"outputs": ("a", "_b", "$c$"), "average": average, "std_error": average / 10}
    figure = Figure(layout="constrained")
    overview = OverviewDisplay([make_curve(ice=None, **several)] * 2).plot(figure.subplots())
    assert [text.get_text() for text in overview.legend_.get_texts()] == ["a", "_b", "$c$"]
    assert all(panel.get_legend() is None for panel in overview.axes_)
    one = OverviewDisplay([make_curve(ice=None, **several)]).plot(Figure().subplots(), output="_b")
    assert one.legend_ is None
    np.testing.assert_array_equal(one.displays_[0].lines_[0].get_ydata(), average[1])


def test_features_are_picked(ax):
    overview = OverviewDisplay(curves()).plot(ax, features=["f0", "f2"])
    assert [display.curve.feature for display in overview.displays_] == ["f2", "f0"]
    with pytest.raises(ValueError, match=r"no curve of \['f9'\]"):
        OverviewDisplay(curves()).plot(ax, features=["f9"])
    with pytest.raises(ValueError, match="features is empty"):
        OverviewDisplay(curves()).plot(ax, features=[])


def test_pairs_come_last_with_axes_of_their_own(ax):
    overview = OverviewDisplay([make_pair(), *curves(2)]).plot(ax)
    assert [curve.feature for curve in overview.curves] == ["f1", "f0", ("age", "salary")]
    first, second, pair = overview.axes_
    assert first.get_shared_y_axes().joined(first, second)
    assert not first.get_shared_y_axes().joined(first, pair)
    assert pair.get_title(loc="left") == "age*salary"
    assert (pair.get_xlabel(), pair.get_ylabel()) == ("age", "salary")
    assert overview.displays_[-1].mesh_ is not None
    ax.figure.draw_without_rendering()
    alone = OverviewDisplay([make_pair()]).plot(Figure().subplots())
    assert alone.displays_[0].colorbar_.ax.get_ylabel() == "prediction"


def test_many_categories_are_counted_instead_of_named(ax):
    overview = OverviewDisplay([make_categories(*range(40)), make_categories("a", "b")]).plot(ax)
    texts = texts_of(ax.figure)
    assert overview.axes_[0].get_xlabel() == "40 categories"
    assert {"a", "b"} < set(texts)
    assert "39" not in texts


def test_a_curve_without_a_rug_keeps_the_common_axis_level(ax):
    overview = OverviewDisplay([*curves(1), make_curve(feature="bare", rug=[])]).plot(ax)
    ax.figure.draw_without_rendering()
    assert len({round(panel.get_window_extent().y0, 3) for panel in overview.axes_}) == 1


def test_an_explainer_and_a_log_of_it_look_the_same(ax, tmp_path, write_log):
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + 3 * x["b"], ["a", "b"], n_ice=0)
    for k in range(60):
        pdp.explain_one({"a": k / 60, "b": 1 - k / 60})
    reader = write_log(tmp_path / "run", [pdp.curves])
    for source in (pdp.curves, list(pdp.curves.values()), reader):
        overview = OverviewDisplay(source).plot(Figure().subplots())
        assert [curve.feature for curve in overview.curves] == ["b", "a"]
        drawn = [display.lines_[0].get_ydata() for display in overview.displays_]
        for values, name in zip(drawn, "ba", strict=True):
            np.testing.assert_array_equal(values, pdp.curve(name).average[0])


def test_a_time_of_a_log(tmp_path, write_log):
    first, second = curves(1), curves(2)[1:]
    snapshots = [{"f": make_curve(feature="f", average=c.average)} for c in (*first, *second)]
    reader = write_log(tmp_path / "run", snapshots)
    for n, wanted in ((None, second), (250, second), (150, first), (100, first)):
        (curve,) = OverviewDisplay(reader, n=n).curves
        np.testing.assert_array_equal(curve.average, wanted[0].average)
    with pytest.raises(ipdp.NotEnoughSamples):
        OverviewDisplay(reader, n=99)
    with pytest.raises(ValueError, match="from a log only"):
        OverviewDisplay(snapshots[0], n=100)


def test_no_curves_are_no_overview():
    with pytest.raises(TypeError, match="expected curves"):
        OverviewDisplay([1, 2])
    with pytest.raises(ValueError, match="there is no curve to show"):
        OverviewDisplay({})
