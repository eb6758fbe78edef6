"""The curve of one feature: lines with bands for numbers, points with error bars for categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ipdp.plot.matplotlib.layout import Frame, new_axes
from ipdp.plot.matplotlib.style import (
    CONTEXT,
    CURVE,
    DASHES,
    MARKERS,
    add_grid,
    add_legend,
    add_notes,
    date_axis,
    label_axis,
    next_styles,
    text_colour,
    written_out,
)
from ipdp.plot.shown.curve import PAST, SPREAD, Line, Path, ShownCurve
from ipdp.plot.shown.style import THIN_LINE, THIN_POINT, LineStyle

Settings = Mapping[str, Any]
"""Settings of one kind of artist, or of all kinds by name."""


def no_artists() -> dict[str, Any]:
    """The artists of a display on which nothing is drawn; see `PDPDisplay`."""
    lists = "lines", "bands", "ice_lines", "missing", "trail", "compare", "past", "spread"
    single = "mesh", "colorbar", "rug_ax", "missing_ax", "density"
    return {name: [] for name in lists} | dict.fromkeys(single)


def draw(shown: ShownCurve, ax: Axes | None, settings: Settings) -> dict[str, Any]:
    """Draw a curve, and give the artists by name."""
    title = shown.title if ax is None else ""
    ax = new_axes() if ax is None else ax
    add_grid(ax)
    frame, given = Frame.around(ax), written_out(settings)
    artists = no_artists() | {"ax": ax, "figure": ax.figure}
    colours = []
    for line, style in zip(shown.lines, next_styles(ax, len(shown.lines)), strict=True):
        own = _line_settings(shown, line, style, given["line"])
        colours.append(own["color"])
        if line.ice:
            faint = {"color": own["color"], "linewidth": 0.8, "zorder": 1.5, **given["ice"]}
            artists["ice_lines"].append(_add_paths(ax, line.ice, faint))
        if line.spread is not None:
            artists["spread"].append(_draw_spread(ax, shown, line, own["color"], artists["spread"]))
        if shown.band is not None:
            artists["bands"].append(_draw_band(ax, shown, line, own["color"], given["band"]))
        artists["lines"].append(_draw_line(ax, shown, line, own))
    if shown.rug is not None:
        artists["rug_ax"] = frame.add_rug()
        only = colours[0] if len(colours) == 1 else text_colour(ax, 0.6)
        _draw_rug(artists["rug_ax"], shown, {"color": only, "alpha": 0.45, **given["rug"]})
    if any(line.missing for line in shown.lines):
        artists["missing_ax"] = frame.add_missing()
        artists["missing"] = _draw_missing(artists["missing_ax"], shown, colours)
    if shown.trail_name:
        artists["trail"] = _draw_trail(ax, shown, colours, given["trail"])
    artists["compare"] = _draw_compare(ax, shown, colours, given["compare"])
    artists["past"] = _draw_past(ax, shown, colours)
    _finish_axes(ax, frame, shown)
    add_notes(ax, is_empty=shown.is_empty, title=title)
    return artists


def _line_settings(
    shown: ShownCurve, line: Line, style: LineStyle, given: Settings
) -> dict[str, Any]:
    # Categories have nothing in between. A single point has no line to be seen by, and several
    # lines are told apart by their markers too.
    categorical = shown.categories is not None
    size = 7.0 if categorical or len(line.x) == 1 else 5.0 if len(shown.lines) > 1 else 3.5
    return {
        "color": style.colour,
        "linestyle": DASHES["none" if categorical else style.dash],
        "linewidth": 2.0,
        "marker": MARKERS[style.marker],
        "markersize": size,
        **given,
        "label": line.name,
    }


def _draw_line(ax: Axes, shown: ShownCurve, line: Line, settings: dict[str, Any]) -> Line2D:
    """The curve; dotted, or faint, where few data are behind it."""
    if not shown.thin.any():
        return ax.plot(line.x, line.y, gid=CURVE, **settings)[0]
    thin: Settings = {"alpha": THIN_POINT}
    if shown.categories is None:
        thin = {"linestyle": ":", "alpha": THIN_LINE}
    ax.plot(line.x, np.where(shown.thin, np.nan, line.y), **{**settings, "label": ""})
    return ax.plot(line.x, line.y, gid=CURVE, **{**settings, **thin})[0]


def _draw_band(ax: Axes, shown: ShownCurve, line: Line, colour: Any, given: Settings) -> Any:
    if shown.categories is None:
        fill = {"color": colour, "alpha": 0.22, "linewidth": 0, **given}
        return ax.fill_between(line.x, line.low, line.high, **fill)
    bars = {"fmt": "none", "ecolor": colour, "elinewidth": 1.5, **given}
    return ax.errorbar(line.x, line.y, yerr=(line.high - line.low) / 2, **bars)


def _draw_spread(ax: Axes, shown: ShownCurve, line: Line, colour: Any, drawn: Sequence[Any]) -> Any:
    """How much the effect differs between observations: light."""
    assert line.spread is not None
    low, high = line.spread
    label: dict[str, Any] = {"label": "" if drawn else SPREAD, "gid": CONTEXT}
    if shown.categories is None:
        light: dict[str, Any] = {"color": colour, "alpha": 0.1, "linewidth": 0.0}
        return ax.fill_between(line.x, low, high, zorder=1.2, **light, **label)
    return ax.vlines(line.x, low, high, colors=colour, alpha=0.2, linewidth=9, zorder=1.2, **label)


def _draw_trail(ax: Axes, shown: ShownCurve, colours: Sequence[Any], given: Settings) -> list[Any]:
    drawn = []
    for k, (line, colour) in enumerate(zip(shown.lines, colours, strict=True)):
        settings = {"color": colour, "linewidth": 1.2, "zorder": 1.7, "gid": CONTEXT}
        settings |= {"label": "" if k else shown.trail_name, **given}
        drawn.append(_add_paths(ax, line.trail, settings))
    ax.autoscale_view()
    return drawn


def _add_paths(ax: Axes, paths: Sequence[Path], settings: dict[str, Any]) -> Any:
    """Lines as one collection, each with its opacity."""
    plural = {"color": "colors", "linewidth": "linewidths", "linestyle": "linestyles"}
    settings = {plural.get(name, name): value for name, value in settings.items()}
    opacities = [path.opacity for path in paths] or None
    points = [np.column_stack([path.x, path.y]) for path in paths]
    return ax.add_collection(LineCollection(points, **{"alpha": opacities, **settings}))


def _draw_compare(
    ax: Axes, shown: ShownCurve, colours: Sequence[Any], given: Settings
) -> list[Line2D]:
    """A dashed line for each output; hollow markers for categories."""
    drawn: list[Line2D] = []
    for line, colour in zip(shown.lines, colours, strict=True):
        if line.compare is None:
            continue
        own = {"color": colour if len(shown.lines) > 1 else text_colour(ax, 0.8)}
        own |= {"linewidth": 1.5, "zorder": 2.5, "label": "" if drawn else "for comparison"}
        if shown.categories is None:
            own["linestyle"] = (0, (4, 2))
        else:
            own |= {"linestyle": "none", "marker": "D", "markersize": 8, "fillstyle": "none"}
        drawn += ax.plot(line.compare.x, line.compare.y, gid=CONTEXT, **{**own, **given})
    return drawn


def _draw_past(ax: Axes, shown: ShownCurve, colours: Sequence[Any]) -> list[Line2D]:
    """What is left of the past in a smoothed curve: thin dashes; crosses for categories."""
    drawn: list[Line2D] = []
    for line, colour in zip(shown.lines, colours, strict=True):
        if line.past is None:
            continue
        own: dict[str, Any] = {"color": colour if len(shown.lines) > 1 else text_colour(ax, 0.6)}
        own |= {"linewidth": 1.1, "zorder": 1.9, "label": "" if drawn else PAST}
        if shown.categories is None:
            own["linestyle"] = (0, (5, 3))
        else:
            own |= {"linestyle": "none", "marker": "x", "markersize": 6}
        drawn += ax.plot(line.past.x, line.past.y, gid=CONTEXT, **own)
    return drawn


def _draw_rug(ax: Axes, shown: ShownCurve, settings: Settings) -> None:
    """The histogram of recent values; that of an earlier curve may be higher."""
    assert shown.rug is not None
    left, right, counts = shown.rug
    before = ax.get_ylim()[1] if ax.patches else 0.0
    if shown.categories is None:
        ax.stairs(counts, [*left, right[-1]], **{"fill": True, **settings})
    else:
        ax.bar((left + right) / 2, counts, width=right - left, **settings)
    ax.set_ylim(0, max(1.05 * counts.max(initial=1), before))


def _draw_missing(ax: Axes, shown: ShownCurve, colours: Sequence[Any]) -> list[Any]:
    """The point for a missing value, beside the curve."""
    ax.set_xlim(-1, 1)
    ax.set_xticks([0], labels=["missing"])
    ax.grid(True, axis="y", color=text_colour(ax, 0.15), linewidth=0.6)
    drawn = []
    for line, colour in zip(shown.lines, colours, strict=True):
        if line.missing is not None:
            x, y, low, high = line.missing
            half = None if np.isnan(high) else [(high - low) / 2]
            drawn.append(ax.errorbar([x], [y], yerr=half, fmt="D", color=colour, markersize=5))
    return drawn


def _finish_axes(ax: Axes, frame: Frame, shown: ShownCurve) -> None:
    """Labels, ranges and legend."""
    x = np.concatenate([np.empty(0), *(line.x for line in shown.lines)])
    y = np.concatenate([np.empty(0), *(line.y for line in shown.lines)])
    label_axis(ax.xaxis, shown.feature, x, shown.categories, whole=shown.whole)
    if shown.is_time:
        date_axis(ax.xaxis)
    label_axis(ax.yaxis, shown.label, y)
    if shown.categories is not None:
        frame.categories = shown.categories
        ax.grid(False, axis="x")
        if len(shown.lines) > 1:
            ax.margins(y=0.2)  # the legend needs a place between the points
    ax.update_datalim([(end, ax.dataLim.y0) for end in shown.x_range or ()])
    ax.update_datalim([(ax.dataLim.x0, end) for end in shown.y_range or ()])
    ax.autoscale_view()
    if any(line.name or line.spread is not None for line in shown.lines):
        add_legend(ax)
