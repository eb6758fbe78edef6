"""The curve of a number: a line with its band, ICE curves behind it, a histogram under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray
from ipdp.plot.frame import Frame
from ipdp.plot.lines import add_ice, grow, half_widths, line_settings, mark_missing, widen
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import CURVE, add_legend, fade, looks, write_numbers
from ipdp.plot.support import around, is_whole, thin_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# How far beyond the curve its strip may reach, as a share of the curve's width.
_BEYOND = 0.25
_BINS = 40


def draw_numbers(curve: Curve, ax: Axes, style: Style) -> Parts:
    """Draw the curve of a single numeric feature."""
    parts = Parts()
    frame = Frame.around(ax)
    x = np.asarray(curve.grid_values[0], dtype=float)
    several = len(curve.outputs) > 1
    # A single point has no line to be seen by, several lines are told apart by their marks too.
    size = 7.0 if len(x) == 1 else (5.0 if several else 3.5)
    settings = [
        line_settings(style, label, look, size=size, several=several)
        for label, look in zip(curve.outputs, looks(ax, len(curve.outputs)), strict=True)
    ]
    if style.ice and curve.ice is not None and len(curve.outputs) == 1:
        parts.ice_lines = [add_ice(ax, _ice_segments(curve, x), style, settings[0]["color"])]
    if style.band is not None:
        for y, half, own in zip(
            curve.average, half_widths(curve, style.band), settings, strict=True
        ):
            fill = {"color": own["color"], "alpha": 0.22, "linewidth": 0, **style.fill}
            parts.bands.append(ax.fill_between(x, y - half, y + half, **fill))
    for y, own in zip(curve.average, settings, strict=True):
        parts.lines.append(_line(ax, x, y, thin_points(curve), own))
    if style.rug and curve.rug and len(curve.rug[0]):
        parts.rug_ax = frame.open_strip()
        colour = settings[0]["color"] if len(settings) == 1 else fade(ax, 0.6)
        _histogram(parts.rug_ax, curve.rug[0], x, {"color": colour, **style.strip})
    if x.size and not np.ptp(x) > 0:
        widen(ax, x=around(x[0]))
    mark_missing(curve, frame, style, settings, parts)
    write_numbers(ax.xaxis, x, side_by_side=True, whole=is_whole(curve))
    write_numbers(ax.yaxis, curve.average)
    if len(settings) > 1 or "label" in style.line:
        add_legend(ax)
    return parts


def _line(ax: Axes, x: FloatArray, y: FloatArray, thin: Array, settings: dict[str, Any]) -> Line2D:
    """The curve; dotted where few data are behind it."""
    if not thin.any():
        return ax.plot(x, y, gid=CURVE, **settings)[0]
    dotted = {**settings, "linestyle": ":", "alpha": 0.6}
    ax.plot(x, np.where(thin, np.nan, y), **{**settings, "label": ""})
    return ax.plot(x, y, gid=CURVE, **dotted)[0]


def _ice_segments(curve: Curve, x: FloatArray) -> list[FloatArray]:
    """For each ICE curve an array of shape (m, 2); NaN where it was not evaluated."""
    assert curve.ice is not None
    positions = curve.ice_grid_values
    xs = np.broadcast_to(x, curve.ice.shape[1:]) if positions is None else positions[0]
    return [np.column_stack(pair) for pair in zip(xs, curve.ice[0], strict=True)]


def _histogram(strip: Axes, rug: Array, x: FloatArray, settings: dict[str, Any]) -> None:
    counts, edges = histogram(rug, x)
    strip.stairs(counts, edges, **{"fill": True, "alpha": 0.45, **settings})
    grow(strip, counts.max())


def histogram(rug: Array, x: FloatArray) -> tuple[Array, FloatArray]:
    """Counts and edges of the recent values near the curve: one outlier must not squeeze it.

    Whole numbers have a bar each where there are few of them, else bars of one width.
    """
    values = np.asarray(rug, dtype=float)
    span = np.ptp(x) if x.size else 0.0
    low, high = values.min(), values.max()
    if span > 0:
        low = max(low, x.min() - _BEYOND * span)
        high = min(high, x.max() + _BEYOND * span)
    if np.issubdtype(np.asarray(rug).dtype, np.integer) and high - low < 2 * _BINS:
        return np.histogram(values, bins=np.arange(np.floor(low), np.ceil(high) + 2) - 0.5)
    if not high > low:  # all alike: one bar
        return np.histogram(values, bins=1, range=around(low, share=0.02))
    return np.histogram(values, bins=_BINS, range=(low, high))
