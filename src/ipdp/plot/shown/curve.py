"""What is drawn of a curve: its lines, bands, histogram and labels, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.plot.shown.source import time_of
from ipdp.plot.shown.style import named, output_label, time_text
from ipdp.plot.shown.values import (
    LEAST_RANGE,
    Axis,
    Rug,
    about_its_mean,
    around,
    chosen_outputs,
    in_days,
    is_whole,
    known,
    past_beside,
    rug_of,
    side_by_side,
    spread_ends,
    thin_points,
    time_texts,
)

# Opacity of the oldest and of the newest: of ICE curves, and of earlier curves.
_ICE, _TRAIL = (0.06, 0.5), (0.15, 0.6)
# Width that several outputs share at a category, and in the strip for missing values.
_AT_CATEGORY, _AT_MISSING = 0.4, 1.0
MODEL_NOW, PAST = "model now", "mean of past answers"
"""Entries of the legend where the smoothed curve is drawn beside that of the model as it is now."""
SPREAD = "single observations (± 1 sd)"
"""Entry of the legend for the band of the ICE curves."""
# Half of the width of the dash that stands for a value at a category.
_DASH = 0.2


@dataclass(frozen=True)
class Options:
    """How a curve, or the surface of a pair, is drawn; see `PDPDisplay.plot`."""

    output: Label | None = None
    centred: bool = False
    trail: Sequence[Curve] = ()
    compare: Curve | None = None
    ice: bool | None = None
    band: float | None = 0.95
    spread: bool = False
    rug: bool = True
    data: Any = None
    name: str | None = None  # of the curve in the legend
    categories: Iterable[Any] = ()  # that are on the axis already, and keep their places

    @property
    def is_beside(self) -> bool:
        """Whether the curve is drawn beside others."""
        return bool(self.trail) or self.compare is not None


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
    past: Path | None  # the mean of past answers, where that of the model now is another one
    # Ends of the band of the ICE curves: the effect differs so much between observations.
    spread: tuple[FloatArray, FloatArray] | None = None


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
    is_time: bool = False  # whether the x axis is one of days since 1970


def shown_curve(whole: Curve, **options: Any) -> ShownCurve:
    """What is drawn of the curve of one feature, with `Options`."""
    wanted = Options(**options)
    whole = in_days(whole)
    if wanted.data is not None:
        raise ValueError("data is for the surface of a pair; this curve shows its own values")
    curve, wanted = _chosen(whole, wanted)
    axis = Axis(categorical=curve.categorical[0], categories=wanted.categories)
    x = axis.positions(curve.grid_values[0])
    same = x.size > 0 and axis.categories is None and not np.ptp(x) > 0
    bounded = not wanted.centred and whole.kind == "pdp"
    past = None
    if not wanted.is_beside:
        past = past_beside(curve, probabilities=whole.are_probabilities)
    return ShownCurve(
        feature=named(curve.feature),
        label=output_label(whole, curve, centred=wanted.centred),
        title="" if wanted.is_beside else _title(curve, wanted.band),
        values=time_texts(x) if any(curve.times) else curve.grid_values[0].tolist(),
        is_time=any(curve.times),
        n_effective=curve.n_effective_points,
        lines=[
            _line(curve, k, axis, wanted, past, within=bounded and whole.are_probabilities)
            for k in range(len(curve.outputs))
        ],
        band=wanted.band,
        thin=thin_points(curve),
        rug=rug_of(curve, x) if wanted.rug else None,
        x_range=around(x[0]) if same else None,
        y_range=_y_range(curve, bounded=bounded) if whole.are_probabilities else None,
        categories=axis.categories,
        whole=is_whole(curve),
        trail_name=_trail_name(wanted.trail),
        is_empty=not (wanted.trail or np.isfinite(known(curve)).any()),
    )


def _chosen(whole: Curve, wanted: Options) -> tuple[Curve, Options]:
    """The curve with the outputs to draw, and what is beside it, the oldest first, if it fits."""
    curve, trail, compare = chosen_outputs(whole, wanted.output), wanted.trail, wanted.compare
    for name, given in (("trail", trail), ("compare", [] if compare is None else [compare])):
        for other in given:
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
    trail, compare = list(map(in_days, trail)), None if compare is None else in_days(compare)
    if wanted.centred:
        curve, trail = about_its_mean(curve), list(map(about_its_mean, trail))
        compare = None if compare is None else about_its_mean(compare)
    return curve, replace(wanted, trail=sorted(trail, key=time_of), compare=compare)


def _line(
    curve: Curve, k: int, axis: Axis, wanted: Options, past: FloatArray | None, *, within: bool
) -> Line:
    """The k-th output; a band that is to stay within the probabilities is cut there."""
    n, output, categorical = len(curve.outputs), curve.outputs[k], axis.categories is not None
    shift = side_by_side(n, _AT_CATEGORY)[k] if categorical else 0.0
    x = axis.positions(curve.grid_values[0])
    low, high = np.full((2, len(x)), np.nan)
    if wanted.band is not None:
        low, high = (end[k] for end in curve.band(wanted.band, simultaneous=True))
        if within:
            low, high = low.clip(0.0, 1.0), high.clip(0.0, 1.0)
    ends = spread_ends(curve, within=within)
    ends = ends[0][k], ends[1][k]
    few = not (wanted.trail or wanted.spread)
    with_ice = n == 1 and (few if wanted.ice is None else wanted.ice)
    ice = _ice_paths(curve, x, categorical=categorical) if with_ice else []
    earlier = zip(wanted.trail, _fading(len(wanted.trail), *_TRAIL), strict=True)
    paths = [_path(each, output, axis, shift, opacity) for each, opacity in earlier]
    trail = [path for path in paths if path is not None]
    if categorical:
        ice, trail = ([path.dashed() for path in each] for each in (ice, trail))
    return Line(
        output=output,
        name=_name(curve, k, wanted, is_now=past is not None),
        x=x + shift,
        y=curve.average[k],
        low=low,
        high=high,
        missing=_missing(curve, k, wanted.band),
        ice=ice,
        trail=trail,
        compare=_path(wanted.compare, output, axis, shift),
        past=None if past is None or np.isnan(past[k]).all() else Path(x + shift, past[k]),
        spread=ends if wanted.spread and np.isfinite(ends).any() else None,
    )


def _name(curve: Curve, k: int, wanted: Options, *, is_now: bool) -> str:
    """The name of a line in the legend; empty where it needs none."""
    if len(curve.outputs) > 1:
        output = named(curve.outputs[k], width=24)
        return f"{wanted.name}: {output}" if wanted.name else output
    if wanted.name is None and wanted.is_beside:
        return time_text(curve.t) or "now"
    if wanted.name is None and is_now:
        return MODEL_NOW
    return wanted.name or ""


def _path(
    curve: Curve | None, output: Label, axis: Axis, shift: float, opacity: float = 1.0
) -> Path | None:
    """One output of a curve; None where it does not have it."""
    if curve is None or output not in curve.outputs:
        return None
    x, y = axis.positions(curve.grid_values[0]), known(curve)[curve.outputs.index(output)]
    return Path(x + shift, y, opacity, time_text(curve.t))


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
    low = float(values.min() + values.max() - LEAST_RANGE) / 2
    if bounded:
        low = min(max(low, 0.0), 1.0 - LEAST_RANGE)
    return low, low + LEAST_RANGE


def _title(curve: Curve, band: float | None) -> str:
    """When the curve was taken, and what its band means."""
    parts = [time_text(curve.t)]
    if band is not None and np.isfinite(curve.std_error).any():
        yet = ", provisional yet" if curve.provisional else ""
        # No percent sign: plotly reads it as one of its own.
        parts.append(f"band: the whole curve with probability {band:g}{yet}")
    return ", ".join(part for part in parts if part)


def _trail_name(trail: Sequence[Curve]) -> str:
    """From when to when the earlier curves are."""
    if not trail:
        return ""
    first, last = (time_text(time_of(curve)) for curve in (trail[0], trail[-1]))
    return first if first == last else f"{first} to {last.removeprefix('t = ')}"
