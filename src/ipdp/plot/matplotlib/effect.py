"""What one curve hides: partial dependence, local effects and single observations together."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes

from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import PLAIN, text_colour
from ipdp.plot.shown.display import PDPDisplay
from ipdp.plot.shown.effect import ShownEffect

_LETTERS = 72


def draw(shown: ShownEffect, ax: Axes | None) -> dict[str, Any]:
    """Draw the curves, and give the artists by name."""
    ax = new_axes() if ax is None else ax
    curves = [
        PDPDisplay(curve).plot(ax, line_kw={"label": name}, **options)
        for curve, name, options in shown.curves
    ]
    ax.set_ylabel(shown.label, **PLAIN)
    shade: dict[str, Any] = {"color": text_colour(ax, 0.1), "linewidth": 0, "zorder": 0}
    title = textwrap.fill(shown.sentence, _LETTERS)
    return {
        "ax": ax,
        "figure": ax.figure,
        "curves": curves,
        "where": [ax.axvspan(low, high, **shade) for low, high in shown.parts],
        "title": ax.set_title(title, fontsize="small", **PLAIN),
    }
