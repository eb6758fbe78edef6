"""What is drawn of a pair: its surface, and the density of the observations over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.observations import observations
from ipdp.core.places import is_time
from ipdp.core.times import date_text
from ipdp.core.typing import Array, FloatArray
from ipdp.core.words import few_digits, percent
from ipdp.grid.base import is_missing
from ipdp.plot.shown.curve import Options, ShownCurve, shown_curve
from ipdp.plot.shown.style import named, output_label, time_text
from ipdp.plot.shown.values import (
    Axis,
    about_its_mean,
    chosen_outputs,
    is_pair,
    known,
    round_levels,
    symmetric_range,
)

_CELLS = 60
# Width of the kernel in standard deviations, by Scott's rule for two dimensions: n^(-1/6).
_SCOTT = -1 / 6
# Shares of the observations that the contours lie around.
SHARES = (0.5, 0.8, 0.95)
# Fewer observations have no density worth a line.
_ENOUGH = 10


class Density(NamedTuple):
    """Density of two numbers on a lattice, and the heights of its contours, ascending."""

    x: FloatArray
    y: FloatArray
    z: FloatArray
    levels: FloatArray


@dataclass(frozen=True)
class ShownPair:
    """What is drawn of the surface of two features."""

    features: tuple[str, ...]  # labels of the two axes
    label: str  # of the colours
    title: str  # when the surface was taken
    axes: tuple[FloatArray, FloatArray]  # positions of the points
    categories: tuple[list[Any] | None, ...]  # what stands at 0, 1, 2, ... of each axis
    times: tuple[bool, ...]  # for each axis whether its numbers are seconds since 1970
    z: FloatArray  # the values, of shape (m2, m1); NaN where nothing is known
    levels: FloatArray | None  # of filled contours; None where tiles are drawn
    z_range: tuple[float, float] | None  # ends of the colours around zero, of a centred surface
    # Of the observations; with categories their number at each point, of shape (m1, m2).
    density: Density | Array | None
    ticks: list[FloatArray]  # recent values along each axis, where they are too few for a density
    is_empty: bool  # whether there is nothing to see yet

    def place_texts(self, axis: int) -> list[str]:
        """What stands at the points of an axis, in words."""
        categories, positions = self.categories[axis], self.axes[axis]
        if categories is not None:
            return list(map(named, categories))
        write = date_text if self.times[axis] else few_digits
        return [write(value, float(np.ptp(positions))) for value in positions.tolist()]


def shown_pair(whole: Curve, **options: Any) -> ShownPair:
    """What is drawn of a pair, with `Options`; those of lines mean nothing here."""
    wanted = Options(**options)
    if wanted.trail or wanted.compare is not None:
        name = "trail" if wanted.trail else "compare"
        raise ValueError(f"{name} is for single features, and {whole.feature!r} is a pair")
    curve = chosen_outputs(whole, wanted.output)
    if wanted.centred:
        curve = about_its_mean(curve)
    both = [Axis(categorical=categorical) for categorical in curve.categorical]
    x, y = (axis.positions(values) for axis, values in zip(both, curve.grid_values, strict=True))
    z = known(curve)[0].T if curve.outputs else np.full((len(y), len(x)), np.nan)
    with_density = wanted.rug or wanted.data is not None
    density = density_of(curve, wanted.data) if with_density else None
    return ShownPair(
        features=tuple(map(named, curve.features)),
        label=output_label(whole, curve, centred=wanted.centred),
        title=_title(curve),
        axes=(x, y),
        categories=tuple(axis.categories for axis in both),
        times=(is_time(curve, 0), is_time(curve, 1)),
        z=z,
        levels=_levels_of(curve, (x, y), z),
        z_range=symmetric_range(z) if wanted.centred else None,
        density=density,
        ticks=_ticks(curve) if wanted.rug and density is None else [np.empty(0)] * 2,
        is_empty=not np.isfinite(z).any(),
    )


def _title(curve: Curve) -> str:
    """When the surface was taken, and how much of it is not the sum of two curves."""
    parts = [time_text(curve.t)]
    if curve.h_squared is not None and np.isfinite(curve.h_squared).all() and curve.outputs:
        parts.append(f"interaction: {percent(curve.h_squared[0])} of the variance (H²)")
    return ", ".join(part for part in parts if part)


def shown_of(curve: Curve, **options: Any) -> ShownCurve | ShownPair:
    """What is drawn of a curve or of a pair, with `Options`."""
    return shown_pair(curve, **options) if is_pair(curve) else shown_curve(curve, **options)


def _levels_of(
    curve: Curve, axes: tuple[FloatArray, FloatArray], z: FloatArray
) -> FloatArray | None:
    """Levels of contours; None where one cannot draw any."""
    there = z[np.isfinite(z)]
    smooth = (
        not any(curve.categorical)
        and min(z.shape) > 1
        and all(np.all(np.diff(axis) > 0) for axis in axes)
        and there.size > 1
        and np.ptp(there) > 0
    )
    return round_levels(float(there.min()), float(there.max())) if smooth else None


def _ticks(curve: Curve) -> list[FloatArray]:
    """Recent values of each number, within its axis."""
    found = [np.empty(0), np.empty(0)]
    for k, (rug, axis) in enumerate(zip(curve.rug, curve.grid_values, strict=False)):
        if not curve.categorical[k] and len(rug):
            values = np.asarray(rug, dtype=float)
            found[k] = values[(values >= axis.min()) & (values <= axis.max())]
    return found


def density_of(curve: Curve, data: Any = None) -> Density | Array | None:
    """The density of data, or else of recent values, where the surface is; None of too few.

    With categories it is how many observations are nearest to each point.
    """
    columns = [rug.tolist() for rug in curve.rug] if data is None else _columns(curve, data)
    if data is None and (not columns or len(columns[0]) < _ENOUGH):
        return None
    if any(curve.categorical):
        return _counts(curve, columns)
    points = np.array(columns, dtype=float)
    ends = [(float(axis.min()), float(axis.max())) for axis in curve.grid_values]
    low, high = np.array(ends).T[:, :, None]
    first, second = points[:, np.all((points >= low) & (points <= high), axis=0)]
    if len(first) < _ENOUGH or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    counts, *edges = np.histogram2d(first, second, bins=_CELLS, range=ends)
    x, y = ((borders[1:] + borders[:-1]) / 2 for borders in edges)
    z = _smoothed(counts, x, first.std() * len(first) ** _SCOTT)
    z = _smoothed(z.T, y, second.std() * len(first) ** _SCOTT).T
    return Density(x, y, z, _levels(z))


def _columns(curve: Curve, data: Any) -> list[list[Any]]:
    """The two features of the observations that have both."""
    rows = [[row.get(feature) for feature in curve.features] for row in observations(data, None)]
    rows = [row for row in rows if not any(map(is_missing, row))]
    if not rows:
        first, second = curve.features
        raise ValueError(f"data has no observation with both {first!r} and {second!r}")
    return list(map(list, zip(*rows, strict=True)))


def _counts(curve: Curve, columns: list[list[Any]]) -> Array:
    places = []
    for k, (values, axis) in enumerate(zip(columns, curve.grid_values, strict=True)):
        if curve.categorical[k]:
            numbers = {category: k for k, category in enumerate(axis.tolist())}
            places.append(np.array([numbers.get(value, -1) for value in values]))
        else:
            gaps = np.abs(np.asarray(values, dtype=float)[:, None] - axis.astype(float))
            places.append(gaps.argmin(axis=1))
    known = (places[0] >= 0) & (places[1] >= 0)
    counts = np.zeros(tuple(len(axis) for axis in curve.grid_values), dtype=int)
    np.add.at(counts, (places[0][known], places[1][known]), 1)
    return counts


def _smoothed(z: FloatArray, middles: FloatArray, width: float) -> FloatArray:
    """Gaussian smoothing along the first axis; nothing is lost at the borders."""
    kernel = np.exp(-0.5 * ((middles[:, None] - middles) / width) ** 2)
    return np.asarray((kernel / kernel.sum(axis=0)) @ z)


def _levels(z: FloatArray) -> FloatArray:
    """Heights above which the shares of all observations are."""
    heights = np.sort(z, axis=None)[::-1]
    inside = np.cumsum(heights) / heights.sum()
    return np.unique([heights[np.searchsorted(inside, share)] for share in SHARES])
