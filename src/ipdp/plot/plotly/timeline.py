"""A run over time: metrics, importances and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.typing import Feature
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    axis,
    change_text,
    name_text,
    scatter,
    time_axis,
)
from ipdp.plot.shown.clock import point_text
from ipdp.plot.shown.source import Mark, Series
from ipdp.plot.shown.style import KINDS
from ipdp.plot.shown.timeline import ShownTimeline

# Pixels of an inch, and of the gap between panels.
_INCH, _GAP = 88, 16


def figure(shown: ShownTimeline) -> Figure:
    """The figure of a run."""
    theme = Theme.default()
    plain: Trace = {"color": theme.text_colour(), "width": 1.5}
    traces = [
        _line_trace(name, series, f"y{k}", plain, "metric")
        for k, (name, series) in enumerate(shown.metrics.items(), start=1)
    ]
    panel = len(shown.metrics) + 1
    named: dict[Feature, Trace] = {
        feature: {"color": style.colour, "dash": style.dash, "width": 2}
        for feature, style in zip(shown.named, theme.line_styles(len(shown.named)), strict=True)
    }
    unnamed = {"color": theme.text_colour(0.25), "width": 1}
    for feature, series in shown.importances.items():
        line = named.get(feature, unnamed)
        trace = _line_trace(feature, series, f"y{panel}", line, "importance")
        traces.append(trace | {"showlegend": feature in named})
    for kind, marks in shown.marks_by_kind.items():
        colours = [named.get(mark.change.feature, plain)["color"] for mark in marks]
        traces.append(_changes_trace(kind, marks, shown, colours))
    layout = _axes(shown)
    bottom = layout[f"yaxis{panel}"]["domain"][0]
    layout["shapes"] = [_vertical_line(mark, theme, bottom) for mark in shown.marks]
    layout["height"] = _INCH * sum(shown.heights) + _GAP * len(shown.heights) + 110
    return theme.figure(traces, layout)


def _line_trace(
    name: object, series: Series, panel: str, line: Mapping[str, Any], meta: str
) -> Trace:
    mode = "lines" if len(series.times) > 1 else "markers"
    hover = f"{name_text(name)}: %{{text}}<br>at %{{customdata}}"
    when = [point_text(t) for t in series.times]
    more = {"mode": mode, "line": line, "name": name_text(name), "yaxis": panel}
    return scatter(*series, meta, hover=hover, customdata=when, **more)


def _changes_trace(
    kind: str, marks: Sequence[Mark], shown: ShownTimeline, colours: Sequence[str]
) -> Trace:
    """The changes of one kind, each in the row of its feature."""
    return scatter(
        [mark.time for mark in marks],
        [shown.rows.index(mark.change.feature) for mark in marks],
        "change",
        hover="%{customdata}",
        mode="markers",
        marker={"symbol": KINDS[kind][1], "size": 9, "color": colours},
        name=kind,
        legendgroup="changes",
        showlegend=True,
        customdata=[change_text(mark) for mark in marks],
        yaxis=f"y{len(shown.heights)}",
    )


def _vertical_line(mark: Mark, theme: Theme, bottom: float) -> dict[str, Any]:
    """A faint line at a change, through the panels above the one that names it."""
    line = {"color": theme.text_colour(0.35), "width": 1, "dash": mark.dash}
    ends = {"x0": mark.time, "x1": mark.time, "y0": bottom, "y1": 1}
    return ends | {"type": "line", "xref": "x", "yref": "paper", "line": line, "layer": "below"}


def _axes(shown: ShownTimeline) -> dict[str, Any]:
    """One axis of time under all panels."""
    heights = [_INCH * height for height in shown.heights]
    titles = [*shown.metrics, "importance", ""]
    top = total = sum(heights) + _GAP * (len(heights) - 1)
    layout = {"xaxis": time_axis(shown.span, anchor=f"y{len(heights)}")}
    for k, height in enumerate(heights, start=1):
        domain = [max(top - height, 0.0) / total, top / total]
        layout[f"yaxis{k}"] = axis("", domain=domain, title={"text": name_text(titles[k - 1], 14)})
        top -= height + _GAP
    layout[f"yaxis{len(shown.metrics) + 1}"]["rangemode"] = "tozero"
    if shown.rows:
        layout[f"yaxis{len(heights)}"] |= {
            "tickvals": list(range(len(shown.rows))),
            "ticktext": [name_text(name, 20) for name in shown.rows],
            "range": [len(shown.rows) - 0.4, -0.6],
            "title": {"text": ""},
        }
    return layout
