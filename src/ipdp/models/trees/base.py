"""What the engine asks of a model of trees, and what the models have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, ClassVar, NamedTuple

from ipdp.core.counts import in_order
from ipdp.core.typing import FeatureName, FloatArray, Label, Labels
from ipdp.models.trees.kinds import Features
from ipdp.models.trees.points import Points

Answer = tuple[Labels, FloatArray]
"""Outputs, and their values, of shape (n_outputs, n_points)."""

Member = tuple[FloatArray, Callable[[int], Any]]
"""One tree of an ensemble: its values as the walk has them, and its own call for one column."""


class Latest(NamedTuple):
    """The latest answer of each tree: values of shape (n_outputs, n_trees, n_points)."""

    trees: Sequence[Any]
    features: Sequence[Features]
    values: FloatArray
    points: Points


class Answering(ABC):
    """Answers for all points of one observation at once; `leaves` says in a few words how."""

    model: Any
    leaves: str
    checked_every: int = 16
    """At which observations an answer is compared with a plain call, once there have been a few."""

    @abstractmethod
    def ice(self, points: Any) -> Answer | None:
        """The model's outputs at each point; None if plain calls are to be made."""

    def ice_all(self, points: Iterable[Any]) -> Answer | None:  # noqa: ARG002
        """The same for several observations, (n, n_outputs, n_points), which are not compared.

        None if each is to be asked about on its own; then no points need have been made.
        """
        return None

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:  # noqa: ARG002
        """One of the parts, as the latest answer had it; None if there is only one."""
        return None

    def surface(self, points: Any, name: FeatureName, firsts: FloatArray) -> Answer | None:  # noqa: ARG002
        """The outputs for each value of the feature `name` at each point, line after line.

        None if each line is to be asked for on its own.
        """
        return None

    def hold(self, on: bool) -> None:  # noqa: B027  (most look at the model each time)
        """Say whether the model stays as it is from now on, so that it is looked at once."""

    def simplify(self) -> bool:
        """Answer in a simpler way from now on; False if there is none."""
        return False


class Walk(Answering):
    """All points of one observation at once, for a tree or an ensemble.

    `method` of the model, and of its trees, is what is computed; `leaves` says in a few words how
    the leaves are read.
    """

    method: ClassVar[str]

    def __init__(self, model: Any) -> None:
        self.model = model
        self.leaves = "factored leaves"
        self._latest: Latest | None = None

    @staticmethod
    @abstractmethod
    def serves(model: Any) -> bool:
        """Whether it knows such a model."""

    def member(self, choose: Callable[[Sequence[int]], int]) -> Member | None:
        if self._latest is None:
            return None
        trees, features, values, points = self._latest
        number = choose(range(len(trees)))
        predict, seen = getattr(trees[number], self.method), features[number]
        return values[:, number], lambda column: predict(points.at(column, seen))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_latest": None}


class ClassOrder:
    """Keeps classes in the order in which they came, those that came together sorted."""

    def __init__(self) -> None:
        self._classes: frozenset[Label] = frozenset()
        self._ordered: Labels = ()

    def of(self, classes: Set[Label]) -> Labels:
        """The classes, in order; the same tuple as long as they are the same."""
        if classes != self._classes:
            kept = [label for label in self._ordered if label in classes]
            self._ordered = (*kept, *in_order(list(classes - self._classes)))
            self._classes = frozenset(classes)
        return self._ordered
