"""From the smoothed curve to that of the model as it is now.

A smoothed curve is the mean of what the model *said*, at the time of each observation. What it
would say today is that mean plus the mean of *what it says now minus what it said then*, and this
difference is estimated on the observations of a `Pool`: a control variate. For a model that has not
changed it is exactly zero, and a change that is the same for all observations is known exactly.

Not all of them are asked about each time. Those that are not have the answer of their last time,
and for these the difference since then is estimated on those that are: it is small, as the last
time is not long ago, and so is its error (the method of multilevel Monte Carlo).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from ipdp.core import kernels
from ipdp.core.observations import arranged
from ipdp.core.typing import FloatArray
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.points import Layout
from ipdp.grid.base import LARGEST
from ipdp.models import Engine

# A model that says the same about so many of them, spread over the past, is taken for unchanged.
_FIRST_LOOK = 8
# Single precision rounds differently in calls of one row and of many.
_ROUNDING = 1e-6
# The variance of today's outputs is at most this many times that of the outputs then.
_LARGEST_RATIO = 10.0
# A difference counts as far as its square is larger than so many times its variance.
_DOUBT = 2.0

_Columns: TypeAlias = "slice | list[int]"


class Correction(NamedTuple):
    """What is added to the smoothed outputs, (n_outputs, n_points), and how sure that is."""

    difference: FloatArray  # mean of now minus then
    variance: FloatArray  # of that mean, because only a few observations were asked about
    of_one: FloatArray  # variance of the outputs for one observation, now
    spread: FloatArray  # variance of the outputs now against that of the outputs then
    n_effective: FloatArray  # (n_points,) effective number of observations that were asked about


def correction(memory: CurveMemory, engine: Engine) -> Correction | None:
    """Ask the model again about some of the pool; None if it says what it always said."""
    weights = memory.pool.weights(memory.t or 0.0)
    n_explained = max(target.n for target in memory.targets)
    chosen = memory.pool.choose(n_explained, weights)
    answers = _Answers(memory, weights)
    first = chosen[:: max(1, len(chosen) // _FIRST_LOOK)]
    answers.ask(engine, first)
    if not _same(answers.now, answers.latest):
        answers.ask(engine, sorted(set(chosen) - set(first)))
    return None if _same(answers.now, answers.then) else answers.estimate(chosen)


def _same(now: FloatArray, before: FloatArray) -> bool:
    size = np.abs(before).max(axis=(0, 2), keepdims=True, initial=0.0)
    return not (np.abs(now - before) > _ROUNDING * size).any()


class _Answers:
    """What the model said of the pool at first, at last, and says now, at the points of today.

    `then`, `latest` and `now` have the shape (n, n_outputs, n_points); where an observation was
    asked about, (n, n_axes, n_points), is where it was at that time. `known`, (n, n_points), is 1
    where the observation had that point, and 0 where it can say nothing of it.
    """

    def __init__(self, memory: CurveMemory, weights: FloatArray) -> None:
        means, self.kept = memory.means, memory.pool.kept
        self.memory, self.layout, self.weights = memory, means.layout, weights
        n, n_points = len(self.kept), self.layout.n_points
        self.then, self.latest = np.zeros((2, n, len(means.outputs), n_points))
        self.positions = np.repeat(means.smoothing.mean[None, : means.n_axes], n, axis=0)
        self.known = np.zeros((n, n_points))
        self._shared: dict[int, tuple[_Columns, _Columns]] = {}  # by the identity of a layout
        for k, (record, last) in enumerate(self.kept):
            here, there = self._columns(record.layout)
            self.positions[k][:, here] = record.positions[:, there]
            self.then[k][: len(record.values), here] = record.values[:, there]
            self.latest[k][: len(last), here] = last[:, there]
            self.known[k, here] = 1.0
        self.now = self.latest.copy()

    def _columns(self, other: Layout) -> tuple[_Columns, _Columns]:
        """The columns that today's layout and another one have in common, in both of them."""
        if id(other) not in self._shared:  # a pool has few layouts, and many records of each
            self._shared[id(other)] = _common(self.layout, other)
        return self._shared[id(other)]

    def ask(self, engine: Engine, numbers: Sequence[int]) -> None:
        """Ask the model about some of them, and let the pool know what it says."""
        if not numbers:
            return
        memory, means = self.memory, self.memory.means
        rows = [self.kept[k].record.x for k in numbers]
        if engine.ordered:
            rows = [arranged(x, memory.columns) for x in rows]
        answer = engine.ice_again(rows, self.layout.probes, self.positions[numbers])
        if not kernels.current.are_below(answer.values, LARGEST):
            raise ValueError(
                "asked again about past observations, the model answered with NaN, infinity or a "
                f"number beyond {LARGEST:g}: its curve as it is now is not known"
            )
        # Classes that it has learnt since the last explanation are not on the curve yet.
        values = means.aligned(answer)[1][:, : len(means.outputs)]
        for k, own in zip(numbers, values, strict=True):
            self.now[k] = np.where(self.known[k] > 0, own, self.now[k])
            record, last = self.kept[k]
            here, there = self._columns(record.layout)
            latest = np.zeros((len(own), last.shape[1]))
            latest[: len(last)] = last
            latest[:, there] = own[:, here]
            memory.pool.said(k, latest)

    def estimate(self, chosen: Sequence[int]) -> Correction:
        """The mean of now minus then: of latest minus then, and of now minus latest."""
        n = len(self.weights)
        # Each of the chosen stands for its whole group of neighbours.
        middles = [(one + other) / 2 for one, other in pairwise(chosen)]
        groups = np.searchsorted(middles, np.arange(n))
        in_group = np.bincount(groups, self.weights, minlength=len(chosen)).astype(float)
        share, own_share = (
            _shares(self.weights, self.known),
            _shares(in_group, self.known[chosen]),
        )
        levels = (
            (self.latest - self.then, share),
            (self.now[chosen] - self.latest[chosen], own_share),
        )
        parts = [
            _doubted(self.layout, (of * d).sum(axis=0), _stratified_variance(d, of))
            for d, of in levels
        ]
        difference, variance = (np.sum(both, axis=0) for both in zip(*parts, strict=True))
        return Correction(
            difference,
            variance,
            of_one=_stratified_variance(self.now[chosen], own_share) * _n_effective(own_share),
            spread=_spread_ratio(self.now[chosen], self.then[chosen], own_share),
            n_effective=_n_effective(own_share),
        )


def _common(wanted: Layout, other: Layout) -> tuple[_Columns, _Columns]:
    """The columns of the slots that two layouts have in common, in the one and in the other."""
    if wanted == other:
        return slice(None), slice(None)
    column = {slot: k for k, slot in enumerate(other.slots)}
    both = [(k, column[slot]) for k, slot in enumerate(wanted.slots) if slot in column]
    return [here for here, _ in both], [there for _, there in both]


def _shares(weights: FloatArray, known: FloatArray) -> FloatArray:
    """The share of each observation at each point, of shape (n, 1, n_points)."""
    own = weights[:, None] * known
    total = own.sum(axis=0)
    return np.asarray((own / np.where(total > 0, total, 1.0))[:, None])


def _n_effective(share: FloatArray) -> FloatArray:
    """Effective number of the observations behind a mean with these shares, (n_points,)."""
    squares = (share[:, 0] ** 2).sum(axis=0)
    return np.asarray(np.where(squares > 0, 1 / np.where(squares > 0, squares, 1.0), 0.0))


def _stratified_variance(values: FloatArray, share: FloatArray) -> FloatArray:
    """Variance of a mean with one value of each stratum, by the differences of neighbours."""
    present = (share > 0).astype(float)
    both = present[1:] * present[:-1]
    half = both * np.diff(values, axis=0) ** 2 / 2
    nothing = np.zeros((1, *half.shape[1:]))
    sums = np.concatenate([nothing, half]) + np.concatenate([half, nothing])
    counts = np.concatenate([nothing[:, :1], both]) + np.concatenate([both, nothing[:, :1]])
    # A value without neighbours has only itself to say how uncertain it is.
    own = np.where(counts > 0, sums / np.where(counts > 0, counts, 1.0), values**2)
    return np.asarray((share**2 * own).sum(axis=0))


def _spread_ratio(now: FloatArray, then: FloatArray, share: FloatArray) -> FloatArray:
    """How much more the outputs vary now than then, by the differences of neighbours."""
    of_now, of_then = (_stratified_variance(values, share) for values in (now, then))
    ratio = np.where(of_then > 0, of_now / np.where(of_then > 0, of_then, 1.0), 1.0)
    return np.asarray(ratio.clip(1 / _LARGEST_RATIO, _LARGEST_RATIO))


def _doubted(
    layout: Layout, difference: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The difference, smaller where it may as well be chance, and its mean square error.

    A model that learns says something else about each single observation all the time, also when
    its curve stays; what would be added to the curve is then noise.
    """
    kept = np.zeros_like(difference)
    for number in layout.targets:
        own = layout.columns_of(number)
        size = (difference[:, own] ** 2).mean(axis=1)
        noise = variance[:, own].mean(axis=1)
        # The same share of all outputs: probabilities are to stay some.
        ratio = float((size[noise > 0] / noise[noise > 0]).mean()) if noise.any() else np.inf
        kept[:, own] = max(1 - _DOUBT / ratio, 0.0) if ratio > 0 else 0.0
    return kept * difference, kept**2 * variance + ((1 - kept) * difference) ** 2
