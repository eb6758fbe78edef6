"""The surface of a pair, as traces of plotly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray
from ipdp.plot.density import Counts, density_of
from ipdp.plot.interactive.theme import Theme, escaped, shown
from ipdp.plot.interactive.traces import Axis, Trace
from ipdp.plot.support import known, round_levels
from ipdp.plot.view import View


def surface_of(view: View, look: Theme) -> tuple[Trace, list[Axis]]:
    """Filled contours, or tiles where there are categories; and the two axes."""
    curve = view.curve
    axes = [Axis(_one_axis(curve, k)) for k in (0, 1)]
    x, y = (axis.places(values) for axis, values in zip(axes, curve.grid_values, strict=True))
    z = known(curve)[0].T
    hover = [
        f"{shown(name)}: %{{{letter}}}" for name, letter in zip(curve.features, "xy", strict=True)
    ]
    smooth = not any(curve.categorical) and min(z.shape) > 1
    trace: Trace = {
        "type": "contour" if smooth else "heatmap",
        "x": x,
        "y": y,
        "z": z,
        "colorscale": look.scale(centred=view.centred),
        "colorbar": {"title": {"text": escaped(view.label), "side": "right"}},
        "hovertemplate": "<br>".join(
            [*hover, f"{escaped(view.label)}: %{{z:,.4g}}<extra></extra>"]
        ),
        "meta": "surface",
    }
    return trace | _heights(z, smooth=smooth, centred=view.centred), axes


def _heights(z: FloatArray, *, smooth: bool, centred: bool) -> Trace:
    """Where the colours begin and end, and the contours between them."""
    there = z[~np.isnan(z)]
    found: Trace = {}
    if smooth and there.size and np.ptp(there) > 0:
        ticks = round_levels(float(there.min()), float(there.max()))
        lines = {"start": ticks[0], "end": ticks[-1], "size": ticks[1] - ticks[0]}
        found |= {"line": {"width": 0}, "contours": lines, "autocontour": False}
        found |= {"zmin": ticks[0], "zmax": ticks[-1]}
    if centred and there.size:
        reach = float(abs(there).max())
        found |= {"zmin": -reach, "zmax": reach}
    return found


def _one_axis(curve: Curve, k: int) -> Curve:
    """Enough of a curve to say whether its k-th axis has categories."""
    return replace(curve, categorical=(curve.categorical[k],))


def density_traces(curve: Curve, data: Any, x: FloatArray, y: FloatArray) -> list[Trace]:
    """Lines around the data, dots where there are categories; nothing of too few."""
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
