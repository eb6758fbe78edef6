"""Which grid points are evaluated together, in which columns, and where they are.

Every grid point of every target is a *slot*, known by (number of the target, key of the point). The
slots that are evaluated together stand side by side, as columns.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import Array, FeatureName, FloatArray, State
from ipdp.core.words import shown
from ipdp.explainers.state.targets import MISSING, Target
from ipdp.grid.base import Key
from ipdp.models.base import Probe

Slot = tuple[int, Key]
"""A grid point: number of its target, and its key."""

_CHANCE = schema.Kind("in (0, 1]", lambda v: schema.number.fits(v) and 0 < v <= 1)


@dataclass(frozen=True)
class Layout:
    """The slots that are evaluated together, in the order of their columns.

    For each target that takes part: its number, the keys of its points, for each of its features
    whether they are whole numbers, and the same as the engine is asked; and, where only some were
    asked about, with which probability it was to be one of them.
    """

    targets: tuple[int, ...] = ()
    keys: tuple[tuple[Key, ...], ...] = ()
    whole: tuple[tuple[bool, ...], ...] = ()
    probes: tuple[Probe, ...] = field(default=(), compare=False, repr=False)
    n_points: int = field(default=0, compare=False)
    chances: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        targets: Sequence[Target],
        numbers: Sequence[int],
        keys: Sequence[tuple[Key, ...]],
        whole: Sequence[tuple[bool, ...]],
        before: Layout | None = None,
    ) -> Layout:
        """The layout of some targets, given by their numbers.

        What has not changed since the layout `before` is taken from there.
        """
        starts = [0, *accumulate(map(len, keys))]
        probes = []
        for number, start, k, w in zip(numbers, starts, keys, whole, strict=False):
            times = _times(targets[number])
            known = None if before is None else before._like(number, k)
            if known is None or known.times != times:
                known = _probe(targets[number].names, start, k, w, times)
            elif known.start != start or known.whole != w:
                known = known._replace(start=start, stop=start + len(k), whole=w)
            probes.append(known)
        return cls(tuple(numbers), tuple(keys), tuple(whole), tuple(probes), starts[-1])

    @classmethod
    def restored(cls, targets: Sequence[Target], saved: State) -> Layout:
        """The layout that was saved as a state, or an error."""
        numbers = saved["effects"]
        schema.check(saved, effects=schema.each(schema.below(len(targets))))
        keys, whole = decode_name(saved["keys"]), decode_name(saved["whole"])
        ascend = all(a < b for a, b in pairwise(numbers))
        if not ascend or not len(numbers) == len(keys) == len(whole):
            raise ValueError("the state is damaged: its points are not those of its features")
        for number, own, flags in zip(numbers, keys, whole, strict=True):
            n_axes = len(targets[number].names)
            schema.check({"whole": flags}, whole=schema.each(schema.flag, n_axes))
            if not _are_keys(own, n_axes):
                raise ValueError(f"the state is damaged: {shown(own)} are no points")
        restored = cls.of(targets, numbers, keys, whole)
        chances = saved.get("chances", [])
        schema.check({"chances": chances}, chances=schema.each(_CHANCE))
        if len(chances) not in (0, len(numbers)):
            raise ValueError("the state is damaged: its chances are not those of its features")
        return replace(restored, chances=tuple(map(float, chances)))

    def followed_by(self, later: Layout, targets: Sequence[Target]) -> Layout:
        """The slots of a later segment, and these for targets that the later one has none of."""
        parts = {}
        for layout in (self, later):
            for k, keys, whole in zip(layout.targets, layout.keys, layout.whole, strict=True):
                parts[k] = keys, whole
        numbers = sorted(parts)
        return Layout.of(
            targets, numbers, [parts[k][0] for k in numbers], [parts[k][1] for k in numbers]
        )

    @property
    def state(self) -> State:
        """What `restored` takes, JSON-safe."""
        return {
            "effects": list(self.targets),
            "keys": encode_name(self.keys),
            "whole": encode_name(self.whole),
            **({"chances": list(self.chances)} if self.chances else {}),
        }

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: k for k, number in enumerate(self.targets)}

    def columns_of(self, number: int) -> range:
        """The columns of one target; none if it does not take part."""
        place = self._places.get(number)
        if place is None:
            return range(0)
        return range(self.probes[place].start, self.probes[place].stop)

    def _like(self, number: int, keys: tuple[Key, ...]) -> Probe | None:
        """What the engine is asked of a target, if it has the very same points."""
        place = self._places.get(number)
        return None if place is None or self.keys[place] is not keys else self.probes[place]

    def place_of(self, number: int) -> int | None:
        """Where one target stands among those that take part."""
        return self._places.get(number)

    def probe_of(self, number: int) -> Probe:
        """What the engine is asked of one target."""
        return self.probes[self._places[number]]

    def keys_of(self, number: int) -> tuple[Key, ...]:
        """The keys of one target's points, in the order of its columns."""
        place = self._places.get(number)
        return () if place is None else self.keys[place]

    @property
    def slots(self) -> list[Slot]:
        """All of them, in the order of the columns, as a new list.

        It is not kept: records of the past keep many layouts.
        """
        return [(k, key) for k, keys in zip(self.targets, self.keys, strict=True) for key in keys]


def _are_keys(keys: Any, n_axes: int) -> bool:
    """Whether these can be the keys of a target's points: all of one kind, none twice."""
    if not isinstance(keys, tuple) or not keys or len(set(keys)) != len(keys):
        return False
    if n_axes == 2:
        pairs = all(isinstance(key, tuple) and len(key) == 2 for key in keys)
        return pairs and all(_are_of_a_kind([key[k] for key in keys]) for k in range(2))
    there = keys[:-1] if keys[-1] is MISSING else keys
    return bool(there) and _are_of_a_kind(there)


def _are_of_a_kind(keys: Sequence[Any]) -> bool:
    if isinstance(keys[0], tuple):
        return all(isinstance(k, tuple) and len(k) == 1 and schema.name.fits(k[0]) for k in keys)
    return all(map(schema.value.fits, keys))


def _times(target: Target) -> tuple[Any, ...]:
    times = tuple([grid.time for grid in target.grids])
    return times if any(times) else ()


def _probe(
    names: tuple[FeatureName, ...],
    start: int,
    keys: tuple[Key, ...],
    whole: tuple[bool, ...],
    times: tuple[Any, ...],
) -> Probe:
    missing = keys[-1] is MISSING
    by_axis: list[Any] = [keys] if len(names) == 1 else list(zip(*keys, strict=True))
    categories = tuple(_categories(axis_keys) for axis_keys in by_axis)
    return Probe(names, start, start + len(keys), whole, categories, missing, times)


def _categories(keys: Sequence[Any]) -> Array | None:
    """The categories that the keys stand for; a missing one is None, as in np.empty."""
    if not isinstance(keys[0], tuple):
        return None
    categories = np.empty(len(keys), dtype=object)
    for k, key in enumerate(keys):
        if key is not MISSING:
            categories[k] = key[0]
    return categories


class Positions:
    """Where the slots of a layout are, from one observation to the next.

    Ranges of equidistant numbers, the common case, are divided all at once; `others` are the
    targets whose points are placed in another way.
    """

    def __init__(self, layout: Layout, targets: Sequence[Target], n_axes: int) -> None:
        self.layout = layout
        parts = [
            (targets[number], probe, keys)
            for number, probe, keys in zip(layout.targets, layout.probes, layout.keys, strict=True)
        ]
        spans = [(target.span, probe) for target, probe, _ in parts]
        even = [(span, (probe.start, probe.stop)) for span, probe in spans if span is not None]
        self._even = (
            kernels.current.EvenPoints(*map(list, zip(*even, strict=True))) if even else None
        )
        self.others = [
            _Other(*part) for part, (span, _) in zip(parts, spans, strict=True) if span is None
        ]
        # Those that say themselves when they have moved need not be looked at.
        watches = [(other, other.watch) for other in self.others]
        self._watched = [other for other, watch in watches if watch is not None]
        self._unwatched = [other for other, watch in watches if watch is None]
        self._versions = kernels.current.Versions([w for _, w in watches if w is not None])
        # Pairs share their grids: each is looked at once.
        self._grids = list(
            {id(g): g for other in self._unwatched for g in other.target.grids}.values()
        )
        self._points: list[Array] = []
        self._moved = self.others
        self._latest: FloatArray = np.zeros((n_axes, layout.n_points))

    def is_stale(self) -> bool:
        """Whether a point came or went since the layout was made; plain ranges keep theirs.

        To be asked before `now`, which goes by what was seen here.
        """
        changed = self._versions.changed()
        if not changed and not self._unwatched:
            self._moved = []
            return False
        points = [grid.points for grid in self._grids]
        if self._moved or not _same(points, self._points):
            self._moved = [other for other in self._unwatched if other.moved]
            self._points = points
        if changed:
            self._moved += [other for other in self._watched if other.moved]
        return any(other.stale for other in self._moved)

    def now(self) -> FloatArray:
        """The positions, of shape (n_axes, n_points), 0 for categories; not changed afterwards."""
        even = self._even
        if even is not None and not even.moved():
            even = None
        if even is None and not self._moved:
            return self._latest
        positions = self._latest.copy()
        if even is not None:
            even.write(positions[0])
        for other in self._moved:
            other.fill(positions)
        self._moved = []
        self._latest = positions
        return positions

    def over(
        self,
        own: list[list[Any]],
        asked: list[bool],
        part: tuple[int, int],
        takers: tuple[list[Any], list[Any]],
    ) -> tuple[int, list[FloatArray]]:
        """Where they are for some observations that are asked about, and taken by storages.

        Until a point may have come or gone: the number of the observation after the last, and the
        positions for each.
        """
        positions: list[FloatArray] = []
        first, stop = part
        if self._unwatched:
            stop = first + 1
        versions = kernels.current.Versions(self._versions.watched)
        versions.changed()  # by one of its own, so that `is_stale` will see the change, too
        points = versions, self._even, self.now()
        part = first, stop
        stop = kernels.current.take_in_many(own, asked, part, takers, points, positions)
        if positions:
            self._latest = positions[-1]
        return stop, positions


def _same(points: Sequence[Array], before: Sequence[Array]) -> bool:
    """Whether these are the same arrays."""
    return len(points) == len(before) and all(map(operator.is_, points, before))


class _Other:
    """A target whose points are no even division of a range: they may jump, come and go."""

    def __init__(self, target: Target, probe: Probe, keys: tuple[Key, ...]) -> None:
        self.target = target
        self.probe = probe
        self.keys = keys
        self._axes: list[Array] = []

    @property
    def watch(self) -> Any:
        """What has a version that changes with its points, if there is such a thing."""
        return None if self.target.is_pair else self.target.grids[0].watch

    @property
    def stale(self) -> bool:
        """Whether a point came or went, or whole numbers ceased to be whole."""
        if any(self.probe.whole) and self.target.whole != self.probe.whole:
            return True
        keys = self.target.current_keys()
        return keys is not self.keys and keys != self.keys

    @property
    def moved(self) -> bool:
        """Whether a point has moved since the last time; grids keep the array until one does."""
        return not _same([grid.points for grid in self.target.grids], self._axes)

    def fill(self, positions: FloatArray) -> None:
        """Write down where its points are now."""
        self._axes = [grid.points for grid in self.target.grids]
        self.target.fill(positions, self.probe.start, self.probe.stop)
