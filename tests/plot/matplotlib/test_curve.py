"""Curves of numbers and of categories."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure

from ..conftest import make_binary, make_categories, make_curve


def drawn_texts(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def test_line_and_band_are_the_curve_and_its_band(ax):
    curve = make_curve()
    display = curve.plot(ax, band=0.8)
    np.testing.assert_array_equal(
        display.lines_[0].get_xydata().T, [curve.grid_values[0], curve.average[0]]
    )
    outline = display.bands_[0].get_paths()[0].vertices
    lower, upper = curve.band(0.8, simultaneous=True)
    for x, low, high in zip(curve.grid_values[0], lower[0], upper[0], strict=True):
        at = outline[outline[:, 0] == x, 1]
        assert at.min() == pytest.approx(low)
        assert at.max() == pytest.approx(high)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "prediction")


def test_ice_curves_fade_with_age(ax):
    curve = make_curve()
    lines = curve.plot(ax).ice_lines_[0]
    for segment, values in zip(lines.get_segments(), curve.ice[0], strict=True):
        np.testing.assert_array_equal(segment.T, [curve.grid_values[0], values])
    strengths = lines.get_alpha()
    assert (np.diff(strengths) > 0).all()


def test_ice_curves_are_where_they_were_evaluated(ax):
    positions = np.arange(15.0).reshape(3, 5)
    lines = make_curve(ice_grid_values=[positions]).plot(ax).ice_lines_[0]
    np.testing.assert_array_equal([s[:, 0] for s in lines.get_segments()], positions)


def test_what_is_switched_off_is_not_drawn(ax):
    display = make_curve().plot(ax, ice=False, band=None, rug=False)
    assert (display.ice_lines_, display.bands_, display.missing_) == ([], [], [])
    assert display.rug_ax_ is None
    assert display.missing_ax_ is None
    assert display.mesh_ is None
    assert len(display.lines_) == 1


def test_histogram_shows_the_rug_and_shares_the_axis(ax):
    display = make_curve().plot(ax)
    counts, edges, _ = display.rug_ax_.patches[0].get_data()
    assert counts.sum() == 50
    assert (edges[0], edges[-1]) == (0.0, 4.0)
    ax.set_xlim(1, 2)
    assert display.rug_ax_.get_xlim() == (1, 2)


def test_an_outlier_does_not_squeeze_the_curve(ax):
    make_curve(rug=[np.array([0.0, 2.0, 4.0, 1e9])]).plot(ax)
    # The curve spans 4, the strip may go on for a quarter of that, and matplotlib adds 5 %.
    assert ax.get_xlim()[1] < 6


def test_two_classes_show_the_second(ax):
    curve = make_binary()
    display = curve.plot(ax)
    assert len(display.lines_) == 1
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.average[1])
    assert ax.get_ylabel() == "chance of True"
    assert ax.get_legend() is None


def test_output_chooses(ax):
    curve = make_binary()
    display = curve.plot(ax, output=False)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.average[0])
    assert ax.get_ylabel() == "chance of False"


def test_answers_of_an_empty_model_do_not_hide_that_they_are_probabilities(ax):
    curve = make_binary()
    half_empty = make_binary(average=curve.average / 2)
    assert len(half_empty.plot(ax).lines_) == 1


def test_several_outputs_have_a_line_each_and_a_legend(ax):
    average = np.array([[0.2] * 5, [0.3] * 5, [0.5] * 5])
    curve = make_curve(outputs=("a", "b", "c"), average=average, std_error=average / 10, ice=None)
    display = curve.plot(ax)
    np.testing.assert_array_equal([line.get_ydata() for line in display.lines_], average)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert len({line.get_color() for line in display.lines_}) == 3
    assert len(display.bands_) == 3
    assert ax.get_ylabel() == "chance of each class"


def test_two_targets_are_no_classes(ax):
    average = np.array([[1.0] * 5, [7.0] * 5])
    curve = make_curve(outputs=(0, 1), average=average, std_error=average, ice=None)
    assert len(curve.plot(ax).lines_) == 2
    assert ax.get_ylabel() == "prediction"


def test_more_outputs_than_colours_are_told_apart_by_dashes(ax):
    average = np.arange(13.0)[:, None] + np.zeros(5)
    curve = make_curve(outputs=tuple(range(13)), average=average, std_error=average, ice=None)
    lines = curve.plot(ax).lines_
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 13


def test_outputs_are_told_apart_in_print(ax):
    average = np.arange(6.0)[:, None] + np.zeros(5)
    curve = make_curve(outputs=tuple(range(6)), average=average, std_error=average, ice=None)
    assert len({line.get_marker() for line in curve.plot(ax).lines_}) == 6
    symbols = {t.marker.symbol for t in curve.plot(backend="plotly").data if t.meta == "curve"}
    assert len(symbols) == 6


def test_thin_data_are_dotted(ax):
    support = np.array([200.0, 200.0, 200.0, 19.0, 0.0])
    curve = make_curve(n_effective_points=support)
    display = curve.plot(ax)
    assert display.lines_[0].get_linestyle() == ":"
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.average[0])
    solid = next(line for line in ax.lines if line.get_linestyle() == "-")
    np.testing.assert_array_equal(solid.get_ydata(), [*curve.average[0][:3], np.nan, np.nan])


def test_a_missing_value_stands_beside_the_curve(ax, render):
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    display = curve.plot(ax)
    side = display.missing_ax_
    assert drawn_texts(side) == ["missing"]
    mark, _, (bar,) = display.missing_[0].lines
    assert mark.get_ydata().tolist() == [6.0]
    # 1.96 standard errors for the default of 95 %.
    np.testing.assert_allclose(bar.get_segments()[0][:, 1], [6 - 0.98, 6 + 0.98], atol=1e-3)
    render(ax)
    assert side.get_ylim() == ax.get_ylim()
    assert ax.get_ylim()[1] > 6
    assert side.get_window_extent().x0 > ax.get_window_extent().x1


def test_missing_without_an_error_or_a_band_is_a_bare_mark(ax):
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([np.nan]))
    assert not curve.plot(ax).missing_[0].has_yerr
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    assert not curve.plot(ax, band=None).missing_[0].has_yerr


def test_strips_stay_within_the_place_of_the_axes():
    figure = Figure()  # no layout engine: nobody else makes room
    ax = figure.subplots()
    place = ax.get_position()
    display = make_curve(missing=np.array([6.0])).plot(ax)
    figure.draw_without_rendering()
    boxes = [
        part.get_window_extent().transformed(figure.transFigure.inverted())
        for part in (ax, display.rug_ax_, display.missing_ax_)
    ]
    assert min(box.x0 for box in boxes) == pytest.approx(place.x0)
    assert max(box.x1 for box in boxes) == pytest.approx(place.x1)
    assert min(box.y0 for box in boxes) == pytest.approx(place.y0)
    assert max(box.y1 for box in boxes) == pytest.approx(place.y1)
    assert boxes[1].y1 < boxes[0].y0


def test_curves_can_be_laid_over_each_other(ax):
    before = make_curve().plot(ax, line_kw={"label": "before"})
    width = ax.get_axes_locator()(ax, None).width
    after = make_curve(average=make_curve().average + 1).plot(ax, line_kw={"label": "after"})
    assert after.rug_ax_ is before.rug_ax_
    assert len(after.rug_ax_.patches) == 2
    assert before.lines_[0].get_color() != after.lines_[0].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]
    assert ax.get_axes_locator()(ax, None).width == width


def test_the_colour_of_the_line_is_that_of_what_belongs_to_it(ax):
    display = make_curve().plot(ax, line_kw={"c": "#ff0000", "lw": 5}, band_kw={"alpha": 0.9})
    assert display.lines_[0].get_linewidth() == 5
    assert to_hex(display.bands_[0].get_facecolor()[0]) == "#ff0000"
    assert display.bands_[0].get_alpha() == 0.9
    assert to_hex(display.ice_lines_[0].get_colors()[0]) == "#ff0000"
    assert to_hex(display.rug_ax_.patches[0].get_facecolor()) == "#ff0000"


def test_settings_reach_the_artists(ax):
    display = make_curve().plot(ax, ice_kw={"lw": 3, "color": "green"}, rug_kw={"color": "red"})
    assert display.ice_lines_[0].get_linewidths().tolist() == [3]
    assert to_rgba(display.ice_lines_[0].get_colors()[0])[:3] == to_rgba("green")[:3]
    assert to_hex(display.rug_ax_.patches[0].get_facecolor()) == "#ff0000"


def test_thousands_are_separated(ax, render):
    x = np.linspace(-20_000.0, 150_000.0, 5)
    make_curve(grid_values=[x], rug=[]).plot(ax)
    render(ax)
    assert {"0", "50,000", "100,000", "150,000"} < set(drawn_texts(ax))


def test_dark_styles_get_lighter_colours():
    light = make_curve().plot(Figure().subplots())
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white"}):
        dark = make_curve().plot(Figure().subplots())
    with mpl.rc_context({"axes.facecolor": "none", "axes.labelcolor": "white"}):
        clear = make_curve().plot(Figure().subplots())
    assert (light.lines_[0].get_color(), dark.lines_[0].get_color()) == ("#0072B2", "#56B4E9")
    assert clear.lines_[0].get_color() == "#56B4E9"


def test_noise_does_not_look_like_an_effect(ax):
    p = 0.95 + np.array([0.0, 1e-5, -1e-5, 0.0, 1e-5])
    make_binary(average=np.stack([1 - p, p]), ice=None).plot(ax, band=None)
    low, high = ax.get_ylim()
    assert high - low >= 0.2
    assert low <= 0.8
    assert high < 1.05


@pytest.mark.parametrize("m", [0, 1, 2])
def test_curves_of_few_points(m, ax, render):
    few = make_curve(
        grid_values=[np.arange(float(m))],
        average=np.ones((1, m)),
        std_error=np.full((1, m), np.nan),
        n_effective_points=np.ones(m),
        ice=np.ones((1, 1, m)),
        rug=[np.array([3.0])],
    )
    display = few.plot(ax)
    render(ax)
    assert len(display.lines_[0].get_xdata()) == m
    assert display.rug_ax_.patches[0].get_data().values.sum() == 1


def test_a_constant_can_be_read_off_the_axis(ax):
    same = np.full(4, 0.003467)
    curve = make_curve(
        grid_values=[same],
        average=np.full((1, 4), 2.0),
        std_error=np.zeros((1, 4)),
        n_effective_points=np.ones(4),
        ice=None,
        rug=[np.repeat(same, 9)],
    )
    display = curve.plot(ax)
    low, high = ax.get_xlim()
    assert 0 < low < 0.003467 < high < 0.01
    [bar] = display.rug_ax_.patches
    counts, edges, _ = bar.get_data()
    assert counts.tolist() == [36]
    assert edges[0] < 0.003467 < edges[1]


def test_where_nothing_is_known_words_say_so(ax):
    texts = [
        text.get_text() for text in make_curve(average=np.full((1, 5), np.nan)).plot(ax).ax_.texts
    ]
    assert texts == ["nothing yet"]
    assert not make_curve().plot(Figure().subplots()).ax_.texts


def test_points_bars_and_counts(ax):
    curve = make_categories("blue", "green", "red")
    display = curve.plot(ax)
    points = display.lines_[0]
    assert points.get_linestyle() == "None"
    np.testing.assert_array_equal(points.get_xydata(), [[0, 1], [1, 2], [2, 3]])
    (errors,) = display.bands_[0].lines[2]
    lower, upper = curve.band(0.95, simultaneous=True)
    ends = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(ends, np.stack([lower[0], upper[0]], axis=1))
    assert [bar.get_height() for bar in display.rug_ax_.patches] == [10, 20, 30]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["blue", "green", "red"]


def test_ice_values_are_dashes_at_their_category(ax):
    curve = make_categories(False, True)
    paths = curve.plot(ax).ice_lines_[0].get_paths()
    np.testing.assert_array_equal(
        paths[1].vertices,
        [[-0.2, 2], [0.2, 2], [np.nan, 2], [0.8, 3], [1.2, 3], [np.nan, 3]],
    )
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["False", "True"]


def test_several_outputs_stand_side_by_side(ax):
    average = np.array([[1.0, 2.0], [5.0, 6.0]])
    curve = make_categories(
        "a", "b", outputs=("x", "y"), average=average, std_error=average, ice=None
    )
    first, second = curve.plot(ax).lines_
    np.testing.assert_allclose(first.get_xdata(), [-0.2, 0.8])
    np.testing.assert_allclose(second.get_xdata(), [0.2, 1.2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y"]


def test_a_later_curve_keeps_the_places_of_the_categories(ax):
    make_categories("b", "d").plot(ax)
    later = make_categories("a", "b", "d").plot(ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["b", "d", "a"]
    np.testing.assert_array_equal(later.lines_[0].get_xdata(), [2, 0, 1])
    assert later.rug_ax_.get_ylim()[1] > 30


def test_missing_stands_beside_the_categories(ax, render):
    curve = make_categories("a", "b", missing=np.array([4.0]), missing_std_error=np.array([0.1]))
    display = curve.plot(ax)
    render(ax)
    assert display.missing_ax_.get_xticklabels()[0].get_text() == "missing"
    assert display.missing_[0].lines[0].get_ydata().tolist() == [4.0]


def test_many_long_names_are_slanted(ax, render):
    make_categories(*[f"a long category {k}" for k in range(20)]).plot(ax)
    render(ax)
    assert {tick.get_rotation() for tick in ax.get_xticklabels()} == {35}


def test_categories_that_are_not_in_the_rug_have_no_bar(ax):
    rug = np.array(["a", "z"], dtype=object)
    display = make_categories("a", "b", rug=[rug]).plot(ax)
    assert [bar.get_height() for bar in display.rug_ax_.patches] == [1, 0]
