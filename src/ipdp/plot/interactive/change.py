"""A change, before and after, as a plotly figure."""

from __future__ import annotations

import textwrap

from ipdp.monitor.change import Change
from ipdp.plot.change import labels, sentence_of, shaded
from ipdp.plot.interactive.theme import Figure, clear, escaped, finished, new_figure, shown, theme
from ipdp.plot.interactive.traces import Axis, line_traces
from ipdp.plot.outputs import output_name
from ipdp.plot.view import View

_LETTERS = 90


def change_figure(change: Change) -> Figure:
    """The twin of `ChangeDisplay.plot`."""
    look = theme()
    axis = Axis(change.before)
    figure = new_figure()
    for curve, name, own in zip(
        (change.before, change.after), labels(change), look.looks(2), strict=True
    ):
        view = View.of(curve)
        figure.add_traces(line_traces(view, axis, [own], band=0.95, name=name))
    for low, high in shaded(change, axis.categories or []):
        figure.add_vrect(low, high, fillcolor=clear(look.ink, 0.1), line_width=0, layer="below")
    figure.update_xaxes(title_text=shown(change.feature), zeroline=False, **axis.layout())
    figure.update_yaxes(title_text=escaped(output_name(change.output)), zeroline=False)
    lines = textwrap.wrap(sentence_of(change), _LETTERS)
    title = {"text": "<br>".join(map(escaped, lines)), "font": {"size": 13}}
    top = 30 + 18 * max(len(lines), 2)
    return finished(figure, look, title=title, height=420).update_layout(margin_t=top)
