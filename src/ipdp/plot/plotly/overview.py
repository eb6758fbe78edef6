"""All features at one time, side by side."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ipdp.plot.plotly.curve import traces, x_axis, y_axis
from ipdp.plot.plotly.pair import axes, surface_trace
from ipdp.plot.plotly.style import Figure, Theme, Trace, escaped, name_text
from ipdp.plot.shown.curve import ShownCurve
from ipdp.plot.shown.overview import ShownOverview, fit_under
from ipdp.plot.shown.pair import ShownPair, shown_of

# Pixels of a row of panels.
_ROW = 190
# Pixels of the title and the note under it, and letters in a line of the note.
_TOP, _NOTE_LETTERS = 50, 110
# Size of the markers, and letters that fit above a panel.
_MARKER, _LETTERS = 5, 18
# Shares of a panel's place: its width and height, and of its height the rug and the gap over it.
_WIDTH, _HEIGHT = 0.88, 0.72
_RUG, _GAP = 0.14, 0.02
# Letters along the axes.
_FONT = {"size": 10}
# Shares of its width that the axis of a pair takes, and its colour bar.
_OWN, _BAR = 0.25, 0.22


class Panel(NamedTuple):
    """The place of one curve among the others; the panels of a row have one axis of the output.

    `x`, `y` and `rug` are the numbers of its axes, the last one also that of the second feature of
    a pair; `across` and `along` are its ends as shares of the figure.
    """

    x: int
    y: int
    rug: int
    across: tuple[float, float]
    along: tuple[float, float]
    is_first: bool

    @classmethod
    def of(cls, shown: ShownOverview, k: int) -> Panel:
        """The k-th panel."""
        row, column = divmod(k, shown.columns)
        left, top = column / shown.columns, 1 - row / shown.n_rows
        across = left, left + _WIDTH / shown.columns
        along = top - _HEIGHT / shown.n_rows, top
        return cls(k + 1, row + 1, shown.n_rows + k + 1, across, along, column == 0)


def figure(shown: ShownOverview) -> Figure:
    """The figure of several features."""
    theme = Theme.default()
    height = _ROW * shown.n_rows + 100
    layout: dict[str, Any] = {"height": height, "bargap": 0, "annotations": []}
    layout["legend"] = {"orientation": "h", "y": -60 / height, "yanchor": "top"}
    if shown.title:
        layout |= _sentence(shown)
        layout["height"] = height + _TOP
    found: list[Trace] = []
    for k, curve in enumerate(shown.curves):
        panel = Panel.of(shown, k)
        letters = round(_LETTERS * shown.width)
        layout["annotations"].append(_title(*shown.title_of(k), panel, letters))
        one = shown_of(curve, **shown.options_of(k))
        if isinstance(one, ShownPair):
            found.append(_pair_trace(one, theme, panel))
            layout |= _pair_axes(one, panel)
        else:
            found += _traces(one, theme, panel, shown.compare_name)
            layout |= _axes(panel, one, rug=shown.options["rug"], label=shown.label)
    named: set[str] = set()
    for trace in found:  # one entry of the legend for each output, not for each panel
        if trace.get("showlegend"):
            trace["showlegend"] = trace["legendgroup"] not in named
            named.add(trace["legendgroup"])
    return theme.figure(found, layout)


def _sentence(shown: ShownOverview) -> dict[str, Any]:
    """The title over all panels, and under it how to read them."""
    lines = "<br>".join(map(escaped, textwrap.wrap(shown.note, _NOTE_LETTERS)))
    note = {"text": lines, "font": {"size": 12}}
    place = {"x": 0.01, "xanchor": "left", "y": 0.98, "yref": "container", "yanchor": "top"}
    title = {"text": escaped(shown.title), "subtitle": note, "font": {"size": 16}, **place}
    return {"title": title, "margin": {"t": 40 + _TOP, "l": 60, "r": 20, "b": 50}}


def _traces(shown: ShownCurve, theme: Theme, panel: Panel, compare_name: str) -> list[Trace]:
    """What is drawn of a curve, with small markers and the missing value right of the curve."""
    found = traces(shown, theme.line_styles(len(shown.lines)), theme)
    for trace in found:
        y = panel.rug if trace["meta"] == "rug" else panel.y
        trace |= {"xaxis": f"x{panel.x}", "yaxis": f"y{y}"}
        if "size" in trace.get("marker", {}):
            trace["marker"]["size"] = _MARKER
        if trace["meta"] == "missing":
            trace["x"] = [_right_of(shown)]
        if trace["meta"] == "compare":
            trace["name"] = compare_name
    return found


def _right_of(shown: ShownCurve) -> float:
    x = shown.lines[0].x
    width = float(np.ptp(x)) if x.size and shown.categories is None else 0.0
    return float(x.max() if x.size else 0.0) + (0.08 * width or 1.0)


def _axes(panel: Panel, shown: ShownCurve, *, rug: bool, label: str | None) -> dict[str, Any]:
    bottom, top = panel.along
    below = f"y{panel.rug if rug else panel.y}"
    x = x_axis(shown, domain=panel.across, anchor=below, nticks=4, tickangle=0, tickfont=_FONT)
    x["title"] = {"text": ""}
    if shown.categories is not None and not fit_under(shown.categories):
        many = f"{len(shown.categories)} categories"
        x |= {"tickvals": [], "title": {"text": many, "font": _FONT}}
    layout = {f"xaxis{panel.x}": x}
    floor = bottom
    if rug:
        floor += (_RUG + _GAP) * (top - bottom)
        domain = [bottom, bottom + _RUG * (top - bottom)]
        hidden = {"domain": domain, "visible": False, "anchor": f"x{panel.x}"}
        layout[f"yaxis{panel.rug}"] = hidden
    if panel.is_first:
        if label is not None:
            shown = replace(shown, label=label)
        y = y_axis(shown, domain=[floor, top], anchor=f"x{panel.x}", tickfont=_FONT)
        layout[f"yaxis{panel.y}"] = y | ({"matches": "y"} if panel.y > 1 else {})
    return layout


def _place_of_pair(panel: Panel) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of a surface, with room for its own axis and its colour bar."""
    (left, right), (bottom, top) = panel.across, panel.along
    width = right - left
    return (left + _OWN * width, right - _BAR * width), (bottom, top - 0.05 * (top - bottom))


def _pair_trace(shown: ShownPair, theme: Theme, panel: Panel) -> Trace:
    (_, right), (bottom, top) = _place_of_pair(panel)
    bar: Trace = {"x": right, "y": (bottom + top) / 2, "len": top - bottom}
    bar |= {"thickness": 8, "tickfont": _FONT}
    place = {"xaxis": f"x{panel.x}", "yaxis": f"y{panel.rug}", "colorbar": bar}
    return surface_trace(shown, theme) | place


def _pair_axes(shown: ShownPair, panel: Panel) -> dict[str, Any]:
    names = f"x{panel.x}", f"y{panel.rug}"
    layout = {}
    for axis, name, anchor, domain, feature in zip(
        axes(shown), names, names[::-1], _place_of_pair(panel), shown.features, strict=True
    ):
        title = {"text": name_text(feature, _LETTERS), "font": _FONT, "standoff": 2}
        more = {"domain": domain, "anchor": anchor, "nticks": 4, "tickfont": _FONT, "title": title}
        layout[f"{name[0]}axis{name[1:]}"] = axis | more
    return layout


def _title(name: Any, told: str, panel: Panel, letters: int) -> dict[str, Any]:
    """A name above a panel, and what is told of it."""
    text = f"{name_text(name, letters)} <i>{told}</i>"
    place = {"x": panel.across[0], "xref": "paper", "xanchor": "left"}
    place |= {"y": panel.along[1], "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, "font": {"size": 11}, **place}
