"""The heat map of interactions in a document, and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.interactions import Interactions
from ipdp.core.times import time_text
from ipdp.plot.shown.interactions import shown_interactions
from ipdp.plot.shown.style import named
from ipdp.web.svg import Drawing

# Sides of a cell, and the room for names to the left and below.
_WIDE, _HIGH, _LEFT, _TOP, _BELOW = 58.0, 30.0, 112.0, 26.0, 44.0
# Letters of a name along the axes, and the faintest cell.
_LETTERS, _FAINT = 16, 0.06
# From this strength on, of the strongest, a number is written light on dark.
_STRONG = 0.55


def interactions_of(results: Mapping[Any, Result], curves: Sequence[Curve]) -> Interactions | None:
    """What a run has logged of pairs, for the output that its curves are about; None if nothing."""
    explained = Explained.of(curves)
    if not results or explained is None or explained.output is None:
        return None
    known = (c for c in curves if c.prediction_std is not None and explained.output in c.outputs)
    curve = next(known, None)
    variance = 0.0
    if curve is not None and curve.prediction_std is not None:
        variance = float(curve.prediction_std[curve.outputs.index(explained.output)]) ** 2
    return Interactions.of_results(results, explained.output, variance)


def interactions_drawing(found: Interactions) -> str:
    """The heat map as SVG: dark cells are strong pairs."""
    shown = shown_interactions(found)
    n = len(shown.names)
    width = max(_LEFT + _WIDE * max(n - 1, 1) + 8, 360.0)
    drawing = Drawing(width, _TOP + _HIGH * max(n - 1, 0) + _BELOW, "interactions of pairs")
    drawing.text(4, 12, shown.title, "d-title")
    if not n:
        return str(drawing)
    numbers = {(row, column): text for row, column, text in shown.texts}
    largest = float(np.nanmax(shown.strength))
    for row in range(1, n):
        y = _TOP + _HIGH * (row - 1)
        drawing.text(_LEFT - 6, y + 0.62 * _HIGH, named(shown.names[row], _LETTERS), anchor="end")
        for column in range(row):
            x, size = _LEFT + _WIDE * column, shown.strength[row, column]
            if not np.isfinite(size):
                continue
            share = float(size) / largest if largest > 0 else 0.0
            cell = (x + 1, x + _WIDE - 1), (y + 1, y + _HIGH - 1)
            drawing.bar(*cell, "d-cell", max(share, _FAINT))
            kind = "d-light" if share > _STRONG else "d-text"
            drawing.text(
                x + _WIDE / 2, y + 0.62 * _HIGH, numbers.get((row, column), ""), kind, "middle"
            )
    for column in range(n - 1):
        # Every second name is lower, so that neighbours do not run into each other.
        y = _TOP + _HIGH * (n - 1) + 15 + 14 * (column % 2)
        middle = _LEFT + _WIDE * (column + 0.5)
        drawing.text(middle, y, named(shown.names[column], _LETTERS), anchor="middle")
    return str(drawing)


def described(found: Interactions) -> tuple[str, str]:
    """The heat map, and what its numbers are."""
    shown = shown_interactions(found)
    when = "" if found.t is None else f", at {time_text(found.t)}"
    return interactions_drawing(found), f"{shown.label[:1].upper()}{shown.label[1:]}{when}."
