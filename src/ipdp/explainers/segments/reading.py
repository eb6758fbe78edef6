"""From the sums of groups to a memory of curves, which can be read like any other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.explainers.segments.memory import SegmentsMemory
from ipdp.explainers.state.curve_memory import CurveMemory, Part
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.snapshot import are_flat


class GroupMeans(Means):
    """The means of some groups; a point that was added lately is shown as in the whole."""

    offset: FloatArray | float = 0.0

    @property
    def shown(self) -> FloatArray:
        return np.asarray(self.smoothing.mean + self.offset)


def memory_of(memory: SegmentsMemory, rows: Sequence[int], *, own_grids: bool) -> CurveMemory:
    """The memory of the observations of some groups, given by their rows.

    It shares the grids of the whole unless it is to have its own.
    """
    groups = memory.groups
    groups.fold()
    counts = groups.n_of(rows).tolist()
    grids = {n: g.copy() if own_grids else g for n, g in memory.grids.items()}
    targets = [
        replace(target, n=int(n), grids=tuple(grids[name] for name in target.names))
        for target, n in zip(memory.targets, counts, strict=True)
    ]
    alpha = memory.means.smoothing.alpha
    part = CurveMemory(targets, memory.columns, alpha=alpha, n_ice=0)
    part.means = _means(memory, rows)
    part.seen, part.t = max(counts, default=0), memory.t
    part.follows_all = memory.follows_all
    recent = [tuple(own) for row in rows for own in groups.recent[row]]
    part.part = Part(recent, frozenset(_flat(memory)))
    part.joint = deque(recent, maxlen=part.joint.maxlen)
    return part


def _flat(memory: SegmentsMemory) -> Iterator[int]:
    """The columns of targets that made no difference to any observation, of whatever group."""
    means, spread = memory.means, memory.spreads.own
    if spread.layout != means.layout:
        return
    for number in means.layout.targets:
        own = list(means.layout.columns_of(number))
        outputs = means.smoothing.mean[means.n_axes :, own]
        if are_flat(outputs, [spread.centred(own)], spread.deviations()[:, own]):
            yield from own


def _means(memory: SegmentsMemory, rows: Sequence[int]) -> GroupMeans:
    whole, groups = memory.means, memory.groups
    means = GroupMeans(whole.n_axes, alpha=whole.smoothing.alpha, fixed=whole.fixed)
    means.outputs, means.named, means.layout = list(whole.outputs), whole.named, whole.layout
    means.smoothing = groups.sums.smoothing(rows, whole.layout.slots)
    n_rows = len(means.smoothing.mean)
    means.dormant_smoothing = means.smoothing.take([])
    means.newcomers.with_rows([-1] * n_rows)
    means.blocks = groups.ends.blocks(groups.sums, rows)
    means.blocks.restart(means.smoothing)
    means.offset = _offset(whole, means)
    return means


def _offset(whole: Means, means: GroupMeans) -> FloatArray | float:
    """How far points that were added lately are shown from their means.

    In the whole it is the share of the observations that a point has missed, times how far these
    were, on average, from the later ones. The groups miss shares of their own.
    """
    if not whole.newcomers.points:
        return 0.0
    moved = whole.shown - whole.smoothing.mean
    if not moved.any():
        return 0.0
    missed = [_missed(each, each.smoothing.weight) for each in (whole, means)]
    known = missed[0] > 0
    share = np.where(known, missed[1] / np.where(known, missed[0], 1.0), 0.0)
    return np.asarray(moved * share.clip(0.0, 1.0))


def _missed(means: Means, weight: FloatArray) -> FloatArray:
    """The share of the observations of its curve that each point has missed."""
    largest = np.zeros_like(weight)
    for number in means.layout.targets:
        own = means.layout.columns_of(number)
        largest[own.start : own.stop] = weight[own.start : own.stop].max(initial=0.0)
    return np.asarray(1.0 - weight / np.where(largest > 0, largest, 1.0))
