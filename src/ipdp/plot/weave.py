"""The curves of one feature over time as one table of values, for whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FloatArray, Label
from ipdp.plot.outputs import are_probabilities, y_label
from ipdp.plot.support import about_its_mean, around, is_whole, known

# Number of rows that the range of a number is divided into.
_ROWS = 240
# Share of the axis on either side of a range that is a single point.
_LEAST = 0.01


@dataclass(frozen=True)
class Weave:
    """Values of a feature's curves: a row for each place on its axis, a column for each time.

    Attributes
    ----------
    times, time_edges
        Times of the columns, and the borders between them.
    places, place_edges
        Middles of the rows and their borders; for categories their numbers.
    categories
        The categories in order of appearance; None for numbers.
    values
        The partial dependence, of shape (rows, columns); NaN where a curve did not reach.
    label
        What the values are.
    whole
        Whether the feature's values are whole numbers.
    """

    times: FloatArray
    time_edges: FloatArray
    places: FloatArray
    place_edges: FloatArray
    categories: list[Any] | None
    values: FloatArray
    label: str
    whole: bool


def woven(
    times: FloatArray, curves: Sequence[Curve], *, output: Label | None, centred: bool
) -> Weave:
    """Put curves together on one axis; each is shown in its own range only."""
    if len(curves[0].grid_values) > 1:
        raise ValueError(
            f"{curves[0].feature!r} is a pair, which has no carpet: draw its surface at one time, "
            "or the carpets of the two features"
        )
    # A feature whose kind was found out late begins anew with other points.
    kind = curves[-1].categorical
    kept = [k for k, curve in enumerate(curves) if curve.categorical == kind]
    times, curves = times[kept], [curves[k] for k in kept]
    output = _output(curves, output)
    label = y_label(curves[-1], curves[-1].select(output))
    rows = [_row(curve, output, centred=centred) for curve in curves]
    if kind[0]:
        categories, places, values = _by_category(curves, rows)
        edges = np.asarray(np.arange(len(places) + 1) - 0.5, dtype=float)
    else:
        categories = None
        edges, values = _by_number(curves, rows)
        places = (edges[1:] + edges[:-1]) / 2
    return Weave(
        times,
        edges_around(times),
        places,
        edges,
        categories,
        values,
        f"{label}, centred" if centred else label,
        is_whole(curves[-1]),
    )


def _output(curves: Sequence[Curve], output: Label | None) -> Label:
    """The output to show: the one asked for, the second of two classes, else the strongest."""
    last = curves[-1]
    if output is not None:
        last.select(output)
        return output
    if len(last.outputs) == 2 and are_probabilities(last):
        return last.outputs[1]
    strength = dict.fromkeys(last.outputs, 0.0)
    for curve in curves:
        for name, importance in zip(curve.outputs, curve.importance, strict=True):
            if name in strength and not np.isnan(importance):
                strength[name] += float(importance)
    return max(strength, key=lambda name: strength[name])


def _row(curve: Curve, output: Label, *, centred: bool) -> FloatArray:
    """The values of one curve; NaN where the output had not been met."""
    if output not in curve.outputs:
        return np.full(len(curve.grid_values[0]), np.nan)
    one = curve.select(output)
    return np.asarray(known(about_its_mean(one) if centred else one)[0])


def _by_category(
    curves: Sequence[Curve], rows: Sequence[FloatArray]
) -> tuple[list[Any], FloatArray, FloatArray]:
    categories = list(
        dict.fromkeys(category for curve in curves for category in curve.grid_values[0].tolist())
    )
    numbers = {category: k for k, category in enumerate(categories)}
    values = np.full((len(categories), len(curves)), np.nan)
    for column, (curve, row) in enumerate(zip(curves, rows, strict=True)):
        values[[numbers[c] for c in curve.grid_values[0].tolist()], column] = row
    return categories, np.arange(len(categories), dtype=float), values


def _by_number(
    curves: Sequence[Curve], rows: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    grids = [np.asarray(curve.grid_values[0], dtype=float) for curve in curves]
    ends = [(grid[0], grid[-1]) for grid in grids if len(grid)]
    low = min((first for first, _ in ends), default=0.0)
    high = max((last for _, last in ends), default=0.0)
    if not high > low:
        low, high = around(low)
    edges = np.linspace(low, high, _ROWS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    values = np.full((_ROWS, len(curves)), np.nan)
    for column, (grid, row) in enumerate(zip(grids, rows, strict=True)):
        if len(grid):
            # Every row that the range touches, and some more where it is a single point.
            more = _LEAST * (high - low) if grid[0] == grid[-1] else 0.0
            touched = (edges[1:] >= grid[0] - more) & (edges[:-1] <= grid[-1] + more)
            values[touched, column] = np.interp(middles[touched], grid, row)
    return edges, values


def edges_around(centres: FloatArray) -> FloatArray:
    """The borders of tiles around some points.

    Examples
    --------
    >>> import numpy as np
    >>> edges_around(np.array([1.0, 3.0, 4.0]))
    array([0. , 2. , 3.5, 4.5])
    """
    if len(centres) < 2:
        return np.array([c + d for c in centres[:1] for d in (-0.5, 0.5)])
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middles[0]], middles, [2 * centres[-1] - middles[-1]]])
