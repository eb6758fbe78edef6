"""The curve of one feature: lines with bands for numbers, points with error bars for categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.core.words import few_digits
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    axis,
    escaped,
    name_text,
    notes,
    scatter,
    with_opacity,
)
from ipdp.plot.shown.curve import PAST, SPREAD, Line, Path, ShownCurve
from ipdp.plot.shown.style import THIN_POINT, LineStyle

# Shares of the figure: of the histogram under the curve, and of the curve beside a missing value.
_RUG, _GAP = 0.13, 0.02
_BESIDE = 0.88


def figure(shown: ShownCurve) -> Figure:
    """The figure of a curve."""
    theme = Theme.default()
    places = {"rug": {"yaxis": "y2"}, "missing": {"xaxis": "x2"}}
    found = traces(shown, theme.line_styles(len(shown.lines)), theme)
    found = [trace | places.get(trace["meta"], {}) for trace in found]
    layout = _axes(shown) | notes(shown.title, is_empty=shown.is_empty)
    return theme.figure(found, layout | {"bargap": 0, "height": 420})


def x_axis(shown: ShownCurve, **more: Any) -> dict[str, Any]:
    """The axis of the feature, with room around a single number."""
    ends = {} if shown.x_range is None or shown.is_time else {"range": shown.x_range}
    return axis(shown.feature, shown.categories, whole=shown.whole, **ends, **more)


def y_axis(shown: ShownCurve, **more: Any) -> dict[str, Any]:
    """The axis of the output."""
    least = {"include": list(shown.y_range)} if shown.y_range else {}
    return axis(shown.label, autorangeoptions=least, **more)


def _axes(shown: ShownCurve) -> dict[str, Any]:
    """The axes: of the curve, of the histogram under it, and of the missing value beside it."""
    rug, missing = shown.rug is not None, any(line.missing for line in shown.lines)
    anchor = "y2" if rug else "y"
    layout: dict[str, Any] = {
        "xaxis": x_axis(shown, domain=[0, _BESIDE if missing else 1], anchor=anchor),
        "yaxis": y_axis(shown, domain=[_RUG + _GAP if rug else 0.0, 1]),
    }
    if rug:
        layout["yaxis2"] = {"domain": [0, _RUG], "visible": False, "anchor": "x"}
    if missing:
        ticks: Trace = {"range": [-1, 1], "tickvals": [0], "ticktext": ["missing"]}
        layout["xaxis2"] = axis("", domain=[_BESIDE + 0.02, 1], anchor=anchor, **ticks)
    return layout


def traces(shown: ShownCurve, styles: Sequence[LineStyle], theme: Theme) -> list[Trace]:
    """What is drawn of a curve; the `meta` of each trace says what it is."""
    pairs = list(zip(shown.lines, styles, strict=True))
    found = [
        scatter(*path[:2], "ice", line={"color": style.colour, "width": 1}, opacity=path.opacity)
        for line, style in pairs
        for path in line.ice
    ]
    for k, (line, style) in enumerate(pairs):
        found += [_trail_trace(shown, path, style) for path in line.trail]
        if line.trail:  # the newest stands for all of them in the legend
            found[-1]["showlegend"] = k == 0
        if line.compare is not None:
            colour = style.colour if len(pairs) > 1 else theme.text_colour()
            found.append(_compare_trace(shown, line.compare, colour, showlegend=k == 0))
    found += _past_traces(shown, pairs, theme)
    for k, (line, style) in enumerate(pairs):
        if line.spread is not None:
            found.append(_spread_trace(shown, line, style.colour, showlegend=k == 0))
        if shown.band is not None and shown.categories is None:
            found.append(_band_trace(line, style.colour))
        found += _line_traces(shown, line, style)
    if shown.rug is not None:
        colour = styles[0].colour if len(styles) == 1 else theme.text_colour(0.6)
        found.append(_rug_trace(shown, colour))
    if shown.is_time:
        found = [_dated(trace) for trace in found]
    return found + [_missing_trace(shown, line, style) for line, style in pairs if line.missing]


def _dated(trace: Trace) -> Trace:
    """A trace over days since 1970 as one over dates."""
    days = np.asarray(trace["x"], dtype=float)
    missing = np.isnan(days)
    dates = np.where(missing, 0, days * 86400e3).round().astype("datetime64[ms]")
    x = [None if gone else str(date) for gone, date in zip(missing, dates, strict=True)]
    wide = {"width": np.asarray(trace["width"]) * 86400e3} if "width" in trace else {}
    return trace | {"x": x} | wide


def _line_traces(shown: ShownCurve, line: Line, style: LineStyle) -> list[Trace]:
    """The curve; dotted, or faint, where few data are behind it."""
    categorical, thin = shown.categories is not None, shown.thin
    drawn = {"color": style.colour, "dash": style.dash, "width": 2}
    marker: Trace = {"symbol": style.marker, "color": style.colour}
    marker |= {"size": 10 if categorical or len(line.x) == 1 else 6}
    group = {"legendgroup": escaped(line.name) or "curve"}
    whole = scatter(
        line.x,
        line.y,
        "curve",
        hover=_hover(shown, line),
        mode="markers" if categorical else "lines+markers",
        line=drawn | ({"dash": "dot"} if thin.any() else {}),
        marker=marker | {"opacity": np.where(thin, THIN_POINT, 1.0)},
        name=escaped(line.name or shown.label),
        showlegend=bool(line.name),
        customdata=_details(shown, line),
        **group,
    )
    if categorical and shown.band is not None:
        half = np.nan_to_num((line.high - line.low) / 2)
        whole["error_y"] = {"array": half, "thickness": 1.5, "color": style.colour}
    if categorical or not thin.any():
        return [whole]
    return [scatter(line.x, np.where(thin, np.nan, line.y), "solid", line=drawn, **group), whole]


def _band_trace(line: Line, colour: str) -> Trace:
    """From left to right and back again, broken where it is not known."""
    known = np.isfinite(line.low + line.high)
    runs = np.split(np.arange(len(line.x)), np.flatnonzero(np.diff(known)) + 1)
    runs = [run for run in runs if run.size and known[run[0]]]

    def around(there: FloatArray, back: FloatArray) -> FloatArray:
        gap = np.array([np.nan])
        parts = [part for run in runs for part in (gap, there[run], back[run][::-1])]
        return np.concatenate(parts[1:] or [gap])

    fill: Trace = {"fill": "toself", "fillcolor": with_opacity(colour, 0.2), "line": {"width": 0}}
    fill["legendgroup"] = escaped(line.name) or "curve"
    return scatter(around(line.x, line.x), around(line.low, line.high), "band", **fill)


def _spread_trace(shown: ShownCurve, line: Line, colour: str, **entry: bool) -> Trace:
    """How much the effect differs between observations."""
    assert line.spread is not None
    low, high = line.spread
    more: Trace = {"meta": "spread", "name": SPREAD, **entry, "legendgroup": "spread"}
    if shown.categories is None:
        light = {"fillcolor": with_opacity(colour, 0.1)}
        return _band_trace(replace(line, low=low, high=high), colour) | light | more
    x, gap = np.repeat(line.x, 3), np.full(len(line.x), np.nan)
    wide = {"color": with_opacity(colour, 0.2), "width": 12}
    return scatter(x, np.stack([low, high, gap], axis=1).ravel(), "spread", line=wide) | more


def _details(shown: ShownCurve, line: Line) -> list[list[Any]]:
    """For each point what its hover text says: value, band, observations."""
    texts = []
    is_number = shown.categories is None and not shown.is_time
    wide = float(shown.values[-1] - shown.values[0]) if is_number and len(shown.values) else None
    for m, value in enumerate(shown.values):
        place = few_digits(value, wide) if is_number else name_text(value)
        low, high = line.low[m], line.high[m]
        band = "" if np.isnan(high) else f" ({few_digits(low)} to {few_digits(high)})"
        few = ", few data" if shown.thin[m] else ""
        texts.append([place, band, f"{shown.n_effective[m]:,.0f}{few}"])
    return texts


def _hover(shown: ShownCurve, line: Line) -> str:
    names = [f"<b>{escaped(line.name)}</b>"] if line.name else []
    place = f"{escaped(shown.feature)}: %{{customdata[0]}}"
    value = f"{escaped(shown.label)}: %{{text}}%{{customdata[1]}}"
    return "<br>".join([*names, place, value, "effective observations: %{customdata[2]}"])


def _hover_value(shown: ShownCurve, first: str) -> str:
    return "<br>".join([*filter(None, [first]), f"{escaped(shown.label)}: %{{text}}"])


def _trail_trace(shown: ShownCurve, path: Path, style: LineStyle) -> Trace:
    """An earlier curve."""
    line = {"color": style.colour, "dash": style.dash, "width": 1.2}
    entry = {"name": shown.trail_name, "legendgroup": "trail"}
    hover = _hover_value(shown, path.time)
    return scatter(*path[:2], "trail", hover=hover, line=line, opacity=path.opacity, **entry)


def _compare_trace(shown: ShownCurve, path: Path, colour: str, **entry: bool) -> Trace:
    """A dashed line; hollow markers for categories."""
    return scatter(
        *path[:2],
        "compare",
        hover=_hover_value(shown, path.time),
        mode="lines" if shown.categories is None else "markers",
        line={"color": colour, "dash": "dash", "width": 1.5},
        marker={"symbol": "diamond-open", "size": 11, "color": colour},
        name="for comparison",
        legendgroup="compare",
        **entry,
    )


def _past_traces(
    shown: ShownCurve, pairs: Sequence[tuple[Line, LineStyle]], theme: Theme
) -> list[Trace]:
    """What is left of the past in a smoothed curve: thin dashes; crosses for categories."""
    found: list[Trace] = []
    for line, style in pairs:
        if line.past is None:
            continue
        colour = style.colour if len(pairs) > 1 else theme.text_colour(0.6)
        found.append(
            scatter(
                *line.past[:2],
                "past",
                hover=_hover_value(shown, PAST),
                mode="lines" if shown.categories is None else "markers",
                line={"color": colour, "dash": "dash", "width": 1.1},
                marker={"symbol": "x-thin-open", "size": 8, "color": colour},
                name=PAST,
                legendgroup="past",
                showlegend=not found,
            )
        )
    return found


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
    bar = {"array": [float(np.nan_to_num((high - low) / 2))], "thickness": 1.5}
    marker = {"symbol": "diamond", "size": 8, "color": style.colour}
    hover = _hover_value(shown, "missing")
    return scatter([x], [y], "missing", hover=hover, mode="markers", error_y=bar, marker=marker)
