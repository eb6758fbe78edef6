"""The strongest interactions as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ipdp.plot.matplotlib.layout import new_axes
from ipdp.plot.matplotlib.style import PLAIN, is_dark, text_colour
from ipdp.plot.shown.interactions import ShownInteractions

# Inches of a feature, and of the least and the largest figure.
_CELL, _LEAST, _MOST = 0.55, 3.4, 7.0


def draw(shown: ShownInteractions, ax: Axes | None) -> dict[str, Any]:
    """Draw the heat map, and give the artists by name."""
    n = len(shown.names)
    side = float(np.clip(_CELL * n + 1.2, _LEAST, _MOST))
    ax = new_axes(side + 1.6, side) if ax is None else ax
    title = ax.set_title(shown.title, fontsize="medium", **PLAIN)
    artists: dict[str, Any] = {"ax": ax, "figure": ax.figure, "title": title, "texts": []}
    artists |= {"mesh": None, "colorbar": None}
    ax.spines[:].set_visible(False)
    if not n:
        ax.set_xticks([])
        ax.set_yticks([])
        return artists
    # The first row and the last column would be empty: a feature does nothing with itself.
    values = np.ma.masked_invalid(shown.strength[1:, :-1])
    colours = "magma" if is_dark(ax) else "Blues"
    mesh = ax.imshow(values, cmap=colours, vmin=0.0, aspect="equal")
    artists["mesh"] = mesh
    for row, column, text in shown.texts:
        strong = shown.strength[row, column] > 0.55 * float(values.max())
        colour = "white" if strong != is_dark(ax) else "black"
        artists["texts"].append(
            ax.text(column, row - 1, text, ha="center", va="center", color=colour, fontsize="small")
        )
    slanted: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(n - 1), labels=shown.names[:-1], **slanted, **PLAIN)
    ax.set_yticks(range(n - 1), labels=shown.names[1:], **PLAIN)
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8)
    bar.outline.set_visible(False)
    bar.set_label(shown.label, color=text_colour(ax), fontsize="small", **PLAIN)
    artists["colorbar"] = bar
    return artists
