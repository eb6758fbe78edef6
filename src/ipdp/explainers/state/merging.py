"""Segments of a stream, explained apart and joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Label
from ipdp.explainers.state.means import Fold, IceRecord, compatible
from ipdp.explainers.state.points import Layout, Slot


def successor(fold: Fold) -> Fold:
    """The fold for what comes next: the same storages and slots, and nothing explained yet."""
    later = fold.copy()
    later.everything = Smoothing(
        alpha=fold.smoothing.alpha,
        n_rows=fold.n_axes + len(fold.outputs),
        n_columns=len(fold.slots),
    )
    for effect in later.effects:
        effect.n = 0
    later.recent.clear()
    later.starts_at = fold.seen
    later.inherited, later.lost = frozenset(fold.slots), set()
    return later


def merge(earlier: Fold, later: Fold) -> Fold:
    """The fold of both segments; the later one may be a successor of the earlier one, or not."""
    if [e.feature for e in earlier.effects] != [e.feature for e in later.effects]:
        raise ValueError("explainers can be merged only if they follow the same features")
    labels = tuple(later.outputs) if later.named else None
    if not compatible(tuple(earlier.outputs), earlier.named, labels, len(later.outputs)):
        raise ValueError(
            f"explainers can be merged only if their models have the same outputs: they are "
            f"{earlier.outputs} and {later.outputs}"
        )
    follows = later.starts_at is not None and later.starts_at == earlier.seen
    joined = later.copy()
    if not follows:
        joined = later.copy(
            {name: grid.merge(later.grids[name]) for name, grid in earlier.grids.items()}
        )
        joined.seen = earlier.seen + later.seen
    times = [t for t in (earlier.t, later.t) if t is not None]
    joined.t = max(times) if times else None
    joined.starts_at = earlier.starts_at
    joined.columns = earlier.columns
    joined.inherited = earlier.inherited
    joined.lost = set(earlier.lost) | (later.lost & earlier.inherited)
    _join_slots(joined, earlier, later)
    joined.recent.clear()
    for fold in (earlier, later):
        joined.recent.extend(_with_outputs(r, fold.outputs, joined.outputs) for r in fold.recent)
    if not follows:
        joined.together.clear()
        for fold in (earlier, later):
            joined.together.extend(fold.together)
    for effect, before in zip(joined.effects, earlier.effects, strict=True):
        effect.n += before.n
    return joined


def _join_slots(joined: Fold, earlier: Fold, later: Fold) -> None:
    layout = _joint_layout(earlier, later)
    known = set(layout.slots)
    attic = [slot for slot in later.attic if slot not in known]
    known |= set(attic)
    # What the later segment threw away stays away; what it never knew of waits in the attic.
    extra = [
        slot
        for slot in earlier.attic + earlier.layout.slots
        if slot not in known and slot not in later.lost
    ]
    slots = layout.slots + extra + attic
    outputs = _union(earlier.outputs, later.outputs)
    joined.outputs = outputs
    joined.named = later.named if later.outputs else earlier.named
    joined.attic = extra + attic
    joined.place(layout)
    joined.everything = _spread(earlier, slots, outputs, later.lost).merge(
        _spread(later, slots, outputs, set())
    )


def _joint_layout(earlier: Fold, later: Fold) -> Layout:
    """The later segment's slots, and the earlier one's for effects that the later has none of."""
    parts = {}
    for layout in (earlier.layout, later.layout):
        for k, keys, whole in zip(layout.effects, layout.keys, layout.whole, strict=True):
            parts[k] = keys, whole
    numbers = sorted(parts)
    return Layout.of(
        later.effects, numbers, [parts[k][0] for k in numbers], [parts[k][1] for k in numbers]
    )


def _spread(
    fold: Fold, slots: Sequence[Slot], outputs: Sequence[Label], without: set[Slot]
) -> Smoothing:
    """The fold's smoothing with the columns and rows asked for."""
    column = {slot: k for k, slot in enumerate(fold.slots)}
    columns = [-1 if slot in without else column.get(slot, -1) for slot in slots]
    rows = list(range(fold.n_axes)) + [
        fold.n_axes + fold.outputs.index(label) if label in fold.outputs else -1
        for label in outputs
    ]
    return fold.everything.take(columns, rows=rows)


def _with_outputs(record: IceRecord, old: list[Label], new: list[Label]) -> IceRecord:
    """The ICE curves with their outputs in another order; classes that had not been met are 0."""
    values = np.zeros((len(new), record.values.shape[1]))
    for label, row in zip(old, record.values, strict=False):
        values[new.index(label)] = row
    return record._replace(values=values)


def _union(first: list[Label], second: list[Label]) -> list[Label]:
    return first + [label for label in second if label not in first]
