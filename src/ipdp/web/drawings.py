"""The drawings of a report: a curve, its effect over time, a metric; SVG that needs no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.places import is_time
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.core.words import few_digits
from ipdp.log.beliefs import effect_text, output_name, value_text
from ipdp.plot.shown.clock import clock_ticks
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import chosen_outputs, past_beside, rug_of
from ipdp.web.clock import Clock, clock_of, draw_clock
from ipdp.web.svg import Drawing, Scale, diverging, ticks, viridis

LEVEL = 0.95

SIZE = 360.0, 224.0
"""Width and height of a drawing."""

LEFT, RIGHT, TOP, BOTTOM = 48.0, 350.0, 26.0, 186.0
"""Where the axes of a drawing are."""

# Above the axis: the histogram of recent values.
_STRIP = 20.0
# Beside the curve: the point of missing values.
_MISSING = 44.0
_NAMES, _LETTERS = 9, 10
_ROWS, _COLUMNS = 36, 160
_FEW = 20  # snapshots
_LINES = 6


@dataclass(frozen=True)
class Mark:
    """A change on an axis of time: when, and whether the model changed."""

    n: float
    is_model: bool


@dataclass(frozen=True)
class Common:
    """What the drawings of all features share, so that they can be compared.

    Attributes
    ----------
    target
        The name of what the model predicts; None if it is not known.
    ends
        Of the axis of the outputs; None: each has its own.
    reach
        The effect that has the strongest colour; None: each has its own.
    """

    target: str | None = None
    ends: tuple[float, float] | None = None
    reach: float | None = None

    @classmethod
    def of(cls, curves: Sequence[Curve], target: str | None = None) -> Common:
        """What some curves of one time share."""
        single = [c for c in curves if len(c.grid_values) == 1 and c.outputs]
        shown = [chosen_outputs(curve, None).average for curve in single]
        flat = np.concatenate([values.ravel() for values in shown]) if shown else np.empty(0)
        known = flat[np.isfinite(flat)]
        if not known.size:
            return cls(target)
        centred = [abs(_centred(c, _main(c))) for c in single]
        reach = float(np.nanmax(np.concatenate(centred), initial=0.0)) or None
        more = 0.08 * float(np.ptp(known)) or 0.5 * abs(float(known[0])) or 1.0
        low, high = float(known.min()) - more, float(known.max()) + more
        if single[0].are_probabilities and single[0].kind != "ale":
            low, high = max(low, 0.0), min(high, 1.0)
        return cls(target, (low, high), reach)


def curve_drawing(whole: Curve, common: Common | None = None) -> str:
    """A curve with its band and the recent values of the feature; of a pair its surface."""
    common = common or Common()
    shown = chosen_outputs(whole, None)
    if not shown.outputs:
        return ""
    one = shown.outputs[0] if len(shown.outputs) == 1 else None
    title = output_name(whole, one, common.target)
    drawing = Drawing(*SIZE, f"{title} along {named(whole.feature)}")
    drawing.text(4, 12, named(_capital(title), 52), "d-title")
    if len(whole.grid_values) == 2:
        _draw_surface(drawing, whole)
    else:
        _draw_lines(drawing, whole, shown, common)
    drawing.text((LEFT + RIGHT) / 2, SIZE[1] - 6, named(whole.feature, 44), anchor="middle")
    return str(drawing)


def _draw_lines(drawing: Drawing, whole: Curve, shown: Curve, common: Common) -> None:
    [grid] = whole.grid_values
    categorical = whole.categorical[0]
    x = np.arange(len(grid), dtype=float) if categorical else np.asarray(grid, dtype=float)
    right = RIGHT - (_MISSING if shown.missing is not None else 0.0)
    across = Scale.around(x, LEFT + 4, right, 0.12 if categorical else 0.02)
    low, high = shown.band(LEVEL, simultaneous=True)
    if whole.are_probabilities and whole.kind != "ale":
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    rug = rug_of(whole, x)
    floor = BOTTOM - (_STRIP if rug is not None else 0.0)
    if common.ends is None:
        up = Scale.around(_without_wild_ends(shown.average, low, high), floor - 4, TOP, 0.06)
    else:
        up = Scale(*common.ends, floor - 4, TOP)
    drawing.y_axis(up, (LEFT, RIGHT), value_text(whole))
    if rug is not None:
        tallest = max(float(np.max(rug.counts)), 1.0)
        for left, end, count in zip(rug.left, rug.right, rug.counts, strict=True):
            sides = [min(max(across(side), LEFT), right) for side in (left, end)]
            top = BOTTOM - 0.85 * _STRIP * float(count) / tallest
            drawing.bar((sides[0], sides[1]), (BOTTOM, top), "d-rug")
    past = past_beside(shown, probabilities=whole.are_probabilities)
    for k in range(min(len(shown.outputs), _LINES)):
        places = [across(v) for v in x.tolist()]
        heights = [up(v) for v in shown.average[k]]
        ends = [[min(max(up(v), TOP), floor) for v in edge[k]] for edge in (low, high)]
        kind = f"d-c{k + 1}" if len(shown.outputs) > 1 else "d-now"
        if categorical:
            for at, height, bottom, top in zip(places, heights, *ends, strict=True):
                drawing.line((at, at), (bottom, top), f"d-line {kind}")
                drawing.dot(at, height, kind, 4)
        else:
            if len(shown.outputs) == 1:
                drawing.area(places, *ends)
            if past is not None and len(shown.outputs) == 1:
                drawing.path(places, [up(v) for v in past[k]], "d-past")
            drawing.path(places, heights, f"d-line {kind}")
        _draw_missing(drawing, shown, k, (up, kind))
    names = grid.tolist() if categorical else None
    draw_x_axis(drawing, across, names, _marks_along(across, whole, 0))
    if len(shown.outputs) > 1:
        _draw_legend(drawing, shown.outputs)


def _draw_missing(drawing: Drawing, shown: Curve, k: int, to: tuple[Scale, str]) -> None:
    """The point of missing values, beside the curve."""
    if shown.missing is None or not np.isfinite(shown.missing[k]):
        return
    up, kind = to
    at = RIGHT - _MISSING / 3
    low, high = (float(end[k]) for end in shown.missing_band(LEVEL))
    if np.isfinite(low + high):
        drawing.line((at, at), (up(low), up(high)), f"d-line {kind}")
    drawing.dot(at, up(float(shown.missing[k])), kind, 3.5)
    drawing.text(at, BOTTOM + 13, "missing", anchor="middle")


def _draw_legend(drawing: Drawing, outputs: Sequence[Label]) -> None:
    x = LEFT
    for k, output in enumerate(outputs[:_LINES]):
        said = named(output, 12)
        drawing.dot(x + 4, TOP - 5, f"d-c{k + 1}", 3.5)
        drawing.text(x + 11, TOP - 1.5, said)
        x += 22 + 6.2 * len(said)


def draw_x_axis(
    drawing: Drawing,
    scale: Scale,
    names: Sequence[object] | None,
    marks: tuple[Callable[[float], str], list[float]] | None = None,
) -> None:
    """The axis of a feature: these categories, else numbers, or what is written at some marks."""
    if names is None:
        say, places = marks or (few_digits, ticks(scale.low, scale.high, 5))
        drawing.x_axis(scale, BOTTOM, say, places)
        return
    step = -(-len(names) // _NAMES)
    width = max(3, int(_LETTERS * 6 / max(min(len(names), _NAMES), 1)) + 2)
    places = [float(k) for k in range(0, len(names), step)]
    drawing.x_axis(scale, BOTTOM, lambda k: named(names[int(k)], width), places)


def _marks_along(
    scale: Scale, curve: Curve, axis: int, most: int = 5
) -> tuple[Callable[[float], str], list[float]]:
    """What is written along an axis of numbers, or of times, and where."""
    if is_time(curve, axis):
        places, texts = clock_ticks(scale.low, scale.high)
        return dict(zip(places, texts, strict=True)).__getitem__, places
    return few_digits, ticks(scale.low, scale.high, most)


def _draw_surface(drawing: Drawing, curve: Curve) -> None:
    """The surface of a pair, with recent observations as dots."""
    values = curve.select(_main(curve)).average[0]
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    box = (LEFT, RIGHT - 60), (TOP, BOTTOM)
    drawing.picture(*box, viridis(values.T[::-1], low, high))
    axes = []
    for axis, (start, end) in enumerate((box[0], box[1][::-1])):
        grid, is_category = curve.grid_values[axis], curve.categorical[axis]
        places = np.arange(len(grid)) if is_category else np.asarray(grid, dtype=float)
        axes.append(Scale.around(places, start, end))
    names = curve.grid_values[0].tolist() if curve.categorical[0] else None
    draw_x_axis(drawing, axes[0], names, _marks_along(axes[0], curve, 0))
    if not curve.categorical[1]:
        drawing.y_axis(axes[1], (LEFT, LEFT), *_marks_along(axes[1], curve, 1, 4))
    column = np.linspace(1.0, 0.0, 33)[:, np.newaxis]
    _draw_key(drawing, (low, high), value_text(curve), viridis(column, 0.0, 1.0))


def _draw_key(
    drawing: Drawing, ends: tuple[float, float], say: Callable[[float], str], colours: Array
) -> None:
    """What the colours mean."""
    x = RIGHT - 55.0
    drawing.picture((x, x + 9), (TOP, BOTTOM), colours)
    drawing.text(x + 13, TOP + 9, say(ends[1]))
    drawing.text(x + 13, BOTTOM, say(ends[0]))


# Over time.


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
    output = _main(newest)
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
    _draw_key(drawing, (-reach, reach), effect_text(newest), diverging(column, reach))
    return str(drawing)


def _centred(curve: Curve, output: Label) -> FloatArray:
    """The curve of one output minus its mean over its points."""
    values = curve.average[curve.outputs.index(output)]
    known = values[np.isfinite(values)]
    return np.asarray(values - (known.mean() if known.size else 0.0))


def _carpet(
    curves: Sequence[Curve], output: Label
) -> tuple[FloatArray, tuple[float, float], list[object] | None]:
    """Values by row and column, the ends of the axis, and the names of the rows, if any."""
    if curves[-1].categorical[0]:
        newest_first = reversed(curves)
        names = list(dict.fromkeys(v for c in newest_first for v in c.grid_values[0].tolist()))
        values = np.full((len(names), len(curves)), np.nan)
        for column, curve in enumerate(curves):
            if output in curve.outputs:
                rows = [names.index(v) for v in curve.grid_values[0].tolist()]
                values[rows, column] = _centred(curve, output)
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
    values = _centred(curve, output)
    return np.asarray(np.interp(places, grid, values, left=np.nan, right=np.nan))


def _draw_rows(
    drawing: Drawing, scale: Scale, curve: Curve, names: Sequence[object] | None
) -> None:
    if names is None:
        drawing.y_axis(scale, (LEFT, LEFT), *_marks_along(scale, curve, 0, 4))
        return
    for k in range(0, len(names), -(-len(names) // _NAMES)):
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
    width, height = 480.0, 176.0
    drawing = Drawing(width, height, f"{title} over time")
    drawing.text(4, 12, _capital(title), "d-title")
    across = Scale(0.0, float(n[-1]), LEFT, width - 10)
    # The first answers of a model that learns are wild, and would squeeze all others.
    calm = values[len(values) // 20 :]
    up = Scale.around(np.concatenate([calm, values[-1:]]), 146.0, TOP, 0.1)
    drawing.y_axis(up, (LEFT, width - 10), say)
    draw_clock(drawing, across, (148.0, height - 4), clock)
    for mark in marks:
        at, kind = across(mark.n), "d-model" if mark.is_model else "d-data"
        drawing.line((at, at), (TOP - 3, 148.0), f"d-mark {kind}")
    kept = np.unique(np.linspace(0, len(n) - 1, 400).round().astype(int))
    heights = [min(max(up(v), TOP), 146.0) for v in values[kept]]
    drawing.path([across(k) for k in n[kept]], heights, "d-line d-metric")
    return str(drawing)


def _main(curve: Curve) -> Label:
    output = curve.main_output
    assert output is not None  # a curve that is drawn has outputs
    return output


def _without_wild_ends(average: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """What the axis must hold: the lines, and bands as far as these are not much wider."""
    known = average[np.isfinite(average)]
    if not known.size:
        return np.array([0.0, 1.0])
    reach = max(float(np.ptp(known)), 1e-12)
    ends = np.concatenate([low.ravel(), high.ravel()])
    ends = ends[np.isfinite(ends)]
    return np.concatenate([known, np.clip(ends, known.min() - reach, known.max() + reach)])


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
