"""From the mean local effects of bins to values at the points of a curve.

Values are linear in the mean effects: each target has a *map*, of shape (n_points, n_slots), which
the errors of the values follow from as well.

- Numbers: bins that are dormant, with other edges than those of today, still tell the slope where
  they were. The slope at each place is the weighted mean of what all bins there say, each with its
  share of its bin's weight; where no bin has data, it is between those of the neighbours. Effects
  are slopes times lengths, and values are their sums from the left.
- Categories: each pair of neighbours tells a difference. Values are those that fit all differences
  best, by weighted least squares: sums along the order if only today's neighbours are known.
- Pairs: sums of the effects of cells in both directions, minus what the sums along one feature
  alone explain (Apley and Zhu 2020, eq. 17 to 19).

All are centred: the mean over the observations is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.means import Means

Slots = Sequence[Any]
"""Keys of bins: two ends each, or (category,) for those that only count."""


class NumberLine:
    """An axis of numbers, with the edges of its bins."""

    categorical = False

    def __init__(self, steps: Slots) -> None:
        self.points = np.array([steps[0][0], *(high for _, high in steps)], dtype=float)
        self.steps = list(steps)
        self.n_masses = len(self.steps)
        n = len(self.points)
        # What is counted in a bin has the mean of the values at its ends.
        self.averaging = (np.eye(n)[:-1] + np.eye(n)[1:]) / 2
        self.step_masses = np.eye(n - 1)

    def shares(self, ends: Slots) -> FloatArray:
        """Which share of some bins lies in each of those of today, of shape (n_bins, n_steps)."""
        low, high = np.array(ends, dtype=float).reshape(-1, 2).T[:, :, None]
        left, right = self.points[:-1], self.points[1:]
        common = np.minimum(high, right) - np.maximum(low, left)
        return np.asarray(np.maximum(common, 0.0) / (high - low))

    @property
    def widths(self) -> FloatArray:
        """Of the bins."""
        return np.diff(self.points)

    @staticmethod
    def width(ends: Any) -> float:
        """Of one bin."""
        return float(ends[1] - ends[0])


class CategoryLine:
    """An axis of categories, in their order."""

    categorical = True

    def __init__(self, categories: Sequence[Any]) -> None:
        self.points: Array = np.empty(len(categories), dtype=object)
        self.points[:] = list(categories)
        self.steps = list(pairwise(categories))
        self.n_masses = n = len(categories)
        self.averaging = np.eye(n)
        self.step_masses = self.averaging[:-1] + self.averaging[1:]

    def shares(self, ends: Slots) -> FloatArray:
        """Which of some steps are those of today."""
        return np.array([[float(step == mine) for mine in self.steps] for step in ends]).reshape(
            len(ends), len(self.steps)
        )

    @property
    def widths(self) -> FloatArray:
        """All steps are as wide."""
        return np.ones(len(self.steps))

    @staticmethod
    def width(ends: Any) -> float:
        """Of one step."""
        del ends
        return 1.0


Line = NumberLine | CategoryLine


@dataclass(frozen=True)
class Reading:
    """How the values of one target follow from the means of all slots.

    `lines` are its axes. `map` takes the means of the slots in `columns` to the values at its
    points, and `averaging` these to the values of what is counted, whose weights are `masses`:
    `counting` takes the weights of the slots in `counted` to them.
    """

    lines: tuple[Line, ...]
    columns: Array
    map: FloatArray  # (n_points, n_slots)
    masses: FloatArray  # (n_masses,), the sum is 1
    averaging: FloatArray  # (n_masses, n_points)
    counted: Array
    counting: FloatArray  # (n_masses, n_counted)
    near: Array  # (n_points, n_slots): whether a slot's bin ends at the point


def read(means: Means, number: int) -> Reading | None:
    """How the values of a target are to be read; None if it has no bins."""
    layout = means.layout
    keys = layout.keys_of(number)
    if not keys:
        return None
    own = list(layout.columns_of(number))
    n_active = layout.n_points
    asleep = [(n_active + k, key) for k, (n, key) in enumerate(means.dormant) if n == number]
    weight = means.everything.weight
    slots = [*zip(own, keys, strict=True), *asleep]
    if _is_cell(keys[0]):
        return _read_pair(slots, keys, own, weight)
    if any(map(_counts, keys)):
        return _read_categories(slots, keys, own, weight)
    return _read_numbers(slots, keys, weight)


def _is_cell(key: Any) -> bool:
    return isinstance(key[0], tuple)


def _counts(key: Any) -> bool:
    """Whether a slot only counts."""
    if _is_cell(key):
        return any(len(part) == 1 for part in key)
    return len(key) == 1


def _is_effect(key: Any) -> bool:
    return all(len(part) == 2 for part in key) if _is_cell(key) else len(key) == 2


def _read_categories(
    slots: list[tuple[int, Any]], keys: Sequence[Any], own: list[int], weight: FloatArray
) -> Reading:
    counted = np.array([c for c, key in zip(own, keys, strict=True) if _counts(key)], dtype=int)
    line = CategoryLine([key[0] for key in keys if _counts(key)])
    known = set(line.points.tolist())
    columns, ends = _split([(c, key) for c, key in _effects(slots, weight) if set(key) <= known])
    values = _fitted(line.points.tolist(), ends, weight[columns])
    return _centred(line, columns, ends, values, (counted, weight[counted], np.eye(len(counted))))


def _read_numbers(slots: list[tuple[int, Any]], keys: Sequence[Any], weight: FloatArray) -> Reading:
    line = NumberLine(keys)
    first, last = line.points[0], line.points[-1]
    # A feature may have had names before it had numbers.
    effects = [(c, k) for c, k in _effects(slots, weight) if schema.each(schema.number).fits(k)]
    columns, ends = _split([(c, key) for c, key in effects if key[1] > first and key[0] < last])
    steps = _steps(line.points, ends, weight[columns])
    values = np.vstack([np.zeros((1, len(columns))), np.cumsum(steps, axis=0)])
    counting = line.shares(ends).T
    return _centred(line, columns, ends, values, (columns, counting @ weight[columns], counting))


def _centred(
    line: Line,
    columns: Array,
    ends: Slots,
    values: FloatArray,
    count: tuple[Array, FloatArray, FloatArray],
) -> Reading:
    """The reading of a single feature, given its values before they are centred."""
    counted, masses, counting = count
    total = masses.sum()
    masses = masses / total if total > 0 else np.full(len(masses), 1 / max(len(masses), 1))
    values = values - masses @ (line.averaging @ values)
    near = np.array([[point in key for key in ends] for point in line.points.tolist()], dtype=bool)
    near = near.reshape(values.shape)
    return Reading((line,), columns, values, masses, line.averaging, counted, counting, near)


def _effects(slots: list[tuple[int, Any]], weight: FloatArray) -> list[tuple[int, Any]]:
    """Those that have effects, and not only counts."""
    return [(column, key) for column, key in slots if _is_effect(key) and weight[column] > 0]


def _split(effects: list[tuple[int, Any]]) -> tuple[Array, list[Any]]:
    return np.array([c for c, _ in effects], dtype=int), [key for _, key in effects]


def _fitted(categories: list[Any], ends: Slots, weight: FloatArray) -> FloatArray:
    """Values of categories from differences, of shape (n_categories, n_slots)."""
    if not len(weight):
        return np.zeros((len(categories), 0))
    place = {category: k for k, category in enumerate(categories)}
    incidence = np.zeros((len(ends), len(categories)))
    for row, (first, second) in enumerate(ends):
        incidence[row, place[first]], incidence[row, place[second]] = -1.0, 1.0
    weighted = incidence.T * (weight / weight.max())
    return np.asarray(np.linalg.pinv(weighted @ incidence, hermitian=True) @ weighted)


def _steps(edges: FloatArray, ends: Slots, weight: FloatArray) -> FloatArray:
    """The effects of today's bins from those of all, (n_steps, n_slots)."""
    n_steps = len(edges) - 1
    if not len(weight):
        return np.zeros((n_steps, 0))
    low, high = np.array(ends, dtype=float).T
    inner = np.unique(np.concatenate([edges, low, high]))
    inner = inner[(inner >= edges[0]) & (inner <= edges[-1])]
    left, right = inner[:-1, None], inner[1:, None]
    share = ((low <= left) & (high >= right)) * weight * (right - left) / (high - low)
    total = share.sum(axis=1)
    slopes = share / np.where(total > 0, total, 1.0)[:, None] / (high - low)
    slopes = _filled(slopes, total > 0, inner)
    step = np.searchsorted(edges, inner[:-1], side="right") - 1
    effects = np.zeros((n_steps, len(weight)))
    np.add.at(effects, step, slopes * (right - left))
    return effects


def _filled(slopes: FloatArray, known: Array, inner: FloatArray) -> FloatArray:
    """The slopes, where they are not known between those of the nearest that are."""
    if known.all() or not known.any():
        return slopes
    middle = (inner[1:] + inner[:-1]) / 2
    there = np.flatnonzero(known)
    slopes = slopes.copy()
    for k in np.flatnonzero(~known):
        after = int(np.searchsorted(there, k))
        before, after = there[max(after - 1, 0)], there[min(after, len(there) - 1)]
        gap = middle[after] - middle[before]
        share = (middle[k] - middle[before]) / gap if gap > 0 else 0.0
        slopes[k] = (1 - share) * slopes[before] + share * slopes[after]
    return slopes


def _read_pair(
    slots: list[tuple[int, Any]], keys: Sequence[Any], own: list[int], weight: FloatArray
) -> Reading:
    lines = tuple(_line_of(keys, axis) for axis in range(2))
    cells = _effects(slots, weight)
    shares = [line.shares([key[axis] for _, key in cells]) for axis, line in enumerate(lines)]
    overlap = shares[0][:, :, None] * shares[1][:, None, :]
    there = np.flatnonzero(overlap.sum(axis=(1, 2)))
    cells = [cells[k] for k in there]
    overlap = overlap[there]
    columns, ends = _split(cells)
    own_area = np.array([lines[0].width(a) * lines[1].width(b) for a, b in ends])
    share = overlap * weight[columns][:, None, None]
    total = share.sum(axis=0)
    density = share / np.where(total > 0, total, 1.0) / own_area[:, None, None]
    density = _nearest(density, total > 0)
    effects = density * np.multiply.outer(lines[0].widths, lines[1].widths)
    values = np.zeros((len(cells), len(lines[0].points), len(lines[1].points)))
    values[:, 1:, 1:] = effects.cumsum(axis=1).cumsum(axis=2)
    counted, counting = columns, overlap.reshape(len(cells), -1).T
    if any(line.categorical for line in lines):
        counted = np.array([c for c, key in zip(own, keys, strict=True) if _counts(key)], dtype=int)
        counting = np.eye(len(counted))
    masses = (counting @ weight[counted]).reshape(lines[0].n_masses, lines[1].n_masses)
    values = _without_mains(values, masses, lines)
    averaging = np.kron(lines[0].averaging, lines[1].averaging).astype(float)
    flat = values.reshape(len(cells), -1).T
    mass = masses.ravel() / masses.sum() if masses.sum() > 0 else masses.ravel()
    flat = flat - mass @ (averaging @ flat)
    near = _near_cells(lines, ends)
    return Reading(lines, columns, flat, mass, averaging, counted, counting, near)


def _line_of(keys: Sequence[Any], axis: int) -> Line:
    parts = list(dict.fromkeys(key[axis] for key in keys))
    categories = [part[0] for part in parts if len(part) == 1]
    return CategoryLine(categories) if categories else NumberLine(parts)


def _nearest(density: FloatArray, known: Array) -> FloatArray:
    """The densities of cells, those without data as the nearest cell that has some."""
    if known.all() or not known.any():
        return density
    rows, columns = np.nonzero(known)
    missing = np.argwhere(~known)
    scale = np.array(known.shape, dtype=float)
    away = (missing[:, None, :] - np.stack([rows, columns], axis=1)) / scale
    best = np.argmin((away**2).sum(axis=2), axis=1)
    density = density.copy()
    density[:, missing[:, 0], missing[:, 1]] = density[:, rows[best], columns[best]]
    return density


def _without_mains(values: FloatArray, masses: FloatArray, lines: tuple[Line, ...]) -> FloatArray:
    """The sums minus what is explained along one feature alone."""
    for axis in (0, 1):
        turned = values if axis == 0 else values.swapaxes(1, 2)
        own, other = lines[axis], lines[1 - axis]
        weights = own.step_masses @ (masses if axis == 0 else masses.T)
        total = weights.sum(axis=1, keepdims=True)
        weights = np.where(
            total > 0, weights / np.where(total > 0, total, 1.0), 1 / weights.shape[1]
        )
        rises = np.diff(turned, axis=1) @ other.averaging.T
        mains = np.einsum("nij,ij->ni", rises, weights).cumsum(axis=1)
        mains = np.concatenate([np.zeros((len(mains), 1)), mains], axis=1)
        values = values - (mains[:, :, None] if axis == 0 else mains[:, None, :])
    return values


def _near_cells(lines: tuple[Line, ...], ends: Slots) -> Array:
    by_axis = [
        np.array([[point in key[axis] for key in ends] for point in line.points.tolist()])
        for axis, line in enumerate(lines)
    ]
    first, second = (
        part.reshape(len(line.points), len(ends)) for part, line in zip(by_axis, lines, strict=True)
    )
    return np.asarray((first[:, None, :] & second[None, :, :]).reshape(-1, len(ends)))
