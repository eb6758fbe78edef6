"""The heat map of interactions in plotly."""

import html

import numpy as np

from ipdp.core.interactions import Interaction, Interactions


def test_cells_and_numbers_are_those_of_matplotlib():
    records = tuple(
        Interaction(pair, size, 0.1, 0.2, 100)
        for pair, size in [(("a", "b"), 3.0), (("a", "c"), 1.5)]
    )
    found = Interactions(records, (), "prediction", 640)
    figure, drawn = found.plot(backend="plotly"), found.plot()
    (cells,) = figure.data
    np.testing.assert_array_equal(
        np.nan_to_num(np.array(cells.z, dtype=float), nan=-1), drawn.mesh_.get_array().filled(-1)
    )
    texts = [(note.x, note.y, note.text) for note in figure.layout.annotations]
    assert texts == [(0, 0, "3"), (0, 1, "1.5")]
    assert html.unescape(figure.layout.title.text) == drawn.ax_.get_title()


def test_without_interactions_it_says_so():
    figure = Interactions((), (), "prediction", 640).plot(backend="plotly")
    assert figure.layout.title.text.startswith("No interactions")
