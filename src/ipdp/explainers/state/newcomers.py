"""What is shown of a point that was added a moment ago: its neighbours know what came before.

The mean of a new point rests on few observations, and the noise of these is all in it. But its
neighbours were asked about the same observations: the *difference* has little noise, and the
neighbours have seen many more. So a new point is shown as if it had been there before, at its
neighbours' value of that time plus the mean difference since. The neighbours' value is on the line
through the two nearest points where these are near, else that of the nearest. With their weight W_b
and mean M_b when the point was added, their mean C since then, and the point's own W and M,

    shown = (W M + W_b (M_b + M - C)) / (W + W_b)      with W_b decaying as all weights do,

which goes over into the point's own mean. A neighbour that was new itself when the point came is
taken as it is shown: where the range moves fast, all of them are.

Nothing has to be kept up with every observation: C is what is left of the neighbours' means without
their past. A point that comes back has a past of its own, which is taken off M, and counts more
than that of others. When a neighbour leaves, all are taken as they were then; a point that has left
is kept as long as others need it.

A point's own mean, weight and error stay what they are; this is only how it is shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import Array, FloatArray, State
from ipdp.core.words import shown
from ipdp.explainers.state.points import Layout, Slot
from ipdp.explainers.state.targets import MISSING

# A point is new until so much is left of what was before it; then its neighbour is not needed.
_FORGOTTEN = 0.01
# What of the neighbours and of the point itself is remembered: as they were when the point was
# added, and when a neighbour left.
_PARTS = ("first", "second", "own", "first_left", "second_left", "own_left")
_N_PARTS, _N_NOW = 6, 3
# The own past of a point that comes back counts so much more than that of its neighbours.
_OWN = 50.0
# A line through two neighbours is followed so far beyond them, as a share of their distance.
_BEYOND = 2.6

Columns = Callable[[Sequence[Slot | None]], Smoothing]
"""Gives the smoothing of some slots; empty columns for those that are unknown, and for None."""


Means = tuple[FloatArray, FloatArray]
"""Weights, and means, of some columns."""


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
    lost: tuple[str, ...] = ()  # parts that know nothing of earlier segments: given up meanwhile

    def slots(self) -> tuple[Slot, Slot, Slot]:
        """Those whose state is remembered, in the order of the parts."""
        return self.first, self.second, self.own

    def without(self, given_up: Collection[Slot], suffix: str = "") -> Newcomer:
        """The same with the parts that are lost because their slots were given up."""
        names = zip(_PARTS, self.slots(), strict=False)
        lost = [name + suffix for name, slot in names if slot in given_up]
        return self._replace(lost=(*self.lost, *lost)) if lost else self


class Newcomers:
    """The points that were added lately.

    `past` has six columns for each of them, one for each of `_PARTS`.
    """

    def __init__(self, n_rows: int, *, alpha: float | None) -> None:
        self.points: list[Newcomer] = []
        self.past = Smoothing(alpha=alpha, n_rows=n_rows, n_columns=0)
        self._decay = 1.0 if alpha is None else 1.0 - alpha

    def adopt(
        self,
        layouts: tuple[Layout, Layout],
        followed: frozenset[int],
        t: float,
        known: tuple[Sequence[Smoothing], Mapping[Slot | None, int]],
        lost: Collection[Slot],
    ) -> None:
        """Take note of the points that some targets have in a new layout, the second one.

        `known` are smoothings side by side, and where the slots of these targets were in them;
        `lost` are slots that were given up in this segment of the stream.
        """
        points, new = self.points, layouts[1]
        mine = [k for k, p in enumerate(points) if p.own[0] in followed]
        active = {(k, key) for k in followed for key in new.keys_of(k)}
        gone = self._gone(mine, active, t)
        leaving = {
            k
            for k in mine
            if k not in gone and not points[k].alone and not active.issuperset(points[k].slots())
        }
        came = _came(*layouts, followed, t)
        if not (gone or leaving or came):
            return
        self._remember(gone, leaving, came, *known)
        self.points = [
            p._replace(alone=True).without(lost, "_left") if k in leaving else p
            for k, p in enumerate(points)
            if k not in gone
        ] + [p.without(lost) for p in came]

    def _remember(
        self,
        gone: set[int],
        leaving: set[int],
        came: Sequence[Newcomer],
        smoothings: Sequence[Smoothing],
        column: Mapping[Slot | None, int],
    ) -> None:
        """Remember points that come, and those that a neighbour leaves, as all of them are now."""
        at = np.arange(_N_PARTS * len(self.points)).reshape(-1, _N_PARTS)

        def now(point: Newcomer) -> list[int]:
            return [column[slot] + at.size if slot in column else -1 for slot in point.slots()]

        for k in leaving:
            at[k, _N_NOW:] = now(self.points[k])
        stay = np.delete(at, list(gone), axis=0).ravel() if gone else at.ravel()
        if not (leaving or came):
            self.past = self.past.take(stay)
            return
        new = np.array([now(p) + [-1] * _N_NOW for p in came], dtype=at.dtype)
        columns = np.concatenate([stay, new.ravel()])
        self.past = self.past.beside(*smoothings, columns=columns)

    def _gone(self, mine: Sequence[int], active: set[Slot], t: float) -> set[int]:
        """Which points of some targets are not needed any more: for themselves, or by others."""
        points, room = self.points, len(active)
        neighbours = self._neighbours(mine)
        gone: set[int] = set()
        needed: set[int] = set()
        for k in reversed(mine):
            point = points[k]
            own = point.own in active
            if (own or (k in needed and room > 0)) and self._left(point, t) >= _FORGOTTEN:
                room -= not own
                needed.update(neighbours[k])
            else:
                gone.add(k)
        return gone

    def _neighbours(self, numbers: Iterable[int]) -> dict[int, tuple[int, int]]:
        """For points, all of some targets, their two neighbours among those before; or -1."""
        found, latest = {}, dict[Slot, int]()
        for k in numbers:
            point = self.points[k]
            found[k] = latest.get(point.first, -1), latest.get(point.second, -1)
            latest[point.own] = k
        return found

    def _left(self, point: Newcomer, t: float) -> float:
        """How much is left of what was before a point."""
        return float(self._decay ** max(t - point.since, 0.0))

    def shown(self, layout: Layout, smoothing: Smoothing, of: Columns, n_axes: int) -> FloatArray:
        """The means, with those of new points as they are shown."""
        column = {slot: k for k, slot in enumerate(layout.slots)}
        known = [k for k, point in enumerate(self.points) if point.own in column]
        if not known:
            return smoothing.mean
        weight, mean = _now(self.past, smoothing)
        then = {name: (weight[j::_N_PARTS], mean[:, j::_N_PARTS]) for j, name in enumerate(_PARTS)}
        borrowed, start = self._past_of_all(then, self._differences(then, smoothing, of))
        columns = [column[self.points[k].own] for k in known]
        # A point that came twice is shown as it came the last time.
        latest = dict(zip(columns, known, strict=True))
        columns, known = list(latest), list(latest.values())
        own = smoothing.take(columns)
        total = borrowed[known] + own.weight
        share = borrowed[known] / np.where(total > 0, total, 1.0)
        shown = smoothing.mean.copy()
        shown[n_axes:, columns] += (share * (start[:, known] - own.mean))[n_axes:]
        return shown

    def _differences(
        self, then: dict[str, Means], smoothing: Smoothing, of: Columns
    ) -> tuple[Array, FloatArray]:
        """How far each point was from its neighbours since it came; first, whether that is known.

        With neighbours that have left: until then.
        """
        alone = np.array([point.alone for point in self.points])
        weights, means = [], []
        for name in _PARTS[:_N_NOW]:
            latest = _now(of([getattr(p, name) for p in self.points]), smoothing)
            now = _either(alone, then[f"{name}_left"], latest)
            weight, mean = _since(now, then[name])
            weights.append(weight)
            means.append(mean)
        share = np.array([point.share for point in self.points])
        # Written so that the difference of equal means is exactly 0.
        between = means[0] + (1 - share) * (means[1] - means[0])
        return np.min(weights, axis=0) > 0, means[2] - between

    def _past_of_all(
        self, then: dict[str, Means], differences: tuple[Array, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """What each point would have been before it came: a weight, and a mean.

        A neighbour that was itself new at that time is taken as it is shown.
        """
        known, difference = differences
        borrowed, start = np.zeros(len(self.points)), difference.copy()
        for k, neighbours in self._neighbours(range(len(self.points))).items():
            weights, means = [], []
            for name, j in zip(_PARTS, neighbours, strict=False):
                weight, mean = then[name][0][k], then[name][1][:, k]
                if j >= 0 and borrowed[j] > 0:
                    weight = weight + borrowed[j]
                    mean = mean + borrowed[j] / weight * (start[:, j] - mean)
                weights.append(weight)
                means.append(mean)
            share = self.points[k].share
            start[:, k] += means[0] + (1 - share) * (means[1] - means[0])
            if known[k]:
                borrowed[k] = max(min(weights) - _OWN * then["own"][0][k], 0.0)
        return borrowed, start

    # Outputs, copies and segments.

    def with_rows(self, rows: Sequence[int]) -> None:
        """Take other rows: outputs that were not there before."""
        self.past = self.past.take(range(_N_PARTS * len(self.points)), rows=rows)

    def copy(self) -> Newcomers:
        """An independent copy."""
        twin = Newcomers(0, alpha=self.past.alpha)
        twin.points, twin.past = list(self.points), self.past.copy()
        return twin

    def successor(self) -> Newcomers:
        """Those of the segment that follows, which knows nothing of what they were like."""
        later = self.copy()
        later.points = [p._replace(inherited=True, left_before=p.alone) for p in self.points]
        later.past = self.past.take([-1] * _N_PARTS * len(self.points))
        return later

    def merge(self, later: Newcomers, of: Columns, lost: Collection[Slot]) -> Newcomers:
        """Those of a later segment with what this one knows.

        Both have the same rows. `of` gives the slots of this one, `lost` those that it gave up.
        """
        joined = later.copy()
        number = {(point.own, point.since): k for k, point in enumerate(self.points)}
        n = _N_PARTS * len(self.points)
        then = of([slot for p in later.points for slot in p.slots()])
        at, joined.points = [], []
        for k, point in enumerate(later.points):
            ours = number.get((point.own, point.since), -1) if point.inherited else -1
            before = self.points[ours] if ours >= 0 else point._replace(lost=())
            kept = point.lost if ours < 0 else before.lost
            for j, name in enumerate(_PARTS):
                is_left = j >= _N_NOW
                if point.left_before if is_left else point.inherited:
                    at.append(_N_PARTS * ours + j if ours >= 0 else -1)
                elif name in point.lost or (is_left and not point.alone):
                    at.append(-1)
                else:
                    at.append(n + _N_NOW * k + j % _N_NOW)
            own = point._replace(
                inherited=ours >= 0 and before.inherited,
                left_before=ours >= 0 and point.left_before and before.left_before,
                lost=kept,
            )
            if ours < 0:
                own = own.without(lost)
            if point.alone and not point.left_before:
                left = tuple(name for name in point.lost if name.endswith("_left"))
                own = own._replace(lost=tuple(dict.fromkeys((*own.lost, *left))))
                own = own.without(lost, "_left")
            joined.points.append(own)
        joined.past = self.past.beside(then).take(at).merge(later.past)
        return joined

    # State out and in.

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        every = range(_N_PARTS * len(self.points))
        parts = {name: self.past.take(every[j::_N_PARTS]).state for j, name in enumerate(_PARTS)}
        return {"points": encode_name(tuple(map(tuple, self.points))), **parts}

    def restore(self, state: State) -> None:
        """Take what `state` gave."""
        self.points = [_restored(point) for point in decode_name(state["points"])]
        parts = [Smoothing.from_state(state[name]) for name in _PARTS]
        past = parts[0]
        for part in parts[1:]:
            past = past.beside(part)
        by_part = np.arange(past.mean.shape[1]).reshape(_N_PARTS, len(self.points))
        self.past = past.take(by_part.T.ravel())


def _restored(point: Any) -> Newcomer:
    """One that was written as a tuple, or an error."""
    own = Newcomer(*point)
    flags = own.alone, own.inherited, own.left_before
    is_sound = (
        all(isinstance(s, tuple) and len(s) == 2 and schema.count.fits(s[0]) for s in own.slots())
        and schema.number.fits(own.share)
        and schema.number.fits(own.since)
        and all(isinstance(flag, bool) for flag in flags)
        and isinstance(own.lost, tuple)
        and set(own.lost) <= set(_PARTS)
    )
    if not is_sound:
        raise ValueError(f"the state is damaged: {shown(point)} is no point that came later")
    return own


def _came(old: Layout, new: Layout, followed: frozenset[int], t: float) -> list[Newcomer]:
    """The slots that are new in a layout, each with the nearest of those that were there."""
    found: list[Newcomer] = []
    for number, keys in zip(new.targets, new.keys, strict=True):
        before = old.keys_of(number)
        if number not in followed or keys == before or _are_categories(keys):
            continue
        had = set(before)
        there = [key for key in keys if key in had and key is not MISSING]
        for key in keys if there else ():
            if key not in had and key is not MISSING:
                first, second, share = _nearest(key, there)
                found.append(Newcomer((number, key), (number, first), (number, second), share, t))
    return found


def _now(part: Smoothing, smoothing: Smoothing) -> Means:
    """Weights at the time of another smoothing, and means."""
    nothing = Smoothing(alpha=part.alpha, n_rows=len(part.mean), n_columns=0)
    nothing.t = smoothing.t
    later = part.beside(nothing)
    return later.weight, later.mean


def _either(first: Array, one: Means, other: Means) -> Means:
    return np.where(first, one[0], other[0]), np.where(first, one[1], other[1])


def _since(now: Means, then: Means) -> Means:
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
    if not isinstance(key, tuple):  # numbers, which ascend: there are two at most on each side
        at = bisect_left(there, key)
        there = there[max(at - 2, 0) : at + 2]
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
