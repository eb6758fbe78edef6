"""Everything that is remembered of the groups of a stream."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name, pack_floats, unpack_floats
from ipdp.core.typing import Label, State
from ipdp.explainers.segments.ends import Ends
from ipdp.explainers.segments.joined_ends import joined_ends, restored_ends, saved_ends
from ipdp.explainers.segments.labels import OTHERS, By, Labels, label_of, log_sum
from ipdp.explainers.segments.sums import Batch, GroupSums
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.points import Slot
from ipdp.explainers.state.records import IceRecord
from ipdp.explainers.state.saved import plain
from ipdp.explainers.state.targets import Target

# So many observations are folded in together, at most.
_TOGETHER = 512
# How many recent observations of each group are kept, for where its values are.
_RECENT = 64
# What the sums of a state stay below.
_MOST = {
    "mean": schema.LARGEST_MEAN,
    "spread": schema.LARGEST_SQUARES,
    "weight": schema.LARGEST_WEIGHT,
    "squares": schema.LARGEST_SQUARES,
}
# A scale below a half is multiplied into the sums before it is used again.
_SCALE = schema.Kind("0, or a scale", lambda v: schema.number.fits(v) and (v == 0 or 0.2 < v <= 1))


class Groups:
    """The groups of a stream: which there are, their sums, and their recent values.

    Parameters
    ----------
    by
        A column, or a function of an observation.
    most
        How many groups are followed; what is not among them is in `OTHERS`.
    n_axes, n_targets
        Number of rows of positions, and of targets.
    alpha
        Smoothing parameter.
    """

    def __init__(
        self, by: By, most: int, *, n_axes: int, n_targets: int, alpha: float | None
    ) -> None:
        self.by = by
        self.hidden = False  # whether the model does not get the column
        self.labels = Labels(most, alpha=alpha)
        self.sums = GroupSums(n_axes, n_targets, alpha=alpha)
        self.ends = Ends(alpha=alpha)
        self.recent: list[deque[list[Any]]] = []  # of each row
        # Of a segment that follows another: the weights of the groups that there were, as in
        # `counts`, and those of them that have lost their row since.
        self.inherited: dict[Any, float] = {}
        self.left: set[Any] = set()
        self._batch: Batch = []
        self._folding = Lock()

    def counts(self) -> dict[Any, float]:
        """The weight of each group, as a logarithm had nothing been forgotten."""
        with self._folding:
            self._fold()
        sums, growth = self.sums, self.labels.growth
        found = {
            label: count
            for label, count in self.inherited.items()
            if label in self.labels.rows and label not in self.left
        }
        weights = (sums.weight.max(axis=1, initial=0.0) * sums.scale).tolist()
        for label, row in self.labels.rows.items():
            if row < len(weights) and weights[row] > 0:
                count = math.log(weights[row]) + float(sums.t[row]) * growth
                found[label] = log_sum(found.get(label, -math.inf), count)
        for label, count in self.labels.credit.items():
            found[label] = log_sum(found.get(label, -math.inf), count)
        return found

    @property
    def by_size(self) -> list[Label | None]:
        """The groups, most frequent first; missing values and the others come last."""
        return self.labels.by_size(self.counts())

    def label_of(self, x: Any) -> Label | None:
        """The group of an observation."""
        return label_of(self.by, x)

    def of_table(self, labels: Sequence[Label | None], weights: Sequence[float]) -> None:
        """Follow the most frequent groups of a table, which is a sample: it has no blocks of time.

        `labels` are those of its rows.
        """
        counts: dict[Any, float] = {}
        for label, weight in zip(labels, weights, strict=True):
            counts[label] = counts.get(label, 0.0) + weight
        own = [label for label in counts if label is not None and label != OTHERS]
        known = {None, *sorted(own, key=lambda label: -counts[label])[: self.labels.most]}
        by, self.ends.until = self.by, math.inf

        def followed(x: Any) -> Label | None:
            label = label_of(by, x)
            return label if label in known else OTHERS

        self.by = followed

    def add(
        self, label: Label | None, record: IceRecord, own: list[Any], w: float, t: float
    ) -> None:
        """Take what the model said of an observation."""
        labels = self.labels
        row = labels.rows.get(label)
        if row is None:
            row = labels.wait(label, w, t)
            if row is None:
                row = self._new_place(label, w, t)
        self.recent[row].append(own)
        if t >= self.ends.until:
            with self._folding:
                self._fold()
            self.ends.advance(self.sums, len(self.labels.rows), t)
        batch = self._batch
        batch.append((row, record.positions, record.values, self.sums.at, w, t))
        if len(batch) >= _TOGETHER:
            with self._folding:
                self._fold()

    def _new_place(self, label: Label | None, w: float, t: float) -> int:
        row, replaced = self.labels.place(label, w, t, self.counts)
        if replaced is not None:
            if replaced in self.inherited:
                self.left.add(replaced)
            with self._folding:
                self._fold()
            self._empty(row)
        self._have_recent()
        return row

    def _have_recent(self) -> None:
        n = len(self.labels.rows) - len(self.recent)
        self.recent += [deque(maxlen=_RECENT) for _ in range(n)]

    def _empty(self, row: int) -> None:
        """Put what is in a row to the others."""
        others = self.labels.rows[OTHERS]
        self.sums.have_room(len(self.labels.rows))
        self.sums.move(row, others)
        self.ends.move(row, others)
        self._have_recent()
        self.recent[others].extend(self.recent[row])
        self.recent[row].clear()

    def fold(self) -> None:
        """Fold the last observations into the sums, and count them."""
        with self._folding:  # another thread may be reading
            self._fold()
            self.sums.count()

    def _fold(self) -> None:
        batch, self._batch = self._batch, []
        # Missing values and the others come on top.
        self.sums.have_room(len(self.labels.rows), self.labels.most + 2)
        if batch:
            self.sums.fold(batch)

    def follow(self, means: Means) -> None:
        """Have the slots and outputs that the means of all observations have by now."""
        n_rows = means.n_axes + len(means.outputs)
        known = self.sums.layout.targets, self.sums.mean.shape[1]
        if known != (means.layout.targets, n_rows):
            self.fold()
        self.sums.arrange(means.layout, means.dormant, n_rows)

    def n_of(self, rows: Sequence[int]) -> Any:
        """Number of observations of some groups together, for each target."""
        return self.sums.n[list(rows)].sum(axis=0)

    # Copies and segments of a stream.

    def copy(self) -> Groups:
        """An independent copy."""
        self.fold()
        twin = self.empty()
        twin.labels.restore(self.labels.state)
        twin.sums, twin.ends = self.sums.copy(), self.ends.copy()
        twin.hidden = self.hidden
        twin.inherited, twin.left = dict(self.inherited), set(self.left)
        twin.recent = [deque(own, maxlen=_RECENT) for own in self.recent]
        return twin

    def empty(self) -> Groups:
        """One of the same kind that has seen nothing."""
        n_rows, n_targets, alpha = self.sums.mean.shape[1], self.sums.n.shape[1], self.sums.alpha
        return Groups(self.by, self.labels.most, n_axes=n_rows, n_targets=n_targets, alpha=alpha)

    def __getstate__(self) -> State:
        self.fold()
        return {name: value for name, value in vars(self).items() if name != "_folding"}

    def __setstate__(self, state: State) -> None:
        vars(self).update(state, _folding=Lock())

    def successor(self) -> Groups:
        """Those of the segment that follows: the same groups, and nothing in them."""
        later = self.copy()
        later.inherited, later.left = self.counts(), set()
        later.labels.credit = {}  # it is in what is inherited
        later.sums.clear()
        later.ends = Ends(alpha=self.sums.alpha)
        return later

    def merge(
        self, later: Groups, means: Means, parts: tuple[Means, Means], follows: bool
    ) -> Groups:
        """The groups of both segments, whose means are `means`, from those of each."""
        self.fold()
        later.fold()
        both = self.empty()
        both.hidden = self.hidden or later.hidden
        n_rows = means.n_axes + len(means.outputs)
        both.sums = GroupSums(n_rows, self.sums.n.shape[1], alpha=self.sums.alpha)
        counts = self.counts()
        for label, count in later.counts().items():
            counts[label] = log_sum(counts.get(label, -math.inf), count)
        left = later.left if follows else set()
        both.labels.merge(self.labels, later.labels, counts, follows=follows, left=left)
        both.sums.arrange(means.layout, means.dormant, n_rows)
        both.sums.have_room(len(both.labels.rows))
        both.recent = [deque(maxlen=_RECENT) for _ in both.labels.rows]
        rows = [part._rows_of(means.outputs) for part in parts]
        both.inherited = self.inherited
        both.left = self.left | (later.left & set(self.inherited)) if follows else set(self.left)
        of = [(self, both.places_of(self, left)), (later, both.places_of(later, set()))]
        both._take(*of[0], rows[0], means.slots, parts[1].lost)
        both._take(*of[1], rows[1], means.slots, set())
        both.ends = joined_ends(both, of, rows)
        return both

    def places_of(self, part: Groups, left: Collection[Any]) -> dict[int, int]:
        """Where the rows of a segment belong; `left` are groups whose row was taken over since."""
        rows = self.labels.rows
        return {
            row: rows[OTHERS] if label in left else rows.get(label, rows.get(OTHERS, 0))
            for label, row in part.labels.rows.items()
        }

    def _take(
        self,
        part: Groups,
        places: Mapping[int, int],
        rows: Sequence[int],
        slots: Sequence[Slot],
        lost: Collection[Slot],
    ) -> None:
        """Add the sums of one segment; `lost` are slots that were given up since."""
        columns = [self.sums.columns[slot] for slot in slots]
        place = {slot: k for k, slot in enumerate(part.sums.columns) if slot not in lost}
        at = [place.get(slot, -1) for slot in slots]
        for row, to in places.items():
            theirs = part.sums.smoothing([row], list(part.sums.columns)).take(at, rows=rows)
            self.sums.put(to, self.sums.smoothing([to], slots).merge(theirs), columns)
            self.sums.n[to] += part.sums.n[row]
            self.recent[to].extend(part.recent[row])

    @property
    def times(self) -> list[float]:
        """The last times of the groups, and those at the ends of their blocks."""
        ends = [end.t[end.weight.any(axis=1)] for end in self.ends.ends]
        times = np.concatenate([self.sums.t[self.sums.scale > 0], *ends])
        return [float(t) for t in times]

    # State out and in.

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe; the slots are those of the means."""
        self.fold()
        n = len(self.labels.rows)
        order = list(self.sums.columns.values())
        return {
            "hidden": self.hidden,
            "inherited": [[encode_name(label), n] for label, n in self.inherited.items()],
            "left": [encode_name(label) for label in self.left],
            "labels": self.labels.state,
            "slots": encode_name(tuple(self.sums.columns)),
            **{
                name: pack_floats(getattr(self.sums, name)[:n][..., order])
                for name in ("mean", "spread", "weight", "squares")
            },
            "scale": self.sums.scale[:n].tolist(),
            "t": self.sums.t[:n].tolist(),
            "n": self.sums.n[:n].tolist(),
            "recent": [[plain(list(own)) for own in rows] for rows in self.recent],
            "ends": saved_ends(self.ends),
        }

    def restore(self, state: State, means: Means, targets: Sequence[Target]) -> None:
        """Take what `state` gave; the means are those of all observations."""
        schema.check(state, hidden=schema.flag, t=schema.each(schema.number))
        self.hidden = state["hidden"]
        self.inherited = {decode_name(label): float(n) for label, n in state["inherited"]}
        self.left = {decode_name(label) for label in state["left"]}
        self.labels.restore(state["labels"])
        n, n_rows = len(self.labels.rows), means.n_axes + len(means.outputs)
        schema.check(state, scale=schema.each(_SCALE, n))
        schema.check(state, recent=schema.each(schema.parts, n))
        slots = decode_name(state["slots"])
        if set(slots) != set(means.slots) or len(state["t"]) != n:
            raise ValueError("the state is damaged: its groups do not fit its points")
        self.sums = GroupSums(n_rows, len(targets), alpha=self.sums.alpha)
        self.sums.arrange(means.layout, means.dormant, n_rows)
        self.sums.have_room(n)
        order = [self.sums.columns[slot] for slot in slots]
        shapes = {"mean": (n, n_rows), "spread": (n, n_rows), "weight": (n,), "squares": (n,)}
        for name, shape in shapes.items():
            saved = unpack_floats(state[name])
            schema.must_fit(f"{name} of its groups", saved, (*shape, len(slots)), most=_MOST[name])
            getattr(self.sums, name)[:n][..., order] = saved
        self.sums.t[:n] = state["t"]
        self.sums.n[:n] = schema.array(state, "n", (n, len(targets)))
        # In earlier versions all was written out.
        self.sums.scale[:n] = state.get("scale", self.sums.n[:n].any(axis=1))
        if self.sums.weight[:n][self.sums.scale[:n] == 0].any():
            raise ValueError("the state is damaged: a group of no weight has some")
        self.recent = [deque(rows, maxlen=_RECENT) for rows in state["recent"]]
        self.ends = restored_ends(state["ends"], targets, n, alpha=self.sums.alpha)
