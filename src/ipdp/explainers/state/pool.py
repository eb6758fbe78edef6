"""Some past observations that stand for all that a smoothed curve is the mean of.

The past is cut into strata, one after the other in time; of each, one observation is kept with what
the model said of it, picked at random by weight. A sum over the pool, each record with the weight
of its stratum, therefore estimates the sum over all observations without bias, and nothing of its
error comes from how many records are older than some event: that would be most of the error just
after the model has changed. Older strata have less weight, because what the model says of them has
changed most.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.random import Uniforms
from ipdp.core.typing import Array, FloatArray, Label, Observation, State
from ipdp.explainers.state.records import (
    IceRecord,
    Record,
    joined,
    parted,
    restored,
    state_of,
    with_outputs,
)
from ipdp.explainers.state.targets import Target

logger = logging.getLogger("ipdp.explainers")

# Which observations are picked does not depend on a user's seed: any start is as good.
_SEEDS = (0, 1)
_SAVED = ("n", "weight", "wanted", "_closed_at", "_pick_at", "_enough")
_SAVED_OF_ASKED = ("_asked_at", "_reading", "_order", "_starts", "_chosen", "_credit")
# How many are asked about for each observation that was explained: at most, on average; and while
# the model changes little. At least so many are asked about each time.
_RATE, _USUAL, _FEWEST = 1.2, 0.5, 8
# What is not used is saved up for when the model changes: for so many readings of the whole pool.
_SAVED_UP = 4
# Those who were last asked about so many readings ago, or more, are asked about as often.
_OLDEST = 4
_NEGLIGIBLE = 1e-300
# No stream has more weight: one observation has at most 1e150.
_LARGEST_WEIGHT = 1e200
_WEIGHT = schema.Kind("a weight", lambda v: schema.weight.fits(v) and v < _LARGEST_WEIGHT)


class Kept(NamedTuple):
    """A record, and what the model said of it when it was last asked."""

    record: Record
    latest: FloatArray  # (n_outputs, n_points), at the record's places
    reading: (
        float  # at which reading that was; between two of them for one that was not asked again
    )


class Asked(NamedTuple):
    """Groups of the pool, and the one of each about whom the model is asked.

    The groups are consecutive parts of `order`, by when they were last asked about, then by time.
    """

    order: list[int]  # numbers of all that are kept
    starts: list[int]  # where each group begins in it
    chosen: list[int]  # one of each group


class Pool:
    """At most `size` observations of closed strata, oldest first, and one of that which grows.

    Whoever feeds it adds the weight of each observation to `weight`, and calls `update` only when
    that has reached `wanted`: two or three times for each stratum, whatever its length.
    """

    def __init__(self, size: int, *, alpha: float | None) -> None:
        self.size = size
        self.alpha = alpha
        self.weight = 0.0  # of the observations of the stratum that grows
        self.wanted = 0.0 if size else math.inf
        self.n = 0  # number of records made
        self._decay = 1.0 if alpha is None else 1.0 - alpha
        self._kept: list[Kept] = []
        # Of their strata at the time `_closed_at`: weights, and the same as if they decayed half as
        # fast, by which it is decided how long a stratum is.
        self._table: FloatArray = np.zeros((2, size + 1))
        self._closed_at: float | None = None
        self._newest: Kept | None = None  # of the stratum that grows
        self._pick_at = 0.0  # the weight at which one of its observations is picked,
        self._enough = 0.0  # and with which it is closed
        self._picking, self._choosing = (Uniforms(seed=seed) for seed in _SEEDS)
        # The last time that the model was asked: after how many observations, about whom, and what
        # it said of them.
        self._asked_at: int | None = None
        self._reading = 0  # how often it was asked
        self._credit = 0.0  # how many could have been asked about and were not
        self._order: list[int] = []
        self._starts: list[int] = []
        self._chosen: list[int] = []
        self._answered: dict[int, FloatArray] = {}
        self._found: dict[int, Any] = {}  # what was found out of records, by their numbers

    @property
    def last(self) -> float | None:
        """When the last stratum was closed."""
        return self._closed_at

    def update(self, x: Observation, ice: IceRecord, t: float) -> None:
        """Take the observation with which `weight` has reached `wanted`."""
        # The first stands for its stratum until the one that is to stay has come.
        if self._answered:
            self._adopt_answers()  # before the numbers change
        if self._newest is None or self.wanted == self._pick_at:
            self.n += 1
            self._newest = Kept(Record(self.n, float(t), dict(x), *ice), ice.values, self._reading)
        if self.weight >= self._enough:
            self._close(t)
        else:
            self.wanted = self._pick_at if self.weight < self._pick_at else self._enough

    def _close(self, t: float) -> None:
        """Begin a new stratum; if there are too many, the two lightest neighbours are joined."""
        assert self._newest is not None
        factors, left = _aged(self._decay, 0.0 if self._closed_at is None else t - self._closed_at)
        last = self.weight * left[0], self.weight * left[1]
        at, total = kernels.current.close_stratum(self._table, len(self._kept), factors, last)
        self._kept.append(self._newest)
        self._closed_at, self._newest = t, None
        if len(self._kept) > self.size:
            self._join(at)
        self._begin_stratum(total)

    def _begin_stratum(self, total: float) -> None:
        self.weight = self.wanted = 0.0
        self._enough = total / self.size
        self._pick_at = self._picking.draw() * self._enough

    def _join(self, at: int) -> None:
        """Make one stratum of two neighbours; the observation of one of them goes."""
        first, second = self._table[0, at : at + 2].tolist()
        n = len(self._kept)
        del self._kept[at if self._picking.draw() * (first + second) >= first else at + 1]
        kernels.current.join_strata(self._table, n, at)

    def _join_lightest(self) -> None:
        while len(self._kept) > self.size:
            weights = self._weights[1]
            self._join(int((weights[:-1] + weights[1:]).argmin()))

    @property
    def _weights(self) -> FloatArray:
        """Of the closed strata."""
        return self._table[:, : len(self._kept)]

    @_weights.setter
    def _weights(self, weights: FloatArray) -> None:
        n = max(self.size, weights.shape[1]) + 1
        self._table = np.zeros((2, n))
        self._table[:, : weights.shape[1]] = weights

    def _weights_at(self, t: float) -> FloatArray:
        factors, left = _aged(self._decay, 0.0 if self._closed_at is None else t - self._closed_at)
        weights: FloatArray = self._weights * np.array(factors)[:, None]
        if self._newest is None:
            return weights
        return np.column_stack((weights, [self.weight * left[0], self.weight * left[1]]))

    # Reading.

    @property
    def kept(self) -> list[Kept]:
        """All of them, oldest first."""
        return self._kept if self._newest is None else [*self._kept, self._newest]

    def weights(self, t: float) -> FloatArray:
        """How much of the past each of them stands for, at a time that is not in its past."""
        return np.asarray(self._weights_at(t)[0])

    def weights_of_one(self, t: float, total: float, mean: float) -> FloatArray:
        """How much each of them weighs itself, if all observations have the same weight.

        `total` is the sum of the weights of all that came, `mean` the mean of these weights, each
        by itself: half of the weight of a new observation where older ones have decayed.
        """
        new = min(((1 + self._decay) * mean + (1 - self._decay) * total) / 2, 2 * mean)
        times = np.array([one.record.t for one in self.kept])
        return np.asarray(new * self._decay ** (t - times))

    def choose(
        self, n_explained: int, weights: FloatArray, wanted: Callable[[list[int]], float]
    ) -> Asked:
        """Whom to ask about, after so many observations: one out of each group, by weight.

        They are the same ones if nothing came since the last time: to look twice gives the same
        curve. Else `wanted` is called with a few of them, and says how many it takes; 0 if these
        few are enough.
        """
        if n_explained != self._asked_at or len(self._order) != len(weights):
            self._adopt_answers()
            since = n_explained - (self._asked_at or 0)
            self._reading += 1
            first = self._one_of_each(_FEWEST, weights)
            n = wanted(first.chosen)
            asked = self._one_of_each(self._granted(n, since), weights) if n else first
            self._order, self._starts, self._chosen = asked
            self._asked_at = n_explained
            saved = self._credit + _RATE * since - len(asked.chosen)
            self._credit = min(max(saved, 0.0), float(_SAVED_UP * self.size))
        return Asked(self._order, self._starts, self._chosen)

    def _granted(self, wanted: float, since: int) -> int:
        """How many may be asked about: what was saved up is for a model that has just changed."""
        usual = max(_FEWEST, round(_USUAL * since))
        if wanted < self.size:
            return round(min(max(wanted, usual / 2), usual))
        return max(usual, round(self._credit + _RATE * since))

    def _one_of_each(self, n: int, weights: FloatArray) -> Asked:
        order, starts = self._groups(n, weights)
        sums = np.cumsum(weights[order])
        stops = np.append(starts[1:], len(order))
        below, above = np.append(0.0, sums)[starts], sums[stops - 1]
        draws = np.array([self._choosing.draw() for _ in starts])
        at = np.searchsorted(sums, below + draws * (above - below), side="right")
        chosen = order[np.clip(at, starts, stops - 1)]
        return Asked(order.tolist(), starts.tolist(), chosen.tolist())

    def _groups(self, n: int, weights: FloatArray) -> tuple[Array, Array]:
        """Consecutive parts, about n, of all by when they were last asked about.

        What the model says of those who were asked about at the same time has changed by as much.
        Parts have less weight the longer ago that was, so that nobody is left out for long.
        """
        readings = np.array([kept.reading for kept in self.kept])
        order = np.argsort(readings, kind="stable")
        if n >= len(order):
            return order, np.arange(len(order))
        ages = self._reading - readings[order]
        sizes = weights[order] * np.minimum(ages, _OLDEST)
        middles = (np.cumsum(sizes) - sizes / 2) / max(sizes.sum(), _NEGLIGIBLE)
        begins = np.diff(np.floor(n * middles), prepend=-1.0) > 0
        # The model may have changed between those who came since the last reading.
        begins |= np.diff(ages < 1, prepend=True)
        return order, np.flatnonzero(begins)

    def _adopt_answers(self) -> None:
        """What the model said when it was last asked is what changes are told from by now."""
        for number, values in self._answered.items():
            if number < len(self._kept):
                own = self._kept[number]
                self._kept[number] = own._replace(latest=values, reading=self._reading)
            elif self._newest is not None:
                self._newest = self._newest._replace(latest=values, reading=self._reading)
        self._answered = {}

    def said(self, number: int, values: FloatArray) -> None:
        """Note what the model says of one of them now."""
        self._answered[number] = values

    def remembered(self, records: Sequence[Record], find: Callable[[int], Any]) -> list[Any]:
        """What `find` gives for each record, by its place; it is called once for each of them."""
        self._found = {
            record.n: self._found[record.n] if record.n in self._found else find(k)
            for k, record in enumerate(records)
        }
        return list(self._found.values())

    # Segments of a stream, copies, state.

    def merge(self, later: Pool, t: float) -> Pool:
        """The pool of both at a time, by sampling: one of the same kind, not that of one stream."""
        both = Pool(self.size, alpha=self.alpha)
        both.n, both._reading = self.n + later.n, max(self._reading, later._reading)
        both._credit = min(self._credit + later._credit, float(_SAVED_UP * self.size))
        parts = [
            (own, k, weight)
            for k, pool in enumerate((self, later))
            for own, weight in zip(pool.kept, pool._weights_at(t).T, strict=True)
        ]
        if parts:
            parts.sort(key=lambda part: (part[0].record.t, part[1], part[0].record.n))
            first = both.n - len(parts) + 1
            both._kept = [
                own._replace(
                    record=own.record._replace(n=first + k),
                    reading=own.reading + both._reading - (self, later)[which]._reading,
                )
                for k, (own, which, _) in enumerate(parts)
            ]
            both._weights = np.array([weight for _, _, weight in parts]).T
            both._closed_at = t
            both._join_lightest()
            both._begin_stratum(float(both._weights[1].sum()))
        return both

    def with_outputs(self, known: list[Label], wanted: list[Label]) -> Pool:
        """The same pool with the outputs of the model in another order, or more of them."""

        def ordered(kept: Kept) -> Kept:
            latest = kept.record._replace(values=kept.latest)
            return kept._replace(
                record=with_outputs(kept.record, known, wanted),
                latest=with_outputs(latest, known, wanted).values,
            )

        twin = self.copy()
        twin._adopt_answers()
        twin._kept = [ordered(kept) for kept in twin._kept]
        twin._newest = twin._newest and ordered(twin._newest)
        twin._found = {}
        return twin

    def copy(self) -> Pool:
        """An independent copy; what is kept is shared, as it never changes."""
        twin = Pool(self.size, alpha=self.alpha)
        vars(twin).update(vars(self))
        twin._kept, twin._table = list(self._kept), self._table.copy()
        twin._answered = dict(self._answered)
        twin._picking, twin._choosing = (Uniforms(seed=seed) for seed in _SEEDS)
        twin._picking.state, twin._choosing.state = self._picking.state, self._choosing.state
        return twin

    @property
    def state(self) -> State | None:
        """Everything it remembers, JSON-safe; None if an observation has what cannot be saved."""
        if not self.size:
            return None
        try:
            records = state_of([kept.record for kept in self.kept])
        except TypeError as error:
            logger.warning(
                "the past observations are not in the state (%s): after a restart it takes some "
                "time until the curves of the model as it is now are known again",
                error,
            )
            return None
        return {
            **{name: getattr(self, name) for name in _SAVED},
            "asked": {
                **{name: getattr(self, name) for name in _SAVED_OF_ASKED},
                "readings": [kept.reading for kept in self.kept],
            },
            "weights": self._weights.tolist(),
            "picking": self._picking.state,
            "choosing": self._choosing.state,
            "records": records,
            # Nothing of those that the model says the same of.
            "latest": joined(
                kept.latest[:0] if np.array_equal(kept.latest, kept.record.values) else kept.latest
                for kept in self.kept
            ),
            "answered": list(self._answered),
            "answers": joined(self._answered.values()),
        }

    def restore(self, state: State, targets: Sequence[Target]) -> None:
        """Take what `state` gave; the targets are those of the explainer."""
        records, latest = restored(state["records"], targets), parted(state["latest"])
        weights = np.array(state["weights"], dtype=float).reshape(2, -1)
        n = weights.shape[1]
        fits = all(
            {r.positions.shape[1], r.values.shape[1], y.shape[1]} == {r.layout.n_points}
            for r, y in zip(records, latest, strict=True)
        )
        if not fits or not 0 <= len(records) - n <= 1:
            raise ValueError("the state is damaged: its stored observations do not fit each other")
        _check(state, len(records))
        for name in _SAVED:
            setattr(self, name, state[name])
        readings = self._restore_asked(state.get("asked"), len(records))
        kept = [
            Kept(record, last if len(last) else record.values, reading)
            for record, last, reading in zip(records, latest, readings, strict=True)
        ]
        self._kept, self._weights = kept[:n], weights
        self._newest = kept[n] if len(kept) > n else None
        answers = zip(state["answered"], parted(state["answers"]), strict=True)
        self._answered = {k: y for k, y in answers if y.shape[1] == kept[k].record.layout.n_points}
        self._picking.state, self._choosing.state = state["picking"], state["choosing"]
        if n > self.size:  # fewer are to be kept now
            self._adopt_answers()
            self._join_lightest()

    def _restore_asked(self, state: State | None, n: int) -> list[float]:
        """Take who was asked about at last, and return when each of n was.

        States of earlier versions do not have it: all will be asked about.
        """
        if state is None:
            return [0.0] * n
        state = {"_credit": 0.0, **state}
        schema.check(state, _asked_at=schema.maybe(schema.count), _reading=schema.count)
        schema.check(state, _credit=schema.weight)
        schema.check(state, _order=schema.parts, readings=schema.each(schema.weight, n))
        order, below = state["_order"], schema.below(len(state["_order"]))
        schema.check(state, _order=schema.each(below), _starts=schema.each(below))
        starts = state["_starts"]
        schema.check(state, _chosen=schema.each(below, len(starts)))
        is_whole = len({*order}) == len(order) and starts == sorted({*starts})
        if not is_whole or (order and starts[:1] != [0]):
            raise ValueError("the state is damaged: its groups of observations are none")
        for name in _SAVED_OF_ASKED:
            setattr(self, name, state[name])
        return list(state["readings"])


def _check(state: State, n: int) -> None:
    """Raise unless the numbers of a state are what they stand for; n records are kept."""
    weight, count, time = _WEIGHT, schema.count, schema.maybe(schema.number)
    schema.check(state, n=count, weight=weight, wanted=weight, _pick_at=weight, _enough=weight)
    schema.check(state, _closed_at=time, answered=schema.each(schema.below(n)))
    # All together, as they are added up: what is accepted here can be saved, too.
    if not np.abs(np.array(state["weights"], dtype=float)).sum() < _LARGEST_WEIGHT:
        raise ValueError("the state is damaged: the weights of its observations are not finite")


@lru_cache(maxsize=64)
def _aged(decay: float, length: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """What is left after some time, of one weight and on average; also at half the decay."""
    decays = (decay, math.sqrt(decay))
    left = _mean_decay(decays[0], length), _mean_decay(decays[1], length)
    return (decays[0] ** length, decays[1] ** length), left


def _mean_decay(decay: float, length: float) -> float:
    """What is left, on average, of weights that came evenly over a time of this length."""
    exponent = -length * math.log(decay) if decay else math.inf
    return -math.expm1(-exponent) / exponent if exponent > 1e-9 else 1.0
