"""Watches the explained share and the splits of regions, which no single curve shows.

Changes of the model are found by `ipdp.monitor.model`. What is found here comes from the data:
features whose dependence on each other changes while each one is distributed as before. Where a
feature is distributed differently, the share moves with it all the time, and nothing is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import FeatureName, State
from ipdp.monitor.change import Change
from ipdp.monitor.data.value_blocks import is_missing
from ipdp.monitor.data.watch import curves_of
from ipdp.monitor.explained.share import ExplainedShare, explained_share
from ipdp.monitor.features import Record
from ipdp.monitor.history import History
from ipdp.monitor.model.watch import Found, ModelWatch

# Shares of two stretches of so many observations are compared, of so many stored ones at most; a
# difference is looked at again after a quarter of that.
_SPAN, _AT_MOST = 2048, 128
# What is reported: a difference of shares of so much, and of so many standard errors.
_LEAST, _CLEAR = 0.2, 4.0
# A feature looks as before if its values are distributed alike: the distance of Kolmogorov and
# Smirnov, which chance makes as large in one of a thousand pairs of independent stretches.
_ALIKE = 0.25
# A change of the model within so many observations tells it itself.
_RECENT = 2 * _SPAN
# Looks at regions, and how often a split must have been seen before and since.
_LOOK, _SEEN = 1024, 2


class ExplainedWatch:
    """Finds changes of the explained share and of the splits of regions."""

    def __init__(self, model: ModelWatch, history: History) -> None:
        self.model, self.history = model, history
        # When a difference was first seen that waits to be seen again, and the last report.
        self.pending: int | None = None
        self.reported = 0
        # For each feature with a region: by which other it is split, and how often that was seen;
        # and another one that may take its place.
        self.splits: dict[FeatureName, list[Any]] = {}

    def update(self, newest: Record, changes: Sequence[Change]) -> list[Found]:
        """Look, where it is time to; what has been found."""
        found = self._regions(newest, changes) if newest.n % _LOOK == 0 else []
        return found + self._share(newest, changes)

    # The explained share.

    def _share(self, newest: Record, changes: Sequence[Change]) -> list[Found]:
        n = newest.n
        is_again = self.pending is not None and n == self.pending + _SPAN // 4
        if not is_again and (n % _SPAN or self.pending is not None):
            return []
        # At the second look with what there was before the first one.
        last = (n if self.pending is None else self.pending) - _SPAN
        self.pending = None
        if n < 2 * _SPAN + self.model.warm_up or n - self.reported < 2 * _SPAN:
            return []
        if self.model.surprise.is_moving or self._has_changed(newest, changes):
            return []
        for output in self.model.outputs:
            sides = self._moved(newest, output, last)
            if sides is not None:
                if is_again:
                    self.reported = n
                    return [self._share_change(newest, output, last, *sides)]
                self.pending = n
        return []

    def _has_changed(self, newest: Record, changes: Sequence[Change]) -> bool:
        """Whether the model changed not long ago: then stored answers are of two models."""
        if self.model.going_on or max(self.model.since) > newest.n - 2 * _SPAN:
            return True
        (oldest,) = self.history.between(0, newest.n - _RECENT, at_most=1) or [newest]
        return any(c.kind in ("real", "both") and c.t > oldest.t for c in changes)

    def _moved(
        self, newest: Record, output: int, last: int
    ) -> tuple[ExplainedShare, ExplainedShare] | None:
        """The share before and now; None if they are alike, or the values of a feature are not."""
        spans = (last - _SPAN, last), (newest.n - _SPAN, newest.n)
        before, after = (
            self.history.evenly(first + 1, last, at_most=_AT_MOST, closer=True)
            for first, last in spans
        )
        was, now = (
            explained_share(records, self.model.numbers, output) for records in (before, after)
        )
        if was is None or now is None or not _is_clear(was, now):
            return None
        names = self.model.names
        return (was, now) if all(_are_alike(before, after, name) for name in names) else None

    def _share_change(
        self, newest: Record, output: int, last: int, before: ExplainedShare, after: ExplainedShare
    ) -> Found:
        """The change of the feature whose heterogeneity moved most."""
        moved = {k: abs(after.differs[k] - before.differs[k]) for k in before.differs}
        number = max(moved, key=lambda k: moved[k])
        details = {
            "statistic": "explained",
            "explained": (before.share, after.share),
            "differs": (before.differs[number], after.differs[number]),
        }
        return self._change(newest, number, output, last, kind="virtual", **details)

    def _change(self, newest: Record, number: int, output: int, last: int, **details: Any) -> Found:
        row = self.model.numbers.index(number)
        name, label = self.model.names[row], self.model.labels[output]
        curves = curves_of(name, label, (number, output), self.history, (last, newest))
        (cut,) = self.history.between(0, last, at_most=1) or [newest]
        is_real = details["kind"] == "real"
        return row, Change(
            feature=name,
            output=label,
            t=newest.t,
            before=curves[0],
            after=curves[1],
            shares={"real": float(is_real), "virtual": float(not is_real)},
            n_since=newest.n - last,
            is_probability=self.model.are_probabilities(newest),
            **{"began": cut.t, **details},
        )

    # Regions.

    def _regions(self, newest: Record, changes: Sequence[Change]) -> list[Found]:
        """Splits by another feature than before, after a change; else it may be a tie."""
        try:
            now = {name: split.by for name, split in self._splits().items()}
        except NotEnoughSamples:
            return []
        found: list[Found] = []
        for name in self.model.names:
            was, n_seen, other, n_other = self.splits.get(name, [None, 0, None, 0])
            by = now.get(name)
            if by is None or by == was:
                n_seen, other, n_other = n_seen + (by is not None), None, 0
            else:
                n_other = n_other + 1 if by == other else 1
                other = by
                if n_other >= _SEEN:
                    began = self._began(newest, changes) if n_seen >= _SEEN else None
                    if began is not None:
                        found.append(self._resplit(newest, name, (was, by), began))
                    was, n_seen, other, n_other = by, n_other, None, 0
            self.splits[name] = [was, n_seen, other, n_other]
        return found

    def _splits(self) -> dict[Any, Any]:
        return getattr(self.model.pdp, "splits", {})

    def _began(self, newest: Record, changes: Sequence[Change]) -> float | None:
        """When the newest change of not long ago began; None if there is none."""
        first = max(newest.n - 4 * _SPAN, 0)
        oldest = self.history.between(0, max(first, 1), at_most=1)
        since = oldest[0].t if oldest else -np.inf
        return next((c.began for c in reversed(changes) if c.t > since), None)

    def _resplit(
        self, newest: Record, name: FeatureName, split: tuple[Any, Any], began: float
    ) -> Found:
        row = self.model.names.index(name)
        details = {"statistic": "regions", "split": split, "is_interaction": True, "began": began}
        last = newest.n - _SEEN * _LOOK
        number, output = self.model.numbers[row], self.model.outputs[0]
        return self._change(newest, number, output, last, kind="real", **details)

    # State out and in.

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        splits = [[encode_name(v) for v in (k, *row)] for k, row in self.splits.items()]
        return {"pending": self.pending, "reported": self.reported, "splits": splits}

    @state.setter
    def state(self, state: State) -> None:
        count = schema.count
        schema.check(state, pending=schema.maybe(count), reported=count)
        rows = [[decode_name(v) for v in row] for row in state["splits"]]
        if not all(len(row) == 5 and count.fits(row[2]) and count.fits(row[4]) for row in rows):
            raise ValueError("the state is damaged: the splits of regions are not counted in it")
        self.pending, self.reported = state["pending"], state["reported"]
        self.splits = {row[0]: row[1:] for row in rows}


def _is_clear(before: ExplainedShare, after: ExplainedShare) -> bool:
    """Whether the share moved by enough, and by more than chance.

    How far it is below 0 tells nothing. What curves leave is compared by its logarithm, whose error
    does not depend on how much it is.
    """
    moved = abs(max(after.share, 0.0) - max(before.share, 0.0))
    left = np.array([1 - before.share, 1 - after.share])
    if moved < _LEAST or not (left > 0).all():
        return False
    error = np.hypot(*(np.array([before.std_error, after.std_error]) / left))
    return bool(abs(np.diff(np.log(left))[0]) >= _CLEAR * error)


def _are_alike(before: Sequence[Record], after: Sequence[Record], name: FeatureName) -> bool:
    """Whether a feature's values are distributed as before."""
    sides = [[record.x.get(name) for record in records] for records in (before, after)]
    known: list[list[Any]] = [[v for v in side if not is_missing(v)] for side in sides]
    if not all(known):
        return not any(known)
    is_number = all(isinstance(value, Real) for value in known[0] + known[1])
    return (_apart if is_number else _shares_apart)(*known) <= _ALIKE


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest distance of two distribution functions."""
    places = np.sort(np.array([*one, *other], dtype=float))
    below, below_other = (
        np.searchsorted(np.sort(side), places, side="right") / len(side) for side in (one, other)
    )
    return float(np.abs(below - below_other).max())


def _shares_apart(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Half the sum of the differences between the shares of categories."""
    shares = [Counter(map(str, side)) for side in (one, other)]
    labels = shares[0].keys() | shares[1].keys()
    both = ((shares[0][label] / len(one), shares[1][label] / len(other)) for label in labels)
    return 0.5 * sum(abs(a - b) for a, b in both)
