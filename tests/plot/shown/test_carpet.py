"""What is shown of curves over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import ipdp
from ipdp.plot import CarpetDisplay
from ipdp.plot.shown.carpet import curve_history

from ..conftest import (
    make_binary,
    make_categories,
    make_curve,
    make_history,
    make_pair,
)

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
    history = curve_history(np.arange(float(len(curves))), curves, output=None, centred=False)
    for column, curve in zip(history.values.T, curves, strict=True):
        there = ~np.isnan(column)
        assert there.any()
        assert column[there].min() >= curve.average.min() - 1e-9
        assert column[there].max() <= curve.average.max() + 1e-9
    low, high = history.place_edges[[0, -1]]
    assert low <= min(curve.grid_values[0][0] for curve in curves)
    assert high >= max(curve.grid_values[0][-1] for curve in curves)


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
    assert display.colorbar_.ax.get_ylabel() == "chance of True"


def test_of_several_outputs_the_strongest_or_the_chosen_one(ax):
    average = np.array([[1.0] * 5, [0.0, 9.0, 0.0, 9.0, 0.0], [2.0] * 5])
    curve = make_curve(outputs=("a", "b", "c"), average=average, std_error=average, ice=None)
    assert CarpetDisplay([curve]).plot(ax).colorbar_.ax.get_ylabel() == "predicted b"
    chosen = CarpetDisplay([curve]).plot(Figure().subplots(), output="c")
    assert set(chosen.mesh_.get_array().ravel().tolist()) == {2.0}
    with pytest.raises(ValueError, match="no output 'd'"):
        CarpetDisplay([curve]).plot(Figure().subplots(), output="d")


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


def test_curves_without_outputs_have_no_carpet_yet(ax):
    nothing = make_curve(outputs=(), average=np.empty((0, 5)), std_error=np.empty((0, 5)), ice=None)
    with pytest.raises(ipdp.NotEnoughSamples, match="'age' has no output yet"):
        CarpetDisplay([nothing]).plot(ax)
