"""The smoothed answers of the model at every grid point.

All slots stand side by side as the columns of one `Smoothing`, so that one step updates all
features and all outputs. Its rows are the position of the slot on the axis of its one or two
features (eq. 3), then the outputs (eq. 2): in the paper both are the same recursion.

Slots whose point has left the grid (a category out of the window, a knot out of the range) are
*dormant*, in a smoothing of its own: they age, and go on where they stopped if their point comes
back. Each target may have four times as many of them as it evaluates.

Beside the means stand those of the last blocks of time (`core/blocks.py`), from which their errors
are read; a point that becomes dormant loses them, unless those of all slots are kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ipdp.core.blocks import Blocks
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Array, FloatArray, Label
from ipdp.explainers.state.newcomers import Columns, Newcomers
from ipdp.explainers.state.outputs import compatible, in_words
from ipdp.explainers.state.points import Layout, Slot
from ipdp.explainers.state.records import Explained
from ipdp.explainers.state.targets import Target
from ipdp.models.base import Outputs

# How many dormant points a target may have, against those that it evaluates.
_DORMANT = 4


class Means:
    """Means and spreads of positions (`n_axes` rows of them) and outputs, of all slots.

    `fixed` are the numbers of the targets whose points stay where they are: their new points are
    shown with what their neighbours know. With `dormant_blocks` dormant slots keep their blocks.
    """

    def __init__(
        self,
        n_axes: int,
        *,
        alpha: float | None,
        fixed: frozenset[int] = frozenset(),
        dependence: bool = True,
        dormant_blocks: bool = False,
    ) -> None:
        self.n_axes = n_axes
        self.fixed = fixed
        self.dormant_blocks = dormant_blocks
        self.newcomers = Newcomers(n_axes, alpha=alpha)
        self.outputs: list[Label] = []
        self.named = True  # whether the model itself names its outputs
        # The names as the model gave them, in this very order; None if it has not.
        self.labels: tuple[Label, ...] | None = None
        self.layout = Layout()
        self.smoothing = Smoothing(alpha=alpha, n_rows=n_axes, n_columns=0)
        self.blocks = Blocks(alpha=alpha, n_rows=n_axes, n_columns=0, kept=dependence)
        # What the blocks say of the errors; see errors.py.
        self.errors: Any = None
        self.dormant: list[Slot] = []  # longest dormant first
        self.dormant_smoothing = self.smoothing.copy()
        # For a segment of a stream that is to be merged with an earlier one: the slots that this
        # one had, those of them that were given up since, and those that were dormant in between.
        self.inherited: frozenset[Slot] = frozenset()
        self.lost: set[Slot] = set()
        self.back: set[Slot] = set()

    def aligned(self, answer: Outputs) -> tuple[list[Label], FloatArray]:
        """The outputs' names after this answer, and its values in their order; or an error.

        Nothing changes.
        """
        labels, values = answer
        known = tuple(self.outputs)
        if labels is not None and labels == known:
            self.labels = known  # compared as one object from now on
            return self.outputs, values
        if not compatible(known, self.named, labels, values.shape[1]):
            raise ValueError(
                f"the model gave {in_words(labels, values.shape[1])} where it gave "
                f"{in_words(known if self.named else None, len(known))} before"
            )
        if labels is None:
            n = values.shape[1]
            return self.outputs if len(known) == n else list(range(n)), values
        new = [label for label in labels if label not in self.outputs]
        together = self.outputs + new if new else self.outputs
        aligned = np.zeros((values.shape[0], len(together), values.shape[2]))
        aligned[:, [together.index(label) for label in labels]] = values
        return together, aligned

    def adopt(self, layout: Layout, t: float) -> None:
        """Evaluate the slots of this layout from time t on; the others become dormant."""
        if layout is self.layout:
            return
        old, parts = self.layout, (self.smoothing, self.dormant_smoothing)
        # Most targets stay as they are, and nothing is to be done for them.
        changed = {
            k for k in {*old.targets, *layout.targets} if layout.keys_of(k) != old.keys_of(k)
        }
        column = self._column_of(changed)
        if self.fixed:
            known = parts, column
            self.newcomers.adopt((old, layout), self.fixed & changed, t, known, self.lost)
        columns: list[int] = []
        for number, keys in zip(layout.targets, layout.keys, strict=True):
            if number in changed:
                columns += [column.get((number, key), -1) for key in keys]
            else:
                columns += old.columns_of(number)
        left = [
            (number, key)
            for number in sorted(changed)
            for key in set(old.keys_of(number)).difference(layout.keys_of(number))
        ]
        left.sort(key=column.__getitem__)
        kept = self._kept(layout, changed, left, column, set(columns))
        self.blocks.close(self._in_blocks)
        at = np.array(columns, dtype=np.intp)
        came = at >= old.n_points  # from those that were dormant
        if came.any():
            self.back.update(slot for slot, new in zip(layout.slots, came, strict=True) if new)
        self.smoothing = parts[0].beside(parts[1], columns=at)
        self.dormant_smoothing = parts[0].beside(parts[1], columns=np.array(kept, dtype=np.intp))
        self.blocks = self.blocks.take(
            [*columns, *kept] if self.dormant_blocks else np.where(came, -1, at)
        )
        slots = {column[slot]: slot for slot in left}
        self.dormant = [slots[k] if k in slots else self.dormant[k - old.n_points] for k in kept]
        self.blocks.restart(self._in_blocks)
        self.layout = layout

    def _column_of(self, numbers: set[int]) -> dict[Slot | None, int]:
        """Where the slots of some targets are, among all."""
        old = self.layout
        found: dict[Slot | None, int] = {
            (k, key): column
            for k in numbers
            for key, column in zip(old.keys_of(k), old.columns_of(k), strict=True)
        }
        for column, slot in enumerate(self.dormant, start=old.n_points):
            if slot[0] in numbers:
                found[slot] = column
        return found

    def _kept(
        self,
        layout: Layout,
        changed: set[int],
        left: list[Slot],
        column: dict[Slot | None, int],
        returned: set[int],
    ) -> list[int]:
        """The columns of the slots that are dormant from now on: those that did not return, `left`.

        Those that have been away longest are first, and go first where they are too many.
        """
        room = {k: _DORMANT * len(layout.keys_of(k)) or 1 for k in changed}
        first = self.layout.n_points
        asleep = [k for k, slot in enumerate(self.dormant, start=first) if slot[0] in changed]
        both = [(k, self.dormant[k - first]) for k in asleep] + [(column[s], s) for s in left]
        gone = set(asleep) & returned
        for k, slot in reversed(both):
            if k not in gone:
                room[slot[0]] -= 1
                if room[slot[0]] < 0:
                    gone.add(k)
                    if slot in self.inherited:
                        self.lost.add(slot)
        every = [*range(first, first + len(self.dormant)), *(column[slot] for slot in left)]
        return [k for k in every if k not in gone]

    @property
    def shown(self) -> FloatArray:
        """The means as they are shown, of shape (n_rows, n_points)."""
        if not self.newcomers.points:
            return self.smoothing.mean
        of = _taken(self.everything, self._column_of(set(self.layout.targets)))
        return self.newcomers.shown(self.layout, self.smoothing, of, self.n_axes)

    def fold_many(self, explained: Explained) -> None:
        """Fold observations in, each with its positions and outputs; the same as one by one."""
        for part in self._within_blocks(explained.t):
            own = explained.part(part)
            self.smoothing.update_many_rows((own.positions, own.values), own.w, own.t)

    def fold_some(self, columns: Array, values: FloatArray, w: FloatArray, t: float) -> None:
        """Fold in one observation with values of some slots only; see `Smoothing.update_some`."""
        self.begin_block(t)
        self.smoothing.update_some(columns, values, w, t)

    def fold_many_at(
        self, columns: Array, values: FloatArray, w: list[float], t: list[float]
    ) -> None:
        """The same for observations with values of some slots only, see `Smoothing.update_at`."""
        for part in self._within_blocks(t):
            self.smoothing.update_many_at(columns[part], values[part], w[part], t[part])

    def _within_blocks(self, t: list[float]) -> Iterator[slice]:
        """The observations of each block of time, whose turn it is then."""
        if t and t[-1] < self.blocks.until:  # all of them in the block that there is
            yield slice(0, len(t))
            return
        start = 0
        while start < len(t):
            self.begin_block(t[start])
            stop = bisect_left(t, self.blocks.until, start + 1)
            yield slice(start, stop)
            start = stop

    def begin_block(self, t: float) -> bool:
        """Close the block that there is if a time is beyond it, and say so."""
        is_over = t >= self.blocks.until
        if is_over:
            self.blocks.advance(self._in_blocks, t)
        return is_over

    @property
    def slots(self) -> list[Slot]:
        """All slots, the dormant ones last."""
        return self.layout.slots + self.dormant

    @property
    def everything(self) -> Smoothing:
        """The smoothing of all slots."""
        return self.smoothing.beside(self.dormant_smoothing)

    @everything.setter
    def everything(self, smoothing: Smoothing) -> None:
        n_active = self.layout.n_points
        self.smoothing = smoothing.take(range(n_active))
        self.dormant_smoothing = smoothing.take(range(n_active, n_active + len(self.dormant)))

    @property
    def _in_blocks(self) -> Smoothing:
        """The smoothing whose means have blocks."""
        return self.everything if self.dormant_blocks and self.dormant else self.smoothing

    def add_outputs(self, outputs: list[Label], named: bool) -> None:
        """Make room for outputs that were not there before."""
        if len(outputs) > len(self.outputs):
            n_rows, n_columns = self.smoothing.mean.shape
            self.blocks.close(self._in_blocks)
            rows = [*range(n_rows), *[-1] * (len(outputs) - len(self.outputs))]
            self.smoothing = self.smoothing.take(range(n_columns), rows=rows)
            self.dormant_smoothing = self.dormant_smoothing.take(
                range(len(self.dormant)), rows=rows
            )
            self.newcomers.with_rows(rows)
            self.blocks = self.blocks.take(range(self.blocks.n_columns), rows=rows)
            self.blocks.restart(self._in_blocks)
            self.outputs, self.named, self.labels = outputs, named, None

    def with_axes(self, n_axes: int, fixed: frozenset[int]) -> Means:
        """A copy with so many rows of positions, those of a further axis 0, for other targets."""
        wider = self.copy()
        wider.fixed = fixed
        more = n_axes - self.n_axes
        if more <= 0:
            return wider
        wider.n_axes = n_axes
        n_rows, n_columns = self.smoothing.mean.shape
        wider.blocks.close(wider._in_blocks)
        rows = [*range(self.n_axes), *[-1] * more, *range(self.n_axes, n_rows)]
        wider.smoothing = wider.smoothing.take(range(n_columns), rows=rows)
        wider.dormant_smoothing = wider.dormant_smoothing.take(range(len(self.dormant)), rows=rows)
        wider.newcomers.with_rows(rows)
        wider.blocks = wider.blocks.take(range(self.blocks.n_columns), rows=rows)
        wider.blocks.restart(wider._in_blocks)
        return wider

    def _empty(self) -> Means:
        """The same without data."""
        alpha, of_dormant = self.smoothing.alpha, self.dormant_blocks
        return Means(self.n_axes, alpha=alpha, fixed=self.fixed, dormant_blocks=of_dormant)

    def copy(self) -> Means:
        """An independent copy."""
        twin = self._empty()
        twin.newcomers = self.newcomers.copy()
        twin.outputs, twin.named = list(self.outputs), self.named
        twin.layout, twin.dormant = self.layout, list(self.dormant)
        twin.smoothing = self.smoothing.copy()
        twin.dormant_smoothing = self.dormant_smoothing.copy()
        twin.blocks = self.blocks.copy()
        twin.inherited, twin.lost, twin.back = self.inherited, set(self.lost), set(self.back)
        return twin

    # Segments of a stream.

    def successor(self) -> Means:
        """The means of what comes next: the same slots and outputs, and no answer yet."""
        later = self.copy()
        later.everything = Smoothing(
            alpha=self.smoothing.alpha,
            n_rows=self.n_axes + len(self.outputs),
            n_columns=len(self.slots),
        )
        later.blocks = later.empty_blocks()
        later.newcomers = self.newcomers.successor()
        later.inherited, later.lost, later.back = frozenset(self.slots), set(), set()
        return later

    def empty_blocks(self) -> Blocks:
        """The blocks of a smoothing that starts, or goes on, without any."""
        own = self._in_blocks
        n_rows, n_columns = own.mean.shape
        blocks = Blocks(alpha=own.alpha, n_rows=n_rows, n_columns=n_columns, kept=self.blocks.kept)
        blocks.restart(own)
        return blocks

    def merge(self, later: Means, targets: Sequence[Target]) -> Means:
        """The means of this segment followed by a later one."""
        labels = tuple(later.outputs) if later.named else None
        if not compatible(tuple(self.outputs), self.named, labels, len(later.outputs)):
            raise ValueError(
                f"explainers can be merged only if their models have the same outputs: they are "
                f"{self.outputs} and {later.outputs}"
            )
        joined = self._empty()
        joined.outputs = self.outputs + [x for x in later.outputs if x not in self.outputs]
        joined.named = later.named if later.outputs else self.named
        joined.layout = self.layout.followed_by(later.layout, targets)
        joined.inherited = self.inherited
        joined.lost = set(self.lost) | (later.lost & self.inherited)
        known = set(joined.layout.slots)
        dormant = [slot for slot in later.dormant if slot not in known]
        known |= set(dormant)
        # What the later segment dropped stays dropped; what it never had is dormant.
        extra = [
            slot
            for slot in self.dormant + self.layout.slots
            if slot not in known and slot not in later.lost
        ]
        slots = joined.layout.slots + extra + dormant
        joined.dormant = extra + dormant
        joined.everything = self._arranged(slots, joined.outputs, later.lost).merge(
            later._arranged(slots, joined.outputs, set())
        )
        joined.back = set(self.back) | (later.back & self.inherited)
        # Those that were dormant meanwhile have lost theirs.
        active, gone = joined.layout.slots, later.back
        if self.dormant_blocks:
            active, gone = joined.slots, later.lost
        joined.blocks = self._arranged_blocks(active, joined.outputs, gone).merge(
            later._arranged_blocks(active, joined.outputs, set())
        )
        joined.blocks.restart(joined._in_blocks)
        joined.newcomers = self._merged_newcomers(later, joined.outputs)
        return joined

    def _merged_newcomers(self, later: Means, outputs: Sequence[Label]) -> Newcomers:
        mine, theirs = self.newcomers.copy(), later.newcomers.copy()
        mine.with_rows(self._rows_of(outputs))
        theirs.with_rows(later._rows_of(outputs))
        if not later.layout.targets:
            return mine
        return mine.merge(theirs, lambda slots: self._arranged(slots, outputs, set()), self.lost)

    def _arranged_blocks(
        self, slots: Sequence[Slot], outputs: Sequence[Label], without: set[Slot]
    ) -> Blocks:
        """The blocks, closed, with the columns and rows asked for."""
        blocks = self.blocks.copy()
        blocks.close(self._in_blocks)
        known = self.slots if self.dormant_blocks else self.layout.slots
        columns = _columns(known, slots, without)
        return blocks.take(columns, rows=self._rows_of(outputs))

    def _rows_of(self, outputs: Sequence[Label]) -> list[int]:
        """The rows of the positions and of some outputs; -1 for one that it does not have."""
        known = {label: self.n_axes + k for k, label in enumerate(self.outputs)}
        return [*range(self.n_axes), *(known.get(label, -1) for label in outputs)]

    def _arranged(
        self, slots: Sequence[Slot | None], outputs: Sequence[Label], without: set[Slot]
    ) -> Smoothing:
        """The smoothing with the columns and rows asked for."""
        columns = _columns(self.slots, slots, without)
        return self.everything.take(columns, rows=self._rows_of(outputs))


def _taken(smoothing: Smoothing, column: dict[Slot | None, int]) -> Columns:
    """What gives the smoothing of some slots, whose columns are known."""
    return lambda wanted: smoothing.take([column.get(slot, -1) for slot in wanted])


def _columns(known: Sequence[Slot], wanted: Sequence[Slot | None], without: set[Slot]) -> list[int]:
    """Where some slots are among others; -1 for those that are not, or not to be taken."""
    column: dict[Slot | None, int] = {s: k for k, s in enumerate(known) if s not in without}
    return [column.get(slot, -1) for slot in wanted]
