"""The waterfall of matplotlib."""

from matplotlib.figure import Figure

from ..conftest import make_move


def test_bars_go_from_the_one_mean_to_the_other():
    move = make_move(("a", 0.5, -0.25), level=1.0)
    display = move.plot(ax=Figure().subplots())
    boxes = [bar.get_bbox() for bar in display.bars_]
    assert [(box.x0, box.x1) for box in boxes] == [(2.0, 2.5), (2.5, 2.25), (2.25, 3.25)]
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[1] == "a"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["data", "model"]
