"""A change: the curves before and after it."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes

from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import PLAIN, text_colour
from ipdp.plot.shown.change import ShownChange
from ipdp.plot.shown.display import PDPDisplay

_LETTERS = 72


def draw(shown: ShownChange, ax: Axes | None) -> dict[str, Any]:
    """Draw both curves, and give the artists by name."""
    ax = new_axes() if ax is None else ax
    before, after = (
        PDPDisplay(curve).plot(ax, line_kw={"label": name}, **shown.options)
        for curve, name in shown.curves
    )
    ax.set_ylabel(shown.label, **PLAIN)
    shade: dict[str, Any] = {"color": text_colour(ax, 0.12), "linewidth": 0, "zorder": 0}
    title = textwrap.fill(shown.sentence, _LETTERS)
    return {
        "ax": ax,
        "figure": ax.figure,
        "before": before,
        "after": after,
        "where": [ax.axvspan(low, high, **shade) for low, high in shown.parts],
        "title": ax.set_title(title, fontsize="small", **PLAIN),
    }
