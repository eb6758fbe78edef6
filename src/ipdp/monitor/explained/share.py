"""The explained share and the heterogeneity of effects, computed from stored observations.

Each record holds the ICE curves of one observation. Their mean is the curve of a feature; read at
its own values, the curves say together what the model does without interactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.monitor.data.value_blocks import is_missing
from ipdp.monitor.features import Record, axis_of, probe_of

# What may be rounding, as a share of the size of the predictions.
_ROUNDING = 1e-9
FEWEST = 30
"""From fewer observations nothing is said."""


class ExplainedShare(NamedTuple):
    """The explained share of some observations.

    Attributes
    ----------
    share
        Of the variance of the predictions that the sum of the curves accounts for.
    std_error
        Of it, as if the observations were independent.
    differs
        For each feature, by its number, the share of what it does that its curve does not show.
    """

    share: float
    std_error: float
    differs: dict[int, float]


def explained_share(
    records: Sequence[Record], numbers: Sequence[int], output: int
) -> ExplainedShare | None:
    """The explained share of an output; None for too few observations, or a constant."""
    known = [r for r in records if output < len(r.values)]
    known = [r for r in known if all(probe_of(r.layout, k) for k in numbers)]
    if len(known) < FEWEST or not numbers:
        return None
    effects = [_effect(known, number, output) for number in numbers]
    read = np.array([effect.read for effect in effects])
    # What is far beyond the points of a curve is not known, unless that is most of the rows.
    is_near = np.all([effect.is_near for effect in effects], axis=0)
    fine = np.isfinite(read).any(axis=0)
    if 2 * (fine & is_near).sum() >= fine.sum():
        fine &= is_near
    if fine.sum() < FEWEST:
        return None
    said = np.full(len(fine), np.nan)
    said[fine] = np.nanmedian(read[:, fine], axis=0)
    centred = said[fine] - said[fine].mean()
    left = centred - sum(e.at_own[fine] - e.at_own[fine].mean() for e in effects)
    left -= left.mean()
    whole = float(centred @ centred / len(centred))
    if not whole > 0:
        return None
    # By the delta method, of a ratio of two means.
    rest = float(left @ left / len(left)) / whole
    influence = left**2 / whole - rest * centred**2 / whole
    error = float(np.sqrt((influence**2).mean() / len(influence)))
    differs = {k: e.differs for k, e in zip(numbers, effects, strict=True)}
    return ExplainedShare(1 - rest, error, differs)


class _Effect(NamedTuple):
    """One feature: its curve and the prediction at each own value, and how much differs."""

    at_own: FloatArray
    read: FloatArray
    is_near: Array
    differs: float


def _effect(records: Sequence[Record], number: int, output: int) -> _Effect:
    axes, curves = zip(*(_ice(record, number, output) for record in records), strict=True)
    name = records[-1].layout.probe_of(number).names[0]
    places = axes[-1]
    own = _own([record.x.get(name) for record in records], is_number=places.dtype != object)
    table, read = np.empty((len(records), len(places))), np.empty(len(records))
    is_near = _are_near(places, own)
    for axis, rows in _alike(axes):
        ice, values = np.array([curves[k] for k in rows]), own[rows]
        table[rows] = ice @ _matrix(axis, places).T
        read[rows] = (ice * _matrix(axis, values)).sum(axis=1)
        is_near[rows] &= _are_near(axis, values)
    mean = _means(table, axis=0)
    # A category that nobody was asked about is at the level of the others.
    mean = np.where(np.isnan(mean), _means(mean, axis=0), mean)
    at_own = _matrix(places, own) @ mean
    known = np.isfinite(at_own)
    # A missing value is not on the curve: nothing is told of it.
    level = float(at_own[known].mean()) if known.any() else 0.0
    weights = _weights(places, own)
    at_own = np.where(known, at_own, level)
    return _Effect(at_own, read, is_near, _differs(table, mean, weights))


def _own(values: Sequence[Any], *, is_number: bool) -> Array:
    """The values of a feature: numbers, NaN where they are missing, or categories."""
    if is_number:
        return np.array([np.nan if is_missing(v) else float(v) for v in values])
    own = np.empty(len(values), dtype=object)
    own[:] = values
    return own


def _ice(record: Record, number: int, output: int) -> tuple[Array, FloatArray]:
    """One ICE curve: where its points are, and what it says there; without missing values."""
    probe, axis = record.layout.probe_of(number), axis_of(record.layout, record.positions, number)
    assert axis is not None
    return axis, record.values[output, probe.start : probe.stop - probe.missing]


def _alike(axes: Sequence[Array]) -> Iterator[tuple[Array, list[int]]]:
    """The different axes, and which have them: points seldom change."""
    rows: dict[object, list[int]] = {}
    for k, axis in enumerate(axes):
        key = tuple(axis.tolist()) if axis.dtype == object else axis.tobytes()
        rows.setdefault(key, []).append(k)
    for own in rows.values():
        yield axes[own[0]], own


def _matrix(axis: Array, values: Array) -> FloatArray:
    """What a curve along an axis is multiplied by to read it at some values, (n, m).

    NaN where they are missing, or categories that it does not know. Beyond its ends it goes on as a
    line, for one step.
    """
    found = np.zeros((len(values), len(axis)))
    rows = np.arange(len(values))
    if axis.dtype == object:
        known = {category: k for k, category in enumerate(axis.tolist())}
        at = np.array([known.get(value, -1) for value in values.tolist()])
        found[rows, at] = 1.0
        found[at < 0] = np.nan
        return found
    if len(axis) < 2:
        found[:] = np.where(np.isnan(values), np.nan, 1.0)[:, None]
        return found
    left = np.clip(np.searchsorted(axis, values) - 1, 0, len(axis) - 2)
    width = axis[left + 1] - axis[left]
    share = np.where(width > 0, values - axis[left], 0.0) / np.where(width > 0, width, 1.0)
    share = np.clip(share, -1.0, 2.0)
    found[rows, left], found[rows, left + 1] = 1.0 - share, share
    found[np.isnan(values)] = np.nan
    return found


def _are_near(axis: Array, values: Array) -> Array:
    """Which values are on an axis, or less than one step beyond it; missing ones are as well."""
    if axis.dtype == object or len(axis) < 2:
        return np.ones(len(values), dtype=bool)
    low, high = 2 * axis[0] - axis[1], 2 * axis[-1] - axis[-2]
    return np.asarray(np.isnan(values) | ((values >= low) & (values <= high)))


def _weights(places: Array, own: Array) -> FloatArray:
    """How many values are at each place, or nearest to it."""
    if places.dtype == object:
        return np.array([(own == place).sum() for place in places.tolist()], dtype=float)
    known = own[~np.isnan(own)]
    nearest = np.abs(np.subtract.outer(known, places)).argmin(axis=1)
    return np.bincount(nearest, minlength=len(places)).astype(float)


def _means(values: FloatArray, axis: int) -> FloatArray:
    """Means of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


def _differs(table: FloatArray, mean: FloatArray, weights: FloatArray) -> float:
    """The share of what a feature does that differs between observations."""
    share = weights / weights.sum() if weights.sum() > 0 else np.full(len(mean), 1 / len(mean))
    centred = table - _means(table, axis=1)[:, None]
    centred = centred - _means(centred, axis=0)
    hidden = float(np.nan_to_num(_means(centred**2, axis=0)) @ share)
    shown = float((mean - mean @ share) ** 2 @ share)
    least = (_ROUNDING * float(np.nan_to_num(np.abs(table)).max(initial=0.0))) ** 2
    return hidden / (hidden + shown) if hidden + shown > least else 0.0
