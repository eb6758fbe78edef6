"""How much the ICE curves differ from their mean, and how much the curves tell of the model.

*Spread.* Each ICE curve is centred by its mean over the points; the variance of the centred curves
at a point says how much the effect of the feature differs between observations. For a model without
interactions it is zero. When points come and go, their mean is another one for reasons that have
nothing to do with the model; so each curve is given, from the first observation with the new points
on, the level at which the points that stay have the mean that they had.

*Share.* The sum of all centred curves, at the values of an observation itself, is what the curves
say of it; the rest is what they do not. Both variances are smoothed as all is. The prediction for
the observation is read off its ICE curves, and costs no further call of the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.smoothing import Smoothing, pick
from ipdp.core.typing import Array, FeatureName, FloatArray, State
from ipdp.explainers.state.densities import go_on, handed_over, joined_weights, shared_out
from ipdp.explainers.state.groups import curves_of
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.records import Explained

# The arrays, by the names that the kernel has for them.
_BY_COLUMN = ("mean", "spread", "weight", "squares", "reference", "density")
_BY_NUMBER = ("frame", "effect", "effect_weight")
_TOTALS = ("total", "total_spread", "clock", "density_weight")
# Those that states of version 0.4 do not have.
_NEW = ("density", "density_weight")
_ARRAYS = (*_BY_COLUMN, *_BY_NUMBER, *_TOTALS)
# Those that have a row, or a last axis, of outputs.
_ROWS = ("mean", "spread", "frame", "effect")
_LAST = ("total", "total_spread")
# Those of squares, which may be larger.
_SQUARES = ("spread", "squares", "total_spread", "clock")
_WEIGHTS = ("weight", "density", "effect_weight", "density_weight")
# What those of a state stay below.
_MOST = {
    **dict.fromkeys(_ARRAYS, schema.LARGEST_MEAN),
    **dict.fromkeys(_WEIGHTS, schema.LARGEST_WEIGHT),
    **dict.fromkeys(_SQUARES, schema.LARGEST_SQUARES),
}


class Group(NamedTuple):
    """The columns of one curve."""

    place: int  # which value of an observation is its feature's
    known: Array  # the columns of its points that have a past
    lookup: dict[Any, int] | None  # the columns of categories; None for numbers
    missing: int | None  # the column for a missing value
    number: int  # of its target


class Spread:
    """The spread of the ICE curves of some targets, and the share of the model that they tell.

    Parameters
    ----------
    targets
        For each target its features, one or two.
    names
        The features in the order in which an observation's own values come.
    alpha
        Smoothing parameter.
    fixed
        Numbers of the targets whose points stay where they are.
    """

    def __init__(
        self,
        targets: Sequence[tuple[FeatureName, ...]],
        names: Sequence[FeatureName],
        *,
        alpha: float | None,
        fixed: frozenset[int],
    ) -> None:
        self.targets = tuple(targets)
        self.names = tuple(names)
        self.alpha = alpha
        self.fixed = fixed
        self.layout = Layout()
        self.n = 0  # number of observations
        self.t: float | None = None
        self._decay = 1.0 if alpha is None else 1.0 - alpha
        self._fresh: set[int] = set()  # targets whose points have just changed
        self._put({name: np.zeros(shape) for name, shape in self._shapes(0, 0).items()})

    def _shapes(self, n_outputs: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        n = len(self.targets)
        return {
            **dict.fromkeys(("mean", "spread"), (n_outputs, n_columns)),
            **dict.fromkeys(("weight", "squares", "reference", "density"), (n_columns,)),
            **dict.fromkeys(("frame", "effect"), (n_outputs, n)),
            "effect_weight": (n,),
            **dict.fromkeys(_LAST, (2, n_outputs)),
            "clock": (2,),
            "density_weight": (1,),
        }

    # One observation.

    def fold_many(self, layout: Layout, explained: Explained) -> FloatArray:
        """Take what the model said of some observations, with the values of their features.

        Return what the curves leave of the prediction for each, (n, n_outputs); NaN: not known.
        """
        positions, values, own, w, t = explained
        rests = np.full(values.shape[:2], np.nan)
        if not all(w):
            if any(w):
                rests[np.flatnonzero(w)] = self.fold_many(layout, explained.weighty())
            return rests
        if layout is not self.layout:
            if layout != self.layout:
                self._adopt(layout, positions[0])
            self.layout = layout  # that of the means, so that it is seen at once
        known = len(self._step.mean)
        if len(values[0]) != known:
            self._take_rows([*range(known), *[-1] * (len(values[0]) - known)])
        step = self._step
        if step.moves and step.strayed(explained.places(0)):
            self._carry(explained.places(0))
        if self._fresh:
            self._level(values[0])
        before = t[0] - 1 if self.t is None else self.t
        gaps = [later - earlier for earlier, later in pairwise([before, *t])]
        times = [self._decay if gap == 1 else self._decay**gap for gap in gaps], w
        k = 0
        while (k := step.fold_many(values, positions, own, times, rests, k)) < len(t):
            self._carry(explained.places(k))
        self.n += len(t)
        self.t = t[-1]
        return rests

    def _adopt(self, layout: Layout, positions: FloatArray) -> None:
        """Take the points of another layout; those that have gone are forgotten."""
        columns: list[int] = []
        own: Sequence[int]
        for number, keys in zip(layout.targets, layout.keys, strict=True):
            own, before = self.layout.columns_of(number), self.layout.keys_of(number)
            if keys != before:
                known = dict(zip(before, own, strict=True))
                own = [known.get(key, -1) for key in keys]
                self._fresh.add(number)
            columns += own
        step, at = self._step, np.array(columns, dtype=int)
        arrays = {name: getattr(step, name) for name in _ARRAYS}
        n = len(step.mean)
        table = pick(np.vstack([arrays[name] for name in _BY_COLUMN]), at, axis=1)
        arrays.update(mean=table[:n], spread=table[n : 2 * n])
        arrays.update(zip(_BY_COLUMN[2:], table[2 * n :], strict=True))
        arrays["reference"] = np.where(at < 0, positions[0], arrays["reference"])
        places = step.reference, arrays["reference"]
        arrays["density"] += handed_over(self.layout, layout, step.density, places)
        self.layout = layout
        self._put(arrays)

    def _level(self, values: FloatArray) -> None:
        """Give curves with new points the level of those that they had before."""
        step = self._step
        for number in self._fresh:
            own = list(self.layout.columns_of(number))
            inner = own[: len(own) - self.layout.probe_of(number).missing]
            weight = step.weight[inner]
            level = np.zeros(len(values))
            if weight.any():
                centred = values[:, inner] - values[:, inner].mean(axis=1, keepdims=True)
                share = weight / weight.sum()
                level = (step.mean[:, inner] - centred) @ share
            step.frame[:, number] = level
        self._fresh = set()

    def _carry(self, positions: FloatArray) -> None:
        """Take the curves along to where their points are now."""
        step = self._step
        for g, number in enumerate(self.layout.targets):
            if not step.groups.moving[g]:
                continue
            own = slice(step.groups.starts[g], step.groups.inners[g])
            was, now = step.reference[own].copy(), positions[own]
            if (was != now).any() and np.ptp(was) > 0:
                before = step.mean[:, own].copy()
                for row in (*step.mean, *step.spread, step.weight, step.squares):
                    row[own] = np.interp(now, was, row[own])
                go_on(step.mean[:, own], before, was, now)
                step.density[own] = shared_out(step.density[own], was, now)
            step.reference[own] = now
            step.frame[:, number] = step.mean[:, own].mean(axis=1)

    # Reading.

    def deviations(self) -> FloatArray:
        """Standard deviations of the centred ICE curves, (n_outputs, n_points); NaN if unknown."""
        return np.sqrt(self._curves.variance)

    def centred(self, columns: Array | Sequence[int]) -> FloatArray:
        """Means of the centred ICE curves, (n_outputs, n)."""
        return np.asarray(self._step.mean[:, np.asarray(columns, dtype=np.intp)])

    @property
    def variances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the predictions: mean, variance, and the variance of what the curves did not say."""
        step = self._step
        weight = max(float(step.clock[0]), np.finfo(float).tiny)
        whole, rest = step.total_spread / weight
        return step.total[0].copy(), whole, rest

    def groups(self) -> Iterator[Group]:
        """The curves over one feature."""
        step, groups = self._step, self._step.groups
        for g, place in enumerate(groups.places.tolist()):
            if place >= 0:
                first, last, stop = groups.starts[g], groups.inners[g], groups.stops[g]
                known = first + np.flatnonzero(step.weight[first:last] > 0)
                missing = int(stop) - 1 if stop > last else None
                number = self.layout.targets[g]
                yield Group(place, known, groups.lookups[g], missing, number)

    def density(self, columns: Array | Sequence[int]) -> FloatArray:
        """The share of the observations at each of some points; NaN where it is not known.

        One that lies between two points is shared by them; the sum is 1 without what is missing.
        """
        total = self._step.density_weight[0]
        found = self._step.density[np.asarray(columns, dtype=np.intp)]
        return np.asarray(found / total) if total > 0 else np.full(len(found), np.nan)

    @property
    def n_effective(self) -> float:
        """Effective number of observations behind the share."""
        weight, squares = self._step.clock
        return float(weight**2 / squares) if squares > 0 else 0.0

    # Arrays, copies, segments of a stream.

    @property
    def _arrays(self) -> dict[str, FloatArray]:
        return {name: getattr(self._step, name).copy() for name in _ARRAYS}

    def _put(self, arrays: Mapping[str, FloatArray]) -> None:
        """Have the kernel work on these arrays."""
        kernel = kernels.spread_kernel()
        self._step = kernel.SpreadStep(
            kernel.Groups(*curves_of(self.layout, self.names, self.fixed)),
            {name: np.ascontiguousarray(arrays[name]) for name in _ARRAYS},
        )

    def _take_rows(self, rows: Sequence[int]) -> None:
        """Take other outputs; -1 stands for one that has been 0 so far."""
        arrays = self._arrays
        for name in _ROWS:
            arrays[name] = pick(arrays[name], rows, axis=0)
        for name in _LAST:
            arrays[name] = pick(arrays[name], rows, axis=1)
        self._put(arrays)

    @property
    def _curves(self) -> Smoothing:
        """The sums of the centred curves."""
        step = self._step
        return self._smoothing(step.mean, step.spread, step.weight, step.squares)

    @property
    def _totals(self) -> Smoothing:
        """The sums of the predictions and of what remains of them, in a column."""
        step = self._step
        whole, spread = (a.reshape(-1, 1) for a in (step.total, step.total_spread))
        return self._smoothing(whole, spread, step.clock[:1], step.clock[1:])

    @property
    def _effects(self) -> Smoothing:
        """The sums of the curves at the observations' own values."""
        step = self._step
        nothing = np.zeros_like(step.effect)
        return self._smoothing(step.effect, nothing, step.effect_weight, step.effect_weight)

    def _smoothing(self, mean: Any, spread: Any, weight: Any, squares: Any) -> Smoothing:
        smoothing = Smoothing(alpha=self.alpha, n_rows=0, n_columns=0)
        smoothing.n, smoothing.t = self.n, self.t
        smoothing.mean, smoothing.spread = mean.copy(), spread.copy()
        if len(weight):
            smoothing._weight, smoothing._squares = weight.copy(), squares.copy()
        return smoothing

    def empty(self) -> Spread:
        """One of the same kind that has seen nothing."""
        return Spread(self.targets, self.names, alpha=self.alpha, fixed=self.fixed)

    def copy(self) -> Spread:
        """An independent copy."""
        twin = self.empty()
        twin.layout, twin.n, twin.t, twin._fresh = self.layout, self.n, self.t, set(self._fresh)
        twin._put(self._arrays)
        return twin

    def merge(
        self, later: Spread, layout: Layout, rows: Sequence[int], later_rows: Sequence[int]
    ) -> Spread:
        """The spread of both, with the points of a layout and the outputs of these rows."""
        if not later.n or not self.n:
            known, own = (self, rows) if self.n else (later, later_rows)
            return known._arranged(layout, own, np.zeros(layout.n_points))
        theirs = later._arranged(layout, later_rows, np.zeros(layout.n_points))
        reference = np.where(theirs._step.weight > 0, theirs._step.reference, 0.0)
        ours = self._arranged(layout, rows, reference)
        theirs._step.reference[:] = np.where(
            theirs._step.weight > 0, theirs._step.reference, ours._step.reference
        )
        ours._carry(theirs._step.reference)
        theirs._take_level_of(ours)
        joined = theirs.copy()
        joined.n, step = ours.n + theirs.n, joined._step
        curves, totals, effects = (
            getattr(ours, name).merge(getattr(theirs, name))
            for name in ("_curves", "_totals", "_effects")
        )
        joined.t = curves.t
        step.mean[:], step.spread[:] = curves.mean, curves.spread
        step.weight[:], step.squares[:] = curves.weight, curves.squares
        step.total[:] = totals.mean.reshape(2, -1)
        step.total_spread[:] = totals.spread.reshape(2, -1)
        step.clock[:] = totals.weight[0], totals.squares[0]
        step.effect[:], step.effect_weight[:] = effects.mean, effects.weight
        for name in _NEW:
            one, other = ((getattr(p._step, name), p.t or 0.0) for p in (ours, theirs))
            getattr(step, name)[:] = joined_weights(one, other, self._decay)
        return joined

    def _arranged(self, layout: Layout, rows: Sequence[int], positions: FloatArray) -> Spread:
        twin = self.copy()
        twin._take_rows(rows)
        if layout != twin.layout:
            twin._adopt(layout, positions[None])
            twin._fresh = set()
        return twin

    def _take_level_of(self, earlier: Spread) -> None:
        """Give each curve the level that it has in another one with the same points."""
        step, before = self._step, earlier._step
        for g, number in enumerate(self.layout.targets):
            own = slice(step.groups.starts[g], step.groups.inners[g])
            common = np.minimum(step.weight[own], before.weight[own])
            if not common.any():
                if not step.weight[own].any():
                    step.frame[:, number] = before.frame[:, number]
                continue
            shift = (before.mean[:, own] - step.mean[:, own]) @ (common / common.sum())
            step.mean[:, step.groups.starts[g] : step.groups.stops[g]] += shift[:, None]
            step.frame[:, number] += shift
            step.effect[:, number] += shift
            if len(self.targets[number]) == 1:
                step.total[1] -= shift

    # State out and in.

    def __getstate__(self) -> State:
        # A pickle is not about the build.
        return {**vars(self), "_step": self._arrays}

    def __setstate__(self, state: State) -> None:
        vars(self).update(state)
        self._put(state["_step"])

    @property
    def state(self) -> State:
        """Everything in it but the layout, JSON-safe."""
        arrays = {name: getattr(self._step, name).tolist() for name in _ARRAYS}
        return {"n": self.n, "t": self.t, "fresh": sorted(self._fresh), **arrays}

    def restore(self, state: State, layout: Layout, n_outputs: int) -> None:
        """Take what `state` gave; an observation may not have come yet."""
        schema.check(state, n=schema.count, t=schema.maybe(schema.number))
        schema.check(state, fresh=schema.each(schema.below(len(self.targets))))
        if state["n"]:
            self.layout = layout
        else:
            n_outputs = 0
        arrays = {}
        for name, shape in self._shapes(n_outputs, self.layout.n_points).items():
            if name in _NEW and name not in state:
                arrays[name] = np.zeros(shape)
                continue
            values = np.array(state[name], dtype=float)
            if values.size != math.prod(shape) or not (np.abs(values) < _MOST[name]).all():
                raise ValueError(
                    f"the state is damaged: {name} of the spread does not have {shape} numbers"
                )
            arrays[name] = values.reshape(shape)
        self.n, self.t, self._fresh = state["n"], state["t"], set(state["fresh"])
        self._put(arrays)
