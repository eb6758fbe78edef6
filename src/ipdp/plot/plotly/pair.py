"""The surface of a pair of features: contours of numbers, tiles where there are categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.typing import Array
from ipdp.core.words import few_digits
from ipdp.plot.plotly.style import Figure, Theme, Trace, axis, clock_axis, escaped, notes, scatter
from ipdp.plot.shown.pair import Density, ShownPair

# Width in pixels of the largest dot, and length of a tick of the rug, half of which is seen.
_LARGEST_DOT, _TICK = 18, 14


def figure(shown: ShownPair) -> Figure:
    """The figure of a pair."""
    theme = Theme.default()
    traces = [surface_trace(shown, theme), *_tick_traces(shown)]
    if isinstance(shown.density, Density):
        traces += _contour_traces(shown.density)
    elif shown.density is not None:
        traces.append(_dots_trace(shown, shown.density.ravel()))
    x, y = axes(shown)
    layout = notes(shown.title, is_empty=shown.is_empty)
    return theme.figure(traces, {"xaxis": x, "yaxis": y, "height": 460} | layout)


def axes(shown: ShownPair) -> list[dict[str, Any]]:
    """The two axes; contours reach from end to end of theirs."""
    found = [axis(*pair) for pair in zip(shown.features, shown.categories, strict=True)]
    for layout, positions, is_time in zip(found, shown.axes, shown.times, strict=True):
        layout.update(clock_axis(positions) if is_time else {})
    if shown.levels is not None:
        for layout, positions in zip(found, shown.axes, strict=True):
            layout["range"] = [positions.min(), positions.max()]
    return found


def _cells(shown: ShownPair) -> list[list[str]]:
    """What hovering says of each cell: where, and the value."""
    first, second = (
        [f"{escaped(name)}: {escaped(place)}<br>" for place in shown.place_texts(k)]
        for k, name in enumerate(shown.features)
    )
    value = f"{escaped(shown.label)}: "
    return [
        [f"{a}{b}{value}{few_digits(z)}" for a, z in zip(first, row, strict=True)]
        for b, row in zip(second, shown.z.tolist(), strict=True)
    ]


def surface_trace(shown: ShownPair, theme: Theme) -> Trace:
    """Filled contours, or tiles."""
    trace: Trace = {
        "type": "heatmap" if shown.levels is None else "contour",
        "x": shown.axes[0],
        "y": shown.axes[1],
        "z": shown.z,
        "text": _cells(shown),
        "hovertemplate": "%{text}<extra></extra>",
        "meta": "surface",
    }
    if shown.levels is not None:
        first, second, last = shown.levels[[0, 1, -1]].tolist()
        trace |= {"contours": {"start": first, "end": last, "size": second - first}}
        trace |= {"line": {"width": 0}, "autocontour": False, "zmin": first, "zmax": last}
    return trace | theme.colours_of(shown.label, shown.z_range)


def _dots_trace(shown: ShownPair, counts: Array) -> Trace:
    """Dots where there are observations."""
    x, y = np.meshgrid(*shown.axes, indexing="ij")
    size = _LARGEST_DOT * np.sqrt(counts / max(counts.max(), 1))
    marker = {"color": "white", "size": size, "opacity": 0.9}
    marker["line"] = {"color": "rgba(0,0,0,0.6)", "width": 1}
    many: Trace = {"customdata": counts, "hover": "%{customdata} observations"}
    return scatter(x.ravel(), y.ravel(), "density", mode="markers", marker=marker, **many)


def _contour_traces(found: Density) -> list[Trace]:
    """Lines around the observations: one trace for each, as plotly's have equal distances."""
    return [
        {
            "type": "contour",
            "x": found.x,
            "y": found.y,
            "z": found.z.T,
            "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
            "line": {"color": "white", "width": 1.2},
            "hoverinfo": "skip",
            "showscale": False,
            "showlegend": False,
            "meta": "density",
        }
        for level in found.levels.tolist()
    ]


def _tick_traces(shown: ShownPair) -> list[Trace]:
    """Recent values of each feature along its axis, too few for a density."""
    (x, y), (left, bottom) = shown.ticks, (positions[:1] for positions in shown.axes)
    rugs = ("line-ns", x, np.repeat(bottom, x.size)), ("line-ew", np.repeat(left, y.size), y)
    line = {"width": 1.2, "color": "rgba(255,255,255,0.8)"}
    return [
        scatter(a, b, "rug", mode="markers", marker={"symbol": sign, "size": _TICK, "line": line})
        for sign, a, b in rugs
        if a.size
    ]
