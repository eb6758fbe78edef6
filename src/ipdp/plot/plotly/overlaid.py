"""Curves over each other under a sentence, with parts of the axis shaded."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from ipdp.core.curve import Curve
from ipdp.plot.plotly.curve import traces, x_axis
from ipdp.plot.plotly.style import Figure, Theme, axis, escaped
from ipdp.plot.shown.curve import shown_curve

_LETTERS = 90

Named = tuple[Curve, str, dict[str, Any]]
"""A curve, what the legend calls it, and how it is drawn."""


def overlaid(
    curves: Sequence[Named], sentence: str, label: str, parts: Sequence[tuple[float, float]]
) -> Figure:
    """The figure; all curves have the same axis, of categories too."""
    theme = Theme.default()
    found: list[Any] = []
    categories: list[Any] = []
    for (curve, name, options), style in zip(curves, theme.line_styles(len(curves)), strict=True):
        one = shown_curve(curve, name=name, categories=categories, **options)
        found += traces(one, [style], theme)
        categories = one.categories or []
    lines = textwrap.wrap(sentence, _LETTERS)
    layout = {
        "xaxis": x_axis(one),
        "yaxis": axis(label),
        "title": {"text": "<br>".join(map(escaped, lines)), "font": {"size": 13}},
        "margin": {"t": 30 + 18 * max(len(lines), 2)},
        "height": 420,
    }
    made = theme.figure(found, layout)
    for low, high in parts:
        shade = {"fillcolor": theme.text_colour(0.1), "line_width": 0, "layer": "below"}
        made.add_vrect(low, high, **shade)
    return made
