"""Drawings along time: the effect of a feature as a carpet, and a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.core.words import few_digits
from ipdp.log.beliefs import effect_text
from ipdp.plot.shown.style import named
from ipdp.web.clock import Clock, clock_of, draw_clock
from ipdp.web.drawings import (
    BOTTOM,
    LEFT,
    NAMES,
    RIGHT,
    SIZE,
    TOP,
    Common,
    Mark,
    capital,
    centred,
    draw_key,
    main_of,
    marks_along,
)
from ipdp.web.svg import Drawing, Scale, diverging

_ROWS, _COLUMNS = 36, 160
_FEW = 20  # snapshots
# The beginning of a metric is not shown as far as it is so many ranges of the second half away.
_WILD = 10.0
# It is said if that is more than this part of the time.
_LONG = 0.1


def carpet_drawing(
    history: Sequence[tuple[int, Curve]], marks: Sequence[Mark], common: Common | None = None
) -> str:
    """The effect over time: time along x, the feature's value along y, colour the effect.

    An effect is what the curve is above or below its own mean, so that a model whose level moves
    does not seem to have changed its mind.
    """
    common = common or Common()
    history = [pair for pair in history if pair[1].outputs and len(pair[1].grid_values) == 1]
    if len(history) < 2:
        return ""
    newest = history[-1][1]
    output = main_of(newest)
    drawing = Drawing(*SIZE, f"effect of {named(newest.feature)} over time")
    drawing.text(4, 12, "Effect over time, against its own mean", "d-title")
    n = np.array([at for at, _ in history], dtype=float)
    times = np.linspace(n[0], n[-1], min(_COLUMNS, 4 * len(n)))
    # Each column is the last snapshot at its time.
    taken = [history[k][1] for k in np.searchsorted(n, times, side="right") - 1]
    values, rows, names = _carpet(taken, output)
    known = np.abs(values[np.isfinite(values)])
    reach = common.reach or float(np.max(known, initial=0.0)) or 1.0
    box = (LEFT, RIGHT - 60), (TOP, BOTTOM)
    drawing.picture(*box, diverging(values[::-1], reach))
    _draw_rows(drawing, Scale(rows[0], rows[1], BOTTOM, TOP), newest, names)
    across = Scale(float(n[0]), float(n[-1]), *box[0])
    _draw_time(drawing, across, history, marks)
    column = np.linspace(reach, -reach, 33)[:, np.newaxis]
    draw_key(drawing, (-reach, reach), effect_text(newest), diverging(column, reach))
    return str(drawing)


def _carpet(
    curves: Sequence[Curve], output: Label
) -> tuple[FloatArray, tuple[float, float], list[object] | None]:
    """Values by row and column, the ends of the axis, and the names of the rows, if any."""
    if curves[-1].categorical[0]:
        newest_first = reversed(curves)
        names = list(dict.fromkeys(v for c in newest_first for v in c.grid_values[0].tolist()))
        row_of = {name: row for row, name in enumerate(names)}
        values = np.full((len(names), len(curves)), np.nan)
        for column, curve in enumerate(curves):
            if output in curve.outputs:
                rows = [row_of[v] for v in curve.grid_values[0].tolist()]
                values[rows, column] = centred(curve, output)
        return values, (-0.5, len(names) - 0.5), names
    numbers = [np.asarray(c.grid_values[0], dtype=float) for c in curves if not c.categorical[0]]
    ends = np.concatenate([grid[[0, -1]] for grid in numbers if grid.size])
    low, high = float(ends.min()), float(ends.max())
    if len(numbers) > _FEW:  # a day that was far out must not squeeze all others
        usual = np.quantile(ends.reshape(-1, 2), [0.05, 0.95], axis=0)
        low, high = float(usual[0, 0]), float(usual[1, 1])
    places = np.linspace(low, high, _ROWS)
    columns = [
        _read(curve, output, places) if not curve.categorical[0] else np.full(_ROWS, np.nan)
        for curve in curves
    ]
    return np.array(columns).T, (low, high), None


def _read(curve: Curve, output: Label, places: FloatArray) -> FloatArray:
    grid = np.asarray(curve.grid_values[0], dtype=float)
    if output not in curve.outputs or not grid.size:
        return np.full(len(places), np.nan)
    values = centred(curve, output)
    return np.asarray(np.interp(places, grid, values, left=np.nan, right=np.nan))


def _draw_rows(
    drawing: Drawing, scale: Scale, curve: Curve, names: Sequence[object] | None
) -> None:
    if names is None:
        drawing.y_axis(scale, (LEFT, LEFT), *marks_along(scale, curve, 0, 4))
        return
    for k in range(0, len(names), -(-len(names) // NAMES)):
        drawing.text(LEFT - 5, scale(k) + 3.5, named(names[k], 8), anchor="end")


def _draw_time(
    drawing: Drawing,
    across: Scale,
    history: Sequence[tuple[int, Curve]],
    marks: Sequence[Mark],
) -> None:
    """The axis of time, with a line at each change."""
    draw_clock(drawing, across, (BOTTOM, SIZE[1] - 6), clock_of(history))
    for mark in marks:
        if across.low <= mark.n <= across.high:
            at, kind = across(mark.n), "d-model" if mark.is_model else "d-data"
            drawing.line((at, at), (TOP - 3, BOTTOM), f"d-mark {kind}")


def series_drawing(
    title: str,
    series: tuple[Array, FloatArray],
    marks: Sequence[Mark],
    say: Callable[[float], str] = few_digits,
    clock: Clock | None = None,
) -> str:
    """A metric over time, with a line at each change; empty if there are too few values."""
    n, values = np.asarray(series[0], dtype=float), np.asarray(series[1], dtype=float)
    known = np.isfinite(values)
    n, values = n[known], values[known]
    if len(n) < 2:
        return ""
    width, height = 380.0, 182.0
    drawing = Drawing(width, height, f"{title} over time")
    drawing.text(4, 12, capital(title), "d-title")
    across = Scale(0.0, float(n[-1]), LEFT, width - 10)
    up = Scale.around(_calm(values), 146.0, TOP, 0.1)
    drawing.y_axis(up, (LEFT, width - 10), say)
    draw_clock(drawing, across, (148.0, height - 4), clock)
    for mark in marks:
        at, kind = across(mark.n), "d-model" if mark.is_model else "d-data"
        drawing.line((at, at), (TOP - 3, 148.0), f"d-mark {kind}")
    kept = np.unique(np.linspace(0, len(n) - 1, 400).round().astype(int))
    heights = np.array([up(v) for v in values[kept]])
    # What is beyond the scale is not drawn as if it were at its end.
    is_beyond = (heights < TOP) | (heights > 146.0)
    heights[is_beyond] = np.nan
    drawing.path([across(k) for k in n[kept]], heights.tolist(), "d-line d-metric")
    last = n[kept][is_beyond].max(initial=0.0)
    if last > _LONG * n[-1]:
        when = "at first" if clock is not None else f"until {last:,.0f}"
        drawing.text(width - 10, 12, f"beyond this scale {when}", anchor="end")
    return str(drawing)


def _calm(values: FloatArray) -> FloatArray:
    """The values without those at the beginning that would squeeze all others.

    The first answers of a model that learns are wild. What comes in the second half is never cut.
    """
    calm, late = values[len(values) // 20 :], values[len(values) // 2 :]
    low, high = late.min(), late.max()
    reach = _WILD * max(high - low, 0.1 * max(abs(low), abs(high)))
    return np.asarray(calm[(calm >= low - reach) & (calm <= high + reach)])
