"""The effect of one feature over time, as a plotly figure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.plot.interactive.theme import (
    KINDS,
    Figure,
    clear,
    escaped,
    finished,
    new_figure,
    shown,
    theme,
)
from ipdp.plot.series import Mark
from ipdp.plot.style import named
from ipdp.plot.weave import Weave

# Pixels of a category.
_ROW = 18


def carpet_figure(weave: Weave, name: str, marks: Sequence[Mark], *, centred: bool) -> Figure:
    """The twin of `CarpetDisplay.plot`."""
    look = theme()
    title = escaped(name)
    mesh: dict[str, Any] = {
        "type": "heatmap",
        "x": weave.time_edges,
        "y": weave.place_edges,
        "z": weave.values,
        "colorscale": look.scale(centred=centred),
        "colorbar": {"title": {"text": escaped(weave.label), "side": "right"}},
        "hoverongaps": False,
    }
    place = "%{y}"
    if weave.categories is not None:
        names = [shown(category) for category in weave.categories]
        mesh["customdata"] = np.repeat(np.array(names, dtype=object)[:, None], len(weave.times), 1)
        place = "%{customdata}"
    mesh["hovertemplate"] = (
        f"observations: %{{x:,.0f}}<br>{title}: {place}<br>"
        f"{escaped(weave.label)}: %{{z:,.4g}}<extra></extra>"
    )
    if centred:
        mesh["zmid"] = 0.0
    figure = new_figure([mesh])
    figure.add_traces([change_line(mark, weave, look.ink) for mark in marks])
    figure.update_xaxes(title_text="observations", showgrid=False, zeroline=False)
    if len(weave.times) == 1:
        figure.update_xaxes(tickvals=weave.times)
    figure.update_yaxes(title_text=title, showgrid=False, zeroline=False)
    if weave.categories is not None:
        ticks = [shown(category, width=16) for category in weave.categories]
        places = list(range(len(ticks)))
        figure.update_yaxes(tickvals=places, ticktext=ticks, autorange="reversed")
    return finished(figure, look, height=max(420, _ROW * len(weave.categories or []) + 120))


def change_line(mark: Mark, weave: Weave, ink: str) -> dict[str, Any]:
    """A line at a change that tells its sentence."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [mark.time] * 21,
        "y": np.linspace(weave.place_edges[0], weave.place_edges[-1], 21),  # points to point at
        "line": {"color": clear(ink, 0.9), "width": 1.5, "dash": KINDS[mark.change.kind][0]},
        "hovertemplate": f"{sentence(mark)}<extra></extra>",
        "showlegend": False,
        "meta": "change",
    }


def sentence(mark: Mark) -> str:
    """When and what, in lines that fit a hover text."""
    lines = textwrap.wrap(named(mark.change.summary(), width=400), 60)
    return "<br>".join([f"<b>{mark.time:,.10g}</b>", *map(escaped, lines)])
