"""The ends of blocks of two segments of a stream together; and as a state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import encode_name, pack_floats, unpack_floats
from ipdp.core.smoothing import pick
from ipdp.core.typing import FloatArray, State
from ipdp.explainers.segments.ends import End, Ends
from ipdp.explainers.segments.sums import joined
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target

if TYPE_CHECKING:
    from ipdp.explainers.segments.groups import Groups

_Part = tuple[float, FloatArray, FloatArray]
"""Time, weights and means of a group."""


_Whose = tuple["Groups", Mapping[int, int]]
"""The groups of a segment, and where their rows are among those of both."""


def joined_ends(both: Groups, of: Sequence[_Whose], rows: Sequence[Sequence[int]]) -> Ends:
    """The ends of an earlier segment, and those of a later one on top of it.

    `rows` says where the rows of both are in those of each segment. Of segments that overlap in
    time there are none: what follows starts anew.
    """
    (earlier, places), (later, later_places) = of
    made = Ends(alpha=both.sums.alpha)
    made.complete = False
    last = earlier.ends.ends[-1].number * earlier.ends.size if earlier.ends.ends else -math.inf
    first = later.sums.t[later.sums.n.any(axis=1)].min(initial=math.inf)
    if later.ends.ends:
        first = min(first, later.ends.ends[0].number * later.ends.size)
    if first < last:
        return made
    of_both = earlier.ends.copy(), later.ends.copy()
    for one, other in (of_both, of_both[::-1]):
        while one.size < other.size:
            one.coarsen()
    made.size, made.complete = of_both[0].size, earlier.ends.complete
    made.until = later.ends.until if later.ends.ends else earlier.ends.until
    ends = [_regrouped(end, both, [(places, end, rows[0])]) for end in of_both[0].ends]
    for end in of_both[1].ends:
        parts = [(places, _final(earlier, end), rows[0]), (later_places, end, rows[1])]
        ends.append(_regrouped(end, both, parts))
    for end in ends:
        made.put(end)
    return made


def _final(part: Groups, like: End) -> End:
    """What the groups of a segment are at last, with the slots of another end."""
    sums, n = part.sums, len(part.labels.rows)
    columns = [sums.columns.get(slot, -1) for slot in like.layout.slots]
    weight, mean = pick(sums.weight[:n], columns, axis=1), pick(sums.mean[:n], columns, axis=2)
    weight *= sums.scale[:n, None]
    return End(like.number, like.layout, np.arange(n), sums.t[:n], weight, mean)


def _regrouped(
    end: End, both: Groups, of: Sequence[tuple[Mapping[int, int], End, Sequence[int]]]
) -> End:
    """An end with the groups and rows of both segments, from what it was in each."""
    parts: dict[int, list[_Part]] = {}
    for places, own, rows in of:
        known = [r if r < own.mean.shape[1] else -1 for r in rows]
        for k, row in enumerate(own.owner.tolist()):
            if own.weight[k].any():
                part = float(own.t[k]), own.weight[k], pick(own.mean[k], known, axis=0)
                parts.setdefault(places[row], []).append(part)
    n, n_rows, n_columns = len(both.labels.rows), both.sums.mean.shape[1], end.layout.n_points
    t, weight = np.zeros(n), np.zeros((n, n_columns))
    mean = np.zeros((n, n_rows, n_columns))
    for row, known_parts in parts.items():
        times, weights, means = map(np.array, zip(*known_parts, strict=True))
        t[row] = times.max()
        aged = weights * (both.sums.decay ** (t[row] - times))[:, None]
        weight[row], mean[row], _ = joined(aged, means, np.zeros_like(means))
    return End(end.number, end.layout, np.arange(n), t, weight, mean)


def saved_ends(ends: Ends) -> State:
    """The ends, JSON-safe."""
    layouts = list(dict.fromkeys(end.layout for end in ends.ends))
    return {
        "size": ends.size,
        "until": None if math.isinf(ends.until) else ends.until,
        "complete": ends.complete,
        "layouts": [
            {
                "effects": list(layout.targets),
                "keys": encode_name(layout.keys),
                "whole": encode_name(layout.whole),
            }
            for layout in layouts
        ],
        "ends": [
            {
                "number": end.number,
                "layout": layouts.index(end.layout),
                "owner": end.owner.tolist(),
                "t": end.t.tolist(),
                "weight": pack_floats(end.weight),
                "mean": pack_floats(end.mean),
            }
            for end in ends.ends
        ],
    }


def restored_ends(
    state: State, targets: Sequence[Target], n_groups: int, *, alpha: float | None
) -> Ends:
    """The ends that gave this state, of so many groups; the targets are those of the explainer."""
    layouts = [Layout.restored(targets, saved) for saved in state["layouts"]]
    schema.check(state, size=schema.power, until=schema.maybe(schema.number), complete=schema.flag)
    ends = Ends(alpha=alpha)
    ends.size, ends.complete = int(state["size"]), bool(state["complete"])
    ends.until = -math.inf if state["until"] is None else state["until"]
    ends.ends = [_restored(saved, layouts[saved["layout"]], n_groups) for saved in state["ends"]]
    _must_be_in_order(ends.ends)
    return ends


def _must_be_in_order(ends: Sequence[End]) -> None:
    """Raise unless the blocks ascend, and the times of each group."""
    if any(one.number >= other.number for one, other in pairwise(ends)):
        raise ValueError("the state is damaged: the numbers of its blocks do not ascend")
    for k in range(max((len(end.t) for end in ends), default=0)):
        known = (end for end in ends if k < len(end.t) and end.weight[k].any())
        schema.must_ascend(float(end.t[k]) for end in known)


def _restored(saved: Any, layout: Layout, n_groups: int) -> End:
    t = schema.array(saved, "t", (None,))
    n, n_points = len(t), layout.n_points
    schema.check(saved, number=schema.count, owner=schema.each(schema.below(n_groups), n))
    weight, mean = unpack_floats(saved["weight"]), unpack_floats(saved["mean"])
    if weight.shape != (n, n_points) or mean.shape[::2] != (n, n_points):
        raise ValueError("the state is damaged: the blocks of its groups do not fit its points")
    schema.must_fit("weight of its blocks", weight, weight.shape, most=schema.LARGEST_WEIGHT)
    schema.must_fit("mean of its blocks", mean, mean.shape, most=schema.LARGEST_MEAN)
    # In earlier versions each belonged to itself.
    owner = np.array(saved.get("owner", range(n)), dtype=np.intp)
    return End(int(saved["number"]), layout, owner, t, weight, mean)
