"""The curves of one feature over time, as a heat map."""

from __future__ import annotations

import numpy as np

from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    axis,
    change_text,
    escaped,
    name_text,
    scatter,
    time_axis,
)
from ipdp.plot.shown.carpet import CurveHistory
from ipdp.plot.shown.clock import is_clock

# Pixels of a category.
_ROW = 18


def figure(shown: CurveHistory) -> Figure:
    """The heat map of a feature's curves over time."""
    theme = Theme.default()
    x, y = time_axis(shown.times, showgrid=False), axis(shown.feature, shown.categories)
    y |= {"showgrid": False} | ({} if shown.categories is None else {"autorange": "reversed"})
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


def _time(shown: CurveHistory) -> str:
    """The time under the pointer; of a wall clock the axis alone tells it."""
    return "" if is_clock(shown.times) else "observations: %{x:,.0f}"


def _mesh(shown: CurveHistory, theme: Theme) -> Trace:
    mesh: Trace = {
        "type": "heatmap",
        "x": shown.time_edges,
        "y": shown.place_edges,
        "z": shown.values,
        "hoverongaps": False,
        **theme.colours_of(shown.label, shown.z_range),
    }
    place = "%{y}"
    if shown.categories is not None:
        names = np.array([name_text(category) for category in shown.categories], dtype=object)
        mesh["customdata"] = np.repeat(names[:, None], len(shown.times), 1)
        place = "%{customdata}"
    mesh["hovertemplate"] = (
        f"{_time(shown)}<br>{escaped(shown.feature)}: {place}<br>"
        f"{escaped(shown.label)}: %{{z:,.4g}}<extra></extra>"
    )
    return mesh
