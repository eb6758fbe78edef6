"""What the curves of numbers and of categories have in common."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray, Label
from ipdp.plot.frame import Frame
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import Look, fade, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection


def line_settings(
    style: Style, output: Label, look: Look, *, size: float, several: bool
) -> dict[str, Any]:
    """Settings of one output's line, with its label if it needs one."""
    own = {"color": look.colour, "linestyle": look.dashes, "linewidth": 2.0, "marker": look.mark}
    labels = [str(style.line["label"])] if style.line.get("label") is not None else []
    if several:
        labels.append(named(output, width=24))
    return {**own, "markersize": size, **style.line, "label": ": ".join(labels)}


def half_widths(curve: Curve, level: float) -> FloatArray:
    """Half of the band's width, of the shape of the average; NaN where it is not known."""
    lower, upper = curve.band(level)
    return np.asarray((upper - lower) / 2)


def add_ice(ax: Axes, segments: Sequence[FloatArray], style: Style, colour: str) -> LineCollection:
    """Thin lines behind the curve, oldest first: the older the fainter."""
    from matplotlib.collections import LineCollection

    strengths = np.linspace(0.06, 0.5, len(segments)) if len(segments) > 1 else 0.5
    settings: dict[str, Any] = {
        "colors": colour,
        "alpha": strengths,
        "linewidths": 0.8,
        "zorder": 1.5,
    }
    renamed = {"color": "colors", "linewidth": "linewidths", "linestyle": "linestyles"}
    settings.update({renamed.get(name, name): value for name, value in style.faint.items()})
    lines = LineCollection(list(segments), **settings)
    ax.add_collection(lines)
    return lines


def dashes(y: FloatArray, x: FloatArray) -> FloatArray:
    """A path of short dashes, one at each category, of shape (3 m, 2)."""
    ends = np.stack([x - 0.2, x + 0.2, np.full(len(x), np.nan)], axis=1).ravel()
    return np.column_stack([ends, np.repeat(y, 3)])


def mark_missing(
    curve: Curve, frame: Frame, style: Style, settings: list[dict[str, Any]], parts: Parts
) -> None:
    """The point for a missing value, beside the curve."""
    if curve.missing is None:
        return
    side = parts.missing_ax = frame.open_side()
    side.set_xlim(-1, 1)
    side.set_xticks([0], labels=["missing"])
    side.grid(True, axis="y", color=fade(side, 0.15), linewidth=0.6)
    errors = np.full(len(settings), np.nan)
    if style.band is not None and curve.missing_std_error is not None:
        # The curve does not say how many observations are behind this point: take many.
        errors = NormalDist().inv_cdf((1 + style.band) / 2) * curve.missing_std_error
    for spot, y, error, own in zip(
        spread(len(settings), 1.0), curve.missing, errors, settings, strict=True
    ):
        half = None if np.isnan(error) else [error]
        look = {"fmt": "D", "color": own["color"], "markersize": 5}
        parts.missing.append(side.errorbar([spot], [y], yerr=half, **look))


def spread(n: int, width: float) -> FloatArray:
    """Places of n marks side by side, around 0."""
    return np.linspace(-width / 2, width / 2, n) if n > 1 else np.zeros(n)


def grow(strip: Axes, count: float) -> None:
    """Make room in a strip for bars of this height; those of other curves may be higher."""
    before = strip.get_ylim()[1] if len(strip.patches) > 1 else 0.0
    strip.set_ylim(0, max(1.05 * count, before, 1.0))


def widen(
    ax: Axes, *, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None
) -> None:
    """Let an axis show no less than these values."""
    places = [(end, ax.dataLim.y0) for end in x or ()] + [(ax.dataLim.x0, end) for end in y or ()]
    ax.update_datalim(places)
    ax.autoscale_view()


def say_nothing_yet(ax: Axes) -> None:
    """Words where no value is known."""
    ax.text(0.5, 0.5, "nothing yet", transform=ax.transAxes, ha="center", color=fade(ax, 0.6))
