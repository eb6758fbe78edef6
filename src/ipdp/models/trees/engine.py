"""The engine of river's trees: one walk where it can, plain calls where it cannot."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ipdp.core.typing import FloatArray, Label, Labels, Observation, State
from ipdp.models.base import Outputs, Probe, agree, agree_at, aligned, warn_of_slow_path
from ipdp.models.per_row import RowEngine
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answering, Walk
from ipdp.models.trees.classification import ClassifierWalk, MondrianWalk
from ipdp.models.trees.points import Columns, Points
from ipdp.models.trees.regression import RegressorWalk


def walk_of(model: Any, method: str) -> Walk | None:
    """The walk of a model's trees; None if it is not a model of trees that is known."""
    for kind in (ClassifierWalk, MondrianWalk, RegressorWalk):
        if kind.method == method and kind.serves(model):
            return kind(model)
    return None


class Checker:
    """Decides which answers are compared with plain calls.

    The `first` so many observations are compared in full, or at `most` points where there are
    more. Of the others one random point is compared, so that no observation takes much longer than
    another: each `ensemble_every`-th time with the whole model, else with one of its trees, which
    is cheaper by as many as there are. A model without members is left alone in between.
    """

    def __init__(
        self, *, first: int = 20, most: int = 1_000, ensemble_every: int = 4, seed: int = 0
    ) -> None:
        self.first = first
        self.most = most
        self.ensemble_every = ensemble_every
        self.seed = seed
        self._seen = 0
        self._random = random.Random(seed)

    def wants_all(self) -> bool:
        """Whether the next observation is to be compared in full."""
        self._seen += 1
        return self._seen <= self.first

    def wants_ensemble(self) -> bool:
        """Whether one point of this observation is to be compared with the whole ensemble."""
        return self._seen % self.ensemble_every == 0

    def some_of(self, numbers: Sequence[int]) -> list[int]:
        """As many random ones as may be compared."""
        return self._random.sample(numbers, min(self.most, len(numbers)))

    def one_of(self, numbers: Sequence[int]) -> int:
        """A random one."""
        return numbers[int(self._random.random() * len(numbers))]

    @property
    def state(self) -> State:
        """JSON-safe; a checker that is given it decides the same from there on."""
        version, internal, gauss = self._random.getstate()
        return {"seen": self._seen, "random": [version, list(internal), gauss]}

    @state.setter
    def state(self, state: State) -> None:
        version, internal, gauss = state["random"]
        self._random.setstate((version, tuple(internal), gauss))
        self._seen = int(state["seen"])


class TreeEngine(RowEngine):
    """A tree, or an ensemble of trees, of river.

    The points of all features share most of their way down a tree, so one walk serves them all. The
    answers are compared with plain calls: all of them for the first observations, and of the others
    one point of one tree, or of a single tree one point of each fourth observation. After a
    difference, or an error, there are only plain calls.
    """

    given_up: ClassVar[str] = "the walk of the trees"

    def __init__(
        self,
        call: Callable[[dict[Any, Any]], Any],
        *,
        model: Any,
        description: str,
        walk: Answering,
    ) -> None:
        super().__init__(call, model=model, description=description, leave_out=True)
        self.walk = walk
        self.checker = Checker()
        self.fault: str | None = None
        self._columns = Columns(())
        self._is_again = False

    @property
    def description(self) -> str:
        if self.fault is not None:
            return f"{super().description} ({self.fault})"
        return f"{self._description}, one walk for all points, {self.walk.leaves} ({self.build})"

    @property
    def build(self) -> str:
        """Which build runs."""
        return str(kernels.current.build)

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        if self.fault is not None:
            return super().ice(observations, probes, positions)
        # A list might have been changed since.
        if self._columns.probes is not probes or not isinstance(probes, tuple):
            self._columns = Columns(probes)
        if len(observations) == 1:
            return self._ice_one(observations[0], positions)
        parts = [self._ice_one(x, positions[k : k + 1]) for k, x in enumerate(observations)]
        labels = tuple(dict.fromkeys(label for part in parts for label in part.labels or ()))
        return Outputs(labels, np.concatenate([aligned(part, labels).values for part in parts]))

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        self._is_again = True
        try:
            return self.ice(observations, probes, positions)
        finally:
            self._is_again = False

    def _plain(self, x: Observation, positions: FloatArray) -> Outputs:
        return super().ice([x], self._columns.probes, positions)

    def _ice_one(self, x: Observation, positions: FloatArray) -> Outputs:
        """The curves of one observation; positions of shape (1, n_axes, n_points)."""
        if self.fault is not None:
            return self._plain(x, positions)
        x, points = self._given(x), None
        try:
            points = self._columns.points(x, positions)
            answer = self.walk.ice(points)
            if answer is None:
                return self._plain(x, positions)
            labels, values = answer
            if self._columns.others:
                self._add_others(x, positions[0], labels, values)
        except Exception as error:
            # If river raises as well, it is the observation; then nothing is wrong with the walk.
            plain = self._plain(x, positions)
            if points is None or not points.non_numeric:
                self._give_up(f"{type(error).__name__}: {error}")
            return plain
        return self._checked(points, positions, labels, values)

    def _add_others(
        self, x: Observation, positions: FloatArray, labels: Sequence[Label], values: FloatArray
    ) -> None:
        """Fill in the columns that the walk does not serve, by plain calls."""
        for probe in self._columns.others:
            found, table = self._tabulate(self._along(x, probe, positions))
            columns = values[:, probe.start : probe.stop]
            columns[:] = 0.0
            for label, row in zip(found or (), table.T, strict=True):
                columns[labels.index(label)] = row

    def _checked(
        self, points: Points, positions: FloatArray, labels: Labels, values: FloatArray
    ) -> Outputs:
        if self._is_again:
            return Outputs(labels, values[None])
        checker, columns = self.checker, self._columns.walked_columns
        agrees = True
        if checker.wants_all():
            if len(columns) <= checker.most:
                plain = self._plain(points.x, positions)
                if agree(labels, values, plain):
                    return aligned(plain, labels)
                agrees = False
            else:
                some = checker.some_of(columns)
                agrees = all(self._agrees_at(k, points, labels, values) for k in some)
        elif columns:
            agrees = self._agrees_somewhere(points, labels, values)
        if agrees:
            return Outputs(labels, values[None])
        self._give_up("its answers differ from plain calls")
        return self._plain(points.x, positions)

    def _agrees_somewhere(self, points: Points, labels: Labels, values: FloatArray) -> bool:
        """Whether the answer at one point, of one member as a rule, is that of a plain call."""
        checker = self.checker
        if checker.wants_ensemble():
            column = checker.one_of(self._columns.walked_columns)
            return self._agrees_at(column, points, labels, values)
        member = self.walk.member(checker.one_of)
        if member is None:
            return True
        column = checker.one_of(self._columns.walked_columns)
        values, predict_at = member
        return agree_at(labels, values, column, predict_at(column))

    def _agrees_at(self, column: int, points: Points, labels: Labels, values: FloatArray) -> bool:
        return agree_at(labels, values, column, self.call(points.at(column)))

    def _give_up(self, why: str) -> None:
        self.fault = f"{self.given_up} was given up: {why}"
        warn_of_slow_path(
            f"{type(self.model).__name__} is explained by plain calls from now on, which is "
            f"slower: {self.fault}"
        )
