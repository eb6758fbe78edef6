"""The surface of a pair of features: contours of numbers, tiles where there are categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from ipdp.plot.matplotlib.curve import Settings, no_artists
from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import add_notes, add_surface, clock_axis, label_axis, written_out
from ipdp.plot.shown.pair import Density, ShownPair
from ipdp.plot.shown.values import edges_around

_LARGEST_DOT = 160.0
# Length of a tick of the rug, as a share of the axes.
_TICK = 0.025


def draw(shown: ShownPair, ax: Axes | None, settings: Settings) -> dict[str, Any]:
    """Draw a surface, and give the artists by name."""
    title = shown.title if ax is None else ""
    ax = new_axes() if ax is None else ax
    given = written_out(settings)
    if shown.levels is not None:
        own = {"levels": shown.levels, **given["mesh"]}
        surface = add_surface(ax, ax.contourf, *shown.axes, shown.z, shown=shown, **own)
    else:
        edges = (edges_around(axis) for axis in shown.axes)
        surface = add_surface(ax, ax.pcolormesh, *edges, shown.z, shown=shown, **given["mesh"])
    artists = no_artists() | surface
    for k, axis in enumerate((ax.xaxis, ax.yaxis)):
        label_axis(axis, shown.features[k], shown.axes[k], shown.categories[k])
        if shown.times[k]:
            clock_axis(axis, shown.axes[k])
    artists["density"] = _draw_density(ax, shown)
    _draw_ticks(ax, shown, {"color": (1, 1, 1, 0.8), "linewidth": 0.8, **given["rug"]})
    add_notes(ax, is_empty=shown.is_empty, title=title)
    return artists


def _draw_density(ax: Axes, shown: ShownPair) -> Any:
    """Lines around the data, dots where there are categories; seen on any colour."""
    if shown.density is None:
        return None
    if not isinstance(shown.density, Density):
        x, y = np.meshgrid(*shown.axes, indexing="ij")
        sizes = _LARGEST_DOT * shown.density / max(shown.density.max(), 1)
        dots: dict[str, Any] = {"facecolors": "white", "edgecolors": (0, 0, 0, 0.6)}
        return ax.scatter(x.ravel(), y.ravel(), s=sizes.ravel(), zorder=3, linewidths=0.8, **dots)
    x, y, z, levels = shown.density
    lines = ax.contour(x, y, z.T, levels=levels, colors="white", linewidths=1.0)
    lines.set_path_effects([withStroke(linewidth=2.0, foreground=(0, 0, 0, 0.45))])
    return lines


def _draw_ticks(ax: Axes, shown: ShownPair, settings: Settings) -> None:
    """Recent values of each feature along its axis, too few for a density."""
    x, y = shown.ticks
    if x.size:
        ax.vlines(x, 0, _TICK, transform=ax.get_xaxis_transform(), **settings)
    if y.size:
        ax.hlines(y, 0, _TICK, transform=ax.get_yaxis_transform(), **settings)
