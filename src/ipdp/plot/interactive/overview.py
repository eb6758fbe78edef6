"""All features at one time, as a plotly figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.plot.interactive.surface import surface_of
from ipdp.plot.interactive.theme import (
    Figure,
    Theme,
    clear,
    escaped,
    finished,
    new_figure,
    shown,
    theme,
)
from ipdp.plot.interactive.traces import (
    Axis,
    Trace,
    ice_traces,
    line_traces,
    missing_traces,
    strip_trace,
)
from ipdp.plot.overview import fit_under, is_pair, weight
from ipdp.plot.view import View

# Pixels of a row of panels.
_ROW = 190
# Size of the marks, and letters that fit above a panel.
_MARK, _LETTERS = 5, 18
# Shares of a panel's place: its width and height, and of its height the strip and the gap over it.
_WIDTH, _HEIGHT = 0.88, 0.72
_STRIP, _GAP = 0.14, 0.02
# Shares of its width that the axis of a pair takes, and the key of its colours.
_OWN, _KEY = 0.25, 0.22


@dataclass(frozen=True)
class Panel:
    """The place of one curve among the others; the panels of a row have one axis of the output."""

    number: int
    columns: int
    n: int

    @property
    def row(self) -> int:
        """Which row it is in, from the top."""
        return self.number // self.columns

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return -(-self.n // self.columns)

    @property
    def is_first(self) -> bool:
        """Whether its row's axis stands at it."""
        return self.number % self.columns == 0

    @property
    def x(self) -> str:
        """Its axis of the feature."""
        return str(self.number + 1)

    @property
    def y(self) -> str:
        """Its axis of the output."""
        return str(self.row + 1)

    @property
    def strip(self) -> str:
        """The axis of its strip."""
        return str(self.n_rows + self.number + 1)

    @property
    def across(self) -> tuple[float, float]:
        """Left and right, as shares of the figure."""
        left = self.number % self.columns / self.columns
        return left, left + _WIDTH / self.columns

    @property
    def along(self) -> tuple[float, float]:
        """Bottom and top."""
        top = 1 - self.row / self.n_rows
        return top - _HEIGHT / self.n_rows, top


def overview_figure(curves: Sequence[Curve], columns: int, style: dict[str, Any]) -> Figure:
    """The twin of `OverviewDisplay.plot`."""
    look = theme()
    figure = new_figure()
    named: set[str] = set()
    for k, curve in enumerate(curves):
        panel, axis = Panel(k, columns, len(curves)), Axis(curve)
        view = View.of(curve, output=style["output"], centred=style["centred"])
        figure.add_annotation(_title(curve, curves[0], panel))
        if is_pair(curve):
            _add_pair(figure, view, look, panel)
            continue
        for trace in _traces(view, axis, look, style):
            where = panel.strip if trace["meta"] == "rug" else panel.y
            # One entry of the legend for each output, not for each panel.
            group = trace.get("legendgroup", "")
            is_new = bool(trace.get("showlegend")) and group not in named
            named |= {group} if is_new else set()
            place = {"xaxis": f"x{panel.x}", "yaxis": f"y{where}", "showlegend": is_new}
            figure.add_trace(trace | place)
        figure.update_layout(_axes(panel, view, axis, rug=style["rug"]))
    height = _ROW * -(-len(curves) // columns) + 100
    below = {"orientation": "h", "y": -60 / height, "yanchor": "top"}
    return finished(figure, look, height=height, bargap=0, legend=below)


def _traces(view: View, axis: Axis, look: Theme, style: dict[str, Any]) -> list[Trace]:
    looks = look.looks(len(view.curve.outputs))
    traces = ice_traces(view.curve, axis, looks[0]["color"]) if style["ice"] else []
    traces += line_traces(view, axis, looks, band=style["band"])
    colour = looks[0]["color"] if len(looks) == 1 else clear(look.ink, 0.6)
    strip = strip_trace(view.curve, axis, colour) if style["rug"] else None
    if strip is not None:
        traces.append(strip)
    # The point of a missing value stands right of the curve.
    x = axis.places(view.curve.grid_values[0])
    width = float(np.ptp(x)) if x.size and axis.categories is None else 0.0
    right = float(x.max(initial=0.0)) + (0.08 * width or 1.0)
    traces += [t | {"x": [right]} for t in missing_traces(view, looks, style["band"])]
    for trace in traces:
        if "size" in trace.get("marker", {}):
            trace["marker"]["size"] = _MARK
    return traces


def _axes(panel: Panel, view: View, axis: Axis, *, rug: bool) -> dict[str, Any]:
    bottom, top = panel.along
    floor = bottom + (_STRIP + _GAP) * (top - bottom) * rug
    x: dict[str, Any] = {
        "domain": panel.across,
        "anchor": f"y{panel.strip if rug else panel.y}",
        "nticks": 4,
        "tickangle": 0,
        "zeroline": False,
        "tickfont": {"size": 10},
    }
    x |= axis.layout()
    if axis.categories is not None and not fit_under(axis.categories):
        many = f"{len(axis.categories)} categories"
        x |= {"tickvals": [], "title": {"text": many, "font": {"size": 10}}}
    layout = {f"xaxis{panel.x}": x}
    if rug:
        domain = [bottom, bottom + _STRIP * (top - bottom)]
        strip = {"domain": domain, "visible": False, "anchor": f"x{panel.x}"}
        layout[f"yaxis{panel.strip}"] = strip
    if panel.is_first:
        y: dict[str, Any] = {
            "domain": [floor, top],
            "anchor": f"x{panel.x}",
            "zeroline": False,
            "tickfont": {"size": 10},
            "title": {"text": escaped(view.label)},
        }
        y |= {"matches": "y"} if panel.row else {}
        if view.span is not None:
            y["autorangeoptions"] = {"include": list(view.span)}
        layout[f"yaxis{panel.y}"] = y
    return layout


def _add_pair(figure: Figure, view: View, look: Theme, panel: Panel) -> None:
    """A surface with axes of its own, and the key of its colours beside it."""
    trace, axes = surface_of(view, look)
    (left, right), (bottom, top) = panel.across, panel.along
    width = right - left
    left, right, top = left + _OWN * width, right - _KEY * width, top - 0.05 * (top - bottom)
    trace["colorbar"] = {
        "x": right,
        "y": (bottom + top) / 2,
        "len": top - bottom,
        "thickness": 8,
        "tickfont": {"size": 10},
    }
    figure.add_trace(trace | {"xaxis": f"x{panel.x}", "yaxis": f"y{panel.strip}"})
    for letter, own, other, axis, name, domain in zip(
        "xy",
        (panel.x, panel.strip),
        (f"y{panel.strip}", f"x{panel.x}"),
        axes,
        view.curve.features,
        ((left, right), (bottom, top)),
        strict=True,
    ):
        look_of_it = {"domain": domain, "anchor": other, "nticks": 4, "tickfont": {"size": 10}}
        title = {"text": shown(name, _LETTERS), "font": {"size": 10}, "standoff": 2}
        figure.update_layout({f"{letter}axis{own}": look_of_it | axis.layout() | {"title": title}})


def _title(curve: Curve, largest: Curve, panel: Panel) -> dict[str, Any]:
    """Name and importance above a panel."""
    return {
        "text": f"{shown(curve.feature, _LETTERS)} <i>{weight(curve, largest)}</i>",
        "x": panel.across[0],
        "y": panel.along[1],
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11},
    }
