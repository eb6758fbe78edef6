"""A run at a glance, as a plotly figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.typing import Feature
from ipdp.plot.interactive.carpet import sentence
from ipdp.plot.interactive.theme import (
    KINDS,
    Figure,
    Theme,
    clear,
    finished,
    new_figure,
    shown,
    theme,
)
from ipdp.plot.series import Mark, Series

# Pixels of the panels: of a metric, of the importances, and of one feature that changed.
_METRIC, _IMPORTANCE, _ROW, _GAP = 90, 220, 26, 16


def timeline_figure(
    metrics: Mapping[str, Series],
    importances: Mapping[Feature, Series],
    marks: Sequence[Mark],
    first: Sequence[Feature],
) -> Figure:
    """The twin of `TimelineDisplay.plot`."""
    look = theme()
    rows = list(dict.fromkeys(mark.change.feature for mark in marks))
    heights = [_METRIC] * len(metrics) + [_IMPORTANCE]
    heights += [_ROW * (len(rows) + 1)] if rows else []
    figure = new_figure()
    at = len(metrics) + 1
    for k, (name, series) in enumerate(metrics.items(), start=1):
        figure.add_trace(_line(name, series, k, {"color": look.ink, "width": 1.5}))
    colours = dict(zip(first, look.looks(len(first)), strict=True))
    # The unnamed ones first: they lie under the others.
    for feature in sorted(importances, key=lambda feature: feature in colours):
        figure.add_trace(_importance(feature, importances[feature], at, colours, look))
    for kind in KINDS:
        own = [mark for mark in marks if mark.change.kind == kind]
        if own:
            plain = {"color": look.ink}
            tints = [colours.get(mark.change.feature, plain)["color"] for mark in own]
            figure.add_trace(_events(kind, own, rows, tints, at + 1))
    titles = [shown(name, 14) for name in metrics] + ["importance"] + [""] * bool(rows)
    figure.update_layout(_axes(heights, titles, rows))
    shapes = [_vertical(mark, look, figure.layout[f"yaxis{at}"].domain[0]) for mark in marks]
    figure.update_layout(shapes=shapes)
    return finished(figure, look, height=sum(heights) + _GAP * len(heights) + 110)


def _line(name: object, series: Series, panel: int, line: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines" if len(series.times) > 1 else "markers",
        "x": series.times,
        "y": series.values,
        "line": line,
        "name": shown(name),
        "yaxis": f"y{panel}",
        "hovertemplate": f"{shown(name)}: %{{y:,.4g}}<br>at %{{x:,.10g}}<extra></extra>",
        "showlegend": False,
    }


def _importance(
    feature: Feature,
    series: Series,
    panel: int,
    colours: Mapping[Feature, dict[str, str]],
    look: Theme,
) -> dict[str, Any]:
    if feature in colours:
        line = colours[feature] | {"width": 2}
        return _line(feature, series, panel, line) | {"showlegend": True, "meta": "importance"}
    line = {"color": clear(look.ink, 0.25), "width": 1}
    return _line(feature, series, panel, line) | {"meta": "importance"}


def _events(
    kind: str,
    marks: Sequence[Mark],
    rows: Sequence[Feature],
    colour: Sequence[str],
    panel: int,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [mark.time for mark in marks],
        "y": [rows.index(mark.change.feature) for mark in marks],
        "marker": {"symbol": KINDS[kind][1], "size": 9, "color": colour},
        "name": kind,
        "legendgroup": "changes",
        "customdata": [sentence(mark) for mark in marks],
        "hovertemplate": "%{customdata}<extra></extra>",
        "yaxis": f"y{panel}",
        "meta": "change",
    }


def _vertical(mark: Mark, look: Theme, bottom: float) -> dict[str, Any]:
    """A faint line at a change, through the panels above the one that names it."""
    line = {"color": clear(look.ink, 0.35), "width": 1, "dash": KINDS[mark.change.kind][0]}
    ends = {"x0": mark.time, "x1": mark.time, "y0": bottom, "y1": 1}
    return ends | {"type": "line", "xref": "x", "yref": "paper", "line": line, "layer": "below"}


def _axes(
    heights: Sequence[float], titles: Sequence[str], rows: Sequence[Feature]
) -> dict[str, Any]:
    """One axis of time under panels of these heights."""
    total = sum(heights) + _GAP * (len(heights) - 1)
    layout: dict[str, Any] = {}
    top = float(total)
    for k, (height, title) in enumerate(zip(heights, titles, strict=True), start=1):
        domain = [(top - height) / total, top / total]
        layout[f"yaxis{k}"] = {"domain": domain, "title": {"text": title}, "zeroline": False}
        top -= height + _GAP
    if rows:
        layout[f"yaxis{len(heights)}"] |= {
            "tickvals": list(range(len(rows))),
            "ticktext": [shown(name, 20) for name in rows],
            "range": [len(rows) - 0.4, -0.6],
        }
    layout[f"yaxis{len(heights) - bool(rows)}"]["rangemode"] = "tozero"
    layout["xaxis"] = {"title": {"text": "observations"}, "anchor": f"y{len(heights)}"}
    return layout
