"""Everything that an explainer of curves remembers, and the one step that changes it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple, Self

import numpy as np

from ipdp.core import kernels
from ipdp.core.jsonable import decode_name
from ipdp.core.observations import arranged
from ipdp.core.typing import FeatureName, FloatArray, Label, Observation, State
from ipdp.explainers.state import saved
from ipdp.explainers.state.folding import FoldingMemory
from ipdp.explainers.state.following import following
from ipdp.explainers.state.joint_values import JointValues
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.points import Layout, Positions
from ipdp.explainers.state.pool import Pool
from ipdp.explainers.state.records import Explained, IceRecord, with_outputs
from ipdp.explainers.state.spread import Spread
from ipdp.explainers.state.spreads import Spreads
from ipdp.explainers.state.targets import Target, tell_of_left_out
from ipdp.grid import Grid
from ipdp.grid.base import LARGEST
from ipdp.grid.lattice import Lattice
from ipdp.models.base import Outputs

NOT_FINITE = (
    f"the model answered with NaN or infinity (or with a number beyond {LARGEST:g}, which cannot "
    "be averaged); the observation was not explained"
)

# How many recent observations are kept for the density over a pair.
_N_JOINT = 256


# Past observations are kept with at most about so many answers in all, 32 MB; but so many of them.
_MOST_ANSWERS, _FEWEST_PAST = 4_000_000, 16
# That many points a feature are reckoned with, which are not known at the start.
_POINTS = 16

# So many observations are folded in together, fewer where that is compiled: the one that does it
# must not take much longer than the others. And fewer where they have so many points in all.
_TOGETHER, _COMPILED, _MOST_POINTS = 16, 8, 100_000

_Unfolded = tuple[FloatArray, FloatArray, list[Any], float, float, list[float] | None]
"""Positions, outputs, own values, weight and time of an observation, and what takes its rest."""


class Answers(NamedTuple):
    """What the model said of n observations with the same slots; checked."""

    layout: Layout
    positions: Sequence[FloatArray]  # of each, (n_axes, n_points)
    outputs: list[Label]  # their names
    named: bool  # whether the model gave these
    values: FloatArray  # (n, n_outputs, n_points)

    def record(self, k: int) -> IceRecord:
        """What it said of one of them; a copy, as the array is that of many, or the model's own."""
        return IceRecord(self.layout, self.positions[k], self.values[k].copy())


class Part(NamedTuple):
    """What is to be said of a memory of some of the observations only."""

    values: list[tuple[Any, ...]]  # recent ones, in the order of the grids
    flat: frozenset[int]  # columns of features that made no difference to any observation


class CurveMemory(FoldingMemory):
    """What an explainer of curves remembers: grids, smoothed answers, the last ICE curves.

    Parameters
    ----------
    targets
        The features, and pairs, to follow.
    columns
        Names of all features, in the order of the first observation.
    alpha
        Smoothing parameter.
    n_ice
        Number of ICE curves kept.
    n_past
        Number of past observations kept, to ask the model about again; fewer of them where there
        are so many features that they would be large.
    dependence
        Whether errors know how long the stream remembers, for which blocks of time are kept.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        columns: tuple[FeatureName, ...],
        *,
        alpha: float | None,
        n_ice: int,
        n_past: int = 0,
        dependence: bool = True,
    ) -> None:
        fixed = [k for k, t in enumerate(targets) if all(type(g) is Lattice for g in t.grids)]
        n_axes = max(len(target.names) for target in targets)
        means = Means(n_axes, alpha=alpha, fixed=frozenset(fixed), dependence=dependence)
        super().__init__(targets, columns, means)
        self.recent: deque[IceRecord] = deque(maxlen=n_ice)
        n_points = sum(_POINTS ** len(target.names) for target in targets)
        most = max(_MOST_ANSWERS // n_points, _FEWEST_PAST)
        self.pool = Pool(min(n_past, most), alpha=alpha)
        names = [target.names for target in targets]
        spread = Spread(names, tuple(self.grids), alpha=alpha, fixed=self._means.fixed)
        self._spreads = Spreads(spread)
        self.follows_all = {(name,) for name in columns} <= set(names)
        has_pairs = any(target.is_pair for target in targets)
        # Where there are pairs, the last observations, in the order of the grids: the grids of two
        # features do not know which of their values came together.
        self.joint: deque[tuple[Any, ...]] = deque(maxlen=_N_JOINT if has_pairs else 0)
        of_pairs = {name for target in targets if target.is_pair for name in target.names}
        places = [k for k, name in enumerate(self.grids) if name in of_pairs]
        self.joint_values = JointValues(places, alpha=alpha)
        self.part: Part | None = None  # of a memory of some groups only
        self.positions = Positions(self._means.layout, self._targets, n_axes)
        self._waiting = list(range(len(self._targets)))
        self._ready: list[int] = []

    # One observation.

    def ask(
        self,
        explainer: Any,
        x: Observation,
        y: Any,  # noqa: ARG002  (curves need no label)
        w: float,
    ) -> tuple[list[Any], Observation, Answers | None]:
        values = self.admit(x)
        if not w:
            return values, x, None
        layout, positions = self._questions()
        if not layout.targets:
            return values, x, None
        engine = explainer.engine
        if engine.ordered:
            x = arranged(x, self.columns)
        answer = engine.ice([x], layout.probes, positions[None])
        if not kernels.current.are_below(answer.values, LARGEST):
            raise ValueError(NOT_FINITE)
        return values, x, self.aligned(answer, layout, [positions])

    def _questions(self) -> tuple[Layout, FloatArray]:
        """What the model is asked about an observation now, and where."""
        layout = self.layout_now()
        return layout, self.positions.now()

    def commit(
        self, asked: tuple[list[Any], Observation, Answers | None], w: float, t: float
    ) -> None:
        values, x, answers = asked
        if answers is not None:
            self._follow(answers, t)
            # A copy: the array may be the model's own.
            record = IceRecord(answers.layout, answers.positions[0], answers.values[0].copy())
            self._take(record, x, values, w, t)
        # The grids have the observation after it was explained, as in Algorithm 1.
        kernels.current.take_in(values, self._intakes, self._updates)
        if self.joint.maxlen:
            self.joint.append(tuple(values))
            self.joint_values.add(self.seen, values, w, t)

    def take_in_many(
        self, own: list[list[Any]], asked: list[bool], w: Sequence[float], t: Sequence[float]
    ) -> Iterator[tuple[Layout, slice, list[FloatArray]]]:
        """Let the grids have observations, after each was to be asked about.

        `own` are their values as admitted.

        Yields
        ------
        The points for some neighbours among them, which ones these are, and where the points are
        for each of these that is `asked` about; they are to be asked before the next.
        """
        k, n = 0, len(own)
        while k < n:
            start, layout = k, self.layout_now() if asked[k] else self.positions.layout
            # Nobody has looked at the points for the next one that is asked about.
            stop = n if asked[k] else next(compress(range(k, n), asked[k:]), n)
            part = k, k + 1 if self._waiting else stop
            takers = self._intakes, self._updates
            k, positions = self.positions.over(own, asked, part, takers)
            if self.joint.maxlen:
                self.joint.extend(map(tuple, own[start:k]))
                for j in range(start, k):
                    self.joint_values.add(self.seen + j - start, own[j], w[j], t[j])
            self.seen += k - start
            self.t = t[k - 1]
            yield layout, slice(start, k), positions

    def places_of(self, names: Sequence[FeatureName]) -> list[int]:
        """Where the values of some features are, among those that `admit` gives."""
        return [self._names.index(name) for name in names]

    def layout_now(self) -> Layout:
        """The slots to evaluate now; the one in force if nothing came or went."""
        if self._waiting:
            self._look_at_waiting([self._targets[k] for k in self._waiting])
        layout = self.positions.layout
        if len(layout.targets) == len(self._ready) and not (
            self.positions.others and self.positions.is_stale()
        ):
            return layout
        # A grid that has chosen its kind of points may take values as they are.
        self._intakes = [grid.intake for grid in self.grids.values()]
        targets = [self._targets[k] for k in self._ready]
        keys = [target.current_keys() for target in targets]
        whole = [target.whole for target in targets]
        layout = Layout.of(self._targets, self._ready, keys, whole, self.positions.layout)
        if layout == self._means.layout:
            layout = self._means.layout  # so that being the same object says that nothing changed
        self.positions = Positions(layout, self._targets, self._means.n_axes)
        return layout

    def _look_at_waiting(self, waiting: Sequence[Target]) -> None:
        """Name those that are left out, and have those that are ready."""
        # Most of them look for good like what they were named for.
        if any(not target.is_told and target.looks_like for target in waiting):
            tell_of_left_out(self._targets)
        if any(target.ready for target in waiting):
            ready = [k for k in self._waiting if self._targets[k].ready]
            self._waiting = [k for k in self._waiting if k not in ready]
            self._ready = sorted(self._ready + ready)

    def aligned(self, answer: Outputs, layout: Layout, positions: Sequence[FloatArray]) -> Answers:
        """What the model said with its outputs in order, or an error; nothing changes."""
        labels, values = answer
        outputs = self._means.outputs
        if labels is None or labels != self._means.labels:
            outputs, values = self._means.aligned(answer)
        return Answers(layout, positions, outputs, labels is not None, values)

    def fold_in(
        self,
        answers: Answers,
        rows: Sequence[Observation],
        own: list[list[Any]],
        w: list[float],
        t: list[float],
    ) -> None:
        """Take checked answers on several observations; `own` are their values as admitted.

        The same as to take them one by one, but only what is kept of them is copied.
        """
        self._follow(answers, t[0])
        self._fold()
        n, first = len(rows), answers.positions[0]
        same = all(positions is first for positions in answers.positions)
        positions = first[None] if same else np.array(answers.positions)
        explained = Explained(positions, np.ascontiguousarray(answers.values), own, w, t)
        # So many that they are still in the cache when they are looked at once more.
        most = max(_TOGETHER, _MOST_POINTS // answers.layout.n_points)
        starts = range(0, n, most)
        rests = np.concatenate(
            [self._fold_explained(explained.part(slice(k, min(k + most, n)))) for k in starts]
        )
        for number in answers.layout.targets:
            self._targets[number].n += n
        most = n if self.recent.maxlen is None else self.recent.maxlen
        self.recent.extend(map(answers.record, range(max(n - most, 0), n)))
        self.pool.update_many(rows, w, t, answers.record, rests)

    def _fold_explained(self, explained: Explained) -> FloatArray:
        """Fold in what was said of some, and return what the curves leave of the predictions.

        By the spread from the beginning of the stream on, where there is one: it is the last.
        """
        self._means.fold_many(explained)
        for spread in self._spreads.all:
            rests = spread.fold_many(self._means.layout, explained)
        return rests

    def _follow(self, answers: Answers, t: float) -> None:
        """Have the points and outputs of some answers from a time on."""
        means, layout, outputs = self._means, answers.layout, answers.outputs
        if layout is not means.layout or outputs is not means.outputs:
            self._fold()
            if layout is not means.layout:
                means.adopt(layout, float(t))
            if outputs is not means.outputs:
                means.add_outputs(outputs, answers.named)

    def _take(self, record: IceRecord, x: Observation, own: list[Any], w: float, t: float) -> None:
        """Take what was said of one observation, with the points and outputs that there are."""
        rest = self._keep(record, x, w, t)
        self._unfolded.append((record.positions, record.values, own, w, t, rest))
        n = len(self._unfolded)
        together = _TOGETHER if kernels.current is kernels.array else _COMPILED
        if n >= together or n * record.layout.n_points >= _MOST_POINTS:
            self._fold()

    def _keep(self, record: IceRecord, x: Observation, w: float, t: float) -> list[float] | None:
        """Keep it, if it is one of those that are kept; return what takes its rest then."""
        if self.recent.maxlen:
            self.recent.append(record)
        pool = self.pool
        pool.weight += w
        return pool.update(x, record, t) if pool.weight >= pool.wanted else None

    def _fold_together(self, last: list[_Unfolded]) -> None:
        is_compiled = kernels.current is not kernels.array
        if is_compiled and self._step is not None:
            last = last[self._step.fold(last) :]
            if last and self._means.begin_block(last[0][4]):
                last = last[self._step.fold(last) :]
            if not last:
                return
        rests = self._fold_explained(Explained.of(last))
        for k, one in enumerate(last):
            if one[-1] is not None and not math.isnan(sum(values := rests[k].tolist())):
                one[-1][:] = values
        if is_compiled:
            self._step = kernels.current.FoldStep(self._means, self._spreads.all)

    @property
    def spreads(self) -> Spreads[Spread]:
        """How much the ICE curves differ."""
        self._fold()
        return self._spreads

    @spreads.setter
    def spreads(self, spreads: Spreads[Spread]) -> None:
        self._spreads, self._step = spreads, None

    # Copies, and segments of a stream.

    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Self:
        """An independent copy, with other grids if they are given."""
        alpha, n_ice = self.means.smoothing.alpha, self.recent.maxlen or 0
        twin = type(self)(self._copied_targets(grids), self.columns, alpha=alpha, n_ice=n_ice)
        twin.pool, twin.spreads = self.pool.copy(), self.spreads.copy()
        twin._take_clock(self)
        twin.means = self.means.copy()
        twin.recent.extend(self.recent)
        twin.joint.extend(self.joint)
        twin.joint_values = self.joint_values.copy()
        return twin

    def successor(self) -> Self:
        later = super().successor()
        later.recent.clear()
        later.spreads = self.spreads.successor()
        later.joint_values = self.joint_values.successor()
        later.pool = Pool(self.pool.size, alpha=self.pool.alpha)
        return later

    def _follow_as(self, pairs: Sequence[Any]) -> None:
        """Follow some pairs, too, unless they are followed already."""
        known = [target.feature for target in self.targets]
        for pair in pairs:
            if pair not in known:
                vars(self).update(vars(following(self, pair)))

    def merge(self, later: Self) -> Self:
        own, theirs = ([t.feature for t in each.targets] for each in (self, later))
        if later.follows(self) and own != theirs and own == theirs[: len(own)]:
            # Pairs that were promoted since begin there.
            wider = self.copy()
            wider._follow_as(theirs[len(own) :])
            return wider.merge(later)
        joined = self._joined(later)
        means = joined.means
        if not later.follows(self):
            joined.joint.clear()
            joined.joint.extend([*self.joint, *later.joint])
        seen = 0 if later.follows(self) else self.seen
        joined.joint_values = self.joint_values.merge(later.joint_values, seen)
        joined.spreads = self.merged_spreads(later, means)
        joined.recent.clear()
        for part in (self, later):
            known = part.means.outputs
            joined.recent.extend(with_outputs(r, known, means.outputs) for r in part.recent)
        pools = [p.pool.with_outputs(p.means.outputs, means.outputs) for p in (self, later)]
        if not later.follows(self):
            pools = [pool.without_rests() for pool in pools]  # their curves had other levels
        joined.pool = pools[0].merge(pools[1], joined.t or 0.0)
        return joined

    def merged_spreads(self, later: CurveMemory, means: Means) -> Spreads[Spread]:
        """The spread of both memories, whose means together are those."""
        rows = (rows_of(means.outputs, part.means.outputs) for part in (self, later))
        return self.spreads.merge(later.spreads, later.follows(self), means.layout, *rows)

    # State out and in.

    def _saved(self) -> State:
        return saved.saved(self)

    def _restore(self, state: State) -> None:
        effects = [decode_name(effect["feature"]) for effect in state["effects"]]
        self._follow_as(effects[len(self.targets) :])
        saved.restore(self, state)


def rows_of(wanted: Sequence[Label], known: Sequence[Label]) -> list[int]:
    """Where each wanted output is among those that are known; -1 for one that is not."""
    return [known.index(label) if label in known else -1 for label in wanted]
