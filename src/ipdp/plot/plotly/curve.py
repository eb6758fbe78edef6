"""The curve of one feature: lines with bands for numbers, points with error bars for categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    add_notes,
    default_theme,
    escaped,
    finish,
    name_text,
    new_figure,
    tick_layout,
    with_opacity,
)
from ipdp.plot.shown.curve import Line, Path, ShownCurve
from ipdp.plot.shown.style import THIN_POINT, LineStyle

# Shares of the figure: of the histogram under the curve, and of the curve beside a missing value.
_RUG, _GAP = 0.13, 0.02
_BESIDE = 0.88


def figure(shown: ShownCurve) -> Figure:
    """The figure of a curve."""
    theme = default_theme()
    made = new_figure()
    for trace in traces(shown, theme.line_styles(len(shown.lines)), theme):
        place = {"rug": {"yaxis": "y2"}, "missing": {"xaxis": "x2"}}.get(trace["meta"], {})
        made.add_trace(trace | place)
    made.update_layout(_layout(shown))
    add_notes(made, is_empty=shown.is_empty, title=shown.title)
    return finish(made, theme, bargap=0, height=420)


def axis_layout(shown: ShownCurve) -> dict[str, Any]:
    """The x axis: names of categories, whole numbers, room around a single number."""
    layout = tick_layout(shown.categories) | {"zeroline": False}
    if shown.whole:
        layout["tickformat"] = ",d"
    if shown.x_range is not None:
        layout["range"] = shown.x_range
    return layout


def _layout(shown: ShownCurve) -> dict[str, Any]:
    """The axes: of the curve, of the histogram under it, and of the missing value beside it."""
    rug, missing = shown.rug is not None, any(line.missing for line in shown.lines)
    anchor = "y2" if rug else "y"
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": escaped(shown.feature)},
            "domain": [0, _BESIDE if missing else 1],
            "anchor": anchor,
            **axis_layout(shown),
        },
        "yaxis": {
            "title": {"text": escaped(shown.label)},
            "domain": [_RUG + _GAP if rug else 0.0, 1],
            "zeroline": False,
        },
    }
    if shown.y_range is not None:
        layout["yaxis"]["autorangeoptions"] = {"include": list(shown.y_range)}
    if rug:
        layout["yaxis2"] = {"domain": [0, _RUG], "visible": False, "anchor": "x"}
    if missing:
        layout["xaxis2"] = {
            "domain": [_BESIDE + 0.02, 1],
            "anchor": anchor,
            "range": [-1, 1],
            "tickvals": [0],
            "ticktext": ["missing"],
            "zeroline": False,
        }
    return layout


def traces(shown: ShownCurve, styles: Sequence[LineStyle], theme: Theme) -> list[Trace]:
    """What is drawn of a curve; the `meta` of each trace says what it is."""
    pairs = list(zip(shown.lines, styles, strict=True))
    found = [_path_trace(path, style, "ice") for line, style in pairs for path in line.ice]
    for k, (line, style) in enumerate(pairs):
        found += _trail_traces(shown, line, style, first=k == 0)
        if line.compare is not None:
            colour = style.colour if len(pairs) > 1 else theme.text
            found.append(_compare_trace(shown, line.compare, colour, first=k == 0))
    for line, style in pairs:
        if shown.band is not None and shown.categories is None:
            found.append(_band_trace(line, style.colour))
        found += _line_traces(shown, line, style)
    if shown.rug is not None:
        colour = styles[0].colour if len(styles) == 1 else with_opacity(theme.text, 0.6)
        found.append(_rug_trace(shown, colour))
    return found + [_missing_trace(shown, line, style) for line, style in pairs if line.missing]


def _line_traces(shown: ShownCurve, line: Line, style: LineStyle) -> list[Trace]:
    """The curve; dotted, or faint, where few data are behind it."""
    categorical, thin = shown.categories is not None, shown.thin
    whole: Trace = {
        "type": "scatter",
        "mode": "markers" if categorical else "lines+markers",
        "x": line.x,
        "y": line.y,
        "line": {"color": style.colour, "dash": "dot" if thin.any() else style.dash, "width": 2},
        "marker": {
            "symbol": style.marker,
            "color": style.colour,
            "size": 10 if categorical or len(line.x) == 1 else 6,
            "opacity": np.where(thin, THIN_POINT, 1.0),
        },
        "name": escaped(line.name or shown.label),
        "legendgroup": escaped(line.name) or "curve",
        "showlegend": bool(line.name),
        "customdata": _details(shown, line),
        "hovertemplate": _hover(shown, line),
        "meta": "curve",
    }
    if categorical and shown.band is not None:
        half = np.nan_to_num((line.high - line.low) / 2)
        whole["error_y"] = {"array": half, "thickness": 1.5, "color": style.colour}
    if categorical or not thin.any():
        return [whole]
    solid = _path_trace(Path(line.x, np.where(thin, np.nan, line.y)), style, "solid")
    solid["line"] = {"color": style.colour, "dash": style.dash, "width": 2}
    return [solid | {"legendgroup": whole["legendgroup"]}, whole]


def _band_trace(line: Line, colour: str) -> Trace:
    """From left to right and back again, broken where it is not known."""
    known = np.isfinite(line.low + line.high)
    runs = np.split(np.arange(len(line.x)), np.flatnonzero(np.diff(known)) + 1)
    runs = [run for run in runs if run.size and known[run[0]]]

    def around(there: FloatArray, back: FloatArray) -> FloatArray:
        gap = np.array([np.nan])
        parts = [part for run in runs for part in (gap, there[run], back[run][::-1])]
        return np.concatenate(parts[1:] or [gap])

    return {
        "type": "scatter",
        "x": around(line.x, line.x),
        "y": around(line.low, line.high),
        "fill": "toself",
        "fillcolor": with_opacity(colour, 0.2),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": escaped(line.name) or "curve",
        "meta": "band",
    }


def _details(shown: ShownCurve, line: Line) -> list[list[Any]]:
    """For each point what its hover text says: value, band, observations."""
    texts = []
    for m, value in enumerate(shown.values):
        place = f"{value:,.6g}" if shown.categories is None else name_text(value)
        low, high = line.low[m], line.high[m]
        band = "" if np.isnan(high) else f" ({low:,.4g} to {high:,.4g})"
        few = ", few data" if shown.thin[m] else ""
        texts.append([place, band, f"{shown.n_effective[m]:,.0f}{few}"])
    return texts


def _hover(shown: ShownCurve, line: Line) -> str:
    names = [f"<b>{escaped(line.name)}</b>"] if line.name else []
    lines = [
        f"{escaped(shown.feature)}: %{{customdata[0]}}",
        f"{escaped(shown.label)}: %{{y:,.4g}}%{{customdata[1]}}",
        "effective observations: %{customdata[2]}",
    ]
    return "<br>".join(names + lines) + "<extra></extra>"


def _path_trace(path: Path, style: LineStyle, meta: str) -> Trace:
    """A thin line behind the curve."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": path.x,
        "y": path.y,
        "line": {"color": style.colour, "width": 1},
        "opacity": path.opacity,
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": meta,
    }


def _trail_traces(shown: ShownCurve, line: Line, style: LineStyle, *, first: bool) -> list[Trace]:
    """Earlier curves; the newest stands for them in the legend."""
    return [
        _path_trace(path, style, "trail")
        | {
            "line": {"color": style.colour, "dash": style.dash, "width": 1.2},
            "name": shown.trail_name,
            "legendgroup": "trail",
            "showlegend": first and path is line.trail[-1],
            **_hover_beside(shown, path),
        }
        for path in line.trail
    ]


def _compare_trace(shown: ShownCurve, path: Path, colour: str, *, first: bool) -> Trace:
    """A dashed line; hollow markers for categories."""
    return {
        "type": "scatter",
        "mode": "lines" if shown.categories is None else "markers",
        "x": path.x,
        "y": path.y,
        "line": {"color": colour, "dash": "dash", "width": 1.5},
        "marker": {"symbol": "diamond-open", "size": 11, "color": colour},
        "name": "for comparison",
        "legendgroup": "compare",
        "showlegend": first,
        "meta": "compare",
        **_hover_beside(shown, path),
    }


def _hover_beside(shown: ShownCurve, path: Path) -> Trace:
    when = f"{path.time}<br>" if path.time else ""
    text = f"{when}{escaped(shown.label)}: %{{y:,.4g}}<extra></extra>"
    return {"hoverinfo": None, "hovertemplate": text}


def _rug_trace(shown: ShownCurve, colour: str) -> Trace:
    """The histogram of recent values."""
    assert shown.rug is not None
    left, right, counts = shown.rug
    return {
        "type": "bar",
        "x": (left + right) / 2,
        "y": counts,
        "width": right - left,
        "marker": {"color": colour, "opacity": 0.45, "line": {"width": 0}},
        "hovertemplate": "%{y} of the recent values<extra></extra>",
        "showlegend": False,
        "meta": "rug",
    }


def _missing_trace(shown: ShownCurve, line: Line, style: LineStyle) -> Trace:
    """The point for a missing value."""
    assert line.missing is not None
    x, y, low, high = line.missing
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "error_y": {"array": [float(np.nan_to_num((high - low) / 2))], "thickness": 1.5},
        "marker": {"symbol": "diamond", "size": 8, "color": style.colour},
        "hovertemplate": f"missing<br>{escaped(shown.label)}: %{{y:,.4g}}<extra></extra>",
        "showlegend": False,
        "meta": "missing",
    }
