"""What one curve hides: partial dependence, local effects and single observations together."""

from __future__ import annotations

import textwrap
from typing import Any

from ipdp.plot.plotly.curve import traces, x_axis
from ipdp.plot.plotly.style import Figure, Theme, axis, escaped
from ipdp.plot.shown.curve import shown_curve
from ipdp.plot.shown.effect import ShownEffect

_LETTERS = 90


def figure(shown: ShownEffect) -> Figure:
    """The figure of an effect."""
    theme = Theme.default()
    found: list[Any] = []
    categories: list[Any] = []
    styles = theme.line_styles(len(shown.curves))
    for (curve, name, options), style in zip(shown.curves, styles, strict=True):
        one = shown_curve(curve, name=name, categories=categories, **{**options, "rug": False})
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
