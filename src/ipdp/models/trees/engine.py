"""The engine of river's trees: one walk where it can, plain calls where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.random import Uniforms
from ipdp.core.typing import FloatArray, Label, Labels, Observation, State
from ipdp.models.base import Outputs, Probe, agree, agree_at, aligned, warn_of_slow_path
from ipdp.models.per_row import RowEngine
from ipdp.models.trees import kernels
from ipdp.models.trees.base import Answering, Walk
from ipdp.models.trees.classification import ClassifierWalk, MondrianWalk
from ipdp.models.trees.pairs import Lines
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
    more. Of the others one random point of each `every`-th is compared, so that none takes much
    longer than another: each `ensemble_every`-th time with the whole model, else with one of its
    trees, if it has several, which is cheaper by as many as there are.
    """

    def __init__(
        self,
        *,
        first: int = 20,
        most: int = 1_000,
        every: int = 16,
        ensemble_every: int = 4,
        seed: int = 0,
    ) -> None:
        self.first = first
        self.most = most
        self.every = every
        self.ensemble_every = ensemble_every
        self.seed = seed
        self._seen = 0
        self._random = Uniforms(seed=seed)

    def wants_nothing(self) -> bool:
        """Whether the next observation is not to be compared; then it is counted as seen."""
        seen = self._seen + 1
        if seen <= self.first or seen % self.every == 0:
            return False
        self._seen = seen
        return True

    def wants_all(self) -> bool:
        """Whether the next observation is to be compared in full."""
        self._seen += 1
        return self._seen <= self.first

    def wants_ensemble(self) -> bool:
        """Whether it is to be compared with the whole ensemble."""
        return self._seen % (self.every * self.ensemble_every) == 0

    def some_of(self, numbers: Sequence[int]) -> list[int]:
        """As many random ones as may be compared."""
        return sorted(numbers, key=lambda _: self._random.draw())[: self.most]

    def one_of(self, numbers: Sequence[int]) -> int:
        """A random one."""
        return numbers[self._random.draw_below(len(numbers))]

    @property
    def state(self) -> State:
        """JSON-safe; a checker that is given it decides the same from there on."""
        return {"seen": self._seen, "random": self._random.state}

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, seen=schema.count)
        # Checkpoints of before have a list, of another generator: draws begin anew.
        if not isinstance(state["random"], list):
            self._random.state = state["random"]
        self._seen = state["seen"]


class Question(NamedTuple):
    """What was asked of one observation, and answered."""

    points: Points
    positions: FloatArray  # (n_axes, n_points)
    labels: Labels
    values: FloatArray  # (n_outputs, n_points)


class Served:
    """How the columns of some probes are answered, the same for all observations.

    `columns` by one walk, pairs in `lines` (their columns are `in_lines`), `others` by plain calls.
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = probes
        self.columns = Columns(probes)
        self.lines = [Lines(probe) for probe in self.columns.others if Lines.serves(probe)]
        spans = [range(lines.probe.start, lines.probe.stop) for lines in self.lines]
        self.in_lines = [column for span in spans for column in span]
        self.others = [probe for probe in self.columns.others if not Lines.serves(probe)]


class TreeEngine(RowEngine):
    """A tree, or an ensemble of trees, of river.

    The points of all features share most of their way down a tree, so one walk serves them all. The
    answers are compared with plain calls: all of them for the first observations, and then one
    point of each sixteenth or so, mostly with one tree only. After a difference, or an error,
    there are only plain calls.
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
        self.checker = Checker(every=walk.checked_every)
        self.fault: str | None = None
        # Those of the last two questions: curves and the monitor ask in turn.
        self._served, self._served_before = Served(()), Served(())
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
        if self._served.probes is not probes or not isinstance(probes, tuple):
            self._served, self._served_before = self._served_before, self._served
            if self._served.probes is not probes or not isinstance(probes, tuple):
                self._served = Served(probes)
        if len(observations) == 1:
            return self._ice_one(observations[0], positions)
        self.walk.hold(True)
        try:
            together = self._ice_all(observations, positions) if self._is_again else None
            if together is not None:
                return together
            parts = [self._ice_one(x, positions[k : k + 1]) for k, x in enumerate(observations)]
        finally:
            self.walk.hold(False)
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

    def _ice_all(
        self, observations: Sequence[Observation], positions: FloatArray
    ) -> Outputs | None:
        """The curves of several observations in one walk; None if there is none for all of them."""
        served = self._served
        if served.lines or served.others or not observations:
            return None
        with suppress(Exception):  # whose it is comes out when each is asked about
            given = enumerate(map(self._given, observations))
            points = (served.columns.points(x, positions[k : k + 1]) for k, x in given)
            answer = self.walk.ice_all(points)
            return None if answer is None else Outputs(*answer)
        return None

    def _plain(self, x: Observation, positions: FloatArray) -> Outputs:
        return super().ice([x], self._served.probes, positions)

    def _ice_one(self, x: Observation, positions: FloatArray) -> Outputs:
        """The curves of one observation; positions of shape (1, n_axes, n_points)."""
        if self.fault is not None:
            return self._plain(x, positions)
        points = None
        try:
            # Where all are numbers none is missing.
            only_numbers = type(x) is dict and kernels.current.has_only_numbers(x)
            x = x if only_numbers else self._given(x)
            points = self._served.columns.points(x, positions, only_numbers=only_numbers)
            # Before the single features: members are compared as the latest answer had them.
            surfaces = self._surfaces(x, positions[0]) if self._served.lines else []
            answer = self.walk.ice(points)
            if answer is None or surfaces is None:
                return self._plain(x, positions)
            labels, values = answer
            for own, surface in surfaces:
                values[:, own] = aligned(surface, labels).values[0]
            if self._served.others:
                self._add_others(x, positions[0], labels, values)
        except Exception as error:
            # If river raises as well, it is the observation; then nothing is wrong with the walk.
            plain = self._plain(x, positions)
            if points is None or not points.non_numeric:
                self._give_up(f"{type(error).__name__}: {error}")
            return plain
        return self._checked(points, positions, labels, values)

    def _surfaces(
        self, x: Observation, positions: FloatArray
    ) -> list[tuple[slice, Outputs]] | None:
        """The answers for pairs, line by line; None if plain calls are to be made."""
        found = []
        for pair in self._served.lines:
            as_one = pair.as_one(x, positions)
            if as_one is not None:
                all_of_it, line, firsts = as_one
                surface = self.walk.surface(line, pair.probe.names[0], firsts)
                if surface is not None:
                    found.append((all_of_it, Outputs(surface[0], surface[1][None])))
                    continue
            lines = pair.of(x, positions)
            if lines is None:
                return None
            for own, points in lines:
                answer = self.walk.ice(points)
                if answer is None:
                    return None
                found.append((own, Outputs(answer[0], answer[1][None])))
        return found

    def _add_others(
        self, x: Observation, positions: FloatArray, labels: Sequence[Label], values: FloatArray
    ) -> None:
        """Fill in the columns that the walk does not serve, by plain calls."""
        for probe in self._served.others:
            found, table = self._tabulate(self._along(x, probe, positions))
            columns = values[:, probe.start : probe.stop]
            columns[:] = 0.0
            for label, row in zip(found or (), table.T, strict=True):
                columns[labels.index(label)] = row

    def _checked(
        self, points: Points, positions: FloatArray, labels: Labels, values: FloatArray
    ) -> Outputs:
        if self._is_again or self.checker.wants_nothing():
            return Outputs(labels, values[None])
        question = Question(points, positions[0], labels, values)
        if not self.checker.wants_all():
            agrees = self._agrees_somewhere(question)
        elif self._served.columns.n <= self.checker.most:
            plain = self._plain(points.x, positions)
            agrees = agree(labels, values, plain)
            if agrees:
                return aligned(plain, labels)
        else:
            columns = self._served.columns.walked_columns
            some = self.checker.some_of([*columns, *self._served.in_lines])
            agrees = all(self._agrees_at(column, question) for column in some)
        if agrees:
            return Outputs(labels, values[None])
        if self.walk.simplify():
            return self._ice_one(points.x, positions)
        self._give_up("its answers differ from plain calls")
        return self._plain(points.x, positions)

    def _agrees_somewhere(self, question: Question) -> bool:
        """Whether the answer at one point, of one member as a rule, is that of a plain call.

        Pairs have one of their own, with the whole model.
        """
        checker, columns = self.checker, self._served.columns.walked_columns
        member = None
        if columns and not checker.wants_ensemble():
            member = self.walk.member(checker.one_of)
        if member is None:
            chosen = [checker.one_of(own) for own in (columns, self._served.in_lines) if own]
            return all(self._agrees_at(column, question) for column in chosen)
        values, predict_at = member
        column = checker.one_of(columns)
        return agree_at(question.labels, values, column, predict_at(column))

    def _agrees_at(self, column: int, question: Question) -> bool:
        points, positions, labels, values = question
        point = None
        for lines in self._served.lines:
            if lines.probe.start <= column < lines.probe.stop:
                point = lines.at(points.x, positions, column)
        return agree_at(labels, values, column, self.call(point or points.at(column)))

    def _give_up(self, why: str) -> None:
        self.fault = f"{self.given_up} was given up: {why}"
        warn_of_slow_path(
            f"{type(self.model).__name__} is explained by plain calls from now on, which is "
            f"slower: {self.fault}"
        )
