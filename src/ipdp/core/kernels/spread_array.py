"""`spread.py` where it is not compiled: by operations on arrays, and by lists number by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.kernels import spread
from ipdp.core.kernels.spread import Groups
from ipdp.core.typing import Array, FloatArray

__all__ = ["Groups", "SpreadStep"]

Place = tuple[int, int, float]
"""Two columns and the share of the way between them; -1 for a place that is not known."""
_BEYOND = spread._BEYOND


class _Curve(NamedTuple):
    """The curve of one feature."""

    g: int
    number: int
    place: int  # of the feature's value in an observation
    inner: range  # its columns but that for missing values,
    missing: int  # which is this one, or -1
    lookup: Any


class SpreadStep(spread.SpreadStep):
    """See `spread.SpreadStep`."""

    def _prepare(self) -> None:
        super()._prepare()
        groups, n_columns = self.groups, self.mean.shape[1]
        sizes = groups.stops - groups.starts
        columns = np.arange(n_columns)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._numbers = groups.numbers[self._owner]
        first, last = groups.starts[self._owner], groups.inners[self._owner]
        self._sizes = (groups.inners - groups.starts).astype(float)
        # The columns of each curve in a column of its own, with that of a zero at first, and where
        # it has no more.
        steps = groups.starts + np.arange(-1, sizes.max(initial=0))[:, None]
        inside = (steps >= groups.starts) & (steps < groups.inners)
        self._steps: Array = np.where(inside, steps, n_columns)
        self._padded = np.zeros((len(self.mean), n_columns + 1))
        moves = (groups.moving[self._owner] > 0) & (columns < last)
        self._shifts = moves & (last - first > 1)
        self._before = np.where(
            columns > first, columns - 1, np.minimum(columns + 1, n_columns - 1)
        )
        self._after = np.where(columns + 1 < last, columns + 1, np.maximum(columns - 1, 0))
        # Those that can stray, and between which two columns a step of them is.
        self._moving = np.flatnonzero(moves)
        self._high = np.where(columns + 1 < last, columns + 1, columns)[self._moving]
        self._low = np.where(self._high > self._moving, self._moving, self._moving - 1)
        self._low = np.maximum(self._low, first[self._moving])
        self._curves = [
            _Curve(g, number, place, range(start, inner), inner if inner < stop else -1, lookup)
            for g, (number, start, inner, stop, place, lookup) in enumerate(
                zip(
                    groups.numbers.tolist(),
                    groups.starts.tolist(),
                    groups.inners.tolist(),
                    groups.stops.tolist(),
                    groups.places.tolist(),
                    groups.lookups,
                    strict=True,
                )
            )
            if place >= 0
        ]

    def strayed(self, positions: FloatArray) -> bool:
        reference = self.reference
        away = np.abs(positions - reference)[self._moving]
        steps = reference[self._high] - reference[self._low]
        return bool(((2 * away > steps) & (away != 0)).any())

    def fold(
        self, values: FloatArray, positions: FloatArray, own: list[Any], decay: float, w: float
    ) -> bool:
        self.move(values, positions)
        known = self.remains(values, positions, own, decay, w)
        if known:
            self.fold_total(decay, w)
        self.fold_curves(decay, w)
        return known

    def move(self, values: FloatArray, positions: FloatArray) -> None:
        if values.shape != self.mean.shape:
            raise ValueError("the rows have another shape than those before")
        moved = values
        away = self.reference - positions
        shifts = self._shifts & (away != 0)
        if shifts.any():
            other = np.where(away > 0, self._after, self._before)
            run = positions[other] - positions
            shifts &= run != 0
            run = np.where(shifts, run, 1.0)
            moved = np.where(shifts, values + (values[:, other] - values) / run * away, values)
        self._padded[:, :-1] = moved
        # One after the other, as the compiled loop adds them up.
        total = np.add.accumulate(self._padded[:, self._steps], axis=1)[:, -1]
        centre = total / self._sizes
        np.subtract(moved, centre[:, self._owner], out=self.moved)
        self.moved += self.frame[:, self._numbers]

    def remains(
        self, values: FloatArray, positions: FloatArray, own: list[Any], decay: float, w: float
    ) -> bool:
        # Numbers are taken out of lists: those of numpy cost ten times as much one by one.
        rows, at = values.tolist(), positions.tolist()
        places = [_place(at, curve.inner, curve, own[curve.place]) for curve in self._curves]
        best, said_at = 1e300, None
        for curve, place in zip(self._curves, places, strict=True):
            if place[0] >= 0:
                is_exact = curve.lookup is not None or own[curve.place] is None
                doubt = 0.0 if is_exact else _doubt(rows, *place)
                if doubt < best:
                    best, said_at = doubt, place
        if said_at is None:
            return False
        left, right, share = said_at
        said = [row[left] + share * (row[right] - row[left]) for row in rows]
        self.said[:] = said
        self._subtract_all(rows, said, self._known_places(at, places, own), own, (decay, w))
        return True

    def _known_places(
        self, at: list[float], places: list[Place], own: Sequence[Any]
    ) -> list[Place]:
        """Where an observation is on each curve, among the points that have a past."""
        known = self.weight != 0
        reference = self.reference.tolist()
        if known.all():
            if reference == at:
                return places
            return [
                _place(reference, curve.inner, curve, own[curve.place]) for curve in self._curves
            ]
        found = []
        for curve in self._curves:
            columns = [c for c in curve.inner if known[c]]
            place = _place(reference, columns, curve, own[curve.place])
            found.append(place if place[0] >= 0 and known[place[0]] else (-1, -1, 0.0))
        return found

    def _subtract_all(
        self,
        rows: list[list[float]],
        said: list[float],
        places: list[Place],
        own: Sequence[Any],
        decay_and_w: tuple[float, float],
    ) -> None:
        """Take off the prediction what the curves say where the observation is."""
        decay, w = decay_and_w
        rest, mean, reference = list(said), self.mean.tolist(), self.reference.tolist()
        seen_at = self.seen_at.tolist()
        effects, weights = self.effect.tolist(), self.effect_weight.tolist()
        for curve, place in zip(self._curves, places, strict=True):
            left, right, share = place
            number, x = curve.number, own[curve.place]
            weights[number] *= decay
            if x is not None and curve.lookup is None:
                if left >= 0:
                    if 0 < share < 1:
                        share = _share_of_rise(rows, said, left, right, share)
                    x = reference[left] + share * (reference[right] - reference[left])
                seen_at[curve.g] = x
            if left < 0:
                for o, effect in enumerate(effects):
                    rest[o] -= effect[number]
                continue
            weights[number] += w
            part = w / weights[number]
            for o, (effect, row) in enumerate(zip(effects, mean, strict=True)):
                tells = row[left] + share * (row[right] - row[left])
                effect[number] += part * (tells - effect[number])
                rest[o] -= tells
        self.rest[:], self.seen_at[:] = rest, seen_at
        self.effect_weight[:] = weights
        if effects:  # a model may have no outputs yet
            self.effect[:] = effects

    def fold_total(self, decay: float, w: float) -> None:
        weight, squares = self.clock.tolist()
        weight *= decay
        delta = np.array((self.said, self.rest)) - self.total
        step = delta * (w / (weight + w))
        self.total += step
        self.total_spread *= decay
        step *= delta
        step *= weight
        self.total_spread += step
        self.clock[:] = weight + w, decay * decay * squares + w * w

    def fold_curves(self, decay: float, w: float) -> None:
        weight = self.weight
        weight *= decay
        delta = self.moved - self.mean
        step = delta * (w / (weight + w))
        self.mean += step
        self.spread *= decay
        step *= delta
        step *= weight
        self.spread += step
        weight += w
        self.squares *= decay * decay
        self.squares += w * w


def _place(at: list[float], columns: Sequence[int], curve: _Curve, value: Any) -> Place:
    """Where a value is on a curve; see `spread.SpreadStep.between`."""
    if value is None or curve.lookup is not None:
        column = curve.missing if value is None else curve.lookup.get(value, -1)
        return column, column, 0.0
    before = left = right = after = -1
    for c in columns:
        if at[c] <= value:
            before, left = left, c
        elif right < 0:
            right = c
            if left >= 0:
                break
        else:
            after = c
            break
    if left < 0:
        left, right = right, after
    elif right < 0 and before >= 0:
        left, right = before, left
    if left < 0 or right < 0 or not at[right] > at[left]:
        return left, left, 0.0
    share = (value - at[left]) / (at[right] - at[left])
    return left, right, min(max(share, -_BEYOND), 1 + _BEYOND)


def _doubt(rows: list[list[float]], left: int, right: int, share: float) -> float:
    """How far an answer between two columns may be from the line between them."""
    largest = 0.0
    for row in rows:
        largest = max(largest, abs(row[right] - row[left]))
    if share < 0 or share > 1 or left == right:
        return 1e100 * (1.0 + largest)  # beyond the points, or of one point only
    return largest * (share if share < 0.5 else 1 - share)


def _share_of_rise(
    rows: list[list[float]], said: list[float], left: int, right: int, share: float
) -> float:
    """How far the prediction has come from one column to the next."""
    largest = 0.0
    for row, value in zip(rows, said, strict=True):
        rise = row[right] - row[left]
        if abs(rise) > largest and abs(rise) > 1e-9 * abs(row[left]):
            largest = abs(rise)
            share = (value - row[left]) / rise
    return min(max(share, 0.0), 1.0)
