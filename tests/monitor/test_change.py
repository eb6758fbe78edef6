"""What a change says of itself."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ipdp import Curve
from ipdp.monitor import Change
from ipdp.monitor.change import extent

X = np.array([20_000.0, 80_000.0, 140_000.0])


def curve(values, places=X, t=1_000):
    places = np.asarray(places)
    return Curve(
        feature="salary",
        outputs=(True,),
        grid_values=[places],
        average=np.array([values], dtype=float),
        std_error=np.full((1, len(places)), 0.01),
        n_samples=300,
        n_effective_points=np.full(len(places), 300.0),
        categorical=(places.dtype == object,),
        t=t,
    )


def change(before=(0.2, 0.5, 0.8), after=(0.8, 0.5, 0.2), **setup):
    settings = {
        "feature": "salary",
        "output": True,
        "t": 10_312,
        "began": 10_000,
        "before": curve(before),
        "after": curve(after),
        "range_before": (20_000.0, 140_000.0),
        "range_after": (20_000.0, 140_000.0),
    }
    return Change(**settings | setup)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ((0.2, 0.5, 0.8), (0.8, 0.5, 0.2), "reversed"),
        ((0.5, 0.5, 0.5), (0.8, 0.5, 0.2), "appeared"),
        ((0.2, 0.5, 0.8), (0.5, 0.5, 0.5), "vanished"),
        ((0.4, 0.5, 0.6), (0.2, 0.5, 0.8), "grew"),
        ((0.2, 0.5, 0.8), (0.4, 0.5, 0.6), "shrank"),
        ((0.2, 0.5, 0.8), (0.5, 0.9, 0.5), "changed"),
    ],
)
def test_how(before, after, says):
    assert change(before, after).summary() == (
        f"salary: model changed since 10,000: effect on the chance of True {says}"
    )


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ((80_000.0, 140_000.0), "reversed, most above 80,000"),
        ((20_000.0, 80_000.0), "reversed, most below 80,000"),
        ((50_000.0, 80_000.0), "reversed, most between 50,000 and 80,000"),
        ((80_000.0, 80_000.0), "reversed, most around 80,000"),
        ((20_000.0, 140_000.0), "reversed"),
    ],
)
def test_where(where, says):
    assert change(where=where).summary().endswith(says)


def test_where_in_whole_numbers():
    settings = {"after": (0.2, 0.9, 0.2), "is_whole": True}
    assert (
        "changed between 30,001 and 80,000"
        in change(where=(30_000.4, 80_000.9), **settings).summary()
    )
    assert "changed around 70,001" in change(where=(70_000.4, 70_001.3), **settings).summary()
    # There is no whole number in between.
    assert "between 70,000 and 70,001" in change(where=(70_000.4, 70_000.6), **settings).summary()


def test_what_was_asked_and_an_interaction():
    assert change(n_asked=150).summary() == (
        "salary: model changed since 10,000: effect on the chance of True reversed, "
        "asked again about the same 150 rows"
    )
    assert change(is_interaction=True, where=(1.0, 2.0)).summary() == (
        "salary: model changed since 10,000: effect on the chance of True is another for single "
        "rows, the same on average (interaction)"
    )
    assert change(kind="unclear").summary().startswith("salary: model may have changed since")


def test_virtual_and_both():
    moved_to = {"range_after": (80_000.0, 200_000.0)}
    assert change(kind="virtual", **moved_to).summary() == (
        "salary: data moved since 10,000: range from [20,000, 140,000] to [80,000, 200,000]"
    )
    assert change(kind="both", **moved_to).summary() == (
        "salary: model changed since 10,000: effect on the chance of True reversed; "
        "data moved: range from [20,000, 140,000] to [80,000, 200,000]"
    )


def test_categories_and_a_regressor():
    places = np.array(["red", "green", "blue"], dtype=object)
    said = change(
        before=(0, 0, 1),
        kind="both",
        output="prediction",
        where=("red",),
        range_before=("red", "blue"),
        range_after=("red", "pink"),
    )
    said = Change(
        **{**vars(said), "before": curve((0, 1, 2), places), "after": curve((5, 1, 2), places)}
    )
    assert said.summary() == (
        "salary: model changed since 10,000: effect on the prediction changed at red; "
        "data moved: range with new pink without blue"
    )


def test_a_change_of_an_older_log_does_not_say_what_its_output_is():
    def older(before, after, output):
        state = change(before, after, output=output).to_dict()
        for name in ("is_probability", "is_whole", "is_interaction", "n_asked", "ended"):
            del state[name]
        return Change.from_dict(state)

    assert older((0.2, 0.5, 0.8), (0.8, 0.5, 0.2), "yes").output_text == "chance of yes"
    assert older((200.0, 500.0, 800.0), (0.8, 0.5, 0.2), "price").output_text == "predicted price"
    assert older((0.2, 0.5, 0.8), (0.8, 0.5, 0.2), "prediction").output_text == "prediction"


def test_through_json():
    first = change(
        size=math.inf, size_in_errors=math.nan, where=(1.0, 2.0), level=0.25, n_asked=9, ended=11.0
    )
    second = Change.from_dict(json.loads(json.dumps(first.to_dict(), allow_nan=False)))
    assert second.summary() == first.summary()
    assert second.where == (1.0, 2.0)
    assert (second.level, second.n_asked, second.ended) == (0.25, 9, 11.0)
    assert math.isnan(second.size_in_errors)
    np.testing.assert_array_equal(second.after.average, first.after.average)
    assert repr(second) == repr(first)
    with pytest.raises(ValueError, match="version 7"):
        Change.from_dict({"version": 7})


def test_the_target_has_a_name_where_it_is_known():
    said = change(target="churned", score=0.123, severity=1.0).summary()
    assert said == (
        "salary: model changed since 10,000: effect on the chance that churned is True reversed; "
        "this moved the mean chance that churned is True by +12 pts"
    )
    number = change(output="prediction", target="price", score=-1200.0, severity=1.0)
    assert number.summary().endswith(
        "effect on the predicted price reversed; this moved the mean predicted price by -1,200"
    )
    assert Change.from_dict(number.to_dict()).summary() == number.summary()


def test_plot_shows_both_curves_and_the_place():
    ax = change(where=(80_000.0, 140_000.0)).plot(ax=Figure().subplots()).ax_
    drawn = [line.get_ydata().tolist() for line in ax.lines]
    assert [0.2, 0.5, 0.8] in drawn
    assert [0.8, 0.5, 0.2] in drawn
    assert len(ax.patches) == 1
    assert "reversed" in ax.get_title()
    assert ax.get_title(loc="right") == ""
    assert ax.get_ylabel() == "chance of True"


def test_extent_is_the_stretch_around_the_largest_difference():
    places = np.arange(6.0)
    assert extent(places, np.array([0.9, 0.1, 0.6, 1.0, 0.75, 0.25])) == pytest.approx((1.8, 4.5))
    # What went the other way is another place, though it is as large.
    assert extent(places, np.array([0.9, 0.1, 0.6, 1.0, -1.0, 0.2])) == pytest.approx((1.8, 3.25))
    assert extent(places, np.zeros(6)) == (0.0, 5.0)
    names = np.array(["a", "b", "c"], dtype=object)
    assert extent(names, np.array([1.0, 0.2, -0.5])) == ("a", "c")


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8), st.integers(1, 5))
def test_extent_is_the_same_on_a_finer_axis(heights, n_between):
    places = np.arange(float(len(heights))) ** 1.5
    difference = np.array(heights, dtype=float)
    finer = np.unique(np.concatenate([places, np.linspace(0, places[-1], 7 * n_between)]))
    there = np.interp(finer, places, difference)
    low, high = extent(places, difference)
    assert extent(finer, there) == pytest.approx((low, high))
    # All of it is at least half as large as the largest, which is in it.
    inside = np.abs(there[(finer >= low) & (finer <= high)])
    assert inside.min() >= 0.5 * np.abs(difference).max() - 1e-9
    assert inside.max() == np.abs(difference).max()
