"""Numbers that figures show of curves: known values, thin data, ranges and levels of axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray, Label

# About so many levels has a surface, and at most so many bins the histogram of a feature.
_LEVELS, _BINS = 12, 40
# How far beyond the curve its histogram may reach, as a share of the curve's width.
_BEYOND = 0.25
# Half of the width of a category's bar.
_BAR = 0.3
LEAST_RANGE = 0.2
"""An axis of probabilities shows at least this much, so that noise does not look like an effect."""
# A distance of less than this share of an axis is not noticed.
_NOTICED = 0.05
# From this share on it is seen that single observations differ from their mean.
_DIFFERS = 0.2


class Axis:
    """Positions of a feature's values on an axis; categories are numbered in order of appearance.

    `categories` are those that are on the axis already; as an attribute, None for numbers.
    """

    def __init__(self, *, categorical: bool, categories: Iterable[Any] = ()) -> None:
        self.categories: list[Any] | None = list(categories) if categorical else None

    def positions(self, values: Array) -> FloatArray:
        """Where some values stand; new categories come last."""
        if self.categories is None:
            return np.asarray(values, dtype=float)
        items = values.tolist()
        place_of = {item: place for place, item in enumerate(self.categories)}
        for item in items:
            place_of.setdefault(item, len(place_of))
        self.categories = list(place_of)
        return np.array([place_of[item] for item in items], dtype=float)


class Rug(NamedTuple):
    """Histogram of a feature's recent values: the ends and the height of each bar."""

    left: FloatArray
    right: FloatArray
    counts: Array


def rug_of(curve: Curve, x: FloatArray) -> Rug | None:
    """The histogram of a single feature whose points are at x; None without recent values."""
    if not curve.rug or not len(curve.rug[0]):
        return None
    if curve.categorical[0]:
        counts = Counter(curve.rug[0].tolist())
        heights = np.array([counts[category] for category in curve.grid_values[0].tolist()])
        return Rug(x - _BAR, x + _BAR, heights)
    heights, edges = _histogram(curve.rug[0], x)
    return Rug(edges[:-1], edges[1:], heights)


def _histogram(rug: Array, x: FloatArray) -> tuple[Array, FloatArray]:
    """Counts and edges of the values near the curve: an outlier must not squeeze it.

    Whole numbers have a bar each where there are few of them, else bars have one width.
    """
    values = np.asarray(rug, dtype=float)
    span = np.ptp(x) if x.size else 0.0
    low, high = values.min(), values.max()
    if span > 0:
        low = max(low, x.min() - _BEYOND * span)
        high = min(high, x.max() + _BEYOND * span)
    if np.issubdtype(np.asarray(rug).dtype, np.integer) and high - low < 2 * _BINS:
        return np.histogram(values, bins=np.arange(np.floor(low), np.ceil(high) + 2) - 0.5)
    if not high > low:  # all alike: one bar
        return np.histogram(values, bins=1, range=around(low, share=0.02))
    # More bins than this have less than a handful of values each, and show noise.
    bins = min(_BINS, int(np.ceil(2 * np.sqrt(len(values)))))
    return np.histogram(values, bins=bins, range=(low, high))


def in_days(curve: Curve) -> Curve:
    """The curve with times in days since 1970, as they are drawn; other curves as they are."""
    if not any(curve.times):
        return curve
    days = [86400.0 if is_time else 1.0 for is_time in curve.times]
    positions = curve.ice_grid_values
    return replace(
        curve,
        grid_values=[_divided(a, d) for a, d in zip(curve.grid_values, days, strict=True)],
        rug=[_divided(a, d) for a, d in zip(curve.rug, days, strict=False)],
        ice_grid_values=positions and [_divided(a, days[0]) for a in positions],
    )


def _divided(values: Array, by: float) -> Array:
    return values if by == 1.0 else np.asarray(values, dtype=float) / by


def time_texts(days: Iterable[float]) -> list[str]:
    """Days since 1970 as dates, with the time of day unless they are far apart."""
    listed = list(days)
    wide = len(listed) < 2 or max(listed) - min(listed) > 5
    times = (np.datetime64(round(day * 86400e3), "ms") for day in listed)
    return [str(np.datetime_as_string(t, "D" if wide else "m")).replace("T", " ") for t in times]


def thin_points(curve: Curve) -> Array:
    """Which points of a curve have few data behind them: faint, or dotted, in every drawing."""
    return ~curve.supported


def chosen_outputs(curve: Curve, output: Label | None) -> Curve:
    """The curve with the outputs to draw: the one asked for, else the main one or all of them.

    Of two classes and of a pair there is room, or need, for the main one only.
    """
    two_classes = len(curve.outputs) == 2 and curve.of_classes
    if output is None and (two_classes or is_pair(curve)):
        output = curve.main_output
    return curve if output is None else curve.select(output)


def is_pair(curve: Curve) -> bool:
    """Whether a curve is the surface of two features."""
    return len(curve.grid_values) == 2


def known(curve: Curve) -> FloatArray:
    """The average, NaN where no observation is behind it yet."""
    return np.where(curve.n_effective_points > 0, curve.average, np.nan)


def about_its_mean(curve: Curve) -> Curve:
    """The curve minus its mean over the points, for each output; each ICE curve minus its own."""
    points = tuple(range(-len(curve.grid_values), 0))
    mean = _mean(known(curve), points)
    centred = curve.centred_std_error
    return replace(
        curve,
        average=curve.average - mean,
        std_error=curve.std_error if centred is None else centred,
        path_length=curve.centred_path_length,
        smoothed=_about_mean(curve.smoothed, points),
        ice=_about_mean(curve.ice, points),
        missing=None if curve.missing is None else curve.missing - mean.ravel(),
    )


def _about_mean(values: FloatArray | None, axes: tuple[int, ...]) -> FloatArray | None:
    return None if values is None else values - _mean(values, axes)


def _mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """Mean over some axes, which are kept, of what is known; 0 where nothing is."""
    known = np.ma.array(values, mask=np.isnan(values))
    return np.asarray(known.mean(axis=axes, keepdims=True).filled(0.0))


def spread_ends(curve: Curve, *, within: bool) -> tuple[FloatArray, FloatArray]:
    """The band of single observations around a curve: a standard deviation to both sides.

    Each of the shape of the curve; NaN where it is not known. One that is to stay `within` the
    probabilities is cut there.
    """
    half = curve.ice_spread
    if half is None:
        half = np.full(curve.average.shape, np.nan)
    low, high = curve.average - half, curve.average + half
    return (low.clip(0.0, 1.0), high.clip(0.0, 1.0)) if within else (low, high)


def differs(curve: Curve) -> bool:
    """Whether the band of single observations is drawn in a document, which cannot be asked.

    It is where a considerable share of what the feature does is not in the curve.
    """
    share = curve.heterogeneity
    return bool(share.size) and bool(np.nanmax(share, initial=0.0) >= _DIFFERS)


def past_beside(curve: Curve, *, probabilities: bool, level: float = 0.95) -> FloatArray | None:
    """The means of past answers that are drawn beside the curve of the model as it is now.

    They are drawn for those outputs where they leave the band of the whole curve, by as much as can
    be seen, at a point that has data behind it.

    Parameters
    ----------
    curve
        What is drawn, perhaps one output of several.
    probabilities
        Whether its outputs are some.
    level
        Of the band.

    Returns
    -------
    Of the shape of the curve, NaN for the other outputs; None if there is nothing to draw.
    """
    if curve.smoothed is None or is_pair(curve):
        return None
    far = np.abs(curve.smoothed - curve.average)
    half = np.nan_to_num(curve.band(level, simultaneous=True)[1] - curve.average)
    both = np.concatenate([known(curve), curve.smoothed], axis=1)
    shown = np.nan_to_num(np.nanmax(both, axis=1) - np.nanmin(both, axis=1))
    noticed = _NOTICED * np.maximum(shown, LEAST_RANGE if probabilities else 0.0)[:, None]
    differ = ((far > half) & (far > noticed) & curve.supported).any(axis=1)
    return np.where(differ[:, None], curve.smoothed, np.nan) if differ.any() else None


def is_whole(curve: Curve, axis: int = 0) -> bool:
    """Whether the values of a feature are whole numbers."""
    values = curve.rug[axis] if len(curve.rug) > axis else np.empty(0)
    if not len(values):
        values = curve.grid_values[axis]
    return not curve.categorical[axis] and np.issubdtype(np.asarray(values).dtype, np.integer)


def around(value: float, share: float = 0.5) -> tuple[float, float]:
    """Ends of an axis that has a single value: so much of its size to either side."""
    reach = share * (abs(value) or 1.0)
    return float(value - reach), float(value + reach)


def symmetric_range(values: FloatArray) -> tuple[float, float] | None:
    """Ends of a colour scale with zero in its middle; None where nothing is known."""
    finite = abs(values[np.isfinite(values)])
    if not finite.size:
        return None
    reach = float(finite.max()) or 1.0
    return -reach, reach


def round_levels(low: float, high: float) -> FloatArray:
    """About a dozen round numbers at equal distances, around all values."""
    rough = (high - low) / _LEVELS
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(k for k in (1.0, 2.0, 2.5, 5.0, 10.0) if k * power >= rough * (1 - 1e-9))
    # As whole steps from zero: the ends of a surface at 0 and 1 are no steps beyond them.
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return np.asarray(np.arange(first, last + 1) * step)


def edges_around(centres: FloatArray) -> FloatArray:
    """The borders of tiles around some points: 0, 2, 3.5 and 4.5 around 1, 3 and 4."""
    if len(centres) < 2:
        return np.array([c + d for c in centres[:1] for d in (-0.5, 0.5)])
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middles[0]], middles, [2 * centres[-1] - middles[-1]]])


def side_by_side(n: int, width: float) -> FloatArray:
    """Offsets of n marks next to each other, around 0."""
    return np.linspace(-width / 2, width / 2, n) if n > 1 else np.zeros(n)
