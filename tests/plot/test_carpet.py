"""The effect over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import ipdp
from ipdp.plot import CarpetDisplay
from ipdp.plot.weave import woven

from .conftest import (
    make_binary,
    make_categories,
    make_change,
    make_curve,
    make_history,
    make_pair,
    write_log,
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


number = st.floats(-100, 100)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.tuples(number, number), min_size=1, max_size=6), min_size=1, max_size=5)
)
def test_whatever_the_ranges_are_values_are_the_curves_own(points):
    curves = []
    for t, pairs in enumerate(points):
        x, y = np.array(sorted(pairs)).T
        curves.append(
            make_curve(
                t=t,
                grid_values=[x],
                average=y[None],
                std_error=np.zeros((1, len(x))),
                n_effective_points=np.ones(len(x)),
                ice=None,
                rug=[],
            )
        )
    weave = woven(np.arange(float(len(curves))), curves, output=None, centred=False)
    for column, curve in zip(weave.values.T, curves, strict=True):
        there = ~np.isnan(column)
        assert there.any()
        assert column[there].min() >= curve.average.min() - 1e-9
        assert column[there].max() <= curve.average.max() + 1e-9
    low, high = weave.place_edges[[0, -1]]
    assert low <= min(curve.grid_values[0][0] for curve in curves)
    assert high >= max(curve.grid_values[0][-1] for curve in curves)


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


def test_a_log_is_drawn_at_its_own_times(ax, tmp_path):
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


def test_order_and_doubles_do_not_matter():
    history = make_history()
    again = make_curve(t=200, average=make_curve().average * 9, ice=None)
    display = CarpetDisplay([*reversed(history), again])
    assert display.times.tolist() == [100, 200, 300, 400]
    assert display.curves[1] is again


def test_a_class_that_was_not_there_yet_is_empty(ax):
    early = make_curve(t=100, outputs=(False,), ice=None)
    display = CarpetDisplay([early, make_binary(t=200)]).plot(ax)
    values = display.mesh_.get_array()
    assert values[:, 0].mask.all()
    assert not values[:, 1].mask.any()
    assert display.colorbar_.ax.get_ylabel() == "P(True)"


def test_of_several_outputs_the_strongest_or_the_chosen_one(ax):
    average = np.array([[1.0] * 5, [0.0, 9.0, 0.0, 9.0, 0.0], [2.0] * 5])
    curve = make_curve(outputs=("a", "b", "c"), average=average, std_error=average, ice=None)
    assert CarpetDisplay([curve]).plot(ax).colorbar_.ax.get_ylabel() == "b"
    chosen = CarpetDisplay([curve]).plot(Figure().subplots(), output="c")
    assert set(chosen.mesh_.get_array().ravel().tolist()) == {2.0}
    with pytest.raises(ValueError, match="no output 'd'"):
        CarpetDisplay([curve]).plot(Figure().subplots(), output="d")


def test_a_feature_that_does_not_move_is_still_seen(ax, render):
    still = [make_curve(t=t, grid_values=[np.full(5, 7.0)], ice=None) for t in (1, 2)]
    values = CarpetDisplay(still).plot(ax).mesh_.get_array()
    render(ax)
    assert 0 < (~values.mask).sum() < values.size / 10


def test_a_single_snapshot(ax, render):
    CarpetDisplay([make_curve(t=12_345)]).plot(ax)
    render(ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["12,345"]


def test_numbers_after_categories_are_another_carpet(ax):
    display = CarpetDisplay([make_categories(1, 2, t=100), *make_history(2, t=None)]).plot(ax)
    assert display.mesh_.get_array().shape[1] == 1


@pytest.mark.parametrize(
    ("curves", "feature", "error", "sentence"),
    [
        ([], None, ipdp.NotEnoughSamples, "there is no curve yet"),
        (make_history(), "b", ipdp.NotEnoughSamples, "no curve of 'b' yet"),
        ([make_curve(), make_curve(feature="b")], None, ValueError, "say which feature"),
        ([3], None, TypeError, "expected curves"),
    ],
)
def test_errors(curves, feature, error, sentence):
    with pytest.raises(error, match=sentence):
        CarpetDisplay(curves, feature)


def test_a_pair_has_no_carpet(ax):
    with pytest.raises(ValueError, match="is a pair, which has no carpet: draw its surface"):
        CarpetDisplay([make_pair()]).plot(ax)
