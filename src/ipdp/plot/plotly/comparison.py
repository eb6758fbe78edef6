"""A comparison: a panel for each feature with both curves and the band around the first."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ipdp.plot.plotly.style import Figure, Theme, Trace, axis, escaped, scatter, with_opacity
from ipdp.plot.shown.comparison import BAND, ShownComparison, ShownPanel
from ipdp.plot.shown.style import LineStyle

# Pixels of a row, shares of a panel's place, letters of the title on a line.
_ROW, _WIDTH, _HEIGHT, _LETTERS = 210, 0.86, 0.7, 100
_FONT = {"size": 10}


def figure(shown: ShownComparison) -> Figure:
    """The figure of a comparison."""
    theme = Theme.default()
    lines = textwrap.wrap(shown.sentence, _LETTERS)
    height = _ROW * shown.n_rows + 130
    layout: dict[str, Any] = {
        "height": height,
        "title": {"text": "<br>".join(map(escaped, lines)), "font": {"size": 14}},
        "margin": {"t": 60 + 18 * len(lines)},
        "legend": {"orientation": "h", "y": -50 / height, "yanchor": "top"},
        "annotations": [],
        "shapes": [],
    }
    found: list[Trace] = []
    for k, panel in enumerate(shown.panels):
        row, column = divmod(k, shown.columns)
        across = column / shown.columns, (column + _WIDTH) / shown.columns
        top = 1 - row / shown.n_rows
        along = top - _HEIGHT / shown.n_rows, top
        number = "" if k == 0 else str(k + 1)
        found += _traces(shown, panel, theme.line_styles(2), number, is_first=k == 0)
        x = axis("", panel.categories, domain=across, anchor=f"y{number}", tickfont=_FONT)
        label = shown.label if column == 0 else ""
        y = axis(label, domain=along, anchor=f"x{number}", tickfont=_FONT)
        y |= {"matches": "y", "showticklabels": column == 0} if k else {}
        layout |= {f"xaxis{number}": x | {"nticks": 4}, f"yaxis{number}": y}
        layout["annotations"].append(_title(panel, across, top))
        layout["shapes"] += [_shade(part, number, theme) for part in panel.parts]
    return theme.figure(found, layout)


def _traces(
    shown: ShownComparison,
    panel: ShownPanel,
    styles: list[LineStyle],
    number: str,
    *,
    is_first: bool,
) -> list[Trace]:
    place = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
    first, second = styles
    mode = "lines+markers" if panel.categories is None else "markers"
    band = _band(panel, first, place) | {"name": BAND, "showlegend": is_first}
    found = [band]
    for meta, y, style, dash, name in (
        ("a", panel.a, first, "dash", shown.names[0]),
        ("b", panel.b, second, "solid", shown.names[1]),
    ):
        line = {"color": style.colour, "dash": dash}
        more = {"mode": mode, "line": line, "marker": {"size": 5, "color": style.colour}}
        named = {"name": escaped(name), "legendgroup": meta, "showlegend": is_first}
        found.append(scatter(panel.x, y, meta, hover="%{x}: %{text}", **more, **named, **place))
    return found


def _band(panel: ShownPanel, style: LineStyle, place: dict[str, str]) -> Trace:
    colour = with_opacity(style.colour, 0.18)
    if panel.categories is None:
        x = np.concatenate([panel.x, panel.x[::-1]])
        y = np.concatenate([panel.high, panel.low[::-1]])
        return scatter(x, y, "band", fill="toself", fillcolor=colour, line={"width": 0}, **place)
    gap = np.full(len(panel.x), np.nan)
    x = np.stack([panel.x, panel.x, gap], axis=1).ravel()
    y = np.stack([panel.low, panel.high, gap], axis=1).ravel()
    return scatter(x, y, "band", line={"width": 10, "color": colour}, **place)


def _title(panel: ShownPanel, across: tuple[float, float], top: float) -> dict[str, Any]:
    text = f"{escaped(panel.feature)} <i>{escaped(panel.verdict)}</i>"
    if panel.is_different:
        text = f"<b>{text}</b>"
    place = {"x": across[0], "xref": "paper", "xanchor": "left"}
    place |= {"y": top, "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, "font": {"size": 11}, **place}


def _shade(part: tuple[float, float], number: str, theme: Theme) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": f"x{number}",
        "yref": f"y{number} domain",
        "x0": part[0],
        "x1": part[1],
        "y0": 0,
        "y1": 1,
        "fillcolor": theme.text_colour(0.1),
        "line": {"width": 0},
        "layer": "below",
    }
