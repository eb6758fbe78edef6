"""The waterfall of plotly."""

from ..conftest import make_move


def test_bars_go_from_the_one_mean_to_the_other():
    figure = make_move(("a", 0.5, -0.25), level=1.0).plot(backend="plotly")
    bars = {trace.meta: trace for trace in figure.data}
    assert list(bars) == ["data", "model", "means"]
    assert (list(bars["model"].base), list(bars["model"].x)) == ([2.5, 2.25], [-0.25, 1.0])
    assert list(bars["means"].x) == [2.0, 3.25]
