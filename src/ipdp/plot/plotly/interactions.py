"""The strongest interactions as a heat map."""

from __future__ import annotations

from ipdp.plot.plotly.style import Figure, Theme, Trace, escaped
from ipdp.plot.shown.interactions import ShownInteractions

# Pixels of a feature, and of the rest.
_CELL, _AROUND = 46, 200


def figure(shown: ShownInteractions) -> Figure:
    """The heat map."""
    theme, n = Theme.default(), len(shown.names)
    cells = range(max(n - 1, 0))
    names = [escaped(name) for name in shown.names]
    title = {"text": escaped(shown.title), "font": {"size": 14}}
    ticks = {"showgrid": False, "zeroline": False, "tickvals": list(cells)}
    layout = {
        "title": title,
        "xaxis": {**ticks, "ticktext": names[:-1]},
        "yaxis": {**ticks, "ticktext": names[1:], "autorange": "reversed", "scaleanchor": "x"},
        "height": _CELL * n + _AROUND,
        "annotations": [
            {"x": column, "y": row - 1, "text": text, "showarrow": False, "bgcolor": _BEHIND}
            for row, column, text in shown.texts
        ],
    }
    return theme.figure([_cells(shown)] if n else [], layout)


# Behind the numbers, which are then read on every colour.
_BEHIND = "rgba(255,255,255,0.65)"


def _cells(shown: ShownInteractions) -> Trace:
    n = len(shown.names)
    hover = [[escaped(text) for text in row[: n - 1]] for row in shown.hover[1:]]
    return {
        "type": "heatmap",
        "x": list(range(n - 1)),
        "y": list(range(n - 1)),
        "z": shown.strength[1:, :-1],
        "zmin": 0.0,
        "colorscale": "Blues",
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {"title": {"text": escaped(shown.label), "side": "right"}},
        "meta": "interactions",
    }
