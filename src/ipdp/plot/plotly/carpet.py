"""The curves of one feature over time, as a heat map."""

from __future__ import annotations

import numpy as np

from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    change_text,
    default_theme,
    escaped,
    finish,
    name_text,
    new_figure,
    tick_layout,
    with_opacity,
)
from ipdp.plot.shown.carpet import CurveHistory
from ipdp.plot.shown.source import Mark
from ipdp.plot.shown.style import KINDS

# Pixels of a category.
_ROW = 18


def figure(shown: CurveHistory) -> Figure:
    """The heat map of a feature's curves over time."""
    theme = default_theme()
    made = new_figure([_mesh(shown, theme)])
    made.add_traces([_change_trace(mark, shown, theme) for mark in shown.marks])
    made.update_xaxes(title_text="observations", showgrid=False, zeroline=False)
    if len(shown.times) == 1:
        made.update_xaxes(tickvals=shown.times)
    made.update_yaxes(title_text=escaped(shown.feature), showgrid=False, zeroline=False)
    if shown.categories is not None:
        made.update_yaxes(autorange="reversed", **tick_layout(shown.categories))
    return finish(made, theme, height=max(420, _ROW * len(shown.categories or []) + 120))


def _mesh(shown: CurveHistory, theme: Theme) -> Trace:
    mesh: Trace = {
        "type": "heatmap",
        "x": shown.time_edges,
        "y": shown.place_edges,
        "z": shown.values,
        "colorscale": theme.colorscale(centred=shown.z_range is not None),
        "colorbar": {"title": {"text": escaped(shown.label), "side": "right"}},
        "hoverongaps": False,
    }
    place = "%{y}"
    if shown.categories is not None:
        names = np.array([name_text(category) for category in shown.categories], dtype=object)
        mesh["customdata"] = np.repeat(names[:, None], len(shown.times), 1)
        place = "%{customdata}"
    mesh["hovertemplate"] = (
        f"observations: %{{x:,.0f}}<br>{escaped(shown.feature)}: {place}<br>"
        f"{escaped(shown.label)}: %{{z:,.4g}}<extra></extra>"
    )
    if shown.z_range is not None:
        mesh |= {"zmin": shown.z_range[0], "zmax": shown.z_range[1]}
    return mesh


def _change_trace(mark: Mark, shown: CurveHistory, theme: Theme) -> Trace:
    """A line at a change, with its sentence as the hover text."""
    dash, _ = KINDS[mark.change.kind]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [mark.time] * 21,
        # Points along the line, for the pointer to find.
        "y": np.linspace(shown.place_edges[0], shown.place_edges[-1], 21),
        "line": {"color": with_opacity(theme.text, 0.9), "width": 1.5, "dash": dash},
        "hovertemplate": f"{change_text(mark)}<extra></extra>",
        "showlegend": False,
        "meta": "change",
    }
