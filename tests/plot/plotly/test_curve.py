"""A curve with plotly."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.core.words import few_digits

from ..conftest import (
    make_binary,
    make_categories,
    make_curve,
    make_history,
    traces,
)


def test_a_curve_with_all_that_belongs_to_it():
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    figure = curve.plot(backend="plotly", band=0.8)
    (line,) = traces(figure, "curve")
    np.testing.assert_array_equal([line.x, line.y], [curve.grid_values[0], curve.average[0]])
    lower, upper = curve.band(0.8, simultaneous=True)
    (band,) = traces(figure, "band")
    np.testing.assert_allclose(band.y, [*lower[0], *upper[0][::-1]])
    ice = traces(figure, "ice")
    np.testing.assert_array_equal([trace.y for trace in ice], curve.ice[0])
    assert [trace.opacity for trace in ice] == sorted(trace.opacity for trace in ice)
    (rug,) = traces(figure, "rug")
    assert sum(rug.y) == 50
    (missing,) = traces(figure, "missing")
    assert missing.y == (6.0,)
    assert missing.error_y.array[0] == pytest.approx(1.2816 * 0.5, abs=1e-3)  # 80 %
    assert figure.layout.xaxis.title.text == "age"
    assert figure.layout.yaxis.title.text == "prediction"
    assert "t = 300" in figure.layout.title.text


def test_what_is_switched_off_is_not_there():
    figure = make_curve().plot(backend="plotly", ice=False, band=None, rug=False)
    assert [trace.meta for trace in figure.data] == ["curve"]


def test_the_pointer_tells_value_band_and_number_of_observations():
    curve = make_curve()
    (line,) = traces(curve.plot(backend="plotly"), "curve")
    low, high = (end[0, 2] for end in curve.band(simultaneous=True))
    place, band, many = line.customdata[2]
    assert (place, many) == ("2", "200")
    assert band == f" ({few_digits(low)} to {few_digits(high)})"
    assert line.hovertemplate.startswith("age: %{customdata[0]}<br>prediction: %{text}%{")
    assert line.text[2] == few_digits(curve.average[0, 2])


def test_outputs_as_with_matplotlib():
    binary = make_binary()
    (line,) = traces(binary.plot(backend="plotly"), "curve")
    np.testing.assert_array_equal(line.y, binary.average[1])
    (line,) = traces(binary.plot(backend="plotly", output=False), "curve")
    np.testing.assert_array_equal(line.y, binary.average[0])
    average = np.array([[0.2] * 5, [0.3] * 5, [0.5] * 5])
    three = make_curve(outputs=("a", "b", "c"), average=average, std_error=average, ice=None)
    lines = traces(three.plot(backend="plotly"), "curve")
    assert [line.name for line in lines] == ["a", "b", "c"]
    assert all(line.showlegend for line in lines)
    assert len({line.line.color for line in lines}) == 3


def test_centred_trail_and_compare():
    trail, other = make_history(2), make_curve(average=make_curve().average + 7)
    figure = make_curve().plot(backend="plotly", centred=True, trail=trail, compare=other)
    for meta in ("curve", "trail", "compare"):
        for trace in traces(figure, meta):
            assert np.mean(trace.y) == pytest.approx(0)
    assert len(traces(figure, "trail")) == 2
    assert [trace.showlegend for trace in traces(figure, "trail")] == [False, True]
    assert traces(figure, "ice") == []
    assert figure.layout.yaxis.title.text == "prediction, centred"


def test_thin_data_are_dotted():
    support = np.array([200.0, 200.0, 200.0, 19.0, 0.0])
    figure = make_curve(n_effective_points=support).plot(backend="plotly")
    (whole,), (solid,) = traces(figure, "curve"), traces(figure, "solid")
    assert whole.line.dash == "dot"
    np.testing.assert_array_equal(solid.y, [1, 3, 2, np.nan, np.nan])
    assert "few data" in whole.customdata[3][2]


def test_categories_are_points_with_error_bars():
    curve = make_categories("a", "b")
    figure = curve.plot(backend="plotly", compare=make_categories("c", "a"))
    (points,) = traces(figure, "curve")
    np.testing.assert_array_equal([points.x, points.y], [[0, 1], curve.average[0]])
    np.testing.assert_allclose(
        points.error_y.array, curve.band(simultaneous=True)[1][0] - curve.average[0]
    )
    assert points.mode == "markers"
    (other,) = traces(figure, "compare")
    assert other.x.tolist() == [2, 0]
    assert figure.layout.xaxis.ticktext == ("a", "b", "c")
    (rug,) = traces(figure, "rug")
    assert rug.y.tolist() == [10, 20]


def test_gaps_constants_and_nothing():
    gap = np.array([[1.0, 3.0, np.nan, 5.0, 4.0]])
    figure = make_curve(average=gap, std_error=0 * gap + 0.25).plot(backend="plotly", ice=False)
    band = next(trace for trace in figure.data if trace.meta == "band")
    np.testing.assert_array_equal(band.x, [0, 1, 1, 0, np.nan, 3, 4, 4, 3])
    same = make_curve(grid_values=[np.full(5, 0.003467)], rug=[], ice=None)
    assert same.plot(backend="plotly").layout.xaxis.range == pytest.approx(
        [0.00173, 0.0052], rel=0.01
    )
    nothing = make_curve(average=np.full((1, 5), np.nan), ice=None).plot(backend="plotly")
    assert [note.text for note in nothing.layout.annotations] == ["nothing yet"]


@pytest.mark.parametrize("m", [0, 1])
def test_few_points(m):
    few = make_curve(
        grid_values=[np.arange(float(m))],
        average=np.ones((1, m)),
        std_error=np.full((1, m), np.nan),
        n_effective_points=np.ones(m),
        ice=np.ones((1, 1, m)),
        rug=[np.array([3.0])],
    )
    assert len(traces(few.plot(backend="plotly"), "curve")[0].x) == m


def test_the_mean_of_the_past_is_dashed():
    curve = make_curve(smoothed=make_curve().average[:, ::-1])
    figure = curve.plot(backend="plotly")
    (past,), (line,) = traces(figure, "past"), traces(figure, "curve")
    np.testing.assert_array_equal([past.x, past.y], [curve.grid_values[0], curve.smoothed[0]])
    assert (past.line.dash, past.name, past.showlegend) == ("dash", "mean of past answers", True)
    assert line.name == "model now"
    (marks,) = traces(
        make_categories("a", "b", smoothed=np.array([[5.0, 2.0]])).plot(backend="plotly"), "past"
    )
    assert marks.mode == "markers"
    assert not traces(make_curve().plot(backend="plotly"), "past")
