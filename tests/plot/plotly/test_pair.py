"""The surface of a pair with plotly."""

from __future__ import annotations

import numpy as np

from ..conftest import (
    make_pair,
    traces,
)


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
