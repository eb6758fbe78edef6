"""All features side by side with plotly."""

from __future__ import annotations

import numpy as np

from ipdp.plot import (
    OverviewDisplay,
)

from ..conftest import (
    make_categories,
    make_curve,
    make_pair,
    traces,
)


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
