"""What is drawn of a curve: its lines, bands, histogram and labels, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.plot.shown.source import time_of
from ipdp.plot.shown.style import named, output_label, time_text
from ipdp.plot.shown.values import (
    Axis,
    Rug,
    about_its_mean,
    around,
    chosen_outputs,
    is_whole,
    known,
    rug_of,
    side_by_side,
    thin_points,
)

# An axis of probabilities shows at least this much, so that noise does not look like an effect.
_LEAST_RANGE = 0.2
# Opacity of the oldest and of the newest: of ICE curves, and of earlier curves.
_ICE, _TRAIL = (0.06, 0.5), (0.15, 0.6)
# Width that several outputs share at a category, and in the strip for missing values.
_AT_CATEGORY, _AT_MISSING = 0.4, 1.0
# Half of the width of the dash that stands for a value at a category.
_DASH = 0.2


class Path(NamedTuple):
    """A line behind or beside the curve."""

    x: FloatArray
    y: FloatArray
    opacity: float = 1.0
    time: str = ""

    def dashed(self) -> Path:
        """Short dashes, one at each category: x and y of shape (3 m,)."""
        ends = self.x - _DASH, self.x + _DASH, np.full(len(self.x), np.nan)
        return self._replace(x=np.stack(ends, axis=1).ravel(), y=np.repeat(self.y, 3))


class Missing(NamedTuple):
    """The point for a missing value: its place in a strip from -1 to 1, value and band."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """What is drawn of one output."""

    output: Label
    name: str  # in the legend; empty where it needs none
    x: FloatArray  # those of categories are next to each other where there are several outputs
    y: FloatArray
    low: FloatArray  # ends of the confidence band; NaN where it is not known
    high: FloatArray
    missing: Missing | None
    ice: list[Path]  # oldest first, as the earlier curves; at categories they are dashed
    trail: list[Path]
    compare: Path | None


@dataclass(frozen=True)
class ShownCurve:
    """What is drawn of the curve of one feature."""

    feature: str  # labels of the two axes
    label: str
    title: str  # when the curve was taken; empty where the legend says so
    values: list[Any]  # of the feature at each point
    n_effective: FloatArray  # effective sample size of each point
    categories: list[Any] | None  # what stands at 0, 1, 2, ... of the x axis; None for numbers
    whole: bool  # whether the feature's values are whole numbers
    lines: list[Line]  # one for each output
    band: float | None  # level of the confidence band; None where there is to be none
    thin: Array  # which points have few data behind them: faint, and lines to them dotted
    rug: Rug | None  # histogram of the recent values
    x_range: tuple[float, float] | None  # what the axes show at least
    y_range: tuple[float, float] | None
    trail_name: str  # of the earlier curves in the legend
    is_empty: bool  # whether there is nothing to see yet


def shown_curve(
    whole: Curve,
    *,
    output: Label | None = None,
    centred: bool = False,
    trail: Sequence[Curve] = (),
    compare: Curve | None = None,
    ice: bool | None = None,
    band: float | None = 0.95,
    rug: bool = True,
    name: str | None = None,
    categories: Iterable[Any] = (),
) -> ShownCurve:
    """What is drawn of the curve of one feature, with the arguments of `PDPDisplay.plot`.

    `name` is that of the curve in the legend; `categories` that are on the axis already keep
    their places.
    """
    curve = chosen_outputs(whole, output)
    earlier, others = _checked_beside(curve, trail, compare)
    if centred:
        curve = about_its_mean(curve)
        earlier, others = ([about_its_mean(c) for c in curves] for curves in (earlier, others))
    beside = bool(earlier or others)
    if name is None and beside and len(curve.outputs) == 1:
        name = time_text(curve.t) or "now"
    axis = Axis(categorical=curve.categorical[0], categories=categories)
    x = axis.positions(curve.grid_values[0])
    with_ice = not earlier if ice is None else ice
    lines = [
        _line(curve, k, axis, band, name=name or "", ice=with_ice, trail=earlier, others=others)
        for k in range(len(curve.outputs))
    ]
    same = x.size > 0 and axis.categories is None and not np.ptp(x) > 0
    return ShownCurve(
        feature=named(curve.feature),
        label=output_label(whole, curve, centred=centred),
        title="" if beside else time_text(curve.t),
        values=curve.grid_values[0].tolist(),
        n_effective=curve.n_effective_points,
        categories=axis.categories,
        whole=is_whole(curve),
        lines=lines,
        band=band,
        thin=thin_points(curve),
        rug=rug_of(curve, x) if rug else None,
        x_range=around(x[0]) if same else None,
        y_range=_y_range(curve, bounded=not centred) if whole.are_probabilities else None,
        trail_name=_trail_name(earlier),
        is_empty=not (earlier or np.isfinite(known(curve)).any()),
    )


def _checked_beside(
    curve: Curve, trail: Sequence[Curve], compare: Curve | None
) -> tuple[list[Curve], list[Curve]]:
    """Earlier curves, oldest first, and the one to compare with, if they fit the curve."""
    others = [] if compare is None else [compare]
    for name, curves in (("trail", trail), ("compare", others)):
        for other in curves:
            if not isinstance(other, Curve):
                raise TypeError(f"{name} takes curves, got {type(other).__name__}")
            if other.feature != curve.feature or other.categorical != curve.categorical:
                raise ValueError(
                    f"{name} has a curve of {other.feature!r} that does not fit one of "
                    f"{curve.feature!r}"
                )
    if compare is not None and not set(compare.outputs) & set(curve.outputs):
        raise ValueError(
            f"compare has the outputs {list(compare.outputs)}, none of {list(curve.outputs)}"
        )
    return sorted(trail, key=time_of), others


def _line(
    curve: Curve,
    k: int,
    axis: Axis,
    band: float | None,
    *,
    name: str,
    ice: bool,
    trail: Sequence[Curve],
    others: Sequence[Curve],
) -> Line:
    """The k-th output."""
    n, output, categorical = len(curve.outputs), curve.outputs[k], axis.categories is not None
    shift = side_by_side(n, _AT_CATEGORY)[k] if categorical else 0.0
    x = axis.positions(curve.grid_values[0])
    low, high = np.full((2, len(x)), np.nan)
    if band is not None:
        low, high = (end[k] for end in curve.band(band))
    behind = _ice_paths(curve, x, categorical=categorical) if ice and n == 1 else []
    earlier = _paths(trail, output, axis, shift, _fading(len(trail), *_TRAIL))
    return Line(
        output=output,
        name=": ".join(part for part in (name, named(output, width=24) if n > 1 else "") if part),
        x=x + shift,
        y=curve.average[k],
        low=low,
        high=high,
        missing=_missing(curve, k, band),
        ice=[path.dashed() for path in behind] if categorical else behind,
        trail=[path.dashed() for path in earlier] if categorical else earlier,
        compare=next(iter(_paths(others, output, axis, shift, [1.0] * len(others))), None),
    )


def _paths(
    curves: Sequence[Curve], output: Label, axis: Axis, shift: float, opacities: Sequence[float]
) -> list[Path]:
    """One output of those curves that have it."""
    return [
        Path(
            axis.positions(curve.grid_values[0]) + shift,
            known(curve)[curve.outputs.index(output)],
            opacity,
            time_text(curve.t),
        )
        for curve, opacity in zip(curves, opacities, strict=True)
        if output in curve.outputs
    ]


def _ice_paths(curve: Curve, x: FloatArray, *, categorical: bool) -> list[Path]:
    if curve.ice is None:
        return []
    n_ice, positions = curve.ice.shape[1], curve.ice_grid_values
    own_x = [x] * n_ice if positions is None or categorical else positions[0]
    return list(map(Path, own_x, curve.ice[0], _fading(n_ice, *_ICE)))


def _fading(n: int, oldest: float, newest: float) -> list[float]:
    """Opacities of n curves, oldest first."""
    return np.linspace(oldest, newest, n).tolist() if n > 1 else [newest] * n


def _missing(curve: Curve, k: int, band: float | None) -> Missing | None:
    if curve.missing is None:
        return None
    x = float(side_by_side(len(curve.outputs), _AT_MISSING)[k])
    low, high = (np.nan, np.nan) if band is None else (end[k] for end in curve.missing_band(band))
    return Missing(x, float(curve.missing[k]), float(low), float(high))


def _y_range(curve: Curve, *, bounded: bool) -> tuple[float, float] | None:
    values = curve.average[np.isfinite(curve.average)]
    if not values.size:
        return None
    low = float(values.min() + values.max() - _LEAST_RANGE) / 2
    if bounded:
        low = min(max(low, 0.0), 1.0 - _LEAST_RANGE)
    return low, low + _LEAST_RANGE


def _trail_name(trail: Sequence[Curve]) -> str:
    """From when to when the earlier curves are."""
    if not trail:
        return ""
    first, last = (time_text(time_of(curve)) for curve in (trail[0], trail[-1]))
    return first if first == last else f"{first} to {last.removeprefix('t = ')}"
