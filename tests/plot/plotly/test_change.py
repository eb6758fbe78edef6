"""A change with plotly."""

from __future__ import annotations

import numpy as np

from ..conftest import (
    make_change,
    traces,
)


def test_change():
    change = make_change()
    figure = change.plot(backend="plotly")
    before, after = traces(figure, "curve")
    np.testing.assert_array_equal(before.y, change.before.average[0])
    np.testing.assert_array_equal(after.y, change.after.average[0])
    (part,) = figure.layout.shapes
    assert (part.x0, part.x1) == (2.0, 4.0)
    assert figure.layout.title.text.replace("<br>", " ") == change.summary()
