"""A change: the curves before and after it."""

from __future__ import annotations

import textwrap
from typing import Any

from ipdp.plot.plotly.curve import traces, x_axis
from ipdp.plot.plotly.style import Figure, Theme, axis, escaped
from ipdp.plot.shown.change import ShownChange
from ipdp.plot.shown.curve import shown_curve

_LETTERS = 90


def figure(shown: ShownChange) -> Figure:
    """The figure of a change."""
    theme = Theme.default()
    found: list[Any] = []
    categories: list[Any] = []
    for (curve, name), style in zip(shown.curves, theme.line_styles(2), strict=True):
        one = shown_curve(curve, name=name, categories=categories, **shown.options)
        found += traces(one, [style], theme)
        categories = one.categories or []
    lines = textwrap.wrap(shown.sentence, _LETTERS)
    layout = {
        "xaxis": x_axis(one),
        "yaxis": axis(shown.label),
        "title": {"text": "<br>".join(map(escaped, lines)), "font": {"size": 13}},
        "margin": {"t": 30 + 18 * max(len(lines), 2)},
        "height": 420,
    }
    made = theme.figure(found, layout)
    for low, high in shown.parts:
        shade = {"fillcolor": theme.text_colour(0.1), "line_width": 0, "layer": "below"}
        made.add_vrect(low, high, **shade)
    return made
