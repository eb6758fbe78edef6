"""What the sums of all groups were at the ends of the last blocks of time.

How far the curve of a group may be wrong follows from the means of blocks, as for all observations
(`core/blocks.py`): and these from what the sums are at both ends of a block. Here the ends are
kept as they are, and the blocks of a group are worked out when they are asked for. A slot that was
not there at the start of a block has no mean of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ipdp.core import kernels
from ipdp.core.blocks import N_BLOCKS, Blocks
from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.segments.sums import GroupSums, joined
from ipdp.explainers.state.points import Layout

# Half as many as of all observations: there are as many of them as groups.
_FEWER = N_BLOCKS // 2
_SHORTEST, _REACH = 32, 10


class End(NamedTuple):
    """The sums of all groups at the end of a block, of the slots of that time."""

    number: int  # of the block
    layout: Layout
    owner: Array  # (n_groups,): the group that each of them belongs to by now
    t: FloatArray  # (n_groups,)
    weight: FloatArray  # (n_groups, n_points)
    mean: FloatArray  # (n_groups, n_rows, n_points)


class Ends:
    """The sums at the ends of the last blocks; the first is only the start of the second.

    Attributes
    ----------
    size
        Length of a block on the clock.
    until
        An observation of this time or later is of another block: `advance` comes first.
    """

    def __init__(self, *, alpha: float | None) -> None:
        self.most = N_BLOCKS if alpha is None else _FEWER
        self._longest = math.inf
        if alpha is not None:
            least = max(_REACH / (self.most * alpha), _SHORTEST)
            self._longest = 2.0 ** math.ceil(math.log2(least))
        self.size = _SHORTEST
        self.until = -math.inf
        self.ends: list[End] = []
        self.complete = True  # whether the first is the end of the first block of all

    def advance(self, sums: GroupSums, n_groups: int, t: float) -> None:
        """Keep the sums, before an observation of a later block is folded in."""
        while self.size < min(2 * n_groups, self._longest):  # too short to have some of each group
            self.coarsen()
        scale, times = sums.scale[:n_groups], sums.t[:n_groups].copy()
        if scale.any():
            weight = sums.weight[:n_groups].take(sums.at, axis=1)
            weight *= scale[:, None]
            mean = sums.mean[:n_groups].take(sums.at, axis=2)
            number = math.floor(times[scale > 0].max() / self.size)
            self.put(End(number, sums.layout, np.arange(n_groups), times, weight, mean))
        self.until = (math.floor(t / self.size) + 1) * self.size

    def put(self, end: End) -> None:
        """Have one more; not too many of them."""
        if self.ends and self.ends[-1].number == end.number:
            self.ends.pop()
        self.ends.append(end)
        while self._span > self.most and self.size < self._longest:
            self.coarsen()
        last = self.ends[-1].number
        while len(self.ends) > 2 and last - self.ends[1].number >= self.most:
            self.ends.pop(0)
            self.complete = False

    @property
    def _span(self) -> int:
        return self.ends[-1].number - self.ends[0].number + 1

    def coarsen(self) -> None:
        """Make one block of two: the end of the first of them is not needed."""
        self.size *= 2
        kept: dict[int, End] = {}
        for end in self.ends:
            kept[end.number // 2] = end._replace(number=end.number // 2)
        self.ends = list(kept.values())

    def blocks(self, sums: GroupSums, groups: Sequence[int]) -> Blocks:
        """The blocks of some groups together, with the slots that the sums have now."""
        n_rows, n_columns = sums.mean.shape[1], len(sums.at)
        made = Blocks(alpha=sums.alpha, n_rows=n_rows, n_columns=n_columns)
        made.size, made.until = self.size, self.until
        states = [_State(end, groups, sums) for end in self.ends]
        if self.complete:
            states = [_State.nothing(n_rows, n_columns), *states]
        found = []
        for start, end in pairwise(states):
            weight, mean = np.zeros(n_columns), np.zeros((n_rows, n_columns))
            if end.t is not None and end.t != start.t:
                # The latest of some groups may be before that, where its points have gone.
                gap = 0.0 if start.t is None else max(end.t - start.t, 0.0)
                left = sums.decay ** max((end.number + 1) * self.size - end.t, 0.0)
                now, before = (end.weight, end.mean), (start.weight, start.mean)
                block = weight, mean
                kernels.current.close_block(now, before, block, float(sums.decay**gap), float(left))
                weight[~start.there] = 0.0
            found.append((float(end.number), weight, mean))
        found = [each for each in found if each[1].any()]
        if found:
            numbers, weights, means = zip(*found, strict=True)
            made.put(np.array(numbers), np.array(weights), np.array(means))
        return made

    def move(self, group: int, to: int) -> None:
        """Let what one group was be that of another one, at all times."""
        self.ends = [
            end._replace(owner=np.where(end.owner == group, to, end.owner)) for end in self.ends
        ]

    def copy(self) -> Ends:
        """An independent copy; the ends themselves never change."""
        twin = object.__new__(Ends)
        vars(twin).update(vars(self), ends=list(self.ends))
        return twin


class _State:
    """Weights and means of some groups together at one end, with the slots of now."""

    def __init__(self, end: End, groups: Sequence[int], sums: GroupSums) -> None:
        self.number = end.number
        n_rows, n_columns = sums.mean.shape[1], len(sums.at)
        self.weight: FloatArray = np.zeros(n_columns)
        self.mean: FloatArray = np.zeros((n_rows, n_columns))
        self.there: Array = np.ones(n_columns, dtype=bool)
        there, at = _places(sums.layout, end.layout)
        if there is not None:
            self.there = np.zeros(n_columns, dtype=bool)
            self.there[there] = True
        known = [k for k in np.isin(end.owner, groups).nonzero()[0] if end.weight[k].any()]
        self.t = max((float(end.t[k]) for k in known), default=None)
        if self.t is None:
            return
        left = sums.decay ** (self.t - end.t[known])
        weight, mean = end.weight[known] * left[:, None], end.mean[known]
        if len(known) > 1:
            weight, mean, _ = joined(weight, mean, np.zeros_like(mean))
        else:
            weight, mean = weight[0], mean[0]
        if there is None:
            self.weight, self.mean[: len(mean)] = weight, mean
        else:
            self.weight[there], self.mean[: len(mean), there] = weight[at], mean[:, at]

    @classmethod
    def nothing(cls, n_rows: int, n_columns: int) -> _State:
        """That of before the first observation."""
        empty = object.__new__(cls)
        empty.number, empty.t = -1, None
        empty.weight, empty.mean = np.zeros(n_columns), np.zeros((n_rows, n_columns))
        empty.there = np.ones(n_columns, dtype=bool)
        return empty


def _places(now: Layout, then: Layout) -> tuple[list[int] | None, list[int]]:
    """Which columns of a layout another one has, and where; None if they are the same."""
    if now is then or now == then:
        return None, []
    column = {slot: k for k, slot in enumerate(then.slots)}
    places = [(k, column[slot]) for k, slot in enumerate(now.slots) if slot in column]
    return [k for k, _ in places], [place for _, place in places]
