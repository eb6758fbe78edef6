"""All features at one time, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.plot.plotly.curve import axis_layout, traces
from ipdp.plot.plotly.pair import axis_layouts, surface_trace
from ipdp.plot.plotly.style import (
    Figure,
    Theme,
    Trace,
    default_theme,
    escaped,
    finish,
    name_text,
    new_figure,
)
from ipdp.plot.shown.curve import ShownCurve, shown_curve
from ipdp.plot.shown.overview import ShownOverview, fit_under, is_pair
from ipdp.plot.shown.pair import ShownPair, shown_pair

# Pixels of a row of panels.
_ROW = 190
# Size of the markers, and letters that fit above a panel.
_MARKER, _LETTERS = 5, 18
# Shares of a panel's place: its width and height, and of its height the rug and the gap over it.
_WIDTH, _HEIGHT = 0.88, 0.72
_RUG, _GAP = 0.14, 0.02
# Shares of its width that the axis of a pair takes, and its colour bar.
_OWN, _BAR = 0.25, 0.22


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
        """Whether it is the first of its row, which has the axis of the output."""
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
    def rug(self) -> str:
        """The axis of its rug, or of the second feature of a pair."""
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


def figure(shown: ShownOverview) -> Figure:
    """The figure of several features."""
    theme = default_theme()
    made = new_figure()
    named: set[str] = set()
    for k, curve in enumerate(shown.curves):
        panel = Panel(k, shown.columns, len(shown.curves))
        made.add_annotation(_title(curve, shown.importance_text(curve), panel))
        if is_pair(curve):
            picked = {name: shown.options[name] for name in ("output", "centred")}
            _add_pair(made, shown_pair(curve, rug=False, **picked), theme, panel)
            continue
        one = shown_curve(curve, **shown.options)
        for trace in _traces(one, theme):
            axis = panel.rug if trace["meta"] == "rug" else panel.y
            # One entry of the legend for each output, not for each panel.
            is_new = trace["showlegend"] and trace["legendgroup"] not in named
            named |= {trace["legendgroup"]} if is_new else set()
            place = {"xaxis": f"x{panel.x}", "yaxis": f"y{axis}", "showlegend": is_new}
            made.add_trace(trace | place)
        made.update_layout(_layout(panel, one, rug=shown.options["rug"]))
    height = _ROW * shown.n_rows + 100
    below = {"orientation": "h", "y": -60 / height, "yanchor": "top"}
    return finish(made, theme, height=height, bargap=0, legend=below)


def _traces(shown: ShownCurve, theme: Theme) -> list[Trace]:
    """What is drawn of a curve, with small markers and the missing value right of the curve."""
    found = traces(shown, theme.line_styles(len(shown.lines)), theme)
    for trace in found:
        if "size" in trace.get("marker", {}):
            trace["marker"]["size"] = _MARKER
        if trace["meta"] == "missing":
            trace["x"] = [_right_of(shown)]
    return found


def _right_of(shown: ShownCurve) -> float:
    x = shown.lines[0].x
    width = float(np.ptp(x)) if x.size and shown.categories is None else 0.0
    return float(x.max() if x.size else 0.0) + (0.08 * width or 1.0)


def _layout(panel: Panel, shown: ShownCurve, *, rug: bool) -> dict[str, Any]:
    bottom, top = panel.along
    floor = bottom + (_RUG + _GAP) * (top - bottom) * rug
    small = {"size": 10}
    x: dict[str, Any] = {
        "domain": panel.across,
        "anchor": f"y{panel.rug if rug else panel.y}",
        "nticks": 4,
        "tickangle": 0,
        "tickfont": small,
        **axis_layout(shown),
    }
    if shown.categories is not None and not fit_under(shown.categories):
        many = f"{len(shown.categories)} categories"
        x |= {"tickvals": [], "title": {"text": many, "font": small}}
    layout = {f"xaxis{panel.x}": x}
    if rug:
        domain = [bottom, bottom + _RUG * (top - bottom)]
        below = {"domain": domain, "visible": False, "anchor": f"x{panel.x}"}
        layout[f"yaxis{panel.rug}"] = below
    if panel.is_first:
        y: dict[str, Any] = {
            "domain": [floor, top],
            "anchor": f"x{panel.x}",
            "zeroline": False,
            "tickfont": small,
            "title": {"text": escaped(shown.label)},
        }
        y |= {"matches": "y"} if panel.row else {}
        if shown.y_range is not None:
            y["autorangeoptions"] = {"include": list(shown.y_range)}
        layout[f"yaxis{panel.y}"] = y
    return layout


def _add_pair(made: Figure, shown: ShownPair, theme: Theme, panel: Panel) -> None:
    """A surface with axes of its own, and its colour bar beside it."""
    (left, right), (bottom, top) = panel.across, panel.along
    width = right - left
    left, right, top = left + _OWN * width, right - _BAR * width, top - 0.05 * (top - bottom)
    small = {"size": 10}
    trace = surface_trace(shown, theme)
    trace["colorbar"] = {"x": right, "y": (bottom + top) / 2, "len": top - bottom}
    trace["colorbar"] |= {"thickness": 8, "tickfont": small}
    made.add_trace(trace | {"xaxis": f"x{panel.x}", "yaxis": f"y{panel.rug}"})
    across, along = axis_layouts(shown)
    across |= {"domain": (left, right), "anchor": f"y{panel.rug}"}
    along |= {"domain": (bottom, top), "anchor": f"x{panel.x}"}
    for axis, layout, name in zip(
        (f"xaxis{panel.x}", f"yaxis{panel.rug}"), (across, along), shown.features, strict=True
    ):
        title = {"text": name_text(name, _LETTERS), "font": small, "standoff": 2}
        made.update_layout({axis: {"nticks": 4, "tickfont": small, "title": title, **layout}})


def _title(curve: Curve, importance: str, panel: Panel) -> dict[str, Any]:
    """Name and importance above a panel."""
    return {
        "text": f"{name_text(curve.feature, _LETTERS)} <i>{importance}</i>",
        "x": panel.across[0],
        "y": panel.along[1],
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11},
    }
