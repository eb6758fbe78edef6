"""The curves of one feature over time, as a heat map."""

from __future__ import annotations

import numpy as np

from ipdp.core.times import date_text
from ipdp.core.words import few_digits
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    axis,
    change_text,
    clock_axis,
    escaped,
    name_text,
    scatter,
    time_axis,
)
from ipdp.plot.shown.carpet import CurveHistory
from ipdp.plot.shown.clock import is_clock, point_text

# Pixels of a category.
_ROW = 18


def figure(shown: CurveHistory) -> Figure:
    """The heat map of a feature's curves over time."""
    theme = Theme.default()
    x, y = time_axis(shown.times, showgrid=False), axis(shown.feature, shown.categories)
    y |= {"showgrid": False} | ({} if shown.categories is None else {"autorange": "reversed"})
    y |= clock_axis(shown.place_edges) if shown.is_time else {}
    x |= {"tickvals": shown.times} if len(shown.times) == 1 else {}
    height = max(420, _ROW * len(shown.categories or []) + 120)
    # Points along the line of a change, for the pointer to find.
    along = np.linspace(shown.place_edges[0], shown.place_edges[-1], 21)
    traces = [_mesh(shown, theme)]
    for mark in shown.marks:
        line = {"color": theme.text_colour(0.9), "width": 1.5, "dash": mark.dash}
        across = [mark.time] * len(along)
        traces.append(scatter(across, along, "change", hover=change_text(mark), line=line))
    return theme.figure(traces, {"xaxis": x, "yaxis": y, "height": height})


def _cells(shown: CurveHistory) -> list[list[str]]:
    """What hovering says of each cell: when, where, and the value."""
    unit = "" if is_clock(shown.times) else "observations: "
    times = [f"{unit}{point_text(t)}<br>{escaped(shown.feature)}: " for t in shown.times.tolist()]
    if shown.categories is None:
        middles = (shown.place_edges[1:] + shown.place_edges[:-1]) / 2
        write, wide = date_text if shown.is_time else few_digits, float(np.ptp(middles))
        places = [write(value, wide) for value in middles.tolist()]
    else:
        places = [name_text(category) for category in shown.categories]
    return [
        [f"{when}{place}<br>{escaped(shown.label)}: {few_digits(z)}" for when, z in cells]
        for place, row in zip(places, shown.values.tolist(), strict=True)
        for cells in [list(zip(times, row, strict=True))]
    ]


def _mesh(shown: CurveHistory, theme: Theme) -> Trace:
    return {
        "type": "heatmap",
        "x": shown.time_edges,
        "y": shown.place_edges,
        "z": shown.values,
        "text": _cells(shown),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
        **theme.colours_of(shown.label, shown.z_range),
    }
