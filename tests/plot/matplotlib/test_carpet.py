"""The curves of a feature over time."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from ipdp.plot import CarpetDisplay

from ..conftest import (
    make_categories,
    make_change,
    make_curve,
    make_history,
    make_pair,
)


def test_each_column_is_a_curve_within_its_own_range(ax):
    history = make_history()
    display = CarpetDisplay(history).plot(ax)
    values = display.mesh_.get_array()
    corners = display.mesh_.get_coordinates()
    middles = (corners[1:, 0, 1] + corners[:-1, 0, 1]) / 2
    assert values.shape[1] == len(history)
    for column, curve in zip(values.T, history, strict=True):
        inside = (middles >= curve.grid_values[0][0]) & (middles <= curve.grid_values[0][-1])
        np.testing.assert_allclose(column[inside].filled(np.nan), curve.at(middles[inside])[0])
        # A row is 7 / 240 high: what lies further outside than that is empty.
        outside = (middles < curve.grid_values[0][0] - 0.03) | (
            middles > curve.grid_values[0][-1] + 0.03
        )
        assert column[outside].mask.all()
        assert outside.any()
    np.testing.assert_array_equal(corners[0, :, 0], [50, 150, 250, 350, 450])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("observations", "age")
    assert display.colorbar_.ax.get_ylabel() == "prediction"


def test_centred_columns_have_no_level_and_even_limits(ax):
    lifted = [make_curve(t=t, average=make_curve().average + t, ice=None) for t in (100, 200, 300)]
    display = CarpetDisplay(lifted).plot(ax, centred=True)
    columns = display.mesh_.get_array().T
    np.testing.assert_allclose(columns[1], columns[0])
    low, high = display.mesh_.get_clim()
    assert low == -high
    assert display.colorbar_.ax.get_ylabel() == "prediction, centred"


def test_categories_are_rows_that_come_and_go(ax):
    first, second = make_categories("a", "b", t=100), make_categories("b", "c", t=200)
    display = CarpetDisplay([first, second]).plot(ax)
    np.testing.assert_array_equal(
        display.mesh_.get_array().filled(np.nan), [[1, np.nan], [2, 1], [np.nan, 2]]
    )
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first category is at the top


def test_changes_are_lines_by_kind_and_only_the_features_own(ax):
    changes = [
        make_change(t=200),
        make_change(t=150, kind="virtual", where=None),
        make_change(t=120, feature="other"),
    ]
    display = CarpetDisplay(make_history(), changes=changes).plot(ax)
    assert [line.get_xdata()[0] for line in display.changes_] == [150, 200]
    assert [line.get_linestyle() for line in display.changes_] == [":", "-"]
    other = Figure().subplots()
    assert CarpetDisplay(make_history(), changes=changes).plot(other, changes=False).changes_ == []


def test_a_log_is_drawn_at_its_own_times(ax, tmp_path, write_log):
    # The curves' clock is not the number of observations.
    history = [{"age": curve, "pair": make_pair()} for curve in make_history(3)]
    late = [{"age": make_curve(t=1e6 + k, ice=None)} for k in range(3)]
    reader = write_log(tmp_path / "run", late, changes=[make_change(t=250)])
    display = CarpetDisplay(reader, "age").plot(ax)
    assert display.times.tolist() == [100, 200, 300]
    assert [line.get_xdata()[0] for line in display.changes_] == [250]
    with pytest.raises(ValueError, match="say which feature of the log"):
        CarpetDisplay(reader)
    assert CarpetDisplay(history, "age").times.tolist() == [100, 200, 300]


def test_a_feature_that_does_not_move_is_still_seen(ax, render):
    still = [make_curve(t=t, grid_values=[np.full(5, 7.0)], ice=None) for t in (1, 2)]
    values = CarpetDisplay(still).plot(ax).mesh_.get_array()
    render(ax)
    assert 0 < (~values.mask).sum() < values.size / 10


def test_a_single_snapshot(ax, render):
    CarpetDisplay([make_curve(t=12_345)]).plot(ax)
    render(ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["12,345"]
