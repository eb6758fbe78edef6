"""The plotly twins: the same data in their traces."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

from ipdp.plot import (
    CarpetDisplay,
    ChangeDisplay,
    OverviewDisplay,
    PDPDisplay,
    TimelineDisplay,
)

from .conftest import (
    make_binary,
    make_categories,
    make_change,
    make_curve,
    make_history,
    make_pair,
    write_log,
)


def traces(figure, meta):
    """The traces of one kind."""
    assert isinstance(figure, go.Figure)
    return [trace for trace in figure.data if trace.meta == meta]


def test_a_curve_with_all_that_belongs_to_it():
    curve = make_curve(missing=np.array([6.0]), missing_std_error=np.array([0.5]))
    figure = curve.plot(backend="plotly", band=0.8)
    (line,) = traces(figure, "curve")
    np.testing.assert_array_equal([line.x, line.y], [curve.grid_values[0], curve.average[0]])
    lower, upper = curve.band(0.8)
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
    low, high = (end[0, 2] for end in curve.band())
    place, band, many = line.customdata[2]
    assert (place, many) == ("2", "200")
    assert band == f" ({low:,.4g} to {high:,.4g})"
    assert line.hovertemplate.startswith("age: %{customdata[0]}<br>prediction: %{y:,.4g}%{")


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
    np.testing.assert_allclose(points.error_y.array, curve.band()[1][0] - curve.average[0])
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


def test_a_pair_with_the_density_of_the_data():
    rng = np.random.default_rng(1)
    rows = [{"age": a, "salary": b} for a, b in rng.uniform((0, 10), (3, 40), (99, 2)).tolist()]
    pair = make_pair()
    figure = pair.plot(backend="plotly", data=rows)
    surface = figure.data[0]
    assert surface.type == "contour"
    np.testing.assert_array_equal(surface.z, pair.average[0].T)
    assert len(traces(figure, "density")) == 3
    assert figure.layout.yaxis.title.text == "salary"
    tiles = make_pair(
        grid_values=[pair.grid_values[0], np.array(["x", "y", "z"], dtype=object)],
        categorical=(False, True),
    ).plot(backend="plotly", data=[{"age": 0.0, "salary": "y"}])
    assert tiles.data[0].type == "heatmap"
    assert tiles.layout.yaxis.ticktext == ("x", "y", "z")
    (dots,) = traces(tiles, "density")
    assert dots.customdata.sum() == 1


def test_a_centred_pair_is_even_around_zero():
    surface = make_pair().plot(backend="plotly", centred=True).data[0]
    assert surface.zmin == -surface.zmax


def test_overview_shares_one_axis_and_one_legend():
    average = np.array([[0.2] * 5, [0.3] * 5, [0.5] * 5])
    several = {"outputs": ("a", "b", "c"), "average": average, "std_error": average / 10}
    curves = [make_curve(feature=f"f{k}", ice=None, **several) for k in range(6)]
    curves.append(
        make_categories(
            *range(40),
            **{
                **several,
                "average": np.ones((3, 40)) / 3,
                "std_error": np.ones((3, 40)),
                "ice": None,
            },
        )
    )
    figure = OverviewDisplay(curves).plot(backend="plotly")
    lines = traces(figure, "curve")
    assert len(lines) == 21
    assert [line.name for line in lines if line.showlegend] == ["a", "b", "c"]
    assert {line.yaxis for line in lines} == {"y", "y2"}
    assert figure.layout.yaxis2.matches == "y"
    assert len({line.xaxis for line in lines}) == 7
    titles = [note.text for note in figure.layout.annotations]
    assert titles[0].startswith("f0 <i>")
    assert figure.layout.xaxis7.title.text == "40 categories"


def test_overview_shows_pairs_last_with_axes_of_their_own():
    pair, curve = make_pair(), make_curve()
    figure = OverviewDisplay([pair, curve]).plot(backend="plotly")
    surface = next(trace for trace in figure.data if trace.meta == "surface")
    np.testing.assert_array_equal(surface.z, pair.average[0].T)
    line = next(trace for trace in figure.data if trace.meta == "curve")
    assert not {line.xaxis, line.yaxis} & {surface.xaxis, surface.yaxis}
    across = figure.layout[f"xaxis{surface.xaxis[1:]}"]
    assert across.title.text == "age"
    assert figure.layout[f"yaxis{surface.yaxis[1:]}"].title.text == "salary"
    assert across.domain[0] >= figure.layout.xaxis.domain[1]
    assert across.domain[1] <= surface.colorbar.x < 1


def test_overview_is_ordered_and_shows_missing_values():
    steep = make_curve(feature="steep", missing=np.array([6.0]))
    flat = make_curve(feature="flat", average=np.ones((1, 5)))
    figure = OverviewDisplay([flat, steep]).plot(backend="plotly")
    assert [note.text.split(" ")[0] for note in figure.layout.annotations] == ["steep", "flat"]
    (missing,) = traces(figure, "missing")
    assert missing.y == (6.0,)
    assert missing.x[0] > 4


@pytest.mark.parametrize("centred", [False, True])
def test_carpet_has_the_values_of_the_mesh(centred, ax):
    changes = [make_change(t=200), make_change(t=250, kind="both")]
    display = CarpetDisplay(make_history(), changes=changes)
    figure = display.plot(backend="plotly", centred=centred)
    mesh = display.plot(ax, centred=centred).mesh_
    heat = figure.data[0]
    np.testing.assert_array_equal(heat.z, mesh.get_array().filled(np.nan))
    np.testing.assert_array_equal(heat.x, mesh.get_coordinates()[0, :, 0])
    np.testing.assert_array_equal(heat.y, mesh.get_coordinates()[:, 0, 1])
    lines = traces(figure, "change")
    assert [line.x[0] for line in lines] == [200, 250]
    assert [line.line.dash for line in lines] == ["solid", "dashdot"]
    assert "effect on the prediction" in lines[0].hovertemplate


def test_carpet_of_categories():
    figure = CarpetDisplay([make_categories("a", "b", t=1), make_categories("c", t=2)]).plot(
        backend="plotly"
    )
    assert figure.layout.yaxis.ticktext == ("a", "b", "c")
    assert figure.data[0].customdata[2].tolist() == ["c", "c"]


def test_timeline_of_a_log(tmp_path):
    kept = [{"age": curve} for curve in make_history(3)]
    reader = write_log(
        tmp_path / "run", kept, changes=[make_change(t=200)], accuracy=[(100, 0.5), (300, 0.75)]
    )
    figure = TimelineDisplay(reader).plot(backend="plotly")
    (importance,) = traces(figure, "importance")
    assert importance.x.tolist() == [100, 200, 300]
    np.testing.assert_array_equal(importance.y, [item["age"].importance[0] for item in kept])
    metric = figure.data[0]
    assert (metric.name, metric.y.tolist()) == ("accuracy", [0.5, 0.75])
    (event,) = traces(figure, "change")
    assert (event.x, event.y, event.name) == ((200,), (0,), "real")
    assert figure.layout.yaxis3.ticktext == ("age",)
    assert [shape.x0 for shape in figure.layout.shapes] == [200]


def test_change():
    change = make_change()
    figure = change.plot(backend="plotly")
    before, after = traces(figure, "curve")
    np.testing.assert_array_equal(before.y, change.before.average[0])
    np.testing.assert_array_equal(after.y, change.after.average[0])
    (part,) = figure.layout.shapes
    assert (part.x0, part.x1) == (2.0, 4.0)
    assert figure.layout.title.text.replace("<br>", " ") == change.summary()


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


def test_dark_templates_get_lighter_colours(monkeypatch):
    def colour():
        return traces(make_curve().plot(backend="plotly"), "curve")[0].line.color

    assert colour() == "#0072B2"
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert colour() == "#56B4E9"


@pytest.mark.parametrize("display", [PDPDisplay(make_curve()), ChangeDisplay(make_change())])
def test_what_is_matplotlibs_is_refused(display, ax):
    with pytest.raises(ValueError, match="axes and settings of artists are matplotlib's"):
        display.plot(ax, backend="plotly")
    with pytest.raises(ValueError, match="backend must be one of matplotlib, plotly, got 'bokeh'"):
        display.plot(backend="bokeh")


def test_settings_of_artists_are_matplotlibs():
    with pytest.raises(ValueError, match="matplotlib's"):
        make_curve().plot(backend="plotly", line_kw={"color": "red"})


def test_plotly_needs_no_matplotlib_and_its_absence_is_said():
    code = """
import sys
sys.modules[{absent!r}] = None
import ipdp
[curve] = ipdp.partial_dependence(lambda x: x["a"], [{{"a": 0.0}}, {{"a": 1.0}}])
curve.plot(backend="plotly")
"""
    run = [sys.executable, "-c"]
    fine = subprocess.run([*run, code.format(absent="matplotlib")], check=False)
    assert fine.returncode == 0
    answer = subprocess.run(
        [*run, code.format(absent="plotly")], capture_output=True, text=True, check=False
    )
    assert "drawing needs plotly: pip install 'ipdp[plot]'" in answer.stderr
