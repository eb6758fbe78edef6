"""A run over time: metrics, importances and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D

from ipdp.core.typing import Feature
from ipdp.plot.matplotlib.layout import panels
from ipdp.plot.matplotlib.style import (
    CURVE,
    DASHES,
    MARKERS,
    PLAIN,
    add_grid,
    format_numbers,
    label_time,
    next_styles,
    plain_legend,
    text_colour,
)
from ipdp.plot.shown.clock import axis_label, point_text
from ipdp.plot.shown.source import Series
from ipdp.plot.shown.style import KINDS, named
from ipdp.plot.shown.timeline import ShownTimeline

_WIDTH = 8.0
# Number of markers along a line.
_MARKED = 7
# A legend at the right of a panel.
_BESIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.01, 1.0),
    "borderaxespad": 0.0,
    "frameon": False,
    "fontsize": "small",
}


def draw(shown: ShownTimeline, ax: Axes | Sequence[Axes] | None) -> dict[str, Any]:
    """Draw the panels, and give the artists by name."""
    heights, n_metrics = shown.heights, len(shown.metrics)
    size = (_WIDTH, sum(heights) + 0.6)
    made = panels(ax, len(heights), heights=heights, size=size, share="x")
    for panel in made:
        add_grid(panel)
    # A metric may have any name, also that of another panel: the last two are known by place.
    axes = dict(zip(shown.metrics, made, strict=False)) | {"importance": made[n_metrics]}
    metric_lines = {}
    for panel, (name, series) in zip(made, shown.metrics.items(), strict=False):
        panel.set_ylabel(named(name, width=16), fontsize="small", **PLAIN)
        format_numbers(panel.yaxis, series.values)
        own: dict[str, Any] = {"color": text_colour(panel, 0.9), "marker": _marker(series)}
        metric_lines[name] = panel.plot(*series, linewidth=1.5, **own)[0]
    lines, changes = _draw_importances(made[n_metrics], shown), {}
    if shown.rows:
        axes["changes"] = made[-1]
        colours = {name: line.get_color() for name, line in lines.items()}
        changes = _draw_changes(made[-1], shown, colours)
    for panel in made:
        _finish_axes(panel, shown, last=panel is made[-1])
    for panel in made[: n_metrics + 1]:
        _mark_changes(panel, shown)
    artists = {"lines": lines, "metric_lines": metric_lines, "changes": changes}
    return {"axes": axes, "figure": made[0].figure, **artists}


def _marker(series: Series) -> str:
    """A marker where there is no line to see yet."""
    return "o" if len(series.times) == 1 else ""


def _draw_importances(ax: Axes, shown: ShownTimeline) -> dict[Feature, Line2D]:
    ax.set_ylabel("importance", fontsize="small")
    styles = dict(zip(shown.named, next_styles(ax, len(shown.named)), strict=True))
    lines: dict[Feature, Line2D] = {}
    for name, series in shown.importances.items():
        own: dict[str, Any] = {"color": text_colour(ax, 0.25), "linewidth": 0.8}
        own["marker"] = _marker(series)
        if name in styles:
            colour, dash, marker = styles[name]
            own = {"color": colour, "linestyle": DASHES[dash], "linewidth": 1.8}
            # Some markers, at other places for each: enough to tell the lines apart in print.
            step = max(len(series.times) // _MARKED, 1)
            every = (len(lines) * 3 % step, step)
            own |= {"marker": MARKERS[marker], "markevery": every, "markersize": 5}
        lines[name] = ax.plot(*series, gid=CURVE, **own)[0]
    handles = [lines[name] for name in shown.named]
    names = [named(name, width=24) for name in shown.named]
    if shown.n_others:  # they are drawn first
        handles.append(next(iter(lines.values())))
        names.append(f"{shown.n_others} other{'s' if shown.n_others > 1 else ''}")
    plain_legend(ax, handles, names, **_BESIDE)
    if ax.dataLim.y0 >= 0:  # a permutation importance may be below
        ax.set_ylim(bottom=0)
    format_numbers(ax.yaxis, ax.dataLim.intervaly)
    return lines


def _draw_changes(
    ax: Axes, shown: ShownTimeline, colours: Mapping[Feature, Any]
) -> dict[str, PathCollection]:
    """A row for each feature that changed, and a marker for each change."""
    drawn = {
        kind: ax.scatter(
            [mark.time for mark in marks],
            [shown.rows.index(mark.change.feature) for mark in marks],
            c=[colours.get(mark.change.feature, text_colour(ax, 0.9)) for mark in marks],
            marker=MARKERS[KINDS[kind][1]],
            s=36,
            label=kind,
            zorder=3,
        )
        for kind, marks in shown.marks_by_kind.items()
    }
    names = [named(name, width=20) for name in shown.rows]
    ax.set_yticks(range(len(names)), labels=names, **PLAIN)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize="small")
    legend = ax.legend(**_BESIDE)
    for handle in legend.legend_handles:
        handle.set(color=text_colour(ax, 0.9))  # type: ignore[union-attr]  # scatter's has one
    return drawn


def _mark_changes(ax: Axes, shown: ShownTimeline) -> None:
    """Faint lines at the changes, which the panel below names."""
    for mark in shown.marks:
        dash = DASHES[mark.dash]
        ax.axvline(mark.time, color=text_colour(ax, 0.35), linewidth=0.8, linestyle=dash, zorder=1)


def _finish_axes(ax: Axes, shown: ShownTimeline, *, last: bool) -> None:
    first, final = shown.span
    if final > first:
        ax.set_xlim(first, final)
    else:
        ax.set_xticks([first], labels=[point_text(first)])
    ax.tick_params(labelbottom=last)
    if last:
        ax.set_xlabel(axis_label([first, final]))
        if final > first:
            label_time(ax.xaxis, np.array([first, final]))
