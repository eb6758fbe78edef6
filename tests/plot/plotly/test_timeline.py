"""A run over time with plotly."""

from __future__ import annotations

import numpy as np

from ipdp.plot import (
    TimelineDisplay,
)

from ..conftest import (
    make_change,
    make_history,
    traces,
)


def test_timeline_of_a_log(tmp_path, write_log):
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
