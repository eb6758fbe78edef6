"""The surface of a pair of features: contours of numbers, tiles where there are categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    add_notes,
    default_theme,
    escaped,
    finish,
    new_figure,
    tick_layout,
)
from ipdp.plot.shown.pair import Counts, Density, ShownPair

# Width in pixels of the largest dot, and length of a tick of the rug.
_LARGEST_DOT, _TICK = 18, 14


def figure(shown: ShownPair) -> Figure:
    """The figure of a pair."""
    theme = default_theme()
    made = new_figure([surface_trace(shown, theme)])
    made.add_traces(_tick_traces(shown))
    if isinstance(shown.density, Counts):
        made.add_trace(_dots_trace(shown, shown.density))
    elif shown.density is not None:
        made.add_traces(_contour_traces(shown.density))
    across, along = axis_layouts(shown)
    made.update_xaxes(title_text=escaped(shown.features[0]), **across)
    made.update_yaxes(title_text=escaped(shown.features[1]), **along)
    add_notes(made, is_empty=shown.is_empty, title=shown.title)
    return finish(made, theme, height=460)


def axis_layouts(shown: ShownPair) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two axes: names of categories, and contours from end to end."""
    across, along = (tick_layout(categories) for categories in shown.categories)
    if shown.levels is not None:
        across["range"], along["range"] = ([axis.min(), axis.max()] for axis in shown.axes)
    return across, along


def surface_trace(shown: ShownPair, theme: Theme) -> Trace:
    """Filled contours, or tiles."""
    trace: Trace = {
        "type": "heatmap" if shown.levels is None else "contour",
        "x": shown.axes[0],
        "y": shown.axes[1],
        "z": shown.z,
        "colorscale": theme.colorscale(centred=shown.centred),
        "colorbar": {"title": {"text": escaped(shown.label), "side": "right"}},
        "hovertemplate": f"{escaped(shown.features[0])}: %{{x}}<br>{escaped(shown.features[1])}: "
        f"%{{y}}<br>{escaped(shown.label)}: %{{z:,.4g}}<extra></extra>",
        "meta": "surface",
    }
    z_range = shown.z_range
    if shown.levels is not None:
        first, second, last = shown.levels[[0, 1, -1]].tolist()
        trace |= {"contours": {"start": first, "end": last, "size": second - first}}
        trace |= {"line": {"width": 0}, "autocontour": False}
        z_range = z_range or (first, last)
    return trace if z_range is None else trace | {"zmin": z_range[0], "zmax": z_range[1]}


def _dots_trace(shown: ShownPair, found: Counts) -> Trace:
    """Dots where there are observations."""
    x, y = np.meshgrid(*shown.axes, indexing="ij")
    counts = found.values.ravel()
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x.ravel(),
        "y": y.ravel(),
        "marker": {
            "color": "white",
            "line": {"color": "rgba(0,0,0,0.6)", "width": 1},
            "size": _LARGEST_DOT * np.sqrt(counts / max(counts.max(), 1)),
            "opacity": 0.9,
        },
        "customdata": counts,
        "hovertemplate": "%{customdata} observations<extra></extra>",
        "showlegend": False,
        "meta": "density",
    }


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
    (x, y), (left, bottom) = shown.ticks, (axis.min(initial=np.inf) for axis in shown.axes)
    places = ((x, np.full(len(x), bottom), "ns"), (np.full(len(y), left), y, "ew"))
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": across,
            "y": along,
            "marker": {
                "symbol": f"line-{direction}",
                "size": _TICK,
                "line": {"width": 1.2, "color": "rgba(255,255,255,0.8)"},
            },
            "hoverinfo": "skip",
            "showlegend": False,
            "meta": "rug",
        }
        for across, along, direction in places
        if len(across)
    ]
