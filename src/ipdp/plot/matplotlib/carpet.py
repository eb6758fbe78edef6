"""The curves of one feature over time, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import (
    DASHES,
    add_surface,
    clock_axis,
    label_axis,
    label_time,
    text_colour,
)
from ipdp.plot.shown.carpet import CurveHistory
from ipdp.plot.shown.clock import point_text

# Height of a category in a new figure, and of the least figure.
_ROW, _LEAST = 0.2, 3.6


def draw(shown: CurveHistory, ax: Axes | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the heat map, and give the artists by name."""
    if ax is None:
        ax = new_axes(7.5, max(_LEAST, _ROW * len(shown.categories or []) + 1.0))
    # One picture in a PDF, and not a rectangle for each of its thousands of cells.
    own = {"rasterized": True, **(settings["mesh"] or {})}
    data = shown.time_edges, shown.place_edges, shown.values
    artists = add_surface(ax, ax.pcolormesh, *data, shown=shown, **own)
    artists["changes"] = _draw_changes(ax, shown)
    label_axis(ax.yaxis, shown.feature, shown.place_edges, shown.categories, whole=shown.whole)
    if shown.is_time:
        clock_axis(ax.yaxis, shown.place_edges)
    if shown.categories is not None:
        ax.invert_yaxis()
    label_time(ax.xaxis, shown.times)
    if len(shown.times) == 1:
        ax.set_xticks(shown.times, labels=[point_text(shown.times[0])])
    return artists


def _draw_changes(ax: Axes, shown: CurveHistory) -> list[Line2D]:
    """A line for each change, with an edge that sets it off from any colour under it."""
    edge = [withStroke(linewidth=3.0, foreground=ax.get_facecolor(), alpha=0.7)]
    own: dict[str, Any] = {"color": text_colour(ax, 0.9), "linewidth": 1.3, "path_effects": edge}
    return [ax.axvline(mark.time, linestyle=DASHES[mark.dash], **own) for mark in shown.marks]
