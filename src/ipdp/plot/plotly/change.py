"""A change: the curves before and after it."""

from __future__ import annotations

import textwrap
from typing import Any

from ipdp.plot.plotly.curve import axis_layout, traces
from ipdp.plot.plotly.style import (
    Figure,
    default_theme,
    escaped,
    finish,
    new_figure,
    with_opacity,
)
from ipdp.plot.shown.change import ShownChange
from ipdp.plot.shown.curve import shown_curve

_LETTERS = 90


def figure(shown: ShownChange) -> Figure:
    """The figure of a change."""
    theme = default_theme()
    made = new_figure()
    categories: list[Any] = []
    for (curve, name), style in zip(shown.curves, theme.line_styles(2), strict=True):
        one = shown_curve(curve, name=name, categories=categories, **shown.options)
        made.add_traces(traces(one, [style], theme))
        categories = one.categories or []
    for low, high in shown.parts:
        shade = with_opacity(theme.text, 0.1)
        made.add_vrect(low, high, fillcolor=shade, line_width=0, layer="below")
    made.update_xaxes(title_text=escaped(one.feature), **axis_layout(one))
    made.update_yaxes(title_text=escaped(shown.label), zeroline=False)
    lines = textwrap.wrap(shown.sentence, _LETTERS)
    title = {"text": "<br>".join(map(escaped, lines)), "font": {"size": 13}}
    top = 30 + 18 * max(len(lines), 2)
    return finish(made, theme, title=title, height=420).update_layout(margin_t=top)
