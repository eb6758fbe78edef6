"""The surface of a pair of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray
from ipdp.plot.categorical import name_ticks
from ipdp.plot.density import density_of, draw_density
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import colour_map, fade, named, plain, write_numbers
from ipdp.plot.support import round_levels
from ipdp.plot.view import View
from ipdp.plot.weave import edges_around

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.contour import QuadContourSet


def draw_pair(view: View, ax: Axes, style: Style, data: Any = None) -> Parts:
    """Draw the surface of two features: contours of numbers, tiles where there are categories."""
    parts, curve = Parts(), view.curve
    ax.grid(False)
    axes = [
        np.arange(len(values), dtype=float) if categorical else np.asarray(values, dtype=float)
        for values, categorical in zip(curve.grid_values, curve.categorical, strict=True)
    ]
    # A cell without any observation has no value yet, whatever the average says.
    z = np.ma.masked_invalid(np.where(curve.n_effective_points > 0, curve.average[0], np.nan)).T
    look: dict[str, Any] = {"cmap": colour_map(ax, centred=view.centred)}
    if view.centred and z.count():
        reach = float(abs(z).max()) or 1.0
        look |= {"vmin": -reach, "vmax": reach}
    parts.mesh = _surface(ax, axes, z, curve, {**look, **style.mesh})
    figure = ax.figure
    parts.colorbar = figure.colorbar(parts.mesh, ax=ax)
    parts.colorbar.set_label(view.label, **plain())
    parts.colorbar.outline.set_visible(False)
    write_numbers(parts.colorbar.ax.yaxis, z.compressed())
    ax.set_xlabel(named(curve.features[0]), **plain())
    ax.set_ylabel(named(curve.features[1]), **plain())
    for axis, values, positions, categorical in zip(
        (ax.xaxis, ax.yaxis), curve.grid_values, axes, curve.categorical, strict=True
    ):
        if categorical:
            name_ticks(axis, values.tolist(), upright=axis is ax.yaxis)
        else:
            write_numbers(axis, positions, side_by_side=axis is ax.xaxis)
    found = density_of(curve, data) if style.rug or data is not None else None
    if found is not None:
        parts.density = draw_density(ax, found, axes)
    elif style.rug:
        _add_rugs(ax, curve, style)
    return parts


def _surface(
    ax: Axes, axes: list[FloatArray], z: Any, curve: Curve, given: dict[str, Any]
) -> QuadMesh | QuadContourSet:
    smooth = (
        not any(curve.categorical)
        and min(z.shape) > 1
        and all(np.all(np.diff(axis) > 0) for axis in axes)
        and z.count() > 1
        and np.ptp(z.compressed()) > 0
    )
    if smooth:
        return ax.contourf(
            *axes, z, **{"levels": round_levels(float(z.min()), float(z.max())), **given}
        )
    return ax.pcolormesh(*(edges_around(axis) for axis in axes), z, **given)


def _add_rugs(ax: Axes, curve: Curve, style: Style) -> None:
    """Recent values of each feature along its axis, too few for a density."""
    settings = {"color": fade(ax, 0.35), "linewidth": 0.6, **style.strip}
    numbers = [
        None if categorical or not len(rug) else _within(rug, axis)
        for rug, axis, categorical in zip(
            curve.rug, curve.grid_values, curve.categorical, strict=False
        )
    ]
    if numbers and numbers[0] is not None:
        ax.vlines(numbers[0], 0, 0.025, transform=ax.get_xaxis_transform(), **settings)
    if len(numbers) > 1 and numbers[1] is not None:
        ax.hlines(numbers[1], 0, 0.025, transform=ax.get_yaxis_transform(), **settings)


def _within(rug: Array, axis: Array) -> FloatArray:
    values = np.asarray(rug, dtype=float)
    return np.asarray(values[(values >= axis.min()) & (values <= axis.max())])
