"""One curve, or the surface of a pair, as a plotly figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.plot.interactive.surface import density_traces, surface_of
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
    context_traces,
    ice_traces,
    line_traces,
    missing_traces,
    strip_trace,
)
from ipdp.plot.support import is_whole, known
from ipdp.plot.view import View

# Shares of the figure: of the strip under the curve and of the one beside it.
STRIP, GAP = 0.13, 0.02
_SIDE = 0.88
_MIDDLE = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}


def curve_figure(view: View, *, ice: bool, band: float | None, rug: bool, data: Any) -> Figure:
    """The twin of `PDPDisplay.plot`."""
    look = theme()
    if len(view.curve.grid_values) == 2:
        return _pair_figure(view, look, data, rug=rug)
    curve, axis = view.curve, Axis(view.curve)
    looks = look.looks(len(curve.outputs))
    beside = bool(view.trail) or view.compare is not None
    figure = new_figure()
    # The curve's own places come first: categories keep the order that it has.
    axis.places(curve.grid_values[0])
    if ice:
        figure.add_traces(ice_traces(curve, axis, looks[0]["color"]))
    figure.add_traces(context_traces(view, axis, looks, look.ink))
    name = view.name if beside and len(curve.outputs) == 1 else ""
    figure.add_traces(line_traces(view, axis, looks, band=band, name=name))
    colour = looks[0]["color"] if len(looks) == 1 else clear(look.ink, 0.6)
    strip = strip_trace(curve, axis, colour) if rug else None
    if strip is not None:
        figure.add_trace(strip | {"yaxis": "y2"})
    side = missing_traces(view, looks, band)
    figure.add_traces([trace | {"xaxis": "x2"} for trace in side])
    figure.update_layout(_frame(view, axis, strip=strip is not None, side=bool(side)))
    if not (view.trail or np.isfinite(known(curve)).any()):
        figure.add_annotation(text="nothing yet", showarrow=False, **_MIDDLE)
    title = "" if curve.t is None or beside else f"t = {curve.t:,.10g}"
    return finished(
        figure,
        look,
        title={"text": title, "x": 0.98, "xanchor": "right", "font": {"size": 12}},
        bargap=0,
        height=420,
    )


def _frame(view: View, axis: Axis, *, strip: bool, side: bool) -> dict[str, Any]:
    """The axes: the curve, the strip under it, and the one beside it."""
    bottom = STRIP + GAP if strip else 0.0
    whole = {"tickformat": ",d"} if is_whole(view.curve) and axis.categories is None else {}
    layout: dict[str, Any] = {
        "xaxis": {
            "title": {"text": shown(view.curve.feature)},
            "domain": [0, _SIDE if side else 1],
            "anchor": "y2" if strip else "y",
            "zeroline": False,
        }
        | whole
        | axis.layout(),
        "yaxis": {
            "title": {"text": escaped(view.label)},
            "domain": [bottom, 1],
            "zeroline": False,
        },
    }
    if view.span is not None:
        layout["yaxis"]["autorangeoptions"] = {"include": list(view.span)}
    if strip:
        layout["yaxis2"] = {"domain": [0, STRIP], "visible": False, "anchor": "x"}
    if side:
        layout["xaxis2"] = {
            "domain": [_SIDE + 0.02, 1],
            "anchor": "y2" if strip else "y",
            "range": [-1, 1],
            "tickvals": [0],
            "ticktext": ["missing"],
            "zeroline": False,
        }
    return layout


def _pair_figure(view: View, look: Theme, data: Any, *, rug: bool) -> Figure:
    curve = view.curve
    surface, axes = surface_of(view, look)
    figure = new_figure([surface])
    if rug or data is not None:
        figure.add_traces(density_traces(curve, data, surface["x"], surface["y"]))
    figure.update_xaxes(title_text=shown(curve.features[0]), **axes[0].layout())
    figure.update_yaxes(title_text=shown(curve.features[1]), **axes[1].layout())
    return finished(figure, look, height=460)
