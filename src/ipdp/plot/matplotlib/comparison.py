"""A comparison: a panel for each feature with both curves and the band around the first."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ipdp.plot.matplotlib.layout import panels
from ipdp.plot.matplotlib.style import (
    PLAIN,
    add_grid,
    is_dark,
    label_axis,
    plain_legend,
    text_colour,
)
from ipdp.plot.shown.comparison import BAND, ShownComparison, ShownPanel
from ipdp.plot.shown.style import line_styles

# Inches of a panel, and letters of the title for each inch.
_WIDTH, _HEIGHT, _LETTERS = 2.8, 2.2, 14


def draw(shown: ShownComparison, ax: Any) -> dict[str, Any]:
    """Draw the panels, and give the artists by name."""
    width = max(_WIDTH * shown.columns, 5.0)
    axes = panels(
        ax,
        len(shown.panels),
        columns=shown.columns,
        size=(width, _HEIGHT * shown.n_rows + 0.9),
        share="y",
    )
    drawn = [_draw_panel(panel, own) for panel, own in zip(shown.panels, axes, strict=True)]
    for k, own in enumerate(axes):
        own.tick_params(labelsize="x-small", labelleft=k % shown.columns == 0)
        if k % shown.columns == 0:
            own.set_ylabel(shown.label, fontsize="small", **PLAIN)
    figure = axes[0].figure
    _finish(shown, figure, drawn[0], alone=ax is None, letters=int(width * _LETTERS))
    a, b, bands, where = (list(part) for part in zip(*drawn, strict=True))
    return {"axes": axes, "figure": figure, "a": a, "b": b, "bands": bands, "where": where}


def _finish(
    shown: ShownComparison, figure: Any, first: tuple[Any, ...], *, alone: bool, letters: int
) -> None:
    """One legend for all panels, and the sentence over a figure of its own."""
    if alone:
        figure.suptitle(textwrap.fill(shown.sentence, letters), fontsize="medium", **PLAIN)
    place = "lower center" if figure.get_layout_engine() is None else "outside lower center"
    handles, names = list(first[:3]), [*shown.names, BAND]
    plain_legend(figure, handles, names, loc=place, ncols=3, frameon=False, fontsize="small")


def _draw_panel(panel: ShownPanel, ax: Axes) -> tuple[Any, Any, Any, list[Any]]:
    add_grid(ax)
    first, second = line_styles(2, dark=is_dark(ax))
    grey = text_colour(ax, 0.12)
    where = [ax.axvspan(*part, color=grey, linewidth=0, zorder=0) for part in panel.parts]
    band: Any
    common: dict[str, Any] = {"markersize": 3, "marker": "o"}
    if panel.categories is None:
        band = ax.fill_between(
            panel.x, panel.low, panel.high, color=first.colour, alpha=0.18, linewidth=0
        )
        lines = "--", "-"
    else:
        thick: dict[str, Any] = {"color": first.colour, "alpha": 0.25, "linewidth": 8}
        band = ax.vlines(panel.x, panel.low, panel.high, **thick)
        lines = "none", "none"
    (a,) = ax.plot(panel.x, panel.a, color=first.colour, linestyle=lines[0], **common)
    (b,) = ax.plot(panel.x, panel.b, color=second.colour, linestyle=lines[1], **common)
    label_axis(ax.xaxis, "", panel.x, panel.categories)
    if panel.categories is None:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=4))
    ax.set_title(panel.feature, loc="left", fontsize="small", **PLAIN)
    colour = second.colour if panel.is_different else text_colour(ax, 0.6)
    ax.set_title(panel.verdict, loc="right", fontsize="x-small", color=colour, **PLAIN)
    return a, b, band, where
