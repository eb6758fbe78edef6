"""The surface of a pair of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.plot.categorical import name_ticks
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import fade, named, plain, write_numbers
from ipdp.typing import Array, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.contour import QuadContourSet

_LEVELS = 12


def draw_pair(curve: Curve, ax: Axes, style: Style, label: str) -> Parts:
    """Draw the surface of two features: contours of numbers, tiles where there are categories."""
    parts = Parts()
    ax.grid(False)
    axes = [
        np.arange(len(values), dtype=float) if categorical else np.asarray(values, dtype=float)
        for values, categorical in zip(curve.grid_values, curve.categorical, strict=True)
    ]
    # A cell without any observation has no value yet, whatever the average says.
    z = np.ma.masked_invalid(np.where(curve.n_effective_points > 0, curve.average[0], np.nan)).T
    parts.mesh = _surface(ax, axes, z, curve, style.mesh)
    figure = ax.figure
    parts.colorbar = figure.colorbar(parts.mesh, ax=ax)
    parts.colorbar.set_label(label, **plain())
    parts.colorbar.outline.set_visible(False)
    write_numbers(parts.colorbar.ax.yaxis, z.compressed())
    ax.set_xlabel(named(curve.features[0]), **plain())
    ax.set_ylabel(named(curve.features[1]), **plain())
    for axis, values, positions, categorical in zip(
        (ax.xaxis, ax.yaxis), curve.grid_values, axes, curve.categorical, strict=True
    ):
        if categorical:
            name_ticks(axis, values.tolist(), slanted=axis is ax.xaxis)
        else:
            write_numbers(axis, positions, side_by_side=axis is ax.xaxis)
    if style.rug:
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
        return ax.contourf(*axes, z, **{"levels": _levels(z), "cmap": "viridis", **given})
    return ax.pcolormesh(*(_edges(axis) for axis in axes), z, **{"cmap": "viridis", **given})


def _levels(z: Any) -> FloatArray:
    """Round numbers around all values; not beyond 0 and 1 where these are the limits."""
    from matplotlib.ticker import MaxNLocator

    low, high = float(z.min()), float(z.max())
    levels = np.asarray(MaxNLocator(_LEVELS).tick_values(low, high))
    return np.unique(np.clip(levels, 0.0, 1.0)) if low >= 0 and high <= 1 else levels


def _edges(centres: FloatArray) -> FloatArray:
    """The borders of tiles around some points."""
    if len(centres) < 2:
        return np.array([c + d for c in centres[:1] for d in (-0.5, 0.5)])
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middles[0]], middles, [2 * centres[-1] - middles[-1]]])


def _add_rugs(ax: Axes, curve: Curve, style: Style) -> None:
    """Recent values of each feature along its axis; which of them belong together is not known."""
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
