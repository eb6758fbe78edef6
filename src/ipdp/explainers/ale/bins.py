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

from ipdp.core import kernels
from ipdp.core.typing import Array, FloatArray, Observation
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.targets import Target
from ipdp.grid.base import Key
from ipdp.models.base import Engine, Outputs, Probe

# So many probes for different categories are remembered.
_REMEMBERED = 256
# Instead of the slot of an effect that an observation does not have.
NONE = -1
# Of bins without gradients.
NO_WIDTHS: FloatArray = np.zeros(0)

Located = tuple[tuple[Any, ...], tuple[int, ...], int]
"""Where a value is on an axis: where the model is asked, the bins between, the place to count."""


class NumberAxis:
    """The bins of a number, between ascending edges."""

    n_asked = 2

    def __init__(self, edges: Sequence[float], whole: bool) -> None:
        self.points = [float(edge) for edge in edges]
        self.whole = whole
        self.named = False
        self.steps: list[Key] = list(pairwise(self.points))
        self.masses: list[Key] = self.steps

    def locate(self, value: Any) -> Located:
        """Where a value is; nowhere if it is missing, or beyond the edges."""
        edges = self.points
        if value is None or not edges[0] <= value <= edges[-1]:
            return tuple(edges[:2]), (NONE,), NONE
        k = (bisect_left(edges, value) or 1) - 1
        return (edges[k], edges[k + 1]), (k,), k


class CategoryAxis:
    """The steps between neighbouring categories."""

    n_asked = 3

    def __init__(self, categories: Sequence[Any]) -> None:
        self.points = list(categories)
        kinds = {type(category) for category in categories}
        # Numbers are asked about by their positions, so that the probes stay the same.
        self.whole = kinds == {int} and all(abs(c) < 2**53 for c in categories)
        self.named = not self.whole and kinds != {float}
        self.steps: list[Key] = list(pairwise(self.points))
        self.masses: list[Key] = [(category,) for category in categories]
        self._places = {category: k for k, category in enumerate(self.points)}

    def locate(self, value: Any) -> Located:
        """Where a category is; nowhere if it is missing, or has no point."""
        k, points, last = self._places.get(value, NONE), self.points, len(self.points) - 1
        if k == NONE:
            return tuple(points[:1] * 3), (NONE, NONE), NONE
        asked = points[max(k - 1, 0)], points[k], points[min(k + 1, last)]
        return asked, (k - 1, k if k < last else NONE), k


Axis = NumberAxis | CategoryAxis


class Question(NamedTuple):
    """What the model is asked about one observation."""

    bins: Bins
    probes: tuple[Probe, ...]
    positions: FloatArray  # (n_axes, n_points)
    slots: Array  # of each effect, -1 for none
    widths: FloatArray  # of the bins whose effects are gradients


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

    def numbers(self, places: Sequence[Sequence[int]], n_last: int) -> list[int]:
        """The slots of all combinations of places on its axes, -1 for none."""
        found = []
        for at in product(*places):
            number = at[0] if len(at) == 1 else at[0] * n_last + at[1]
            found.append(self.start + number if min(at) >= 0 else NONE)
        return found


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
        # In the order of the effects: of numbers, of categories, of pairs, then what is counted.
        numbers: list[TargetBins] = []
        named: list[TargetBins] = []
        plain: list[TargetBins] = []
        for part in self.parts:
            if len(part.axes) == 1:
                of_numbers = numbers if part.axes[0].n_asked == 2 else plain
                (named if part.axes[0].named else of_numbers).append(part)
        self._pairs = [part for part in self.parts if len(part.axes) == 2]
        self._named = named
        self._others = [*named, *self._pairs]
        self._places = places
        self.slopes = tuple(p.target.names[0] for p in numbers) if by_gradient else ()
        self._asked = ([] if by_gradient else numbers) + plain + self._others
        self.n_points = 0
        for part in self._asked:
            part.first = self.n_points
            self.n_points += part.n_asked
        single = [part for part in self._asked if len(part.axes) == 1]
        self._rises = _rises(single)
        self._corners = _corners(self._pairs)
        self._n_slopes = len(self.slopes)
        self._n_effects = self._n_slopes + self._rises.shape[1] + self._corners.shape[1]
        self._n_located = len(numbers) + 2 * len(plain), self._n_effects + len(plain)
        self._locator = self._new_locator(numbers, plain)
        self._probes: dict[Any, tuple[Probe, ...]] = {}

    def _new_locator(self, numbers: list[TargetBins], plain: list[TargetBins]) -> Any:
        """What finds the bins of all numbers, and of categories that are numbers, at once."""
        n_counts = sum(part.counts for part in self.parts)
        return kernels.current.Locator(
            [(self._place(p), p.axes[0].points, p.start) for p in numbers],
            [(self._place(p), p.axes[0].points, p.start, p.start + p.first_mass) for p in plain],
            (2 if self._pairs else 1, self.n_points + 2 * self._n_slopes),
            self._n_effects,
            self._n_effects + n_counts,
        )

    def _place(self, part: TargetBins, axis: int = 0) -> int:
        """Where the value of a feature stands."""
        return self._places[part.target.names[axis]]

    def question(self, values: list[Any]) -> Question | None:
        """What to ask about an observation with these values; None if it is in no bin."""
        positions, slots, is_somewhere = self._locator.locate(values)
        widths = NO_WIDTHS
        if self.slopes:
            ends = positions[0, : 2 * self._n_slopes]
            widths, positions = ends[1::2] - ends[::2], positions[:, 2 * self._n_slopes :]
        names: tuple[Any, ...] = ()
        if self._others:
            names = self._locate_others(values, positions, slots)
            is_somewhere = slots.max() >= 0
        if not is_somewhere:
            return None
        return Question(self, self._probes_for(names), positions, slots, widths)

    def _locate_others(
        self, values: Sequence[Any], positions: FloatArray, slots: Array
    ) -> tuple[Any, ...]:
        """The same for other categories and pairs; the names of those that are asked about."""
        names: list[Any] = []
        effect, count = self._n_located
        for part in self._others:
            located = [
                axis.locate(values[self._place(part, k)]) for k, axis in enumerate(part.axes)
            ]
            own = slice(part.first, part.first + part.n_asked)
            asked = zip(*product(*[asked for asked, _, _ in located]), strict=True)
            for k, (axis, points) in enumerate(zip(part.axes, asked, strict=True)):
                if axis.named:
                    names.append(points)
                else:
                    positions[k, own] = points
            steps = part.numbers([steps for _, steps, _ in located], part.n_steps)
            slots[effect : effect + len(steps)] = steps
            effect += len(steps)
            if part.counts:
                (mass,) = part.numbers([(mass,) for _, _, mass in located], part.n_masses)
                slots[count] = mass + part.first_mass if mass >= 0 else NONE
                count += 1
        return tuple(names)

    def effects(
        self, values: FloatArray, slopes: FloatArray | None, widths: FloatArray
    ) -> FloatArray:
        """The local effects, (n, n_outputs, n_effects); those that only count are left out.

        `values` are the answers on n observations, of shape (n, n_outputs, n_points), `slopes` the
        gradients, (n, n_outputs, n_features), `widths` those of the bins, (n, n_features).
        """
        low, high = self._rises
        found: FloatArray = values.take(high, axis=2) - values.take(low, axis=2)
        if slopes is not None:
            found = np.concatenate([slopes * widths[:, None], found], axis=2)
        if self._pairs:
            high, first, second, low = (values.take(at, axis=2) for at in self._corners)
            found = np.concatenate([found, high - first - second + low], axis=2)
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


def asked_about(
    engine: Engine,
    rows: Sequence[Observation],
    questions: Sequence[Question],
    *,
    is_checked: bool = True,
) -> tuple[Outputs, FloatArray | None]:
    """The answers to questions with the same probes, and the gradients where they are asked for."""
    first = questions[0]
    slopes = None
    answer: Outputs | None = None
    if first.bins.slopes:
        answer, slopes = engine.gradients(rows, first.bins.slopes)
    if first.probes:
        ask = engine.ice if is_checked else engine.ice_again
        one = len(questions) == 1
        positions = first.positions[None] if one else np.array([q.positions for q in questions])
        answer = ask(rows, first.probes, positions)
    assert answer is not None
    return answer, slopes
