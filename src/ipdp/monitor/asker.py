"""Which stored observations the model is asked about again at a check, and where that is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Label, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.answers import Rows, ask_all
from ipdp.monitor.features import Record, axis_of, probe_of
from ipdp.monitor.history import History
from ipdp.monitor.knots import Knots
from ipdp.monitor.surprise import RECENT, Asked

# So many observations are asked about at a check, some of them young if the model changes at all.
_N_ASKED, _N_YOUNG = 5, 1
# They are at least so old: what is younger has hardly had time to differ. Others than the young
# ones are also at least this part as old as the oldest, which shows gradual changes in full.
_YOUNGEST, _SPAN = 64, 16
# A difference of this share of the answers is rounding.
_ROUNDING = 1e-9
# Knots are placed anew after so many checks, at no more than so many places,
_RENEW, _N_KNOTS = 32, 10
# sooner if a feature has none,
_AT_FIRST = 8
# and are the same if none has moved by this share of them.
_ALIKE = 0.05
# A range may end earlier by this share of it, and still be read at all knots.
_EDGE = 0.05
# Which of the stored observations are asked about: the golden ratio spreads them evenly.
_TURN = (math.sqrt(5) - 1) / 2


class Read(NamedTuple):
    """What was asked at a check, as `Surprise.add` takes it."""

    asked: Asked
    then: FloatArray  # (n_rows, n_outputs, n_features, width)
    has: FloatArray  # (n_features, width)


class Asker:
    """Asks the model again about a few stored observations at a time.

    `numbers` and `names` are those of the features, `labels` those of the model's outputs, of which
    those of the numbers `outputs` are read. A number's knots lie where its values are.
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
        self.labels = list(labels)
        # Of differences and earlier answers, one after the other.
        self._picked = [*outputs, *(len(self.labels) + k for k in outputs)]
        self.knots = Knots(self.numbers)
        self._n_checks = 0

    def axis(self, row: int, record: Record) -> Array | None:
        """Where the points of a feature were; None if it was not evaluated."""
        return axis_of(record.layout, record.positions, self.numbers[row])

    def place_knots(self, newest: Record, since: Sequence[int]) -> list[int]:
        """Place knots where points and values are now; the features whose knots are others."""
        past, moved = self.history.between(0, newest.n, at_most=10**6), []
        for row, (number, name) in enumerate(zip(self.numbers, self.names, strict=True)):
            old, axis = self.knots.places[row], self.axis(row, newest)
            if axis is None or len(axis) < 2:
                continue
            values = (record.x.get(name) for record in past if record.n >= since[row])
            self.knots.take(row, newest.layout, newest.positions, _numbers(values), _N_KNOTS)
            if axis.dtype == object:
                self.knots.places[row] = _mostly_there(axis, past, number)
            if not _are_alike(old, self.knots.places[row]):
                moved.append(row)
        return moved

    @property
    def is_renewal_due(self) -> bool:
        """Whether it is time to place knots."""
        is_missing = any(places is None for places in self.knots.places)
        return self._n_checks % (_AT_FIRST if is_missing else _RENEW) == 0

    def ask(self, newest: Record, since: Sequence[int], *, is_moving: bool) -> Read | None:
        """Ask about some stored observations; None if there are none yet.

        An observation counts for a feature if it was stored after that of the number in `since`.
        """
        self._n_checks += 1
        old, young = self._chosen(newest, since)
        n_young = min(_N_YOUNG * is_moving, len(young))
        chosen = self._spread(old, _N_ASKED - _N_YOUNG) + self._spread(young, n_young)
        is_young = {id(record) for record in chosen[len(chosen) - n_young :]}
        parts: list[tuple[Array, ...]] = []
        for rows in ask_all(self.pdp.engine, chosen, self.numbers, self.labels):
            *at_knots, fine = self._at_knots(rows)
            n = np.array([record.n for record in rows.records])
            marks = np.array([id(record) in is_young for record in rows.records])
            counted = fine & (n[:, None] > np.array(since))
            parts.append((newest.n - n, marks, counted, *at_knots))
        if not parts:
            return None
        ages, flags, counts, difference, then = map(np.concatenate, zip(*parts, strict=True))
        asked = Asked(ages, flags, counts, difference)
        return Read(asked, then, self._has)

    def _chosen(self, newest: Record, since: Sequence[int]) -> tuple[list[Record], list[Record]]:
        """The old and the young observations of which some are asked about."""
        # In turn those that count for all features, and those from all the time.
        first = max(since) if self._n_checks % 2 else min(since)
        youngest = max(_YOUNGEST, (newest.n - first) // _SPAN)
        old = self.history.between(first + 1, newest.n - youngest, at_most=10**6)
        return old, self.history.between(newest.n - RECENT, newest.n - _YOUNGEST, at_most=10**6)

    def _spread(self, records: list[Record], n: int) -> list[Record]:
        """Some of the records, evenly, and others at every check."""
        shares = [(self._n_checks * _TURN + k / n) % 1 for k in range(n)] if records else []
        return [records[int(share * len(records))] for share in shares]

    def _at_knots(self, rows: Rows) -> tuple[FloatArray, FloatArray, Array]:
        """Centred differences and earlier answers at the knots, and which of them are fine."""
        difference = rows.now - rows.then
        # Functions of arrays round a row differently beside others.
        rounding = _ROUNDING * np.abs(rows.then).max(axis=(0, 2), keepdims=True)
        difference[np.abs(difference) <= rounding] = 0.0
        both = np.concatenate([difference, rows.then], axis=1)[:, self._picked]
        at_knots, within = self._read(rows, both)
        fine = within & np.isfinite(at_knots).all(axis=(1, 3))
        difference, then = np.split(np.where(fine[:, None, :, None], at_knots, 0.0), 2, axis=1)
        has = self._has
        level = difference.sum(axis=3, keepdims=True) / np.maximum(has.sum(axis=1), 1.0)[:, None]
        return (difference - level) * has, then, fine

    def _read(self, rows: Rows, values: FloatArray) -> tuple[FloatArray, Array]:
        """Values (n_rows, n, n_points) at the knots, and who has them all in its range.

        Layouts of `regrid` are hardly ever the same, so that features are read one by one.
        """
        n_rows, n, _ = values.shape
        at_knots = np.zeros((n_rows, n, *self._has.shape))
        within = np.zeros((n_rows, len(self.numbers)), dtype=bool)
        for row, (number, places) in enumerate(zip(self.numbers, self.knots.places, strict=True)):
            probe = probe_of(rows.layout, number)
            if probe is None or places is None:
                continue
            own = slice(probe.start, probe.stop - probe.missing)
            categories = probe.categories[0]
            if (categories is None) != (places.dtype != object):
                continue  # numbers became categories
            for k, record in enumerate(rows.records):
                axis = record.positions[0, own] if categories is None else categories
                found = at_places(axis, values[k, :, own], places)
                if found is not None:
                    at_knots[k, :, row, : len(places)] = found
                    within[k, row] = True
        return at_knots, within

    @property
    def _has(self) -> FloatArray:
        """1 where a feature has a knot, (n_features, width)."""
        sizes = [0 if places is None else len(places) for places in self.knots.places]
        return np.asarray(np.arange(max(sizes)) < np.array(sizes)[:, None], dtype=float)

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the stored observations are in the history."""
        return {"knots": self.knots.state, "n_checks": self._n_checks}

    @state.setter
    def state(self, state: State) -> None:
        self.knots.state, self._n_checks = state["knots"], state["n_checks"]


def _numbers(values: Iterable[object]) -> list[float]:
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


def at_places(axis: Array, values: FloatArray, places: Array) -> FloatArray | None:
    """Values (n, m) along an axis at other places; None if these are not on it."""
    if axis.dtype == object:
        known = {category: k for k, category in enumerate(axis.tolist()[: values.shape[1]])}
        if not all(place in known for place in places.tolist()):
            return None
        return values[:, [known[place] for place in places.tolist()]]
    slack = _EDGE * (axis[-1] - axis[0])
    if len(axis) < 2 or places[0] < axis[0] - slack or places[-1] > axis[-1] + slack:
        return None
    right = np.minimum(np.maximum(np.searchsorted(axis, places), 1), len(axis) - 1)
    low, high = axis[right - 1], axis[right]
    share = np.minimum(np.maximum((places - low) / np.where(high > low, high - low, 1.0), 0.0), 1.0)
    left = values[:, right - 1]
    return np.asarray(left + share * (values[:, right] - left))
