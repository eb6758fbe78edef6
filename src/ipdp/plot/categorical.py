"""The curve of categories: a point with its error bar for each, and bars of how often it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray
from ipdp.plot.frame import Frame
from ipdp.plot.lines import add_ice, dashes, grow, half_widths, line_settings, mark_missing, spread
from ipdp.plot.parts import Parts, Style
from ipdp.plot.style import CURVE, add_legend, fade, looks, named, plain, write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# So many letters fit side by side on an axis of usual width.
_ROOM = 60
# More categories than this have small names, and of more than that not all are named.
_MANY, _NAMED = 20, 60


def draw_categories(curve: Curve, ax: Axes, style: Style) -> Parts:
    """Draw the curve of a single categorical feature."""
    parts = Parts()
    frame = Frame.around(ax)
    x = frame.places(curve.grid_values[0])
    n_outputs = len(curve.outputs)
    # Points without a line: categories have nothing in between.
    settings = [
        line_settings(style, label, look._replace(dashes="none"), size=7.0, several=n_outputs > 1)
        for label, look in zip(curve.outputs, looks(ax, n_outputs), strict=True)
    ]
    if style.ice and curve.ice is not None and n_outputs == 1:
        parts.ice_lines = [
            add_ice(ax, [dashes(y, x) for y in curve.ice[0]], style, settings[0]["color"])
        ]
    for k, (shift, own) in enumerate(zip(spread(n_outputs, 0.4), settings, strict=True)):
        if style.band is not None:
            half = half_widths(curve, style.band)[k]
            look = {"fmt": "none", "ecolor": own["color"], "elinewidth": 1.5, **style.fill}
            parts.bands.append(ax.errorbar(x + shift, curve.average[k], yerr=half, **look))
        parts.lines += ax.plot(x + shift, curve.average[k], gid=CURVE, **own)
    if style.rug and curve.rug and len(curve.rug[0]):
        parts.rug_ax = frame.open_strip()
        colour = settings[0]["color"] if n_outputs == 1 else fade(ax, 0.6)
        _bars(parts.rug_ax, curve, x, {"color": colour, "alpha": 0.45, **style.strip})
    mark_missing(curve, frame, style, settings, parts)
    name_ticks(ax.xaxis, frame.categories)
    ax.grid(False, axis="x")
    write_numbers(ax.yaxis, curve.average)
    if n_outputs > 1:
        ax.margins(y=0.2)  # the legend needs a place between the points
    if n_outputs > 1 or "label" in style.line:
        add_legend(ax)
    return parts


def _bars(strip: Axes, curve: Curve, x: FloatArray, settings: dict[str, Any]) -> None:
    counts = Counter(curve.rug[0].tolist())
    heights = [counts[category] for category in curve.grid_values[0].tolist()]
    strip.bar(x, heights, width=0.6, **settings)
    grow(strip, max(heights, default=1))


def name_ticks(axis: Axis, categories: Iterable[Any], *, upright: bool = False) -> None:
    """Put the categories' names on an axis.

    Beside each other they are slanted where they do not fit, and turned where they are many; an
    `upright` axis has room for each on its own line. Of very many only some are named.
    """
    names = [named(category, width=16) for category in categories]
    step = -(-len(names) // _NAMED)
    axis.set_ticks(range(0, len(names), step), labels=names[::step], **plain())
    many = len(names) > _MANY
    look: dict[str, Any] = {"fontsize": "x-small"} if many else {}
    if not upright and many:
        look |= {"rotation": 90}
    elif not upright and sum(len(name) + 2 for name in names) > _ROOM:
        look |= {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    for text in axis.get_ticklabels():
        text.set(**look)
