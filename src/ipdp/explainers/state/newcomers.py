"""What is shown of a point that was added a moment ago: its neighbours know what came before.

The mean of a new point rests on few observations, and the noise of these is all in it. But its
neighbours were asked about the same observations: the *difference* has little noise, and the
neighbours have seen many more. So a new point is shown as if it had been there before, at its
neighbours' value of that time plus the mean difference since. The neighbours' value is on the line
through the two nearest points where these are near, else that of the nearest. With their weight W_b
and mean M_b when the point was added, their mean C since then, and the point's own W and M,

    shown = (W M + W_b (M_b + M - C)) / (W + W_b)      with W_b decaying as all weights do,

which goes over into the point's own mean. Nothing has to be kept up with every observation: C is
what is left of the neighbours' means without their past. A point that comes back has a past of its
own, which is taken off M, and counts more than that of others. When a neighbour leaves, all are
taken as they were then.

A point's own mean, weight and error stay what they are; this is only how it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import FloatArray, State
from ipdp.explainers.state.points import Layout, Slot
from ipdp.explainers.state.targets import MISSING

# A point is new until so much is left of what was before it; then its neighbour is not needed.
_FORGOTTEN = 0.01
# With less than this left it can be the neighbour of others.
_SETTLED = 0.5
# What of the neighbours and of the point itself is remembered: as they were when the point was
# added, and when a neighbour left.
_PARTS = ("first", "second", "own", "first_left", "second_left", "own_left")
# The own past of a point that comes back counts so much more than that of its neighbours.
_OWN = 50.0
# A line through two neighbours is followed so far beyond them, as a share of their distance.
_BEYOND = 2.6

Columns = Callable[[Sequence[Slot]], Smoothing]
"""Gives the smoothing of some slots; empty columns for those that are unknown."""


class Newcomer(NamedTuple):
    """A point that was added, next to one or two others."""

    own: Slot
    first: Slot
    second: Slot
    share: float  # of the first neighbour in the neighbours' value; the rest is the second one's
    since: float  # when it was added
    alone: bool = False  # whether a neighbour has left
    inherited: bool = False  # whether it was added in an earlier segment of the stream
    left_before: bool = False  # whether the neighbour left in an earlier segment


class Newcomers:
    """The points that were added lately."""

    def __init__(self, n_rows: int, *, alpha: float | None) -> None:
        self.points: list[Newcomer] = []
        empty = Smoothing(alpha=alpha, n_rows=n_rows, n_columns=0)
        self.parts = {name: empty.copy() for name in _PARTS}
        self._decay = 1.0 if alpha is None else 1.0 - alpha

    def adopt(
        self, old: Layout, new: Layout, followed: frozenset[int], t: float, of: Columns
    ) -> None:
        """Take note of the points of a new layout; `of` gives the slots' state of before."""
        active = set(new.slots)
        stays = [
            k
            for k, point in enumerate(self.points)
            if point.own in active and self._left(point, t) >= _FORGOTTEN
        ]
        self._keep(stays)
        leaving = [
            k
            for k, p in enumerate(self.points)
            if not p.alone and not {p.first, p.second} <= active
        ]
        if leaving:
            self._see_off(leaving, of)
        came = self._came(old, new, followed, t)
        if came:
            self._add(came, of)

    def _left(self, point: Newcomer, t: float) -> float:
        """How much is left of what was before a point."""
        return float(self._decay ** max(t - point.since, 0.0))

    def _keep(self, numbers: Sequence[int]) -> None:
        if len(numbers) < len(self.points):
            self.points = [self.points[k] for k in numbers]
            self.parts = {name: part.take(numbers) for name, part in self.parts.items()}

    def _see_off(self, leaving: Sequence[int], of: Columns) -> None:
        """Remember the points, and their neighbours, as they are while these leave."""
        gone, n = set(leaving), len(self.points)
        at = [n + k if k in gone else k for k in range(n)]
        for name in _PARTS[:3]:
            both = self.parts[f"{name}_left"].beside(of([getattr(p, name) for p in self.points]))
            self.parts[f"{name}_left"] = both.take(at)
        self.points = [
            p._replace(alone=True) if k in gone else p for k, p in enumerate(self.points)
        ]

    def _add(self, came: list[Newcomer], of: Columns) -> None:
        now = {name: of([getattr(point, name) for point in came]) for name in _PARTS[:3]}
        nothing = now["own"].take([-1] * len(came))
        self.parts = {
            name: part.beside(now.get(name, nothing)) for name, part in self.parts.items()
        }
        self.points = self.points + came

    def _came(self, old: Layout, new: Layout, followed: frozenset[int], t: float) -> list[Newcomer]:
        """The slots that are new in a layout, each with the nearest of those that were there."""
        young = {p.own for p in self.points if self._left(p, t) >= _SETTLED}
        found: list[Newcomer] = []
        for number, keys in zip(new.targets, new.keys, strict=True):
            before = old.keys_of(number)
            if number not in followed or keys == before or _are_categories(keys):
                continue
            had = set(before)
            there = [key for key in keys if key in had and key is not MISSING]
            there = [key for key in there if (number, key) not in young] or there
            for key in keys if there else ():
                if key not in had and key is not MISSING:
                    first, second, share = _nearest(key, there)
                    found.append(
                        Newcomer((number, key), (number, first), (number, second), share, t)
                    )
        return found

    def shown(self, layout: Layout, smoothing: Smoothing, of: Columns, n_axes: int) -> FloatArray:
        """The means, with those of new points as they are shown."""
        column = {slot: k for k, slot in enumerate(layout.slots)} if self.points else {}
        known = [k for k, point in enumerate(self.points) if point.own in column]
        if not known:
            return smoothing.mean
        points = [self.points[k] for k in known]
        alone = np.array([point.alone for point in points])
        part = {name: _now(p.take(known), smoothing) for name, p in self.parts.items()}
        columns = [column[point.own] for point in points]
        own = smoothing.take(columns)
        since = {}
        for name in _PARTS[:3]:
            latest = of([getattr(p, name) for p in points]) if name != "own" else own
            now = _either(alone, part[f"{name}_left"], _now(latest, smoothing))
            since[name] = _since(now, part[name])
        first = np.array([point.share for point in points])
        before, since_then = (
            first * by["first"][1] + (1 - first) * by["second"][1] for by in (part, since)
        )
        past = np.minimum(part["first"][0], part["second"][0]) - _OWN * part["own"][0]
        is_known = np.min([since[name][0] for name in _PARTS[:3]], axis=0) > 0
        borrowed = np.where(is_known, np.maximum(past, 0.0), 0.0)
        before = before + since["own"][1] - since_then
        total = borrowed + own.weight
        share = borrowed / np.where(total > 0, total, 1.0)
        mean = smoothing.mean.copy()
        mean[n_axes:, columns] += (share * (before - own.mean))[n_axes:]
        return mean

    # Outputs, copies and segments.

    def with_rows(self, rows: Sequence[int]) -> None:
        """Take other rows: outputs that were not there before."""
        every = range(len(self.points))
        self.parts = {name: part.take(every, rows=rows) for name, part in self.parts.items()}

    def copy(self) -> Newcomers:
        """An independent copy."""
        twin = Newcomers(0, alpha=self.parts["own"].alpha)
        twin.points = list(self.points)
        twin.parts = {name: part.copy() for name, part in self.parts.items()}
        return twin

    def successor(self) -> Newcomers:
        """Those of the segment that follows, which knows nothing of what they were like."""
        later = self.copy()
        later.points = [p._replace(inherited=True, left_before=p.alone) for p in self.points]
        nothing = [-1] * len(self.points)
        later.parts = {name: part.take(nothing) for name, part in self.parts.items()}
        return later

    def merge(self, later: Newcomers, of: Columns) -> Newcomers:
        """Those of a later segment with what this one knows; `of` gives its slots.

        Both have the same rows.
        """
        joined = later.copy()
        number = {point.own: k for k, point in enumerate(self.points)}
        for name in _PARTS:
            slots = [getattr(p, name.removesuffix("_left")) for p in later.points]
            both = self.parts[name].beside(of(slots))
            at = []
            for k, point in enumerate(later.points):
                ours = number.get(point.own, -1) if point.inherited else -1
                known_then = point.left_before if name.endswith("left") else point.inherited
                needed = point.alone or not name.endswith("left")
                at.append(ours if known_then else len(self.points) + k if needed else -1)
            joined.parts[name] = both.take(at).merge(later.parts[name])
        joined.points = [
            p._replace(
                inherited=p.inherited and self.points[number[p.own]].inherited,
                left_before=p.left_before and self.points[number[p.own]].left_before,
            )
            if p.own in number
            else p._replace(inherited=False, left_before=False)
            for p in later.points
        ]
        return joined

    # State out and in.

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        parts: State = {name: part.state for name, part in self.parts.items()}
        return {"points": encode_name(tuple(map(tuple, self.points))), **parts}

    def restore(self, state: State) -> None:
        """Take what `state` gave."""
        self.points = [Newcomer(*point) for point in decode_name(state["points"])]
        self.parts = {name: Smoothing.from_state(state[name]) for name in _PARTS}


def _now(part: Smoothing, smoothing: Smoothing) -> tuple[FloatArray, FloatArray]:
    """Weights at the time of another smoothing, and means."""
    nothing = Smoothing(alpha=part.alpha, n_rows=len(part.mean), n_columns=0)
    nothing.t = smoothing.t
    later = part.beside(nothing)
    return later.weight, later.mean


def _either(
    first: Any, one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    return np.where(first, one[0], other[0]), np.where(first, one[1], other[1])


def _since(
    now: tuple[FloatArray, FloatArray], then: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Weight and mean of what came after a time, from those of now and of then."""
    weight = now[0] - then[0]
    weight = np.where(weight > 1e-9 * now[0], weight, 0.0)
    share = then[0] / np.where(weight > 0, weight, 1.0)
    return weight, now[1] + share * (now[1] - then[1])


def _are_categories(keys: Sequence[Any]) -> bool:
    """Whether keys are those of categories, which have no neighbours; not those of a pair."""
    return isinstance(keys[0], tuple) and len(keys[0]) == 1


def _nearest(key: Any, there: Sequence[Any]) -> tuple[Any, Any, float]:
    """The two keys nearest to one, and the share of the first on the line through both."""
    near = sorted(there, key=lambda other: _distance(key, other))[:2]
    first, second = near[0], near[-1]
    if first == second or isinstance(key, tuple):
        return first, first, 1.0
    share = (key - second) / (first - second)
    return (
        (first, second, share)
        if abs(key - first) <= _BEYOND * abs(first - second)
        else (first, first, 1.0)
    )


def _distance(one: Any, other: Any) -> float:
    """How far two keys of a target are from each other; categories are all alike."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) == 2:
        return sum(_distance(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, tuple) or isinstance(other, tuple) or one is None or other is None:
        return 0.0 if one == other else 1.0
    return abs(float(one) - float(other))
