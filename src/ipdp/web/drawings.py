"""The drawings of a report: a curve, its effect over time, a metric; SVG that needs no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.places import is_time
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.core.words import few_digits
from ipdp.log.beliefs import value_text
from ipdp.plot.shown.clock import clock_ticks
from ipdp.plot.shown.curve import SPREAD
from ipdp.plot.shown.style import named
from ipdp.plot.shown.values import (
    Axis,
    Rug,
    chosen_outputs,
    differs,
    past_beside,
    rug_of,
    spread_ends,
)
from ipdp.web.svg import Drawing, Scale, ticks, viridis

LEVEL = 0.95

SIZE = 360.0, 224.0
"""Width and height of a drawing."""

LEFT, RIGHT, TOP, BOTTOM = 48.0, 350.0, 30.0, 186.0
"""Where the axes of a drawing are."""

# Above the axis: the histogram of recent values.
_STRIP = 20.0
# Beside the curve: the point of missing values.
_MISSING = 44.0
NAMES, _LETTERS = 9, 10
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
        shown = [_extent(chosen_outputs(curve, None)) for curve in single]
        flat = np.concatenate([values.ravel() for values in shown]) if shown else np.empty(0)
        known = flat[np.isfinite(flat)]
        if not known.size:
            return cls(target)
        effects = [abs(centred(c, main_of(c))) for c in single]
        reach = float(np.nanmax(np.concatenate(effects), initial=0.0)) or None
        more = 0.08 * float(np.ptp(known)) or 0.5 * abs(float(known[0])) or 1.0
        low, high = float(known.min()) - more, float(known.max()) + more
        if single[0].are_probabilities and single[0].kind != "ale":
            low, high = max(low, 0.0), min(high, 1.0)
        return cls(target, (low, high), reach)


def curve_drawing(
    whole: Curve,
    common: Common | None = None,
    *,
    title: str | None = None,
    beside: Curve | None = None,
) -> str:
    """A curve with its band and the recent values of the feature; of a pair its surface.

    `beside` is another curve of the feature, in dashes.
    """
    common = common or Common()
    shown = chosen_outputs(whole, None)
    if not shown.outputs:
        return ""
    one = shown.outputs[0] if len(shown.outputs) == 1 else None
    name = whole.output_text(one, common.target)
    said = capital(name) if title is None else title
    drawing = Drawing(*SIZE, f"{name} along {named(whole.feature)}")
    drawing.text(4, 12, named(said, 52), "d-title")
    if len(whole.grid_values) == 2:
        _draw_surface(drawing, whole)
    else:
        _draw_lines(drawing, whole, shown, common, beside)
    drawing.text((LEFT + RIGHT) / 2, SIZE[1] - 6, named(whole.feature, 44), anchor="middle")
    return str(drawing)


def _draw_lines(
    drawing: Drawing, whole: Curve, shown: Curve, common: Common, other: Curve | None
) -> None:
    [grid] = whole.grid_values
    categorical = whole.categorical[0]
    x = np.array(axis_of(whole))
    right = RIGHT - (_MISSING if shown.missing is not None else 0.0)
    across = Scale.around(x, LEFT + 4, right, 0.12 if categorical else 0.02)
    low, high = shown.band(LEVEL, simultaneous=True)
    if _is_chance(whole):
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    floor = draw_rug(drawing, across, rug_of(whole, x), right)
    if common.ends is None:
        up = Scale.around(_without_wild_ends(shown.average, low, high), floor - 4, TOP, 0.06)
    else:
        up = Scale(*common.ends, floor - 4, TOP)
    drawing.y_axis(up, (LEFT, RIGHT), value_text(whole))
    if other is not None:
        _draw_beside(drawing, shown, other, (across, up))
    elif differs(shown) and len(shown.outputs) == 1:
        _draw_spread(drawing, shown, (across, up, floor))
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
    draw_x_axis(drawing, across, names, marks_along(across, whole, 0))
    if len(shown.outputs) > 1:
        _draw_legend(drawing, shown.outputs)


def _extent(shown: Curve) -> FloatArray:
    """What the axis of a curve has to hold: its line, and the spread where that is drawn."""
    if len(shown.outputs) != 1 or not differs(shown):
        return shown.average
    ends = spread_ends(shown, within=_is_chance(shown))
    return np.stack([shown.average, *ends])


def _is_chance(curve: Curve) -> bool:
    return curve.are_probabilities and curve.kind != "ale"


def draw_rug(drawing: Drawing, across: Scale, rug: Rug | None, right: float = RIGHT) -> float:
    """The histogram of recent values above the axis; gives back how far down lines may reach."""
    if rug is None:
        return BOTTOM
    tallest = max(float(np.max(rug.counts)), 1.0)
    for left, end, count in zip(rug.left, rug.right, rug.counts, strict=True):
        sides = [min(max(across(side), LEFT), right) for side in (left, end)]
        top = BOTTOM - 0.85 * _STRIP * float(count) / tallest
        drawing.bar((sides[0], sides[1]), (BOTTOM, top), "d-rug")
    return BOTTOM - _STRIP


def _draw_spread(drawing: Drawing, shown: Curve, to: tuple[Scale, Scale, float]) -> None:
    """The band of single observations, behind the curve, and what it is."""
    across, up, floor = to
    ends = [
        [min(max(up(v), TOP), floor) for v in end[0]]
        for end in spread_ends(shown, within=_is_chance(shown))
    ]
    draw_spread(
        drawing, [across(v) for v in axis_of(shown)], ends, is_category=shown.categorical[0]
    )
    drawing.bar((LEFT + 4, LEFT + 16), (TOP - 13, TOP - 5), "d-spread")
    drawing.text(LEFT + 20, TOP - 5.5, SPREAD)


def _draw_beside(drawing: Drawing, shown: Curve, other: Curve, to: tuple[Scale, Scale]) -> None:
    """Another curve in dashes; at categories short ones."""
    across, up = to
    axis = Axis(categorical=shown.categorical[0], categories=shown.grid_values[0].tolist())
    places = [across(v) for v in axis.positions(other.grid_values[0])]
    for output in shown.outputs:
        if output not in other.outputs:
            continue
        heights = [up(v) for v in other.average[other.outputs.index(output)]]
        if not shown.categorical[0]:
            drawing.path(places, heights, "d-past")
            continue
        for at, height in zip(places, heights, strict=True):
            drawing.line((at - 9, at + 9), (height, height), "d-past")


def draw_spread(
    drawing: Drawing, places: Sequence[float], ends: Sequence[Sequence[float]], *, is_category: bool
) -> None:
    """A band between two ends; of categories a bar each."""
    if not is_category:
        drawing.area(places, ends[0], ends[1], kind="d-spread")
        return
    for at, bottom, top in zip(places, *ends, strict=True):
        if np.isfinite(bottom + top):
            drawing.bar((at - 9, at + 9), (bottom, top), "d-spread")


def axis_of(curve: Curve) -> list[float]:
    """Where the points of a curve stand on its axis: categories one after the other."""
    [grid] = curve.grid_values
    return list(map(float, range(len(grid)) if curve.categorical[0] else grid))


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
        drawing.dot(x + 4, TOP - 9, f"d-c{k + 1}", 3.5)
        drawing.text(x + 11, TOP - 5.5, said)
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
    step = -(-len(names) // NAMES)
    width = max(3, int(_LETTERS * 6 / max(min(len(names), NAMES), 1)) + 2)
    places = [float(k) for k in range(0, len(names), step)]
    drawing.x_axis(scale, BOTTOM, lambda k: named(names[int(k)], width), places)


def marks_along(
    scale: Scale, curve: Curve, axis: int, most: int = 5
) -> tuple[Callable[[float], str], list[float]]:
    """What is written along an axis of numbers, or of times, and where."""
    if is_time(curve, axis):
        places, texts = clock_ticks(scale.low, scale.high)
        return dict(zip(places, texts, strict=True)).__getitem__, places
    return few_digits, ticks(scale.low, scale.high, most)


def _draw_surface(drawing: Drawing, curve: Curve) -> None:
    """The surface of a pair, with recent observations as dots."""
    values = curve.select(main_of(curve)).average[0]
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
    draw_x_axis(drawing, axes[0], names, marks_along(axes[0], curve, 0))
    if not curve.categorical[1]:
        drawing.y_axis(axes[1], (LEFT, LEFT), *marks_along(axes[1], curve, 1, 4))
    column = np.linspace(1.0, 0.0, 33)[:, np.newaxis]
    draw_key(drawing, (low, high), value_text(curve), viridis(column, 0.0, 1.0))


def draw_key(
    drawing: Drawing, ends: tuple[float, float], say: Callable[[float], str], colours: Array
) -> None:
    """What the colours mean."""
    x = RIGHT - 55.0
    drawing.picture((x, x + 9), (TOP, BOTTOM), colours)
    drawing.text(x + 13, TOP + 9, say(ends[1]))
    drawing.text(x + 13, BOTTOM, say(ends[0]))


def centred(curve: Curve, output: Label) -> FloatArray:
    """The curve of one output minus its mean over its points."""
    values = curve.average[curve.outputs.index(output)]
    known = values[np.isfinite(values)]
    return np.asarray(values - (known.mean() if known.size else 0.0))


def main_of(curve: Curve) -> Label:
    """The output that is drawn where there is room for one."""
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


def capital(text: str) -> str:
    """A text as it begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"
