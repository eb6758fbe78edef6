"""Which bin of each feature an observation is in, and what the model is asked about it.

Between two neighbouring points of a grid is a *bin*. The local effect of a feature at an
observation is how the output differs between both ends of its bin, with the other features left as
they are. A category is at a point itself: there are two local effects, from the category before it
and to the one after it. A pair of features has a bin for each of both: its effect is by how much
the effect of one changes along the other.

Every bin of every target is a slot of `Means`, known by its two ends. Where there are categories,
each of them has one more, (category,), whose effect is 0: it counts the observations.

How many effects an observation has is always the same; those that it does not have, because a value
is missing, beyond the edges, or at the end of an order, have no slot.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target
from ipdp.grid.base import Key
from ipdp.models.base import Probe

# So many probes for different categories are remembered.
_REMEMBERED = 256
# Instead of the slot of an effect that an observation does not have.
NONE = -1

Located = tuple[tuple[Any, ...], tuple[int, ...], int]
"""Where a value is on an axis: where the model is asked, the bins between, the place to count."""


class NumberAxis:
    """The bins of a number, between ascending edges."""

    n_asked = 2

    def __init__(self, edges: Sequence[float], whole: bool) -> None:
        self.edges = [float(edge) for edge in edges]
        self.whole = whole
        self.named = False
        self.steps: list[Key] = list(pairwise(self.edges))
        self.masses: list[Key] = self.steps
        self._places = [(ends, (k,), k) for k, ends in enumerate(pairwise(self.edges))]
        self.nowhere: Located = (tuple(self.edges[:2]), (NONE,), NONE)

    def locate(self, value: Any) -> Located:
        """Where a value is; nowhere if it is missing, or beyond the edges."""
        edges = self.edges
        if value is None or not edges[0] <= value <= edges[-1]:
            return self.nowhere
        return self._places[(bisect_left(edges, value) or 1) - 1]


class CategoryAxis:
    """The steps between neighbouring categories."""

    n_asked = 3

    def __init__(self, categories: Sequence[Any]) -> None:
        self.categories = list(categories)
        kinds = {type(category) for category in categories}
        # Numbers are asked about by their positions, so that the probes stay the same.
        self.whole = kinds == {int} and all(abs(c) < 2**53 for c in categories)
        self.named = not self.whole and kinds != {float}
        self.steps: list[Key] = list(pairwise(self.categories))
        self.masses: list[Key] = [(category,) for category in categories]
        last = len(self.categories) - 1
        self._places: dict[Any, Located] = {
            category: (
                tuple(self.categories[j] for j in (max(k - 1, 0), k, min(k + 1, last))),
                (k - 1 if k > 0 else NONE, k if k < last else NONE),
                k,
            )
            for k, category in enumerate(self.categories)
        }
        self.nowhere: Located = (tuple(self.categories[:1] * 3), (NONE, NONE), NONE)

    def locate(self, value: Any) -> Located:
        """Where a category is; nowhere if it is missing, or has no point."""
        return self._places.get(value, self.nowhere)


Axis = NumberAxis | CategoryAxis


class Question(NamedTuple):
    """What the model is asked about one observation."""

    bins: Bins
    probes: tuple[Probe, ...]
    positions: FloatArray  # (n_axes, n_points)
    slots: list[int]  # of each effect, -1 for none
    widths: list[float]  # of the bins whose effects are gradients


class TargetBins:
    """The bins of one target, and the first of its slots and of the points where it is asked."""

    def __init__(self, number: int, target: Target, axes: Sequence[Axis]) -> None:
        self.number = number
        self.target = target
        self.axes = tuple(axes)
        self.n_asked = int(np.prod([axis.n_asked for axis in axes]))
        steps, masses = ([getattr(axis, name) for axis in axes] for name in ("steps", "masses"))
        self.keys: tuple[Key, ...] = tuple(steps[0]) if len(axes) == 1 else tuple(product(*steps))
        self.n_steps, self.n_masses = len(steps[-1]), len(masses[-1])
        self.first_mass = len(self.keys)
        self.counts = any(axis.n_asked == 3 for axis in axes)
        if self.counts:
            self.keys += tuple(masses[0]) if len(axes) == 1 else tuple(product(*masses))
        self.start = 0
        self.first = 0


class Bins:
    """The bins of all targets, for grids as they are; where each observation asks the model.

    Parameters
    ----------
    targets
        Those that are followed; `ready` are the numbers of those whose grids have points.
    places
        For each feature its place in the list of values.
    axes
        The axes by feature.
    by_gradient
        Whether effects of single numbers are gradients times the widths of their bins.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        ready: Sequence[int],
        places: dict[Any, int],
        axes: dict[Any, Axis],
        *,
        by_gradient: bool,
    ) -> None:
        made = [TargetBins(k, targets[k], [axes[n] for n in targets[k].names]) for k in ready]
        self.parts = [part for part in made if part.keys]
        self.layout = Layout.of(
            targets,
            [part.number for part in self.parts],
            [part.keys for part in self.parts],
            [tuple(axis.whole for axis in part.axes) for part in self.parts],
        )
        for part, probe in zip(self.parts, self.layout.probes, strict=True):
            part.start = probe.start
        numbers = [p for p in self.parts if len(p.axes) == 1 and p.axes[0].n_asked == 2]
        # In the order of the effects: of numbers, of categories, of pairs, then what is counted.
        self._numbers = [(places[p.target.names[0]], p.axes[0].locate, p.start) for p in numbers]
        self._categories = [p for p in self.parts if len(p.axes) == 1 and p.axes[0].n_asked == 3]
        self._pairs = [p for p in self.parts if len(p.axes) == 2]
        self._places = places
        self.slopes = tuple(p.target.names[0] for p in numbers) if by_gradient else ()
        self._asked = ([] if by_gradient else numbers) + self._categories + self._pairs
        self.n_points = 0
        for part in self._asked:
            part.first = self.n_points
            self.n_points += part.n_asked
        self._rises = _rises([part for part in self._asked if len(part.axes) == 1])
        self._corners = _corners(self._pairs)
        self._has_others = bool(self._categories or self._pairs)
        self._n_axes = 2 if self._pairs else 1
        self._probes: dict[Any, tuple[Probe, ...]] = {}

    def question(self, values: Sequence[Any]) -> Question | None:
        """What to ask about an observation with these values; None if it is in no bin."""
        row: list[Any] = []
        slots: list[int] = []
        for place, locate, start in self._numbers:
            asked, (step,), _ = locate(values[place])
            row += asked
            slots.append(start + step if step >= 0 else NONE)
        widths: list[float] = []
        if self.slopes:
            widths = [high - low for low, high in zip(row[::2], row[1::2], strict=True)]
            row = []
        names: list[Any] = []
        second: list[Any] = []
        if self._has_others:
            second = [0.0] * len(row)
            self._locate_others(values, row, second, names, slots)
        if slots.count(NONE) == len(slots):
            return None
        positions = np.array([row, second] if self._n_axes == 2 else [row], dtype=float)
        return Question(self, self._probes_for(tuple(names)), positions, slots, widths)

    def _locate_others(
        self,
        values: Sequence[Any],
        row: list[Any],
        second: list[Any],
        names: list[Any],
        slots: list[int],
    ) -> None:
        """The same for categories and pairs, and for what is counted."""
        counted: list[int] = []
        for part in self._categories:
            asked, steps, mass = part.axes[0].locate(values[self._places[part.target.names[0]]])
            _put(part.axes[0], asked, row, names)
            second += [0.0] * part.n_asked
            slots += [part.start + step if step >= 0 else NONE for step in steps]
            counted.append(part.start + part.first_mass + mass if mass >= 0 else NONE)
        for part in self._pairs:
            one, two = (
                axis.locate(values[self._places[name]])
                for axis, name in zip(part.axes, part.target.names, strict=True)
            )
            _put(part.axes[0], tuple(v for v in one[0] for _ in two[0]), row, names)
            _put(part.axes[1], two[0] * len(one[0]), second, names)
            slots += [
                part.start + a * part.n_steps + b if a >= 0 and b >= 0 else NONE
                for a in one[1]
                for b in two[1]
            ]
            if part.counts:
                at = one[2] * part.n_masses + two[2] if one[2] >= 0 and two[2] >= 0 else NONE
                counted.append(part.start + part.first_mass + at if at >= 0 else NONE)
        slots += counted

    def effects(
        self, values: FloatArray, slopes: FloatArray | None, widths: list[float]
    ) -> FloatArray:
        """The local effects, of shape (n_outputs, n_effects); those that only count are left out.

        `values` are the answers, of shape (n_outputs, n_points), `slopes` the gradients, of shape
        (n_outputs, n_features).
        """
        found: FloatArray = values.take(self._rises[1], axis=1) - values.take(
            self._rises[0], axis=1
        )
        if slopes is not None:
            found = np.concatenate([slopes * np.array(widths), found], axis=1)
        if self._pairs:
            high, first, second, low = (values.take(at, axis=1) for at in self._corners)
            found = np.concatenate([found, high - first - second + low], axis=1)
        return found

    def _probes_for(self, names: tuple[Any, ...]) -> tuple[Probe, ...]:
        """The probes, where these are the names of categories; the same object for the same."""
        probes = self._probes.get(names)
        if probes is None:
            if len(self._probes) >= _REMEMBERED:
                self._probes.clear()
            left = list(names)
            probes = self._probes[names] = tuple(_probe(part, left) for part in self._asked)
        return probes


def _put(axis: Axis, values: tuple[Any, ...], row: list[Any], names: list[Any]) -> None:
    """Put the places where the model is asked into the row; categories are called by name."""
    if axis.named:
        names.append(values)
        row += [0.0] * len(values)
    else:
        row += values


def _probe(part: TargetBins, names: list[Any]) -> Probe:
    categories: list[Array | None] = []
    for axis in part.axes:
        column = None
        if axis.named:
            column = np.empty(part.n_asked, dtype=object)
            column[:] = names.pop(0)
        categories.append(column)
    whole = tuple(axis.whole for axis in part.axes)
    stop = part.first + part.n_asked
    return Probe(part.target.names, part.first, stop, whole, tuple(categories))


def _rises(parts: Sequence[TargetBins]) -> Array:
    """The answers before and after each step of single features, of shape (2, n_effects)."""
    steps = [
        (part.first + k, part.first + k + 1) for part in parts for k in range(part.n_asked - 1)
    ]
    return np.ascontiguousarray(np.array(steps, dtype=int).reshape(-1, 2).T)


def _corners(parts: Sequence[TargetBins]) -> Array:
    """The answers at the corners of cells, of shape (4, n_effects).

    Both features high, the first one, the second one, none.
    """
    found = []
    for part in parts:
        n, m = (axis.n_asked for axis in part.axes)
        for i, j in product(range(n - 1), range(m - 1)):
            places = ((i + 1, j + 1), (i + 1, j), (i, j + 1), (i, j))
            found.append([part.first + a * m + b for a, b in places])
    return np.array(found, dtype=int).reshape(-1, 4).T
