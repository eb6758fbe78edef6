"""Metrics, importances and changes over time."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from ipdp import NotEnoughSamples
from ipdp.plot import TimelineDisplay

from ..conftest import make_change, make_curve, make_history


def snapshots(n_features=2, n=4):
    """Curves of f0, f1, ... over time; the later the more important."""
    base = make_curve().average
    return [
        {
            f"f{k}": make_curve(
                feature=f"f{k}", t=100 * (t + 1), average=(k + 1) * base * (t + 1), ice=None
            )
            for k in range(n_features)
        }
        for t in range(n)
    ]


def test_lines_are_the_importances(ax):
    kept = snapshots()
    display = TimelineDisplay(kept).plot(ax)
    for name, line in display.lines_.items():
        x, y = line.get_data()
        assert x.tolist() == [100, 200, 300, 400]
        np.testing.assert_array_equal(y, [curves[name].importance[0] for curves in kept])
    names = [text.get_text() for text in display.axes_["importance"].get_legend().get_texts()]
    assert names == ["f1", "f0"]
    assert list(display.axes_) == ["importance"]


def test_metrics_have_a_panel_each(ax):
    metrics = {"accuracy": ([100, 400], [0.5, 0.9]), "$loss$": ([100, 400], [20_000, 10_000])}
    display = TimelineDisplay(snapshots(), metrics=metrics).plot(ax)
    assert list(display.axes_) == ["accuracy", "$loss$", "importance"]
    for name, (times, values) in metrics.items():
        np.testing.assert_array_equal(display.metric_lines_[name].get_data(), [times, values])
    ax.figure.draw_without_rendering()
    limits = {panel.get_xlim() for panel in display.axes_.values()}
    assert limits == {(100, 400)}
    tops = [panel.get_window_extent().y0 for panel in display.axes_.values()]
    assert tops == sorted(tops, reverse=True)


def test_changes_have_a_row_for_each_feature_and_a_mark_for_each_kind(ax):
    changes = [
        make_change(feature="f0", t=200),
        make_change(feature="f0", t=300, kind="virtual", where=None),
        make_change(feature="f1", t=250),
    ]
    display = TimelineDisplay(snapshots(), changes=changes).plot(ax)
    real, virtual = display.changes_["real"], display.changes_["virtual"]
    np.testing.assert_array_equal(real.get_offsets(), [[200, 0], [250, 1]])
    np.testing.assert_array_equal(virtual.get_offsets(), [[300, 0]])
    rows = display.axes_["changes"].get_yticklabels()
    assert [row.get_text() for row in rows] == ["f0", "f1"]
    # Faint lines lead the eye up to the importances.
    importance = display.axes_["importance"]
    drawn = [line for line in importance.lines if line not in display.lines_.values()]
    assert [line.get_xdata()[0] for line in drawn] == [200, 250, 300]


def test_of_many_features_some_are_named_those_that_changed_first(ax):
    display = TimelineDisplay(snapshots(12), changes=[make_change(feature="f0", t=200)])
    display.plot(ax, n_features=3)
    names = [text.get_text() for text in display.axes_["importance"].get_legend().get_texts()]
    assert names == ["f11", "f10", "f0", "9 others"]
    assert len(display.lines_) == 12


def test_a_log_brings_everything_along(ax, tmp_path, write_log):
    kept = snapshots()
    changes = [make_change(feature="f1", t=200)]
    accuracy = [(100, 0.5), (200, 0.75)]
    reader = write_log(tmp_path / "run", kept, changes=changes, accuracy=accuracy)
    display = TimelineDisplay(reader).plot(ax)
    assert list(display.axes_) == ["accuracy", "importance", "changes"]
    assert display.metric_lines_["accuracy"].get_ydata().tolist() == [0.5, 0.75]
    np.testing.assert_array_equal(
        display.lines_["f1"].get_ydata(), [curves["f1"].importance[0] for curves in kept]
    )
    assert display.changes_["real"].get_offsets()[0].tolist() == [200, 0]
    alone = TimelineDisplay(reader, changes=[], metrics={}).plot(Figure().subplots())
    assert list(alone.axes_) == ["importance"]


def test_a_single_snapshot_is_a_mark(ax, render):
    display = TimelineDisplay([make_curve()]).plot(ax)
    render(ax)
    assert display.lines_["age"].get_marker() == "o"


def test_a_change_after_the_last_snapshot_is_within_the_axis(ax):
    display = TimelineDisplay(snapshots(), changes=[make_change(feature="f0", t=450)]).plot(ax)
    assert display.axes_["importance"].get_xlim() == (100, 450)


def test_a_metric_may_have_the_name_of_a_panel(ax):
    metrics = {"importance": ([100], [0.5]), "changes": ([100], [0.5])}
    display = TimelineDisplay(make_history(), metrics=metrics).plot(ax)
    assert set(display.metric_lines_) == {"importance", "changes"}
    assert display.axes_["importance"].get_ylabel() == "importance"
    assert len(display.lines_["age"].get_xdata()) == 4


def test_errors():
    with pytest.raises(NotEnoughSamples, match="no curve yet"):
        TimelineDisplay([])
    with pytest.raises(ValueError, match="metric 'accuracy' must be two sequences"):
        TimelineDisplay(snapshots(), metrics={"accuracy": ([1, 2], [0.5])})
    display = TimelineDisplay(snapshots(), metrics={"a": ([1], [1]), "b": ([1], [1])})
    with pytest.raises(ValueError, match="3 axes"):
        display.plot(Figure().subplots(1, 2))
