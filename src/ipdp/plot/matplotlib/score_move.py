"""Why the mean prediction moved: a waterfall."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import (
    PLAIN,
    add_grid,
    format_numbers,
    is_dark,
    plain_legend,
    text_colour,
)
from ipdp.plot.shown.score_move import ShownScoreMove
from ipdp.plot.shown.style import line_styles

# Inches of a row, and of the figure; letters of the title.
_ROW, _AROUND, _WIDTH, _LETTERS = 0.32, 1.3, 7.0, 70
_NAMES = {"data": "data", "model": "model", "rest": "together"}


def draw(shown: ShownScoreMove, ax: Axes | None) -> dict[str, Any]:
    """Draw the waterfall, and give the artists by name."""
    n = len(shown.rows)
    ax = new_axes(_WIDTH, _ROW * n + _AROUND) if ax is None else ax
    add_grid(ax)
    ax.grid(False, axis="y")
    colours = colours_of(ax)
    bars = [
        ax.barh(bar.row, bar.end - bar.start, left=bar.start, height=0.7, color=colours[bar.kind])[
            0
        ]
        for bar in shown.bars
    ]
    dots: dict[str, Any] = {"color": text_colour(ax), "marker": "D", "linestyle": "none"}
    ax.plot([shown.before, shown.after], [0, n - 1], **dots)
    grey = text_colour(ax, 0.35)
    for row in range(n - 1):  # where the next one begins
        ax.plot([shown.ends[row]] * 2, [row + 0.35, row + 0.65], color=grey, linewidth=1)
    _label(shown, ax)
    kinds = list(dict.fromkeys(bar.kind for bar in shown.bars))
    handles = [Patch(color=colours[kind]) for kind in kinds]
    if handles:
        place: dict[str, Any] = {"loc": "best", "frameon": False, "fontsize": "small"}
        plain_legend(ax, handles, [_NAMES[kind] for kind in kinds], **place)
    return {"ax": ax, "figure": ax.figure, "bars": bars}


def colours_of(ax: Axes) -> dict[str, Any]:
    """The colour of each kind of bar."""
    data, model = (style.colour for style in line_styles(2, dark=is_dark(ax)))
    return {"data": data, "model": model, "rest": text_colour(ax, 0.45)}


def _label(shown: ShownScoreMove, ax: Axes) -> None:
    n = len(shown.rows)
    ends = np.array([*shown.ends, *(bar.end for bar in shown.bars)])
    reach = float(np.ptp(ends)) or 1.0
    for row, text in enumerate(shown.texts):
        own = [x for bar in shown.bars if bar.row == row for x in (bar.start, bar.end)]
        right = max([*own, shown.ends[row]])
        ax.text(right + 0.015 * reach, row, text, va="center", fontsize="small", **PLAIN)
    ax.set_xlim(ends.min() - 0.05 * reach, ends.max() + 0.16 * reach)
    ax.set_yticks(range(n), labels=shown.rows, **PLAIN)
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(shown.label, **PLAIN)
    format_numbers(ax.xaxis, ends, side_by_side=True)
    ax.set_title(textwrap.fill(shown.sentence, _LETTERS), fontsize="medium", **PLAIN)
