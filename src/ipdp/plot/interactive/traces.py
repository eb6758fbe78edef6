"""The parts of a plotly figure of one curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray
from ipdp.plot.context import ages, row_of, trail_label
from ipdp.plot.interactive.theme import clear, escaped, shown, symbol_of
from ipdp.plot.lines import half_widths, spread
from ipdp.plot.numeric import histogram
from ipdp.plot.support import around, thin_points
from ipdp.plot.view import View

Trace = dict[str, Any]
"""A trace as plotly takes it."""

# Opacity of the oldest and of the newest ICE curve, and of what has few data behind it.
_ICE = (0.08, 0.5)
_THIN = 0.3


class Axis:
    """Where the values of a feature stand on the x axis; categories get numbers as they come."""

    def __init__(self, curve: Curve) -> None:
        self.categories: list[Any] | None = [] if curve.categorical[0] else None
        self._same: float | None = None

    def places(self, values: Array) -> FloatArray:
        """The positions of some values."""
        if self.categories is None:
            numbers = np.asarray(values, dtype=float)
            self._same = float(numbers[0]) if numbers.size and not np.ptp(numbers) > 0 else None
            return numbers
        items = values.tolist()
        self.categories += [item for item in items if item not in self.categories]
        return np.array([self.categories.index(item) for item in items], dtype=float)

    def layout(self) -> dict[str, Any]:
        """Names of the categories on the axis; room around a number that is always the same."""
        if self.categories is None:
            return {} if self._same is None else {"range": around(self._same)}
        names = [shown(category, width=16) for category in self.categories]
        return {"tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}


def line_traces(
    view: View, axis: Axis, looks: Sequence[dict[str, str]], *, band: float | None, name: str = ""
) -> list[Trace]:
    """Band and line of each output."""
    curve = view.curve
    half = np.full(curve.average.shape, np.nan) if band is None else half_widths(curve, band)
    several = len(curve.outputs) > 1
    x = axis.places(curve.grid_values[0])
    traces: list[Trace] = []
    for k, (output, look) in enumerate(zip(curve.outputs, looks, strict=True)):
        label = ": ".join(part for part in (name, shown(output) if several else "") if part)
        own = {
            "name": label or escaped(view.label),
            "legendgroup": label or "curve",
            "meta": "curve",
        }
        if axis.categories is None:
            if band is not None:
                traces.append(_band(x, curve.average[k], half[k], look["color"]) | own)
            traces += [trace | own for trace in _lines(curve, k, x, half[k], look)]
        else:
            shift = spread(len(curve.outputs), 0.4)[k]
            traces.append(_points(curve, k, x + shift, half[k], look, band=band) | own)
        traces[-1]["marker"]["symbol"] = symbol_of(look["color"])
        traces[-1]["showlegend"] = bool(label)
        traces[-1]["hovertemplate"] = _hover(view, label)
    for trace in traces:
        if trace.get("hoverinfo") == "skip":
            trace["meta"] = "band" if "fill" in trace else "solid"
    return traces


def _band(x: FloatArray, y: FloatArray, half: FloatArray, colour: str) -> Trace:
    """There and back again, broken where it is not known."""
    known = np.isfinite(y + half)
    runs = np.split(np.arange(len(x)), np.flatnonzero(np.diff(known)) + 1)
    runs = [run for run in runs if run.size and known[run[0]]]
    gap = np.array([np.nan])
    across = [part for run in runs for part in (gap, x[run], x[run][::-1])]
    along = [part for run in runs for part in (gap, (y - half)[run], (y + half)[run][::-1])]
    return {
        "type": "scatter",
        "x": np.concatenate(across[1:] or [gap]),
        "y": np.concatenate(along[1:] or [gap]),
        "fill": "toself",
        "fillcolor": clear(colour, 0.2),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _lines(
    curve: Curve, k: int, x: FloatArray, half: FloatArray, look: dict[str, str]
) -> list[Trace]:
    """The curve, dotted where few data are behind it: a solid part under a dotted whole."""
    thin = thin_points(curve)
    y = curve.average[k]
    line = look | {"width": 2}
    whole: Trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": y,
        "line": line | ({"dash": "dot"} if thin.any() else {}),
        "marker": {"size": 6 if len(x) > 1 else 10, "opacity": np.where(thin, _THIN, 1.0)},
        "customdata": _details(curve, k, half, thin),
    }
    if not thin.any():
        return [whole]
    solid = {"type": "scatter", "mode": "lines", "x": x, "y": np.where(thin, np.nan, y)}
    return [solid | {"line": line, "hoverinfo": "skip", "showlegend": False}, whole]


def _points(
    curve: Curve,
    k: int,
    x: FloatArray,
    half: FloatArray,
    look: dict[str, str],
    *,
    band: float | None,
) -> Trace:
    thin = thin_points(curve)
    bars = {} if band is None else {"error_y": {"array": np.nan_to_num(half), "thickness": 1.5}}
    return bars | {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": curve.average[k],
        "marker": {"size": 10, "color": look["color"], "opacity": np.where(thin, _THIN, 1.0)},
        "customdata": _details(curve, k, half, thin),
    }


def _details(curve: Curve, k: int, half: FloatArray, thin: Array) -> list[list[Any]]:
    """For each point what the pointer tells of it: value, band, observations."""
    texts = []
    for m, value in enumerate(curve.grid_values[0].tolist()):
        place = shown(value) if curve.categorical[0] else f"{value:,.6g}"
        y, error = curve.average[k, m], half[m]
        band = "" if np.isnan(error) else f" ({y - error:,.4g} to {y + error:,.4g})"
        many = f"{curve.n_effective_points[m]:,.0f}{', few data' if thin[m] else ''}"
        texts.append([place, band, many])
    return texts


def _hover(view: View, label: str) -> str:
    names = [f"<b>{label}</b>"] if label else []
    feature, value = shown(view.curve.feature), escaped(view.label)
    lines = [
        f"{feature}: %{{customdata[0]}}",
        f"{value}: %{{y:,.4g}}%{{customdata[1]}}",
        "effective observations: %{customdata[2]}",
    ]
    return "<br>".join(names + lines) + "<extra></extra>"


def ice_traces(curve: Curve, axis: Axis, colour: str) -> list[Trace]:
    """The recent ICE curves, oldest first: the older the fainter."""
    if curve.ice is None or len(curve.outputs) > 1:
        return []
    x = axis.places(curve.grid_values[0])
    positions = curve.ice_grid_values
    own_x = [x] * curve.ice.shape[1] if positions is None else list(positions[0])
    shape = {"mode": "lines"} if axis.categories is None else _dash(colour)
    strengths = np.linspace(*_ICE, len(own_x)) if len(own_x) > 1 else [_ICE[1]] * len(own_x)
    return [
        {
            "type": "scatter",
            "x": at,
            "y": y,
            "line": {"color": colour, "width": 1},
            "opacity": float(strength),
            "hoverinfo": "skip",
            "showlegend": False,
            "meta": "ice",
        }
        | shape
        for at, y, strength in zip(own_x, curve.ice[0], strengths, strict=True)
    ]


def _dash(colour: str) -> Trace:
    mark = {"symbol": "line-ew", "size": 16, "line": {"width": 1.5, "color": colour}}
    return {"mode": "markers", "marker": mark}


def context_traces(
    view: View, axis: Axis, looks: Sequence[dict[str, str]], ink: str
) -> list[Trace]:
    """Earlier curves, and the one to compare with."""
    traces: list[Trace] = []
    outputs = view.curve.outputs
    shifts = np.zeros(len(outputs)) if axis.categories is None else spread(len(outputs), 0.4)
    for output, look, shift in zip(outputs, looks, shifts, strict=True):
        for curve, strength in zip(view.trail, ages(len(view.trail)), strict=True):
            shape = {"mode": "lines"} if axis.categories is None else _dash(look["color"])
            trace = _beside(view, curve, axis, output, shift) | shape
            traces.append(
                trace
                | {
                    "line": look | {"width": 1.2},
                    "opacity": float(strength),
                    "name": trail_label(view.trail),
                    "legendgroup": "trail",
                    "showlegend": curve is view.trail[-1] and output == outputs[0],
                    "meta": "trail",
                }
            )
        if view.compare is not None and output in view.compare.outputs:
            colour = look["color"] if len(outputs) > 1 else ink
            trace = _beside(view, view.compare, axis, output, shift)
            mark = {"symbol": "diamond-open", "size": 11, "color": colour}
            trace |= {"line": {"color": colour, "dash": "dash", "width": 1.5}, "marker": mark}
            trace |= {"name": "for comparison", "meta": "compare", "legendgroup": "compare"}
            trace["mode"] = "lines" if axis.categories is None else "markers"
            traces.append(trace | {"showlegend": output == outputs[0]})
    return traces


def _beside(view: View, curve: Curve, axis: Axis, output: Any, shift: float) -> Trace:
    values = row_of(curve, output)
    when = "" if curve.t is None else f"t = {curve.t:,.10g}<br>"
    return {
        "type": "scatter",
        "x": axis.places(curve.grid_values[0]) + shift,
        "y": np.full(len(curve.grid_values[0]), np.nan) if values is None else values,
        "hovertemplate": f"{when}{escaped(view.label)}: %{{y:,.4g}}<extra></extra>",
    }


def strip_trace(curve: Curve, axis: Axis, colour: str) -> Trace | None:
    """Bars of how often the feature's values came of late."""
    if not curve.rug or not len(curve.rug[0]):
        return None
    if axis.categories is None:
        x = np.asarray(curve.grid_values[0], dtype=float)
        counts, edges = histogram(curve.rug[0], x)
        middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    else:
        number = Counter(curve.rug[0].tolist())
        categories = curve.grid_values[0]
        counts = np.array([number[category] for category in categories.tolist()])
        middles, widths = axis.places(categories), np.full(len(counts), 0.6)
    return {
        "type": "bar",
        "x": middles,
        "y": counts,
        "width": widths,
        "marker": {"color": colour, "opacity": 0.45, "line": {"width": 0}},
        "hovertemplate": "%{y} of the recent values<extra></extra>",
        "showlegend": False,
        "meta": "rug",
    }


def missing_traces(view: View, looks: Sequence[dict[str, str]], band: float | None) -> list[Trace]:
    """For each output the point of a missing value."""
    curve = view.curve
    if curve.missing is None:
        return []
    errors = np.zeros(len(curve.outputs))
    if band is not None and curve.missing_std_error is not None:
        z = NormalDist().inv_cdf((1 + band) / 2)
        errors = np.nan_to_num(z * curve.missing_std_error)
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [float(spot)],
            "y": [float(y)],
            "error_y": {"array": [float(error)], "thickness": 1.5},
            "marker": {"symbol": "diamond", "size": 8, "color": look["color"]},
            "hovertemplate": f"missing<br>{escaped(view.label)}: %{{y:,.4g}}<extra></extra>",
            "showlegend": False,
            "meta": "missing",
        }
        for spot, y, error, look in zip(
            spread(len(looks), 1.0), curve.missing, errors, looks, strict=True
        )
    ]
