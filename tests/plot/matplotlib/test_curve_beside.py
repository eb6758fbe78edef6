"""Centred curves, earlier curves behind a curve, and one to compare with."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp

from ..conftest import make_binary, make_categories, make_curve, make_history, make_pair


def test_the_trail_fades_with_age(ax, render):
    trail = make_history(3)
    display = make_curve(t=400).plot(ax, trail=trail[::-1])  # in whatever order it comes
    (lines,) = display.trail_
    for segment, curve in zip(lines.get_segments(), trail, strict=True):
        np.testing.assert_array_equal(segment.T, [curve.grid_values[0], curve.average[0]])
    assert (np.diff(lines.get_alpha()) > 0).all()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["t = 400", "t = 100 to 300"]
    assert display.ice_lines_ == []
    render(ax)


def test_ice_curves_can_be_had_beside_a_trail(ax):
    assert make_curve().plot(ax, trail=make_history(1), ice=True).ice_lines_


def test_the_trail_widens_the_axes(ax):
    make_curve(t=400).plot(ax, trail=make_history(3))
    assert ax.get_ylim()[1] > 15
    assert ax.get_xlim()[1] > 6


def test_the_trail_of_several_outputs_skips_those_that_were_not_there(ax):
    average = np.array([[0.2] * 5, [0.3] * 5, [0.5] * 5])
    several = {"average": average, "std_error": average, "ice": None}
    now = make_curve(outputs=("a", "b", "c"), **several)
    earlier = make_curve(outputs=("a", "b", "old"), t=100, **several)
    display = now.plot(ax, trail=[earlier])
    assert [len(lines.get_segments()) for lines in display.trail_] == [1, 1, 0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c", "t = 100"]


def test_the_trail_of_categories_is_dashes_at_their_places(ax):
    earlier = make_categories("c", "a", t=100)
    display = make_categories("a", "b").plot(ax, trail=[earlier])
    path = display.trail_[0].get_paths()[0].vertices
    np.testing.assert_array_equal(path[[0, 1, 3, 4]], [[1.8, 1], [2.2, 1], [-0.2, 2], [0.2, 2]])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "c"]


def test_a_batch_curve_is_a_dashed_line(ax):
    rows = [{"a": float(k), "b": 1.0} for k in range(30)]
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"], ["a"], alpha=None)
    pdp.explain_many(rows)
    [batch] = ipdp.partial_dependence(lambda x: x["a"] + x["b"], rows, ["a"])
    display = pdp.curve("a").plot(ax, compare=batch, compare_kw={"label": "batch"})
    (line,) = display.compare_
    np.testing.assert_array_equal(line.get_xydata().T, [batch.grid_values[0], batch.average[0]])
    assert line.get_linestyle() == "--"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["t = 30", "batch"]


def test_categories_are_compared_by_hollow_marks(ax, render):
    (marks,) = make_categories("a", "b").plot(ax, compare=make_categories("b", "a")).compare_
    np.testing.assert_array_equal(marks.get_xydata(), [[1, 1], [0, 2]])
    assert marks.get_fillstyle() == "none"
    render(ax)


def test_the_second_of_two_classes_is_compared_with_its_like(ax):
    curve = make_binary()
    other = make_binary(average=curve.average[:, ::-1])
    (line,) = curve.plot(ax, compare=other).compare_
    np.testing.assert_array_equal(line.get_ydata(), other.average[1])


def test_everything_is_centred_on_request(ax):
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    display = curve.plot(ax, centred=True, ice=True, trail=make_history(2), compare=make_curve(t=9))
    values = [
        display.lines_[0].get_ydata(),
        display.compare_[0].get_ydata(),
        *(segment[:, 1] for segment in display.ice_lines_[0].get_segments()),
        *(segment[:, 1] for segment in display.trail_[0].get_segments()),
    ]
    np.testing.assert_allclose([y.mean() for y in values], 0, atol=1e-12)
    assert display.missing_[0].lines[0].get_ydata().tolist() == [3.0]  # 6 - 3
    assert ax.get_ylabel() == "prediction, centred"
    assert display.curve is curve
    np.testing.assert_array_equal(curve.average[0], [1, 3, 2, 5, 4])


def test_points_without_data_do_not_count_for_the_mean(ax):
    average, support = np.array([[1.0, 3.0, 50.0]]), np.array([9.0, 9.0, 0.0])
    curve = make_curve(
        grid_values=[np.arange(3.0)],
        average=average,
        std_error=np.ones((1, 3)),
        n_effective_points=support,
        ice=None,
    )
    assert curve.plot(ax, centred=True).lines_[0].get_ydata()[:2].tolist() == [-1.0, 1.0]


def test_a_centred_pair_has_colours_around_zero(ax):
    display = make_pair().plot(ax, centred=True)
    low, high = display.mesh_.get_clim()
    assert low == -high
    assert display.colorbar_.ax.get_ylabel() == "prediction, centred"


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
@pytest.mark.parametrize(
    ("curve", "beside", "sentence"),
    [
        (make_curve(), {"trail": [make_curve(feature="b")]}, "trail has a curve of 'b'"),
        (make_curve(), {"compare": make_categories("a")}, "does not fit one of 'age'"),
        (make_curve(), {"compare": make_curve(outputs=("y",))}, r"outputs \['y'\], none of"),
        (make_pair(), {"compare": make_pair()}, "compare is for single features"),
    ],
)
def test_what_does_not_fit_is_refused(curve, beside, sentence, backend):
    with pytest.raises(ValueError, match=sentence):
        curve.plot(backend=backend, **beside)


def test_beside_a_curve_there_are_only_curves(ax):
    with pytest.raises(TypeError, match="trail takes curves, got list"):
        make_curve().plot(ax, trail=[[1, 2]])


def test_an_unlabelled_curve_has_no_entry_in_the_legend(ax):
    make_curve().plot(ax)
    make_curve().plot(ax, line_kw={"label": "later"})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["later"]


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_mean_of_the_past_is_a_dashed_line_with_a_name(ax, render):
    curve = make_curve(smoothed=make_curve().average[:, ::-1])
    display = curve.plot(ax)
    (line,) = display.past_
    np.testing.assert_array_equal(line.get_xydata().T, [curve.grid_values[0], curve.smoothed[0]])
    assert line.is_dashed()
    assert line.get_linewidth() < display.lines_[0].get_linewidth()
    assert names_of(ax) == ["model now", "mean of past answers"]
    render(ax)


def test_the_past_of_categories_is_crosses(ax):
    curve = make_categories("a", "b", smoothed=np.array([[5.0, 2.0]]))
    (marks,) = curve.plot(ax).past_
    assert (marks.get_marker(), marks.get_linestyle()) == ("x", "None")
    np.testing.assert_array_equal(marks.get_xydata(), [[0, 5], [1, 2]])


def test_an_overview_names_the_past_once():
    moved = make_curve(smoothed=make_curve().average[:, ::-1])
    both = [moved, make_curve(feature="other", smoothed=make_curve().average)]
    display = ipdp.plot.OverviewDisplay(both).plot()
    assert [len(panel.past_) for panel in display.displays_] == [1, 0]
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["model now", "mean of past answers"]
