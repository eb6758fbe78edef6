"""From the smoothed curve to that of the model as it is now.

A smoothed curve is the mean of what the model *said*, at the time of each observation. What it
would say today is that mean plus the mean of *what it says now minus what it said then*, and this
difference is estimated on the observations of a `Pool`: a control variate. For a model that has not
changed it is exactly zero, and a change that is the same for all observations is known exactly.

Not all of them are asked about each time. Those that are not have the answer of their last time,
and for these the difference since then is estimated on those that are: it is small, as the last
time is not long ago, and so is its error (the method of multilevel Monte Carlo). One of each group
of those whose last time was the same stands for it: where the model changed once, those who were
asked about since then say nothing of those who were not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from ipdp.core import kernels
from ipdp.core.observations import arranged
from ipdp.core.typing import Array, FloatArray, Observation
from ipdp.explainers.state.asking import Asked
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.places import gather, joined, places_of, side_by_side, weights_of
from ipdp.explainers.state.points import Layout
from ipdp.grid.base import LARGEST
from ipdp.models import Engine
from ipdp.models.base import Probe

# The variance due to the choice of whom to ask about is to be at most so much of that of the data.
_OF_CHOICE = 0.5
# Single precision rounds differently in calls of one row and of many.
_ROUNDING = 1e-6
# The variance of today's outputs is at most this many times that of the outputs then.
_LARGEST_RATIO = 10.0
# A difference counts as far as its square is larger than so many times its variance.
_DOUBT = 2.0
_NEGLIGIBLE = 1e-300
# A model that has changed says something else of one of so many.
_FEW = 8


class Correction(NamedTuple):
    """What is added to the smoothed outputs, (n_outputs, n_points), and how sure that is."""

    difference: FloatArray  # mean of now minus then
    variance: FloatArray  # of that mean, because only a few observations were asked about
    of_one: FloatArray  # variance of the outputs for one observation, now
    spread: FloatArray  # variance of the outputs now against that of the outputs then
    n_effective: FloatArray  # (n_points,) effective number of observations that were asked about
    changes: Changes  # of the single observations


class Changes(NamedTuple):
    """What the model says now minus what it said then, of past observations in their order."""

    times: FloatArray
    difference: FloatArray  # (n, n_outputs, n_points), 0 where an observation had no such point
    known: Array  # (n, n_points), whether it had it
    weights: FloatArray  # (n,), of the single observations at the time `t`
    t: float
    since: FloatArray  # (n, n_outputs, n_points), of those asked about, since their last time
    is_asked: Array  # (n,); what is said of the others is what was said at their last time


def correction(memory: CurveMemory, engine: Engine, shown: FloatArray) -> Correction | None:
    """Ask the model again about some of the pool; None if it says what it always said.

    `shown` are the means that it is added to.
    """
    weights = memory.pool.weights(memory.t or 0.0)
    n_explained = max(target.n for target in memory.targets)
    answers = _Answers(memory, engine, weights)
    asked = memory.pool.choose(n_explained, weights, answers.wanted)
    answers.ask(asked.chosen)
    return answers.estimate(asked, shown) if answers.differ(asked.chosen) else None


def _same(now: FloatArray, before: FloatArray) -> bool:
    size = np.abs(before).max(axis=(0, 2), keepdims=True, initial=0.0)
    return not (np.abs(now - before) > _ROUNDING * size).any()


class _Answers:
    """What the model said of the pool at first, at last, and says now, at the points of today.

    `then`, `latest` and `now` have the shape (n, n_outputs, n_points). `known`, (n, n_points), is 1
    where the observation had that point, and 0 where it can say nothing of it; where it was asked
    about by chance, one over the probability of that.
    """

    def __init__(self, memory: CurveMemory, engine: Engine, weights: FloatArray) -> None:
        means, self.kept, self.engine = memory.means, memory.pool.kept, engine
        self.memory, self.layout, self.weights = memory, means.layout, weights
        records = [one.record for one in self.kept]
        layouts, n_outputs = [record.layout for record in records], len(means.outputs)
        self._places = places_of(self.layout, layouts)
        columns, there = side_by_side(layouts, self._places)
        self.then = gather([record.values for record in records], n_outputs, columns, there)
        self.latest = gather([one.latest for one in self.kept], n_outputs, columns, there)
        self.known = there.astype(float)
        if any(layout.chances for layout in layouts):
            counts = [weights_of(layout)[None] for layout in layouts]
            self.known = gather(counts, 1, columns, there)[:, 0]
        self.now = self.latest.copy()
        self._asked: set[int] = set()

    def wanted(self, first: list[int]) -> float:
        """How many it takes to know the change, by what the model says of a few; 0 for none.

        A model that says the same of these few, and has said the same of all so far, is taken for
        unchanged. Where it has changed before they may have been asked about since, and others not.
        """
        self.ask(first)
        if not self.differ(first):
            return 0.0
        means = self.memory.means
        of_one = (self.now[first] - self.latest[first]).var(axis=0)
        of_data = np.nan_to_num(means.smoothing.std_error[means.n_axes :] ** 2)
        starts = [probe.start for probe in self.layout.probes]
        single, whole = (np.add.reduceat(v.sum(axis=0), starts) for v in (of_one, of_data))
        return float(max(1.0, (single / np.maximum(_OF_CHOICE * whole, _NEGLIGIBLE)).max()))

    def differ(self, asked: list[int]) -> bool:
        """Whether the model says, or has said, anything else than it said at first."""
        # Those that were asked about tell at once, as a rule, and a few of them do.
        few = asked[:_FEW]
        return not _same(self.now[few], self.then[few]) or not _same(self.now, self.then)

    def ask(self, wanted: Sequence[int]) -> None:
        """Ask the model about some of them, and let the pool know what it says."""
        engine, numbers = self.engine, sorted({*wanted} - self._asked)
        self._asked.update(numbers)
        if not numbers:
            return
        memory = self.memory
        rows = [self.kept[k].record.x for k in numbers]
        if engine.ordered:
            rows = [arranged(x, memory.columns) for x in rows]
        if any(self.kept[k].record.layout.chances for k in numbers):
            pairs = zip(numbers, rows, strict=True)
            values = np.array([self._own_points(engine, k, x) for k, x in pairs])
        else:
            values = self._said(engine, rows, self.layout.probes, self._positions(numbers))
        self.now[numbers] = np.where(self.known[numbers, None] > 0, values, self.now[numbers])
        for k, own in zip(numbers, self._at_places(numbers, values), strict=True):
            memory.pool.said(k, own)

    def _positions(self, numbers: Sequence[int]) -> FloatArray:
        """Where some of them were asked about, (n, n_axes, n_points), or where points are now."""
        means, records = self.memory.means, [self.kept[k].record for k in numbers]
        at, there = side_by_side([r.layout for r in records], self._places[numbers])
        own = gather([record.positions for record in records], means.n_axes, at, there)
        return np.where(there[:, None], own, means.smoothing.mean[: means.n_axes])

    def _at_places(self, numbers: Sequence[int], values: FloatArray) -> list[FloatArray]:
        """What the model says of records at their own points; what it said where these are gone."""
        latest = [self.kept[k].latest for k in numbers]
        layouts = [self.kept[k].record.layout for k in numbers]
        columns, there = side_by_side(layouts, self._places[numbers])
        table = joined(latest, values.shape[1])
        table[:, columns[there]] = values.transpose(1, 0, 2)[:, there]
        stops = list(accumulate(layout.n_points for layout in layouts))
        # Copies, as some of them are kept for long and others not.
        return [table[:, lo:hi].copy() for lo, hi in pairwise([0, *stops])]

    def _weights_of_one(self) -> FloatArray:
        """How much each of them weighs itself, and not for its stratum."""
        smoothing, pool = self.memory.means.smoothing, self.memory.pool
        weight = smoothing.weight
        at = int(weight.argmax())
        total, squares = float(weight[at]), float(smoothing.squares[at])
        n = total**2 / squares if squares > 0 else 0.0
        return pool.weights_of_one(self.memory.t or 0.0, total, total / max(n, 1.0))

    def _own_points(self, engine: Engine, k: int, x: Observation) -> FloatArray:
        """What the model says now of one that was asked about some features only, about these."""
        record, here = self.kept[k].record, self._places[k] >= 0
        own: FloatArray = self.now[k].copy()
        answer = self._said(engine, [x], record.layout.probes, record.positions[None])[0]
        own[:, here] = answer[:, self._places[k, here]]
        return own

    def _said(
        self, engine: Engine, rows: list[Observation], probes: Sequence[Probe], at: FloatArray
    ) -> FloatArray:
        """What the model says now, (n, n_outputs, n_points), or an error."""
        answer = engine.ice_again(rows, probes, at)
        if not kernels.current.are_below(answer.values, LARGEST):
            raise ValueError(
                "asked again about past observations, the model answered with NaN, infinity or a "
                f"number beyond {LARGEST:g}: its curve as it is now is not known"
            )
        # Classes that it has learnt since the last explanation are not on the curve yet.
        means = self.memory.means
        values: FloatArray = means.aligned(answer)[1][:, : len(means.outputs)]
        return values

    def estimate(self, asked: Asked, shown: FloatArray) -> Correction:
        """The mean of now minus then: of latest minus then, and of now minus latest."""
        order, starts, chosen = asked
        in_group = np.add.reduceat(self.weights[order], starts)
        share = _shares(self.weights, self.known)
        own_share = _shares(in_group, self.known[chosen])
        before, since = self.latest - self.then, self.now[chosen]
        since -= self.latest[chosen]
        difference = _weighted(share, before) + _weighted(own_share, since)
        # One was chosen out of each group: nothing is left to chance where a group is one alone.
        squares = np.add.reduceat(self.weights[order] ** 2, starts)
        chance = 1 - squares / np.maximum(in_group**2, _NEGLIGIBLE)
        of_choice = own_share**2 * chance[:, None, None]
        in_time = np.sort(chosen)
        now, then, there = self.now[in_time], self.then[in_time], self.known[in_time, None] > 0
        squares, own = share**2, self._weights_of_one()
        # Nothing is left to chance, either, of one that is a stratum alone.
        chances = np.clip(1 - own / np.maximum(self.weights, _NEGLIGIBLE), 0.0, 1.0)
        picked = _squares_near(in_time, there, squares * chances[:, None, None])
        variance = of_variances(of_choice, since, own_share > 0)
        variance += of_variances(picked, now - then, there)
        nearby = _squares_near(in_time, there, squares)
        both = of_variances(nearby, np.concatenate([now, then], axis=1), there)
        of_now, of_then = np.split(both, 2)
        for new, near, first in _newcomers(self.memory.means, shown):
            at = np.repeat(new, 2)
            of_own = _weighted(share.take(at, axis=2), before.take(near, axis=2))
            of_own += _weighted(own_share.take(at, axis=2), since.take(near, axis=2))
            rest = difference[:, near] - of_own
            difference[:, new] += rest[:, ::2] * first + rest[:, 1::2] * (1 - first)
            variance[:, new] += np.maximum(variance[:, near[::2]], variance[:, near[1::2]])
        return Correction(
            *_doubted(self.layout, difference, variance),
            of_one=of_now / np.maximum(nearby.sum(axis=0), _NEGLIGIBLE),
            spread=_ratio(of_now, of_then),
            n_effective=_n_effective(own_share),
            changes=self._changes(own, since),
        )

    def _changes(self, weights: FloatArray, since: FloatArray) -> Changes:
        times, t = np.array([one.record.t for one in self.kept]), self.memory.t or 0.0
        is_asked = np.zeros(len(times), dtype=bool)
        is_asked[list(self._asked)] = True
        return Changes(times, self.now - self.then, self.known > 0, weights, t, since, is_asked)


def _newcomers(means: Means, all_shown: FloatArray) -> Iterator[tuple[list[int], list[int], Array]]:
    """The columns of points that are shown as if they had been there before, in order.

    Some at a time: with two neighbours of each, side by side, whose past it has borrowed, and the
    part of the first one in it. It is corrected as it is shown: as its neighbours are, which come
    before it, plus the mean difference since it came.
    """
    column = {slot: k for k, slot in enumerate(means.layout.slots)}
    own = means.smoothing.mean[means.n_axes :]
    is_shown_otherwise = (all_shown[means.n_axes :] != own).any(axis=0).tolist()
    new: list[int] = []
    near: list[int] = []
    parts: list[float] = []
    for point in means.newcomers.points:
        at, first = column.get(point.own), column.get(point.first)
        if at is None or first is None or not is_shown_otherwise[at]:
            continue
        second = column.get(point.second, first)
        if not {at, first, second}.isdisjoint(new):
            yield new, near, np.array(parts)
            new, near, parts = [], [], []
        new.append(at)
        near += [first, second]
        parts.append(point.share)
    if new:
        yield new, near, np.array(parts)


def _shares(weights: FloatArray, known: FloatArray) -> FloatArray:
    """The share of each observation at each point, of shape (n, 1, n_points)."""
    own = weights[:, None] * known
    total = own.sum(axis=0)
    return np.asarray((own / np.where(total > 0, total, 1.0))[:, None])


def _weighted(share: FloatArray, values: FloatArray) -> FloatArray:
    """The weighted sum over observations, (n_outputs, n_points)."""
    return np.asarray(np.einsum("np,nop->op", share[:, 0], values))


def _n_effective(share: FloatArray) -> FloatArray:
    """Effective number of the observations behind a mean with these shares, (n_points,)."""
    squares = (share[:, 0] ** 2).sum(axis=0)
    return np.asarray(np.where(squares > 0, 1 / np.where(squares > 0, squares, 1.0), 0.0))


def _squares_near(chosen: Array, there: Array, squares: FloatArray) -> FloatArray:
    """The sums of the squares of those that are nearest in time to each of the chosen.

    At a point that some of the chosen did not have, the others stand for all.
    """
    ends = (chosen[1:] + chosen[:-1]) // 2 + 1
    own = squares if len(chosen) == len(squares) else np.add.reduceat(squares, [0, *ends])
    own = np.where(there, own, 0.0)
    total = own.sum(axis=0)
    return np.asarray(own * squares.sum(axis=0) / np.where(total > 0, total, 1.0))


def of_variances(weights: FloatArray, values: FloatArray, there: Array) -> FloatArray:
    """The weighted sum of the variances of the values of a series, (n_outputs, n_points).

    The variance of each is found by its differences from its neighbours: half of their squares.
    """
    weights, there = weights[:, 0], there[:, 0]
    both = there[1:] & there[:-1]
    n_near = np.zeros(weights.shape)
    n_near[1:] += both
    n_near[:-1] += both
    own = weights / np.maximum(n_near, 1.0)
    steps = np.diff(values, axis=0)
    steps *= steps
    found = np.einsum("np,nop->op", both * (own[1:] + own[:-1]) / 2, steps)
    alone = there & (n_near == 0)
    if alone.any():  # a value without neighbours has only itself to say how uncertain it is
        found += np.einsum("np,nop->op", np.where(alone, weights, 0.0), values**2)
    return np.asarray(found)


def _ratio(of_now: FloatArray, of_then: FloatArray) -> FloatArray:
    """How much more the outputs vary now than then."""
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
    # What is left out may be as large as the noise, also where it happens to look small.
    error = kept**2 * variance + ((1 - kept) * difference) ** 2
    return kept * difference, np.maximum(error, variance)
