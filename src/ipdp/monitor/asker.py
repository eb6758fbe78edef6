"""Which stored observations the model is asked about again at a check, and where that is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Label, State
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.answers import Rows, ask_all
from ipdp.monitor.features import Record, axis_of
from ipdp.monitor.history import History
from ipdp.monitor.knots import Knots
from ipdp.monitor.surprise import RECENT, Asked

# So many observations are asked about at a check, some of them young if the model changes at all.
_N_ASKED, _N_YOUNG = 6, 2
# They are at least so old: what is younger has hardly had time to differ. Others than the young
# ones are also at least this part as old as the oldest, which shows gradual changes in full.
_YOUNGEST, _SPAN = 64, 16
# A difference of this share of the answers is rounding.
_ROUNDING = 1e-9
# Knots are placed anew after so many checks, at no more than so many places,
_RENEW, _N_KNOTS = 32, 10
# and are the same if none has moved by this share of them.
_ALIKE = 0.05
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
        return self._n_checks % _RENEW == 0 or any(p is None for p in self.knots.places)

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
        width = max(part[3].shape[3] for part in parts)
        ages, flags, counts, differences, thens = zip(*parts, strict=True)
        difference, then = (
            np.concatenate([_wide(part, width) for part in values])
            for values in (differences, thens)
        )
        asked = Asked(
            np.concatenate(ages), np.concatenate(flags), np.concatenate(counts), difference
        )
        return Read(asked, then, _wide(self.knots.has, width))

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
        positions = [record.positions for record in rows.records]
        at_knots, within = self.knots.read(rows.layout, positions, both)
        fine = within & np.isfinite(at_knots).all(axis=(1, 3))
        difference, then = np.split(np.where(fine[:, None, :, None], at_knots, 0.0), 2, axis=1)
        level = difference.sum(axis=3, keepdims=True) / self.knots.n_knots[:, None]
        return (difference - level) * self.knots.has, then, fine

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


def _wide(array: FloatArray, width: int) -> FloatArray:
    """An array with zeros added up to a width of its last axis."""
    if array.shape[-1] == width:
        return array
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])])
