"""`spread.py` where it is not compiled: by operations on arrays, some observations at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.kernels import spread
from ipdp.core.kernels.spread import Groups
from ipdp.core.typing import Array, FloatArray

__all__ = ["Groups", "SpreadStep"]

# So many observations at a time: how each weighs at the time of each other is kept as a table.
_MOST = 16
_NOWHERE = 1e300


class _Places(NamedTuple):
    """Where observations are on curves: between two columns, of shape (n, n_curves) each.

    `left` is -1 for a place that is not known.
    """

    left: Array
    right: Array
    share: FloatArray


class SpreadStep(spread.SpreadStep):
    """See `spread.SpreadStep`; the same to rounding."""

    def _prepare(self) -> None:
        super()._prepare()
        groups, n_columns = self.groups, self.mean.shape[1]
        sizes = groups.stops - groups.starts
        columns = np.arange(n_columns)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._numbers = groups.numbers[self._owner]
        first, last = groups.starts[self._owner], groups.inners[self._owner]
        inner = columns < last
        self._inner = np.flatnonzero(inner)
        self._inner_starts = np.searchsorted(self._inner, groups.starts)
        self._inner_sizes = groups.inners - groups.starts
        moving = (groups.moving[self._owner] > 0) & inner
        self._shifts = moving & (last - first > 1)
        self._before = np.where(
            columns > first, columns - 1, np.minimum(columns + 1, n_columns - 1)
        )
        self._after = np.where(columns + 1 < last, columns + 1, np.maximum(columns - 1, 0))
        # Those that can stray, and between which two columns a step of them is.
        self._moving = np.flatnonzero(moving)
        self._high = np.where(columns + 1 < last, columns + 1, columns)[self._moving]
        self._low = np.where(self._high > self._moving, self._moving, self._moving - 1)
        self._low = np.maximum(self._low, first[self._moving])
        # The curves over one feature: the columns of their points side by side, and whose they are.
        self._single = np.flatnonzero(groups.places >= 0)
        self._starts, self._sizes = groups.starts[self._single], self._inner_sizes[self._single]
        self._of = np.repeat(np.arange(len(self._single)), self._sizes)
        self._firsts = np.cumsum(self._sizes) - self._sizes
        self._columns = (self._starts - self._firsts)[self._of] + np.arange(len(self._of))
        self._places = groups.places[self._single].tolist()
        missing = np.where(groups.inners < groups.stops, groups.inners, -1)
        self._missing = missing[self._single].tolist()
        self._lookups = [groups.lookups[g] for g in self._single.tolist()]

    def strayed(self, positions: FloatArray) -> bool:
        return bool(self._strayed(positions[None])[0])

    def _strayed(self, positions: FloatArray) -> Array:
        away = np.abs(positions - self.reference)[:, self._moving]
        steps = self.reference[self._high] - self.reference[self._low]
        return np.asarray(((2 * away > steps) & (away != 0)).any(axis=1))

    def fold_many(  # noqa: PLR0917  (arrays one by one: C knows no objects of them)
        self,
        values: FloatArray,
        positions: FloatArray,
        own: list[list[Any]],
        times: tuple[list[float], list[float]],
        rests: FloatArray,
        first: int,
    ) -> int:
        decays, weights = times
        places = np.broadcast_to(positions[:, 0], (len(values), positions.shape[2]))
        while first < len(values):
            stop = min(first + _MOST, len(values))
            at = places[first:stop]
            strayed = self._strayed(at) if self.moves else np.zeros(len(at), dtype=bool)
            if strayed.any():
                stop = first + int(strayed.argmax())
                if stop == first:
                    return first
            if not self.weight.all():  # columns without a past: the first is unlike the others
                if self.fold(values[first], at[0], own[first], decays[first], weights[first]):
                    rests[first] = self.rest
                first += 1
                continue
            part = slice(first, stop)
            times = decays[part], weights[part]
            rests[part] = self._fold(values[part], at[: stop - first], own[part], times)
            if strayed.any():
                return stop
            first = stop
        return first

    def _fold(
        self,
        values: FloatArray,
        positions: FloatArray,
        own: list[list[Any]],
        times: tuple[list[float], list[float]],
    ) -> FloatArray:
        """Take n observations: values (n, n_outputs, n_columns), positions (n, n_columns).

        Return what the curves leave of their predictions, (n, n_outputs); NaN: not known.
        """
        if values.shape[1:] != self.mean.shape:
            raise ValueError("the rows have another shape than those before")
        moved = self._moved(values, positions)
        ages = _ages(tuple(times[0])).weighted(times[1])
        after = ages.means(self.mean, self.weight, moved)
        before = np.concatenate((self.mean[None], after[:-1]))
        rests = self._fold_rest(values, positions, own, before, times)
        self.spread[:] = ages.spread(self.spread, self.mean, self.weight, moved, after[-1])
        self.mean[:] = after[-1]
        self.weight[:], self.squares[:] = ages.weights(self.weight, self.squares)
        return rests

    def _moved(self, values: FloatArray, positions: FloatArray) -> FloatArray:
        """What the curves are at their reference positions, centred."""
        moved = values
        away = self.reference - positions
        shifts = self._shifts & (away != 0)
        if shifts.any():
            other = np.where(away > 0, self._after, self._before)
            run = np.take_along_axis(positions, other, axis=1) - positions
            shifts &= run != 0
            run = np.where(shifts, run, 1.0)[:, None]
            rise = np.take_along_axis(values, other[:, None], axis=2) - values
            moved = np.where(shifts[:, None], values + rise / run * away[:, None], values)
        total = np.add.reduceat(moved[:, :, self._inner], self._inner_starts, axis=2)
        centre = total / self._inner_sizes
        centre -= self.frame[:, self.groups.numbers]
        return np.asarray(moved - centre[:, :, self._owner])

    def _fold_rest(
        self,
        values: FloatArray,
        positions: FloatArray,
        own: list[list[Any]],
        before: FloatArray,
        times: tuple[list[float], list[float]],
    ) -> FloatArray:
        """Fold in the predictions, and what remains of them without what the curves said before."""
        if not self._places:
            return np.full(values.shape[:2], np.nan)
        x = self._numbers_of(own)
        places = self._exact(own, x, self._between(positions, x))
        said, known = _read_off(values, places, np.isnan(x))
        if not known.all():
            return self._fold_known(known, values, positions, own, before, times)
        if not (positions == self.reference).all():
            places = self._exact(own, x, self._between(self.reference[None], x))
        places = _by_rise(values, said, places)
        ages = _ages(tuple(times[0])).weighted(times[1])
        self._fold_density(places, ages)
        rest = said - self._told(_at(before, places), places.left >= 0, *times).sum(axis=2)
        both = np.stack((said, rest), axis=1)
        weight, squares = self.clock
        after = ages.means(self.total, weight, both)[-1]
        self.total_spread[:] = ages.spread(self.total_spread, self.total, weight, both, after)
        self.total[:] = after
        self.clock[:] = ages.weights(weight, squares)
        return np.asarray(rest)

    def _fold_density(self, places: _Places, ages: _Ages) -> None:
        """Fold in where the observations are among the points."""
        weight = ages.each[-1][:, None] * (places.left >= 0)
        shares = np.stack((weight * (1 - places.share), weight * places.share))
        columns = np.maximum(np.stack((places.left, places.right)), 0)
        gained = np.bincount(columns.ravel(), shares.ravel(), minlength=len(self.density))
        self.density[:] = ages.past[-1] * self.density + gained
        self.density_weight[:] = ages.past[-1] * self.density_weight + ages.each[-1].sum()

    def _fold_known(self, known: Array, *of_each: Any) -> FloatArray:
        """The same with those only whose predictions can be read off."""
        values, positions, own, before, times = of_each
        rests = np.full(values.shape[:2], np.nan)
        if known.any():
            there = np.flatnonzero(known).tolist()
            picked = [[part[k] for k in there] for part in times]
            rests[there] = self._fold_rest(
                values[there],
                positions[there],
                [own[k] for k in there],
                before[there],
                (picked[0], picked[1]),
            )
        return rests

    def _numbers_of(self, own: list[list[Any]]) -> FloatArray:
        """The own values that are numbers, (n, n_curves); NaN for the others."""
        nan = float("nan")
        return np.array(
            [
                [
                    nan if each[place] is None or lookup is not None else each[place]
                    for place, lookup in zip(self._places, self._lookups, strict=True)
                ]
                for each in own
            ],
            dtype=float,
        )

    def _between(self, at: FloatArray, x: FloatArray) -> _Places:
        """Where numbers are among columns; see `spread.SpreadStep.between`."""
        below = (at[:, self._columns] <= x[:, self._of]).astype(np.intp)
        count = np.add.reduceat(below, self._firsts, axis=1)
        most = np.maximum(self._sizes - 2, 0)
        left = self._starts + np.minimum(np.maximum(count - 1, 0), most)
        right = left + (self._sizes > 1)
        rows = np.arange(len(at))[:, None]
        start, width = at[rows, left], at[rows, right] - at[rows, left]
        some = width > 0
        share = np.where(some, (x - start) / np.where(some, width, 1.0), 0.0)
        beyond = spread._BEYOND
        return _Places(left, np.where(some, right, left), share.clip(-beyond, 1 + beyond))

    def _exact(self, own: list[list[Any]], x: FloatArray, places: _Places) -> _Places:
        """The same with the columns of categories and of missing values."""
        unlike = np.isnan(x)
        if not unlike.any():
            return places
        left, right, share = (part.copy() for part in np.broadcast_arrays(*places))
        for j in np.flatnonzero(unlike.any(axis=0)).tolist():
            lookup, missing = self._lookups[j] or {}, self._missing[j]
            mine = [each[self._places[j]] for each in own]
            columns = [missing if value is None else lookup.get(value, -1) for value in mine]
            left[:, j] = np.where(unlike[:, j], columns, left[:, j])
            right[:, j] = np.where(unlike[:, j], columns, right[:, j])
            share[unlike[:, j], j] = 0.0
        return _Places(left, right, share)

    def _told(
        self, tells: FloatArray, known: Array, decays: list[float], weights: list[float]
    ) -> FloatArray:
        """What curves say of observations, (n, n_outputs, n_curves): where they cannot, their mean.

        The means, `effect`, go on with what they say.
        """
        ages, numbers = _ages(tuple(decays)), self.groups.numbers[self._single]
        each = ages.each[:, :, None] * (np.array(weights)[:, None] * known)
        old, weight = self.effect[:, numbers], self.effect_weight[numbers]
        total = ages.past[:, None] * weight + each.sum(axis=1)
        gain = np.einsum("kig,iog->kog", each, tells - old)
        after = old + gain / np.where(total > 0, total, 1.0)[:, None]
        before = np.concatenate((old[None], after[:-1]))
        self.effect[:, numbers], self.effect_weight[numbers] = after[-1], total[-1]
        return np.where(known[:, None], tells, before)


class _Ages(NamedTuple):
    """What is left at the time of each of n observations."""

    past: FloatArray  # (n,) of what was before all of them
    each: FloatArray  # (n, n) of each of them; 0 of those that are still to come

    def weighted(self, weights: list[float]) -> _Ages:
        """The same where each has a weight."""
        return _Ages(self.past, self.each * weights)

    def means(self, mean: FloatArray, weight: Any, values: FloatArray) -> FloatArray:
        """The mean at the time of each: of a past with a weight, and of the values until then."""
        # From what is there already, so that a constant stays what it is to the last bit.
        start = np.where(np.greater(weight, 0), mean, values[0])
        shape = (-1, *[1] * (mean.ndim - np.ndim(weight)), *np.shape(weight))
        total = np.multiply.outer(self.past, weight).reshape(shape)
        total = total + self.each.sum(axis=1).reshape(-1, *[1] * mean.ndim)
        return np.asarray(start + np.tensordot(self.each, values - start, axes=1) / total)

    def spread(
        self,
        spread: FloatArray,
        mean: FloatArray,
        weight: Any,
        values: FloatArray,
        after: FloatArray,
    ) -> FloatArray:
        """The sum of squares around the last mean, `after`."""
        past = self.past[-1]
        own = np.tensordot(self.each[-1], (values - after) ** 2, axes=1)
        return np.asarray(past * (spread + weight * (mean - after) ** 2) + own)

    def weights(self, weight: Any, squares: Any) -> tuple[Any, Any]:
        """The sums of the weights and of their squares at last."""
        past, own = self.past[-1], self.each[-1]
        return past * weight + own.sum(), past * past * squares + own @ own


@lru_cache(maxsize=64)
def _ages(decays: tuple[float, ...]) -> _Ages:
    n = len(decays)
    each = np.zeros((n, n))
    for k, decay in enumerate(decays):
        each[k] = decay * each[k - 1]
        each[k, k] = 1.0
    return _Ages(np.multiply.accumulate(decays), each)


def _at(values: FloatArray, places: _Places) -> FloatArray:
    """Values (n, n_outputs, n_columns) at places, (n, n_outputs, n_curves)."""
    left = np.take_along_axis(values, places.left[:, None], axis=2)
    right = np.take_along_axis(values, places.right[:, None], axis=2)
    return np.asarray(left + places.share[:, None] * (right - left))


def _read_off(values: FloatArray, places: _Places, exact: Array) -> tuple[FloatArray, Array]:
    """The predictions, (n, n_outputs), off the curve that is nearest to constant; which are known.

    See `spread.SpreadStep.doubt`.
    """
    left = np.take_along_axis(values, places.left[:, None], axis=2)
    right = np.take_along_axis(values, places.right[:, None], axis=2)
    largest, share = np.abs(right - left).max(axis=1, initial=0.0), places.share
    doubt = largest * np.where(share < 0.5, share, 1 - share)
    beyond = (share < 0) | (share > 1) | (places.left == places.right)
    doubt = np.where(beyond, 1e100 * (1.0 + largest), doubt)
    doubt = np.where(exact, 0.0, doubt)
    doubt = np.where(places.left < 0, _NOWHERE, doubt)
    best = doubt.argmin(axis=1)
    rows = np.arange(len(best))
    said = left[rows, :, best] + share[rows, best, None] * (right - left)[rows, :, best]
    return said, doubt[rows, best] < _NOWHERE


def _by_rise(values: FloatArray, said: FloatArray, places: _Places) -> _Places:
    """Between two columns: as far as the prediction has come from the one to the other."""
    if not values.shape[1]:  # a model may have no outputs yet
        return places
    left = np.take_along_axis(values, places.left[:, None], axis=2)
    rise = np.take_along_axis(values, places.right[:, None], axis=2) - left
    size = np.where(np.abs(rise) > 1e-9 * np.abs(left), np.abs(rise), 0.0)
    at = size.argmax(axis=1)[:, None]
    some = np.take_along_axis(size, at, axis=1)[:, 0] > 0
    inside = (places.share > 0) & (places.share < 1) & some
    run = np.where(some, np.take_along_axis(rise, at, axis=1)[:, 0], 1.0)
    came = np.take_along_axis(said[:, :, None] - left, at, axis=1)[:, 0] / run
    return places._replace(share=np.where(inside, came.clip(0.0, 1.0), places.share))
