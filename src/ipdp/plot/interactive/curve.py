"""One curve, or the surface of a pair, as a plotly figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.plot.density import Counts, density_of
from ipdp.plot.interactive.theme import (
    Figure,
    Theme,
    clear,
    escaped,
    finished,
    new_figure,
    shown,
    theme,
)
from ipdp.plot.interactive.traces import (
    Axis,
    context_traces,
    ice_traces,
    line_traces,
    missing_traces,
    strip_trace,
)
from ipdp.plot.support import is_whole, known, round_levels
from ipdp.plot.view import View

# Shares of the figure: of the strip under the curve and of the one beside it.
STRIP, GAP = 0.13, 0.02
_SIDE = 0.88


def curve_figure(view: View, *, ice: bool, band: float | None, rug: bool, data: Any) -> Figure:
    """The twin of `PDPDisplay.plot`."""
    look = theme()
    if len(view.curve.grid_values) == 2:
        return _pair_figure(view, look, data, rug=rug)
    curve, axis = view.curve, Axis(view.curve)
    looks = look.looks(len(curve.outputs))
    beside = bool(view.trail) or view.compare is not None
    figure = new_figure()
    # The curve's own places come first: categories keep the order that it has.
    axis.places(curve.grid_values[0])
    if ice:
        figure.add_traces(ice_traces(curve, axis, looks[0]["color"]))
    figure.add_traces(context_traces(view, axis, looks, look.ink))
    name = view.name if beside and len(curve.outputs) == 1 else ""
    figure.add_traces(line_traces(view, axis, looks, band=band, name=name))
    colour = looks[0]["color"] if len(looks) == 1 else clear(look.ink, 0.6)
    strip = strip_trace(curve, axis, colour) if rug else None
    if strip is not None:
        figure.add_trace(strip | {"yaxis": "y2"})
    side = missing_traces(view, looks, band)
    figure.add_traces([trace | {"xaxis": "x2"} for trace in side])
    figure.update_layout(_frame(view, axis, strip=strip is not None, side=bool(side)))
    title = "" if curve.t is None or beside else f"t = {curve.t:,.10g}"
    return finished(
        figure,
        look,
        title={"text": title, "x": 0.98, "xanchor": "right", "font": {"size": 12}},
        bargap=0,
        height=420,
    )


def _frame(view: View, axis: Axis, *, strip: bool, side: bool) -> dict[str, Any]:
    """The axes: the curve, the strip under it, and the one beside it."""
    bottom = STRIP + GAP if strip else 0.0
    whole = {"tickformat": ",d"} if is_whole(view.curve) and axis.categories is None else {}
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": shown(view.curve.feature)},
            "domain": [0, _SIDE if side else 1],
            "anchor": "y2" if strip else "y",
            "zeroline": False,
        }
        | whole
        | axis.layout(),
        "yaxis": {
            "title": {"text": escaped(view.label)},
            "domain": [bottom, 1],
            "zeroline": False,
        },
    }
    if view.span is not None:
        layout["yaxis"]["autorangeoptions"] = {"include": list(view.span)}
    if strip:
        layout["yaxis2"] = {"domain": [0, STRIP], "visible": False, "anchor": "x"}
    if side:
        layout["xaxis2"] = {
            "domain": [_SIDE + 0.02, 1],
            "anchor": "y2" if strip else "y",
            "range": [-1, 1],
            "tickvals": [0],
            "ticktext": ["missing"],
            "zeroline": False,
        }
    return layout


def _pair_figure(view: View, look: Theme, data: Any, *, rug: bool) -> Figure:
    curve = view.curve
    axes = [Axis(_one_axis(curve, k)) for k in (0, 1)]
    x, y = (axis.places(values) for axis, values in zip(axes, curve.grid_values, strict=True))
    z = known(curve)[0].T
    hover = [
        f"{shown(name)}: %{{{letter}}}" for name, letter in zip(curve.features, "xy", strict=True)
    ]
    smooth = not any(curve.categorical) and min(z.shape) > 1
    surface: dict[str, Any] = {
        "type": "contour" if smooth else "heatmap",
        "x": x,
        "y": y,
        "z": z,
        "colorscale": look.scale(centred=view.centred),
        "colorbar": {"title": {"text": escaped(view.label), "side": "right"}},
        "hovertemplate": "<br>".join(
            [*hover, f"{escaped(view.label)}: %{{z:,.4g}}<extra></extra>"]
        ),
    }
    there = z[~np.isnan(z)]
    if smooth and there.size and np.ptp(there) > 0:
        ticks = round_levels(float(there.min()), float(there.max()))
        lines = {"start": ticks[0], "end": ticks[-1], "size": ticks[1] - ticks[0]}
        surface |= {"line": {"width": 0}, "contours": lines, "autocontour": False}
        surface |= {"zmin": ticks[0], "zmax": ticks[-1]}
    if view.centred and there.size:
        reach = float(abs(there).max())
        surface |= {"zmin": -reach, "zmax": reach}
    figure = new_figure([surface])
    if rug or data is not None:
        figure.add_traces(_density(curve, data, x, y))
    figure.update_xaxes(title_text=shown(curve.features[0]), **axes[0].layout())
    figure.update_yaxes(title_text=shown(curve.features[1]), **axes[1].layout())
    return finished(figure, look, height=460)


def _one_axis(curve: Curve, k: int) -> Curve:
    """Enough of a curve to say whether its k-th axis has categories."""
    from dataclasses import replace

    return replace(curve, categorical=(curve.categorical[k],))


def _density(curve: Curve, data: Any, x: Any, y: Any) -> list[dict[str, Any]]:
    found = density_of(curve, data)
    if found is None:
        return []
    if isinstance(found, Counts):
        across, along = np.meshgrid(x, y, indexing="ij")
        counts = found.values.ravel()
        dots: dict[str, Any] = {"color": "white", "line": {"color": "rgba(0,0,0,0.6)", "width": 1}}
        dots |= {"size": 18 * np.sqrt(counts / max(counts.max(), 1)), "opacity": 0.9}
        return [
            {
                "type": "scatter",
                "mode": "markers",
                "x": across.ravel(),
                "y": along.ravel(),
                "marker": dots,
                "customdata": counts,
                "hovertemplate": "%{customdata} observations<extra></extra>",
                "showlegend": False,
                "meta": "density",
            }
        ]
    return [
        {
            "type": "contour",
            "x": found.x,
            "y": found.y,
            "z": found.z.T,
            # plotly draws lines at equal distances only: one trace for each height.
            "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
            "line": {"color": "white", "width": 1.2},
            "hoverinfo": "skip",
            "showscale": False,
            "showlegend": False,
            "meta": "density",
        }
        for level in found.levels.tolist()
    ]
