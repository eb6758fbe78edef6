"""Which stored observations the model is evaluated on again at a check, and at which points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.typing import Array, FeatureName, FloatArray, Label, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.models.base import Probe
from ipdp.monitor.features import Record, axis_of
from ipdp.monitor.history import History
from ipdp.monitor.knots import Knots, data_shares
from ipdp.monitor.model.answers import aligned
from ipdp.monitor.model.asked import RECENT, Asked
from ipdp.monitor.model.nearest import Nearest

# So many observations are asked about at a check, some of them young if the model changes at all,
_N_ASKED, _N_YOUNG = 5, 1
# and more while a change goes on: whether it still does is seen from them.
_N_YOUNG_GOING_ON = 2
# They are at least so old: what is younger has hardly had time to differ. Others than the young
# ones are also at least this part as old as the oldest: they show gradual changes in full, and
# few of them are from after a change.
_YOUNGEST, _SPAN = 64, 4
# Of a model that learns no answers of more observations ago count: it wanders far in a long time.
OLDEST = 4096
# Knots are placed anew after so many checks, at no more than so many places,
_RENEW, _N_KNOTS = 32, 8
# sooner for features that have none,
_AT_FIRST = 8
# and are the same if none has moved by this share of them.
_ALIKE = 0.05
# Which of the stored observations are asked about: the golden ratio spreads them evenly.
_TURN = (math.sqrt(5) - 1) / 2


class Read(NamedTuple):
    """What was asked at a check, as `Surprise.add` takes it."""

    asked: Asked
    then: FloatArray  # (n_rows, n_outputs, n_features, width)
    weights: FloatArray  # (n_features, width)


class Rechecks:
    """Asks the model again about a few stored observations at a time.

    `numbers` and `names` are those of the features, `labels` those of the model's outputs, of which
    those of the numbers `outputs` are read. A number's knots lie where its values are; every
    observation is asked about at those of its own points that are nearest to them.
    """

    def __init__(
        self,
        pdp: IncrementalPDP,
        numbers: Sequence[int],
        names: Sequence[FeatureName],
        history: History,
        *,
        labels: Sequence[Label],
        outputs: Sequence[int],
    ) -> None:
        self.pdp, self.history = pdp, history
        self.numbers, self.names = tuple(numbers), list(names)
        self.labels, self._read = list(labels), np.array(outputs, dtype=np.intp)
        self.knots = Knots(self.numbers)
        # How much each knot counts: by half what share of the values is near, by half all alike.
        self.weights: list[FloatArray | None] = [None] * len(self.numbers)
        # How the points nearest to these knots are found, and the weights of all of them.
        self._nearest: Nearest | None = None
        self._all_weights: FloatArray = np.zeros((len(self.numbers), 0))
        self._n_checks = 0

    def axis(self, row: int, record: Record) -> Array | None:
        """Where the points of a feature were; None if it was not evaluated."""
        return axis_of(record.layout, record.positions, self.numbers[row])

    def place_knots(
        self, newest: Record, since: Sequence[int], *, only_missing: bool = False
    ) -> list[int]:
        """Place knots where points and values are now; the features whose knots are others."""
        past, moved = self.history.between(0, newest.n, at_most=10**6), []
        for row, (number, name) in enumerate(zip(self.numbers, self.names, strict=True)):
            old, axis = self.knots.places[row], self.axis(row, newest)
            if axis is None or len(axis) < 2 or (only_missing and old is not None):
                continue
            values = [record.x.get(name) for record in past if record.n >= since[row]]
            numbers = [] if axis.dtype == object else finite(values)
            self.knots.take(row, newest.layout, newest.positions, numbers, _N_KNOTS)
            if axis.dtype == object:
                self.knots.places[row] = _mostly_there(axis, past, number)
            places = self.knots.places[row]
            if not _are_alike(old, places):
                moved.append(row)
            if places is not None:
                self.weights[row] = data_shares(places, numbers or values) / 2 + 0.5 / len(places)
        self._nearest = None
        return moved

    def renew_knots(self, newest: Record, since: Sequence[int]) -> list[int]:
        """Place knots if it is time to; the features whose knots are others."""
        is_missing = any(places is None for places in self.knots.places)
        if self._n_checks % _RENEW == 0:
            return self.place_knots(newest, since)
        if is_missing and self._n_checks % _AT_FIRST == 0:
            return self.place_knots(newest, since, only_missing=True)
        return []

    def ask(
        self,
        newest: Record,
        since: Sequence[int],
        are_renewed: Sequence[bool],
        *,
        is_moving: bool,
        is_going_on: bool = False,
    ) -> Read | None:
        """Ask about some stored observations; None if there are none yet.

        An observation counts for a feature if it was stored after that of the number in `since`, or
        was answered anew then.
        """
        self._n_checks += 1
        old, young = self._chosen(newest, since, are_renewed, is_moving)
        n_most = _N_YOUNG_GOING_ON if is_going_on else _N_YOUNG
        n_young = min(n_most * is_moving, len(young))
        chosen = self._spread(old, _N_ASKED - n_most) + self._spread(young, n_young)
        if not chosen or not any(places is not None for places in self.knots.places):
            return None
        nearest = self._to_knots()
        groups: dict[tuple[bool, ...], list[int]] = {}
        for k, record in enumerate(chosen):
            groups.setdefault(nearest.whole(record.layout), []).append(k)
        shape = len(chosen), len(self._read), len(self.numbers), nearest.width
        found = np.zeros(shape), np.zeros(shape), np.zeros(shape[::2], dtype=np.uint8)
        for whole, group in groups.items():
            self._compare(nearest, nearest.probes(whole), chosen, group, found)
        difference, earlier, counts = found
        n, ages = np.array([record.n for record in chosen]), np.empty(shape[::2], dtype=np.intp)
        # Of a model that stood still answers count however old they are.
        limits, begun = (_YOUNGEST, OLDEST if is_moving else newest.n), list(since)
        parts = n, newest.n, begun, list(are_renewed), limits, ages, counts
        kernels.differences_kernel().count_in(*parts)
        is_young = np.zeros(len(chosen), dtype=bool)
        is_young[len(chosen) - n_young :] = True
        asked = Asked(ages, is_young, counts.view(bool), difference)
        return Read(asked, earlier, self._all_weights)

    def _compare(
        self,
        nearest: Nearest,
        probes: tuple[Probe, ...],
        chosen: Sequence[Record],
        group: Sequence[int],
        found: tuple[FloatArray, FloatArray, Array],
    ) -> None:
        """Ask about some of the records; centred differences, earlier answers, what is fine."""
        records, kernel = [chosen[k] for k in group], kernels.differences_kernel()
        columns, within = nearest.find(records)
        at, earlier = (
            np.empty(columns.shape),
            np.empty((len(group), len(self.labels), columns.shape[1])),
        )
        kernel.gather([(r.positions, r.values) for r in records], columns, at, earlier)
        answer = self.pdp.engine.ice_again([r.x for r in records], probes, at[:, None])
        found[2][group] = within
        now, parts = aligned(answer, self.labels), (nearest.cells, self._read, self._all_weights)
        kernel.compare(earlier, now, *parts, np.array(group), *found)

    def _to_knots(self) -> Nearest:
        """How the points nearest to the knots of all features are found."""
        if self._nearest is None:
            self._nearest = Nearest(self.numbers, self.names, self.knots.places)
            self._all_weights = np.zeros((len(self.numbers), self._nearest.width))
            for row, (own, places) in enumerate(zip(self.weights, self.knots.places, strict=True)):
                if places is not None and own is not None:
                    self._all_weights[row, : len(places)] = own
        return self._nearest

    def _chosen(
        self, newest: Record, since: Sequence[int], are_renewed: Sequence[bool], is_moving: bool
    ) -> tuple[list[Record], list[Record]]:
        """The old and the young observations of which some are asked about."""
        # In turn those that count for all features, and those from all the time.
        pick = max if self._n_checks % 2 else min
        first = pick(0 if own else n for n, own in zip(since, are_renewed, strict=True))
        span = newest.n - pick(since)
        if is_moving and span > OLDEST:
            first, span = max(first, newest.n - OLDEST), OLDEST
        youngest = max(_YOUNGEST, span // _SPAN)
        old = self.history.between(first + 1, newest.n - youngest, at_most=10**6)
        if not is_moving:  # then none of the young ones is asked about
            return old, []
        return old, self.history.between(newest.n - RECENT, newest.n - _YOUNGEST, at_most=10**6)

    def _spread(self, records: list[Record], n: int) -> list[Record]:
        """Some of the records, evenly, and others at every check."""
        shares = [(self._n_checks * _TURN + k / n) % 1 for k in range(n)] if records else []
        return [records[int(share * len(records))] for share in shares]

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the stored observations are in the history."""
        weights = [None if own is None else own.tolist() for own in self.weights]
        return {"knots": self.knots.state, "weights": weights, "n_checks": self._n_checks}

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n_checks=schema.count)
        schema.check(state, weights=schema.each(schema.maybe(schema.each(schema.weight))))
        self.knots.state, self._n_checks = state["knots"], state["n_checks"]
        places = self.knots.places
        weights = [None if own is None else np.array(own, dtype=float) for own in state["weights"]]
        if [own is not None and len(own) for own in weights] != [
            p is not None and len(p) for p in places
        ]:
            raise ValueError("the state is damaged: its weights are not those of its points")
        self.weights = weights
        self._nearest = None


def finite(values: Iterable[object]) -> list[float]:
    """The finite numbers among some values."""
    found = []
    for value in values:
        if isinstance(value, (int, float)):
            try:
                found.append(float(value))
            except OverflowError:
                continue
    return [value for value in found if math.isfinite(value)]


def _mostly_there(categories: Array, past: Sequence[Record], number: int) -> Array | None:
    """The categories that most of the stored observations were asked about."""
    axes = [axis_of(record.layout, record.positions, number) for record in past]
    known = [set(axis.tolist()) for axis in axes if axis is not None]
    common = [c for c in categories.tolist() if 2 * sum(c in own for own in known) > len(known)]
    return np.array(common, dtype=object) if len(common) > 1 else None


def _are_alike(old: Array | None, new: Array | None) -> bool:
    """Whether knots have hardly moved."""
    if old is None or new is None or len(old) != len(new) or old.dtype != new.dtype:
        return False
    if old.dtype == object:
        return bool((old == new).all())
    return bool(np.abs(old - new).max() <= _ALIKE * (new[-1] - new[0]))
