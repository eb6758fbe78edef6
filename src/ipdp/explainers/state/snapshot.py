"""From what an explainer remembers to its curves."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.h_statistic import Effect, h_squared
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.correction import correction
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.densities import shared_out
from ipdp.explainers.state.errors import CurveErrors
from ipdp.explainers.state.records import RecentIce
from ipdp.explainers.state.shares import share_now, smoothed_share
from ipdp.explainers.state.targets import MISSING, Target
from ipdp.grid.base import Key
from ipdp.models import Engine

# A point that was added is shown after so many observations: the noise of one is all in it.
_FEWEST = 10
# From so many observations on it is said how much the curves tell.
_FEW = 30
# What is left of differences that are 0, as a share of the numbers.
_ROUNDING = 1e-9
# What a curve says at each of its points, for each of its outputs.
_BY_POINT = {"average", "smoothed", "ice_spread", "std_error", "centred_std_error"}

Picked = slice | Array
"""Rows or columns of an array."""


class Snapshot:
    """The curves of a memory at one time; what they share is computed once.

    With an engine they are those of the model as it is now, which is asked again.
    """

    def __init__(self, memory: CurveMemory, engine: Engine | None = None) -> None:
        self._memory = memory
        self._targets, self._means = memory.targets, memory.means
        self._mean, self._weight = self._means.shown, self._means.smoothing.weight
        self._n_effective_alone = self._means.smoothing.n_effective
        self._smoothed: FloatArray | None = None
        self._difference: FloatArray | None = None
        known = self._means.outputs
        self._outputs = in_order(known)
        numbers = [known.index(label) for label in self._outputs]
        # The rows of the outputs, without those of the positions: all of them as a rule.
        self._numbers: Picked = _as_slice(numbers)
        found = None
        if engine is not None and memory.pool.kept:
            self._smoothed, found = self._mean, correction(memory, engine, self._mean)
            if found is not None:
                self._difference = found.difference
                outputs = self._mean[self._means.n_axes :]
                positions = self._mean[: self._means.n_axes]
                self._mean = np.vstack([positions, _bounded(outputs + found.difference, outputs)])
        self._errors = CurveErrors(self._means, found)
        self._n_effective = self._errors.n_effective
        spread = memory.spreads.own
        # What is known of how the ICE curves differ, if it is about these points.
        self._spread = spread if spread.layout == self._means.layout else None
        # Those of all curves at once, as there may be many.
        self._deviations = None if self._spread is None else self._spread.deviations()
        self._of_outputs = self._ordered(self._mean)
        self._past = None if self._smoothed is None else self._ordered(self._smoothed)
        self._explained = self._share(None if found is None else engine)

    def _share(self, engine: Engine | None) -> FloatArray | None:
        """The share of the predictions' variance that the curves tell; None for too few.

        With an engine that of the model as it is now: the smoothed one compares what it said with
        curves that lagged behind it.
        """
        spread = self._spread
        if spread is None or spread.n_effective < _FEW:
            return None
        if engine is None or len(self._memory.pool.kept) < _FEW:
            shares = smoothed_share(spread)
        else:
            curves = self._mean[self._means.n_axes :]
            shares = share_now(self._memory, engine, curves, self._mean[0])
        return shares[self._numbers]

    def _ordered(self, mean: FloatArray) -> FloatArray:
        """The outputs of means, in order."""
        return np.asarray(mean[self._means.n_axes :][self._numbers])

    @cached_property
    def _recent(self) -> RecentIce:
        return RecentIce(self._memory.recent, len(self._means.outputs))

    def curve(self, number: int, *, with_ice: bool = True) -> Curve:
        """The curve of one target, given by its number, with the recent ICE curves or without."""
        target = self._targets[number]
        if not target.n:
            raise NotEnoughSamples(f"no curve for {target.feature!r} yet: {target.why_no_curve}")
        keys, columns, missing, axes = self._points(number)
        at = _as_slice(columns)
        ice = {}
        if with_ice and self._memory.recent:
            ice = self._ice(number, [keys[c] for c in columns], axes)
        return Curve(
            feature=target.feature,
            outputs=self._outputs,
            grid_values=axes,
            explained=self._explained,
            h_squared=self._h_squared(number) if target.is_pair else None,
            **self._data(number, columns),
            follows_all=self._memory.follows_all,
            n_samples=target.n,
            categorical=tuple(axis.dtype == object for axis in axes),
            t=self._memory.t,
            times=target.times,
            rug=self._rugs(target),
            **self._values(at, tuple(map(len, axes))),
            **self._missing(missing),
            **ice,
        )

    def _values(self, columns: Picked, shape: tuple[int, ...]) -> dict[str, Any]:
        """What a curve says at its points, which fill axes of this shape."""
        weight = self._weight[columns] if self._is_flat(columns) else None

        def cut(values: FloatArray) -> FloatArray:
            picked = np.array(values[:, columns])
            if weight is not None and np.ptp(picked, axis=1).any():
                picked = np.repeat(picked @ (weight / weight.sum())[:, None], len(weight), axis=1)
            return picked

        values = self._errors.of_curve(columns, self._numbers)
        values["average"] = cut(self._of_outputs)
        if self._past is not None:
            values["smoothed"] = cut(self._past)
        if self._deviations is not None:
            values["ice_spread"] = np.array(self._deviations[self._numbers][:, columns])
        for name in _BY_POINT & values.keys():
            values[name] = values[name].reshape(len(self._outputs), *shape)
        return {**values, "n_effective_points": np.array(self._n_effective[columns]).reshape(shape)}

    def _missing(self, column: list[int]) -> dict[str, Any]:
        """What a curve says of missing values, if they have a column."""
        if not column:
            return {}
        errors = self._errors.of_points(column)
        return {
            "missing": np.array(self._of_outputs[:, column[0]]),
            "missing_std_error": errors[self._numbers, 0],
        }

    def _ice(self, number: int, keys: list[Key], axes: list[Array]) -> dict[str, Any]:
        """What a curve says of the last observations alone."""
        ice, positions = self._recent.of(number, keys)
        ice = ice[self._numbers].reshape(len(self._outputs), ice.shape[1], *map(len, axes))
        has_places = len(axes) == 1 and axes[0].dtype != object
        return {"ice": ice, "ice_grid_values": [positions] if has_places else None}

    def _data(self, number: int, columns: list[int]) -> dict[str, Any]:
        """Where the observations were, and what the model said of them, as far as it is known."""
        if self._predictions is None:
            return {}
        found = {name: values.copy() for name, values in self._predictions.items()}
        if not self._targets[number].is_pair:
            density = self._density(number, columns)
            found |= {} if np.isnan(density).any() else {"density": density}
        return found

    @cached_property
    def _predictions(self) -> dict[str, FloatArray] | None:
        """Mean and standard deviation of what the model said of the observations themselves."""
        spread = self._spread
        if spread is None or not spread.n:
            return None
        mean, variance, _ = spread.variances
        rows = self._numbers
        return {"prediction": mean[rows], "prediction_std": np.sqrt(variance[rows])}

    def _density(self, number: int, columns: list[int]) -> FloatArray:
        """The share of the observations at some points of a target, those of others among them."""
        spread, layout = self._spread, self._means.layout
        assert spread is not None
        density = spread.density(columns)
        own = layout.columns_of(number)
        if len(columns) == len(own):
            return density
        keys, there = dict(zip(own, layout.keys_of(number), strict=True)), set(columns)
        others = [c for c, key in keys.items() if c not in there and key is not MISSING]
        if others and there and not _are_categories(keys):
            positions = self._mean[0]
            more = shared_out(spread.density(others), positions[others], positions[columns])
            density = density + more
        return density

    def _is_flat(self, columns: Picked) -> bool:
        """Whether the feature made no difference to any observation.

        The means of points that came at different times differ all the same: they are over other
        observations.
        """
        part, deviations = self._memory.part, self._deviations
        if not self._weight[columns].any():
            return False
        if part is not None:
            return part.flat.issuperset(np.arange(len(self._weight))[columns].tolist())
        if self._spread is None or deviations is None:
            return False
        outputs, varies = self._mean[self._means.n_axes :, columns], deviations[:, columns]
        # Most often that says it: the rest need not be looked at.
        if not are_flat(outputs, [], varies):
            return False
        curves = [self._spread.centred(np.arange(len(self._weight))[columns])]
        if self._difference is not None:
            curves.append(self._difference[:, columns])
        return are_flat(outputs, curves, varies)

    def _points(
        self, number: int, *, all_of_them: bool = False
    ) -> tuple[dict[int, Key], list[int], list[int], list[Array]]:
        """The keys of a target's columns, those that are shown, and the axes that they fill.

        The column for a missing value comes apart.
        """
        target, layout = self._targets[number], self._means.layout
        keys = dict(zip(layout.columns_of(number), layout.keys_of(number), strict=True))
        shown = list(keys) if all_of_them else self._shown(number, target, keys)
        columns = [c for c in shown if keys[c] is not MISSING]
        axes, order = self._arrange(target, columns, [keys[c] for c in columns])
        missing = [c for c in shown if keys[c] is MISSING]
        return keys, [columns[k] for k in order], missing, axes

    def _h_squared(self, number: int) -> FloatArray | None:
        """H² of a pair, if there are curves of both of its features too."""
        memory, found = self._memory, self.effects(number)
        if found is None:
            return None
        surface, *singles = found
        places = memory.places_of(self._targets[number].names)
        own, weights = memory.joint_values.of(places, memory.t or 0.0)
        return h_squared(surface, singles, own, weights)

    def effects(self, number: int) -> list[Effect] | None:
        """What a pair does, and each of its features alone; None if these are not followed."""
        targets = self._targets
        numbers = {target.names: k for k, target in enumerate(targets) if target.n}
        wanted = [numbers.get((name,)) for name in targets[number].names]
        if None in wanted:
            return None
        return [self._effect(k) for k in (number, *wanted) if k is not None]

    def _effect(self, number: int) -> Effect:
        """What a curve or a surface says, and where; NaN where it says nothing."""
        # A surface and its two curves have the same points, also those too new to be shown.
        _, columns, _, axes = self._points(number, all_of_them=True)
        values = np.where(self._weight[columns] > 0, self._of_outputs[:, columns], np.nan)
        return Effect(axes, values.reshape(len(self._outputs), *map(len, axes)))

    def _shown(self, number: int, target: Target, keys: dict[int, Key]) -> list[int]:
        """The columns of a target that have a value and are within the limits of its grid."""
        if target.is_pair:
            return list(keys)
        all_of_them = self._means.layout.columns_of(number)
        own = slice(all_of_them.start, all_of_them.stop)
        limits = target.grids[0].limits
        shown = self._weight[own] > 0
        if number in self._means.fixed and shown.any() and not _are_categories(keys):
            n = self._n_effective_alone[own]
            enough = shown & (n >= min(_FEWEST, n.max() / 3))
            if enough.sum() > 1:  # else the whole range is new, and one point is no curve
                shown = enough
        if limits is not None:
            position = self._mean[0, own]
            is_missing = np.array([key is MISSING for key in keys.values()])
            within = is_missing | ((position >= limits[0]) & (position <= limits[1]))
            if (shown & within & ~is_missing).any():
                shown &= within
        return [own.start + k for k in np.flatnonzero(shown).tolist()]

    def _arrange(
        self, target: Target, columns: list[int], keys: list[Any]
    ) -> tuple[list[Array], list[int]]:
        """The axes, and the order of the columns along them."""
        mean = self._mean
        if not target.is_pair:
            axis, order = _ascending(_axis(keys, mean[0, columns]))
            return [axis], order
        firsts = list(dict.fromkeys(first for first, _ in keys))
        seconds = list(dict.fromkeys(second for _, second in keys))
        shape = (len(firsts), len(seconds))
        weights = self._weight[columns].reshape(shape) + np.finfo(float).tiny
        rows = mean[0, columns].reshape(shape), mean[1, columns].reshape(shape)
        # Cells of one line of the grid differ in position only if some of them were added later.
        along = (
            np.average(rows[0], axis=1, weights=weights),
            np.average(rows[1], axis=0, weights=weights),
        )
        axes, orders = zip(
            *(_ascending(_axis(k, p)) for k, p in zip((firsts, seconds), along, strict=True)),
            strict=True,
        )
        cells = np.arange(len(columns)).reshape(shape)[np.ix_(*orders)]
        return list(axes), cells.ravel().tolist()

    def _rugs(self, target: Target) -> list[Array]:
        """Recent values of each feature; of a pair those of one observation at the same place."""
        part = self._memory.part
        if not target.is_pair and part is None:
            return [grid.rug for grid in target.grids]
        places = self._memory.places_of(target.names)
        kept = self._memory.joint if part is None else part.values
        rows = [[values[k] for k in places] for values in kept]
        columns = zip(*[row for row in rows if None not in row], strict=True)
        rugs = []
        for grid, column in zip(target.grids, list(columns) or [()] * len(places), strict=True):
            rug = np.empty(len(column), dtype=object)
            rug[:] = column
            rugs.append(rug if grid.points.dtype == object else rug.astype(float))
        return rugs


def _as_slice(numbers: list[int]) -> Picked:
    """Numbers as a slice if they follow each other, which arrays are cut by much faster."""
    first, n = numbers[0] if numbers else 0, len(numbers)
    if numbers == list(range(first, first + n)):
        return slice(first, first + n)
    return np.array(numbers, dtype=np.intp)


def are_flat(outputs: FloatArray, curves: list[FloatArray], deviations: FloatArray) -> bool:
    """Whether centred curves, and their deviations, are 0 up to the rounding of the outputs."""
    least = _ROUNDING * (1.0 + np.abs(outputs).max(initial=0.0))
    steps = [np.ptp(each, axis=1).max(initial=0.0) for each in curves if each.size]
    varies = np.fmax.reduce(deviations, axis=None, initial=0.0)  # NaN is where nothing is known
    return bool(max(varies, *steps, 0.0) <= least)


def _are_categories(keys: dict[int, Key]) -> bool:
    return isinstance(next(iter(keys.values())), tuple)


def _bounded(corrected: FloatArray, smoothed: FloatArray) -> FloatArray:
    """The corrected outputs, (n_outputs, n_points); of probabilities at least 0 and 1 in all."""
    if len(smoothed) < 2 or smoothed.min(initial=0.0) < 0:
        return corrected
    positive = np.maximum(corrected, 0.0)
    # Less than 1 where the model has learnt a class that is not on the curve yet.
    total = np.maximum(positive.sum(axis=0), 1.0)
    return np.where(np.isclose(smoothed.sum(axis=0), 1.0), positive / total, corrected)


def _axis(keys: list[Key], positions: FloatArray) -> Array:
    if keys and isinstance(keys[0], tuple):
        axis = np.empty(len(keys), dtype=object)
        axis[:] = [key[0] for key in keys if isinstance(key, tuple)]
        return axis
    return positions.copy()


def _ascending(axis: Array) -> tuple[Array, list[int]]:
    """An axis of numbers in ascending order, and that order; categories keep theirs.

    Positions that are means over different times, because a point was added later, may cross.
    """
    if axis.dtype == object:
        return axis, list(range(len(axis)))
    order: list[int] = np.argsort(axis, kind="stable").tolist()
    return axis[order], order
