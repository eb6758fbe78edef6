"""The heat map of interactions in matplotlib."""

import numpy as np
import pytest

from ipdp.core.interactions import Interaction, Interactions


def found(*pairs):
    records = tuple(Interaction(pair, size, 0.1, 0.2, 100) for *pair, size in pairs)
    return Interactions(records, (), "prediction", 640)


def test_cells_and_numbers():
    display = found(("a", "b", 3.0), ("a", "c", 1.5)).plot()
    cells = display.mesh_.get_array()
    np.testing.assert_array_equal(cells.filled(-1), [[3.0, -1], [1.5, -1]])
    assert [(text.get_position(), text.get_text()) for text in display.texts_] == [
        ((0, 0), "3"),
        ((0, 1), "1.5"),
    ]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["b", "c"]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_it_is_drawn_on_any_background_and_without_interactions(style):
    import matplotlib.pyplot as plt

    with plt.style.context(style):
        found(("a", "b", 3.0)).plot().figure_.canvas.draw()
        empty = found().plot()
        empty.figure_.canvas.draw()
    assert empty.mesh_ is None
    assert empty.ax_.get_title().startswith("No interactions")
