"""The curves of a feature over time with plotly."""

from __future__ import annotations

import numpy as np
import pytest

from ipdp.plot import (
    CarpetDisplay,
)

from ..conftest import (
    make_categories,
    make_change,
    make_history,
    traces,
)


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
    texts = figure.data[0].text[2]
    assert [text.split("<br>")[1].partition(": ")[2] for text in texts] == ["c", "c"]
    assert texts[1].startswith("observations: 2<br>")
