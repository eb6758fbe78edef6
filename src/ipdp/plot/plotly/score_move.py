"""Why the mean prediction moved: a waterfall."""

from __future__ import annotations

from typing import Any

from ipdp.plot.plotly.style import Figure, Theme, Trace, axis, escaped, scatter, value_texts
from ipdp.plot.shown.score_move import ShownScoreMove

# Pixels of a row, and of the rest.
_ROW, _AROUND = 30, 140
_NAMES = {"data": "data", "model": "model", "rest": "together"}


def figure(shown: ShownScoreMove) -> Figure:
    """The waterfall."""
    theme, n = Theme.default(), len(shown.rows)
    data, model = (style.colour for style in theme.line_styles(2))
    colours = {"data": data, "model": model, "rest": theme.text_colour(0.45)}
    traces = [_bars(shown, kind, colour) for kind, colour in colours.items()]
    dots: dict[str, Any] = {"mode": "markers", "marker": {"symbol": "diamond", "size": 10}}
    dots["marker"]["color"] = theme.text_colour()
    ends = [shown.before, shown.after]
    dots["customdata"] = value_texts(ends)
    traces.append(scatter(ends, [0, n - 1], "means", hover="%{customdata}", **dots))
    rows = axis("", shown.rows, range=[n - 0.4, -0.6])
    layout = {
        "title": {"text": escaped(shown.sentence), "font": {"size": 14}},
        "xaxis": axis(shown.label),
        "yaxis": rows,
        "barmode": "overlay",
        "height": _ROW * n + _AROUND,
        "legend": {"orientation": "h", "y": -0.2},
        "annotations": [_text(shown, row) for row in range(n) if shown.texts[row]],
    }
    return theme.figure([trace for trace in traces if len(trace["y"])], layout)


def _bars(shown: ShownScoreMove, kind: str, colour: str) -> Trace:
    own = [bar for bar in shown.bars if bar.kind == kind]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [bar.end - bar.start for bar in own],
        "base": [bar.start for bar in own],
        "y": [bar.row for bar in own],
        "width": 0.7,
        "marker": {"color": colour},
        "name": _NAMES[kind],
        "customdata": value_texts([bar.end - bar.start for bar in own]),
        "hovertemplate": "%{customdata}<extra></extra>",
        "meta": kind,
    }


def _text(shown: ShownScoreMove, row: int) -> dict[str, Any]:
    own = [x for bar in shown.bars if bar.row == row for x in (bar.start, bar.end)]
    place = {"x": max([*own, shown.ends[row]]), "y": row, "xanchor": "left", "xshift": 8}
    return {"text": escaped(shown.texts[row]), "showarrow": False, **place}
