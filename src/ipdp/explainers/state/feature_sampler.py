"""Which of many features the model is asked about: a random sample, drawn anew now and then.

A feature is in the sample with a probability that is known beforehand, and its answers count one
over that probability. So the sums of its curve are, in expectation, those of all observations,
whatever the model and the data do in the meantime (Horvitz and Thompson 1952). Half of the places
are shared by all alike. The others go to those whose ICE curves differ from one time to the next,
in proportion to how much: this is what makes the error of all curves together smallest (Neyman
1934), and a curve that begins to move is noticed the next time that it is its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from ipdp.core import jsonable, schema
from ipdp.core.random import Uniforms
from ipdp.core.typing import Array, FloatArray, State
from ipdp.explainers.state.points import Layout

# A sample is kept for so many observations: to prepare its questions takes as long as to ask them.
HELD = 4
# The share of the places that all features have alike.
_EVEN = 0.5
# How fast it is forgotten how much a curve differed the last times.
_FORGET = 0.25
# Differences below this share of the largest curve are rounding.
_ROUNDING = 1e-9
_START = schema.Kind("in [0, 1)", lambda v: schema.number.fits(v) and 0 <= v < 1)


class Sample(NamedTuple):
    """The features that are asked about."""

    layout: Layout  # of them
    columns: Array  # of their points, among those of all
    weights: FloatArray  # of these points: one over the probability of their feature


class FeatureSampler:
    """Draws which features are asked about.

    Parameters
    ----------
    size
        How many.
    seed
        Start of the random numbers.
    """

    def __init__(self, size: int, seed: int | None = None) -> None:
        self.size = size
        self._uniforms = Uniforms(seed=seed)
        self._start = self._uniforms.draw()  # what decides which features are drawn,
        self._held = 0  # and for how many observations it has done so
        self._layout = Layout()  # of all features
        # The last ICE curve of each, centred, (n_outputs, n_points); NaN where there is none.
        self._last: FloatArray = np.empty((0, 0))
        # By number of the target: half of the mean squared difference of one from the next.
        self._variance: FloatArray = np.empty(0)
        self._drawn_of: tuple[Layout, Sample] | None = None
        self._order: tuple[tuple[int, ...], Array] = (), np.empty(0, dtype=int)

    def follow(self, layout: Layout) -> None:
        """Choose from the targets of this layout from now on."""
        if layout is self._layout:
            return
        last = np.full((len(self._last), layout.n_points), np.nan)
        for number, keys in zip(layout.targets, layout.keys, strict=True):
            if keys == self._layout.keys_of(number):
                own, before = layout.columns_of(number), self._layout.columns_of(number)
                last[:, own.start : own.stop] = self._last[:, before.start : before.stop]
        more = max(layout.targets, default=-1) + 1 - len(self._variance)
        self._variance = np.append(self._variance, np.full(max(more, 0), np.nan))
        self._layout, self._last = layout, last

    def sample(self, layout: Layout) -> Sample:
        """Those of a layout that are asked about now."""
        if self._drawn_of is None or self._drawn_of[0] is not layout:
            self._drawn_of = layout, self._drawn(layout)
        return self._drawn_of[1]

    def _drawn(self, layout: Layout) -> Sample:
        if len(layout.targets) <= self.size:
            return Sample(layout, np.arange(layout.n_points), np.ones(layout.n_points))
        order = self._order_of(layout)
        chances = self.chances([layout.targets[place] for place in order])
        ends = np.cumsum(chances)
        # Every whole number, from a random start on, is in the interval of one feature; these are
        # as long as the probabilities.
        marks = (self._start + np.arange(self.size)) * (ends[-1] / self.size)
        drawn = np.unique(np.searchsorted(ends, marks, side="right").clip(max=len(ends) - 1))
        drawn = drawn[np.argsort(order[drawn])]
        return _sample(layout, order[drawn].tolist(), chances[drawn])

    def _order_of(self, layout: Layout) -> Array:
        """The order in which targets are drawn from, which is not that of an observation."""
        if self._order[0] != layout.targets:
            names = [repr(probe.names) for probe in layout.probes]
            self._order = layout.targets, np.argsort(names, kind="stable")
        return self._order[1]

    def chances(self, targets: Sequence[int]) -> FloatArray:
        """The probability of each of some targets to be asked about; their sum is `size`."""
        known = len(self._variance)
        variance = np.array([self._variance[k] if k < known else np.nan for k in targets])
        # What was not compared yet may be as uncertain as any.
        needs = np.sqrt(np.where(np.isnan(variance), np.nanmax(variance, initial=0.0), variance))
        largest = np.nanmax(np.abs(self._last), initial=0.0)
        needs = np.where(needs > _ROUNDING * largest, needs, 0.0)
        return _shared_out(needs, self.size)

    def advance(self, values: FloatArray) -> None:
        """Note what was said of an observation, (n_outputs, n_points); maybe draw anew."""
        self._held += 1
        if self._held < HELD:
            return
        self._compare(self.sample(self._layout), values)
        self._start, self._held, self._drawn_of = self._uniforms.draw(), 0, None

    def _compare(self, sample: Sample, values: FloatArray) -> None:
        """How much the curves differ from those of the last time."""
        layout, columns, _ = sample
        if len(self._last) < len(values):  # a class that was not met before was 0
            more = len(values) - len(self._last)
            self._last = np.vstack([self._last, np.zeros((more, self._last.shape[1]))])
            if more == len(values):
                self._last[:] = np.nan
        starts = [probe.start for probe in layout.probes]
        sizes = np.diff([*starts, layout.n_points])
        centred = values - np.repeat(np.add.reduceat(values, starts, axis=1) / sizes, sizes, axis=1)
        square = (centred - self._last[: len(values), columns]) ** 2 / 2
        now = np.add.reduceat(square.mean(axis=0), starts) / sizes
        numbers = np.array(layout.targets)
        before = self._variance[numbers]
        now = np.where(np.isnan(now), before, now)
        before = np.where(np.isnan(before), now, before)
        self._variance[numbers] = before + _FORGET * (now - before)
        self._last[: len(values), columns] = centred

    def copy(self) -> Self:
        """An independent copy."""
        twin = type(self)(self.size)
        vars(twin).update(vars(self))
        twin._last, twin._variance = self._last.copy(), self._variance.copy()
        twin._uniforms = Uniforms(seed=0)
        twin._uniforms.state = self._uniforms.state
        return twin

    @property
    def state(self) -> State:
        """Everything in it but the layout, JSON-safe."""
        return {
            "start": self._start,
            "held": self._held,
            "uniforms": self._uniforms.state,
            "last": jsonable.pack_floats(self._last.ravel()),
            "variance": jsonable.pack_floats(self._variance),
        }

    def restore(self, state: State, layout: Layout, n_targets: int) -> None:
        """Take what `state` gave; the layout is that of the means."""
        schema.check(state, start=_START, held=schema.below(HELD))
        last, variance = (jsonable.unpack_floats(state[name]) for name in ("last", "variance"))
        n = layout.n_points
        fits = len(last) % n == 0 if n else not len(last)
        if not fits or len(variance) > n_targets or (variance < 0).any():
            raise ValueError("the state is damaged: what was asked about last does not fit")
        if len(variance) <= max(layout.targets, default=-1) or np.isinf(last).any():
            raise ValueError("the state is damaged: what was asked about last does not fit")
        self._start, self._held = state["start"], state["held"]
        self._uniforms.state = state["uniforms"]
        self._layout, self._drawn_of = layout, None
        self._last = last.reshape(-1, n) if n else np.empty((0, 0))
        self._variance = variance.copy()


def _sample(layout: Layout, places: list[int], chances: FloatArray) -> Sample:
    """The sample of some targets of a layout."""
    probes, columns, start = [], [], 0
    for place in places:
        probe = layout.probes[place]
        stop = start + probe.stop - probe.start
        columns.append(np.arange(probe.start, probe.stop))
        probes.append(probe._replace(start=start, stop=stop))
        start = stop
    own = Layout(
        tuple([layout.targets[place] for place in places]),
        tuple([layout.keys[place] for place in places]),
        tuple([layout.whole[place] for place in places]),
        tuple(probes),
        start,
        tuple(chances.tolist()),
    )
    weights = np.repeat(1 / chances, [len(each) for each in columns])
    return Sample(own, np.concatenate(columns), weights)


def _shared_out(needs: FloatArray, size: int) -> FloatArray:
    """Probabilities with a given sum: half of it alike, the rest in proportion to some needs.

    Examples
    --------
    >>> _shared_out(np.array([0.0, 0.0, 1.0, 1.0]), 2)
    array([0.25, 0.25, 0.75, 0.75])
    """
    chances = np.full(len(needs), _EVEN * size / len(needs))
    is_open = np.ones(len(needs), dtype=bool)
    room = size - chances.sum()
    while room > _ROUNDING * size:
        parts = np.where(is_open, needs, 0.0)
        if not parts.any():
            parts = is_open.astype(float)
        chances += room * parts / parts.sum()
        room = float((chances - 1).clip(min=0).sum())
        chances = chances.clip(max=1.0)
        is_open &= chances < 1
    return chances
