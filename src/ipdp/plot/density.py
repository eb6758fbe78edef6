"""The density of observations over the surface of a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.observations import observations
from ipdp.core.typing import Array, FloatArray
from ipdp.grid.base import is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS = 60
# Width of the kernel in standard deviations, by Scott's rule for two dimensions: n^(-1/6).
_SCOTT = -1 / 6
# Shares of the observations that the contours lie around.
SHARES = (0.5, 0.8, 0.95)
_LARGEST_DOT = 160.0
# Fewer observations have no density worth a line.
_ENOUGH = 10


class Density(NamedTuple):
    """Density of two numbers on a lattice, and the heights of its contours, ascending."""

    x: FloatArray
    y: FloatArray
    z: FloatArray
    levels: FloatArray


class Counts(NamedTuple):
    """How many observations are nearest to each point of the grid, of shape (m1, m2)."""

    values: Array


def density_of(curve: Curve, data: Any = None) -> Density | Counts | None:
    """The density where the surface is, of data or else of recent values; None of too few."""
    columns = _recent(curve) if data is None else _columns(curve, data)
    if data is None and len(columns[0]) < _ENOUGH:
        return None
    if any(curve.categorical):
        return Counts(_counts(curve, columns))
    x, y = (np.asarray(column, dtype=float) for column in columns)
    ends = [(float(axis.min()), float(axis.max())) for axis in curve.grid_values]
    within = _within(x, ends[0]) & _within(y, ends[1])
    x, y = x[within], y[within]
    if len(x) < _ENOUGH or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=_CELLS, range=ends)
    z = _smoothed(counts, x_edges, x.std() * len(x) ** _SCOTT)
    z = _smoothed(z.T, y_edges, y.std() * len(x) ** _SCOTT).T
    return Density(_middles(x_edges), _middles(y_edges), z, _levels(z))


def _recent(curve: Curve) -> tuple[list[Any], list[Any]]:
    """The two features of recent observations, as the curve knows them."""
    first, second = curve.rug or ([], [])
    return list(first), list(second)


def _columns(curve: Curve, data: Any) -> tuple[list[Any], list[Any]]:
    """The two features of the observations that have both."""
    first, second = curve.features
    rows = [
        (row[first], row[second])
        for row in observations(data, None)
        if not is_missing(row.get(first)) and not is_missing(row.get(second))
    ]
    if not rows:
        raise ValueError(f"data has no observation with both {first!r} and {second!r}")
    return [a for a, _ in rows], [b for _, b in rows]


def _counts(curve: Curve, columns: tuple[list[Any], list[Any]]) -> Array:
    places = []
    for values, axis, categorical in zip(
        columns, curve.grid_values, curve.categorical, strict=True
    ):
        if categorical:
            numbers = {category: k for k, category in enumerate(axis.tolist())}
            places.append(np.array([numbers.get(value, -1) for value in values]))
        else:
            gaps = np.abs(np.asarray(values, dtype=float)[:, None] - axis.astype(float))
            places.append(gaps.argmin(axis=1))
    known = (places[0] >= 0) & (places[1] >= 0)
    counts = np.zeros(tuple(len(axis) for axis in curve.grid_values), dtype=int)
    np.add.at(counts, (places[0][known], places[1][known]), 1)
    return counts


def _smoothed(z: FloatArray, edges: FloatArray, width: float) -> FloatArray:
    """Gaussian smoothing along the first axis; nothing is lost at the borders."""
    middles = _middles(edges)
    kernel = np.exp(-0.5 * ((middles[:, None] - middles) / width) ** 2)
    return np.asarray((kernel / kernel.sum(axis=0)) @ z)


def _levels(z: FloatArray) -> FloatArray:
    """Heights above which the shares of all observations are."""
    heights = np.sort(z, axis=None)[::-1]
    inside = np.cumsum(heights) / heights.sum()
    return np.unique([heights[np.searchsorted(inside, share)] for share in SHARES])


def _within(values: FloatArray, ends: tuple[float, float]) -> Array:
    return np.asarray((values >= ends[0]) & (values <= ends[1]))


def _middles(edges: FloatArray) -> FloatArray:
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def draw_density(ax: Axes, found: Density | Counts, axes: list[FloatArray]) -> Any:
    """Lines around the data, dots where there are categories; seen on any colour."""
    from matplotlib.patheffects import withStroke

    if isinstance(found, Counts):
        x, y = np.meshgrid(*axes, indexing="ij")
        sizes = _LARGEST_DOT * found.values / max(found.values.max(), 1)
        dots: dict[str, Any] = {
            "facecolors": "white",
            "edgecolors": (0, 0, 0, 0.6),
            "linewidths": 0.8,
        }
        return ax.scatter(x.ravel(), y.ravel(), s=sizes.ravel(), zorder=3, **dots)
    lines = ax.contour(
        found.x, found.y, found.z.T, levels=found.levels, colors="white", linewidths=1.0
    )
    lines.set_path_effects([withStroke(linewidth=2.0, foreground=(0, 0, 0, 0.45))])
    return lines
