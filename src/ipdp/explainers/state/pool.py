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
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.decay import aged
from ipdp.core.random import Uniforms
from ipdp.core.typing import FloatArray, Label, Observation, State
from ipdp.explainers.state.asking import Asked, Asking
from ipdp.explainers.state.records import (
    NOTHING,
    IceRecord,
    Kept,
    Record,
    joined,
    parted,
    restored,
    restored_rests,
    state_of,
    with_outputs,
)
from ipdp.explainers.state.targets import Target

logger = logging.getLogger("ipdp.explainers")

# Which observations are picked does not depend on a user's seed: any start is as good.
_SEED = 0
_SAVED = ("n", "weight", "wanted", "_closed_at", "_pick_at", "_enough")
# No stream has more weight: one observation has at most 1e150.
_LARGEST_WEIGHT = 1e200
_WEIGHT = schema.Kind("a weight", lambda v: schema.weight.fits(v) and v < _LARGEST_WEIGHT)


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
        self._picking = Uniforms(seed=_SEED)
        self._asking = Asking(size)
        self._answered: dict[int, FloatArray] = {}  # what it said when it was last asked
        self._found: dict[int, Any] = {}  # what was found out of records, by their numbers

    @property
    def last(self) -> float | None:
        """When the last stratum was closed."""
        return self._closed_at

    def update(self, x: Observation, ice: IceRecord, t: float) -> list[float] | None:
        """Take the observation with which `weight` has reached `wanted`.

        Return a list for what the curves leave of its prediction; None if it is not kept.
        """
        rest: list[float] | None = None
        if self._is_picked():
            record, rest = Record(self.n, float(t), dict(x), *ice), []
            self._newest = Kept(record, ice.values, self._asking.reading, rest)
        self._go_on(t)
        return rest

    def update_many(
        self,
        rows: Sequence[Observation],
        w: Sequence[float],
        t: Sequence[float],
        ice: Callable[[int], IceRecord],
        rests: FloatArray,
    ) -> None:
        """Take many, whatever their weights; `ice` and `rests` are known of each by its number."""
        before, picked = self.n, []
        for k, weight in enumerate(w):
            self.weight += weight
            if self.weight >= self.wanted:
                if self._is_picked():
                    picked.append(k)
                    record = Record(self.n, float(t[k]), {}, *NOTHING)
                    self._newest = Kept(record, record.values, self._asking.reading, [])
                self._go_on(t[k])

        def with_answers(kept: Kept) -> Kept:
            n, time = kept.record.n, kept.record.t
            if n <= before:
                return kept
            k = picked[n - before - 1]
            record = Record(n, time, dict(rows[k]), *ice(k))
            rest = [] if math.isnan(sum(own := rests[k].tolist())) else own
            return Kept(record, record.values, kept.reading, rest)

        self._kept = [with_answers(kept) for kept in self._kept]
        self._newest = self._newest and with_answers(self._newest)

    def _is_picked(self) -> bool:
        """Whether the observation with which `weight` has reached `wanted` is kept, and count it.

        The first stands for its stratum until the one that is to stay has come.
        """
        if self._answered:
            self._adopt_answers()  # before the numbers change
        is_picked = bool(self._newest is None or self.wanted == self._pick_at)
        self.n += int(is_picked)
        return is_picked

    def _go_on(self, t: float) -> None:
        """Close the stratum, or say with which weight to look again."""
        if self.weight >= self._enough:
            self._close(t)
        else:
            self.wanted = self._pick_at if self.weight < self._pick_at else self._enough

    def _close(self, t: float) -> None:
        """Begin a new stratum; if there are too many, the two lightest neighbours are joined."""
        assert self._newest is not None
        factors, left = aged(self._decay, 0.0 if self._closed_at is None else t - self._closed_at)
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
        factors, left = aged(self._decay, 0.0 if self._closed_at is None else t - self._closed_at)
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
        asking = self._asking
        if not asking.is_due(n_explained, len(weights)):
            return asking.last
        self._adopt_answers()
        readings = [kept.reading for kept in self.kept]
        return asking.choose(n_explained, readings, weights, wanted)

    def _adopt_answers(self) -> None:
        """What the model said when it was last asked is what changes are told from by now."""
        for number, values in self._answered.items():
            if number < len(self._kept):
                own = self._kept[number]
                self._kept[number] = own._replace(latest=values, reading=self._asking.reading)
            elif self._newest is not None:
                self._newest = self._newest._replace(latest=values, reading=self._asking.reading)
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
        both.n, both._asking = self.n + later.n, self._asking.merge(later._asking)
        readings = [both._asking.reading - own._asking.reading for own in (self, later)]
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
                    reading=own.reading + readings[which],
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
            rest = [0.0] * len(wanted) if kept.rest else []
            for label, value in zip(known, kept.rest, strict=False):
                rest[wanted.index(label)] = value
            return kept._replace(
                record=with_outputs(kept.record, known, wanted),
                latest=with_outputs(latest, known, wanted).values,
                rest=rest,
            )

        twin = self.copy()
        twin._adopt_answers()
        twin._kept = [ordered(kept) for kept in twin._kept]
        twin._newest = twin._newest and ordered(twin._newest)
        twin._found = {}
        return twin

    def without_rests(self) -> Pool:
        """The same pool, not knowing what curves left of predictions."""
        twin = self.copy()
        twin._kept = [kept._replace(rest=[]) for kept in twin._kept]
        twin._newest = twin._newest and twin._newest._replace(rest=[])
        return twin

    def copy(self) -> Pool:
        """An independent copy; what is kept is shared, as it never changes."""
        twin = Pool(self.size, alpha=self.alpha)
        vars(twin).update(vars(self))
        twin._kept, twin._table = list(self._kept), self._table.copy()
        twin._answered = dict(self._answered)
        twin._picking, twin._asking = Uniforms(seed=_SEED), self._asking.copy()
        twin._picking.state = self._picking.state
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
                **self._asking.state,
                "readings": [kept.reading for kept in self.kept],
            },
            "weights": self._weights.tolist(),
            "picking": self._picking.state,
            "choosing": self._asking.random,
            "records": records,
            # Nothing of those that the model says the same of.
            "latest": joined(
                kept.latest[:0] if np.array_equal(kept.latest, kept.record.values) else kept.latest
                for kept in self.kept
            ),
            "rests": [list(kept.rest) for kept in self.kept],
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
        _check(state, records)
        vars(self).update({name: state[name] for name in _SAVED})
        readings = self._restore_asked(state.get("asked"), len(records))
        rests = restored_rests(state, records)
        kept = [
            Kept(record, last if len(last) else record.values, reading, rest)
            for record, last, reading, rest in zip(records, latest, readings, rests, strict=True)
        ]
        self._kept, self._weights = kept[:n], weights
        self._newest = kept[n] if len(kept) > n else None
        answers = zip(state["answered"], parted(state["answers"]), strict=True)
        self._answered = {k: y for k, y in answers if y.shape[1] == kept[k].record.layout.n_points}
        self._picking.state, self._asking.random = state["picking"], state["choosing"]
        if n > self.size:  # fewer are to be kept now
            self._adopt_answers()
            self._join_lightest()

    def _restore_asked(self, state: State | None, n: int) -> list[float]:
        """Take who was asked about at last, and return when each of n was.

        States of earlier versions do not have it: all will be asked about.
        """
        if state is None:
            return [0.0] * n
        schema.check(state, readings=schema.each(schema.weight, n))
        self._asking.state = state
        if max(state["readings"], default=0.0) > self._asking.reading:
            raise ValueError("somebody was asked about at a reading that is still to come")
        return list(state["readings"])


def _check(state: State, records: Sequence[Record]) -> None:
    """Raise unless the numbers of a state with these records are what they stand for."""
    weight, time, n = _WEIGHT, schema.maybe(schema.number), len(records)
    schema.check(
        state, n=schema.count, weight=weight, wanted=weight, _pick_at=weight, _enough=weight
    )
    schema.check(state, _closed_at=time, answered=schema.each(schema.below(n)))
    if any(record.n > state["n"] for record in records):
        raise ValueError("the state is damaged: it has more observations than were stored")
    # All together, as they are added up: what is accepted here can be saved, too.
    weights = np.array(state["weights"], dtype=float)
    if not ((weights >= 0).all() and weights.sum() < _LARGEST_WEIGHT):
        raise ValueError("the state is damaged: the weights of its observations are no weights")
