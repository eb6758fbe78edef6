"""A run over time: metrics, importances and changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ipdp.core.typing import Feature
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    change_text,
    default_theme,
    finish,
    name_text,
    new_figure,
    with_opacity,
)
from ipdp.plot.shown.source import Mark, Series
from ipdp.plot.shown.style import KINDS, LineStyle
from ipdp.plot.shown.timeline import ShownTimeline

# Pixels of an inch, and of the gap between panels.
_INCH, _GAP = 88, 16


def figure(shown: ShownTimeline) -> Figure:
    """The figure of a run."""
    theme = default_theme()
    made = new_figure()
    for k, (name, series) in enumerate(shown.metrics.items(), start=1):
        made.add_trace(_line_trace(name, series, k, {"color": theme.text, "width": 1.5}))
    panel = len(shown.metrics) + 1
    styles = dict(zip(shown.named, theme.line_styles(len(shown.named)), strict=True))
    for feature, series in shown.importances.items():
        line = _importance_line(styles.get(feature), theme)
        trace = _line_trace(feature, series, panel, line) | {"meta": "importance"}
        made.add_trace(trace | {"showlegend": feature in styles})
    for kind, marks in shown.marks_by_kind(KINDS).items():
        colours = [
            styles[mark.change.feature].colour if mark.change.feature in styles else theme.text
            for mark in marks
        ]
        made.add_trace(_change_trace(kind, marks, shown.rows, colours, panel + 1))
    made.update_layout(_layout(shown))
    bottom = made.layout[f"yaxis{panel}"].domain[0]
    made.update_layout(shapes=[_vertical_line(mark, theme, bottom) for mark in shown.marks])
    height = _INCH * sum(shown.heights) + _GAP * len(shown.heights) + 110
    return finish(made, theme, height=height)


def _importance_line(style: LineStyle | None, theme: Theme) -> dict[str, Any]:
    if style is None:
        return {"color": with_opacity(theme.text, 0.25), "width": 1}
    return {"color": style.colour, "dash": style.dash, "width": 2}


def _line_trace(name: object, series: Series, panel: int, line: dict[str, Any]) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines" if len(series.times) > 1 else "markers",
        "x": series.times,
        "y": series.values,
        "line": line,
        "name": name_text(name),
        "yaxis": f"y{panel}",
        "hovertemplate": f"{name_text(name)}: %{{y:,.4g}}<br>at %{{x:,.10g}}<extra></extra>",
        "showlegend": False,
    }


def _change_trace(
    kind: str, marks: Sequence[Mark], rows: Sequence[Feature], colours: Sequence[str], panel: int
) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [mark.time for mark in marks],
        "y": [rows.index(mark.change.feature) for mark in marks],
        "marker": {"symbol": KINDS[kind][1], "size": 9, "color": colours},
        "name": kind,
        "legendgroup": "changes",
        "customdata": [change_text(mark) for mark in marks],
        "hovertemplate": "%{customdata}<extra></extra>",
        "yaxis": f"y{panel}",
        "meta": "change",
    }


def _vertical_line(mark: Mark, theme: Theme, bottom: float) -> dict[str, Any]:
    """A faint line at a change, through the panels above the one that names it."""
    line = {"color": with_opacity(theme.text, 0.35), "width": 1, "dash": KINDS[mark.change.kind][0]}
    ends = {"x0": mark.time, "x1": mark.time, "y0": bottom, "y1": 1}
    return ends | {"type": "line", "xref": "x", "yref": "paper", "line": line, "layer": "below"}


def _layout(shown: ShownTimeline) -> dict[str, Any]:
    """One axis of time under all panels."""
    heights = [_INCH * height for height in shown.heights]
    titles = [name_text(name, 14) for name in shown.metrics] + ["importance", ""]
    total = sum(heights) + _GAP * (len(heights) - 1)
    layout: dict[str, Any] = {}
    top = total
    for k, height in enumerate(heights, start=1):
        domain = [max(top - height, 0.0) / total, top / total]
        title = {"text": titles[k - 1]}
        layout[f"yaxis{k}"] = {"domain": domain, "title": title, "zeroline": False}
        top -= height + _GAP
    layout[f"yaxis{len(shown.metrics) + 1}"]["rangemode"] = "tozero"
    if shown.rows:
        layout[f"yaxis{len(heights)}"] |= {
            "tickvals": list(range(len(shown.rows))),
            "ticktext": [name_text(name, 20) for name in shown.rows],
            "range": [len(shown.rows) - 0.4, -0.6],
        }
    layout["xaxis"] = {"title": {"text": "observations"}, "anchor": f"y{len(heights)}"}
    return layout
