"""A memory that folds some observations into its means at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, Self

from ipdp.core import kernels
from ipdp.core.observations import Block
from ipdp.core.typing import FeatureName, Observation, State
from ipdp.explainers.memory import Memory
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.targets import Target, admitted
from ipdp.grid import Grid
from ipdp.grid.base import LARGEST


class FoldingMemory(Memory):
    """Notes what the model said, and folds several observations in together, which is cheaper.

    Whatever is read of it has all of them in it.

    Parameters
    ----------
    targets
        The features, and pairs, to follow.
    columns
        Names of all features, in the order of the first observation.
    means
        What the answers are smoothed in.
    """

    def __init__(
        self, targets: Sequence[Target], columns: tuple[FeatureName, ...], means: Means
    ) -> None:
        super().__init__(columns)
        self.grids = {n: g for t in targets for n, g in zip(t.names, t.grids, strict=True)}
        self._targets, self._means = list(targets), means
        self._names = tuple(self.grids)
        self._updates = [grid.update for grid in self.grids.values()]
        self._intakes = [grid.intake for grid in self.grids.values()]
        self._numeric = frozenset(k for k, grid in self.grids.items() if grid.admits_numbers)
        self._only_numbers = len(self._numeric) == len(self.grids)
        # The last observations, which are not in the means yet.
        self._unfolded: list[Any] = []
        self._folding = Lock()
        self._step: Any = None  # what folds them in, where that is compiled

    def admit(self, x: Observation) -> list[Any]:
        """The values that the grids will take, in their order; nothing changes."""
        if self._only_numbers:
            values: list[Any] | None = kernels.current.numbers_of(x, self._names, LARGEST)
            if values is not None:
                return values
        return admitted(self.grids, x, self._numeric)

    def admit_many(self, rows: Sequence[Observation]) -> list[list[Any]]:
        """The same of several observations."""
        if self._only_numbers and isinstance(rows, Block):
            columns = [rows.columns.get(name) for name in self._names]
            if all(own and kernels.current.are_numbers(own, LARGEST) for own in columns):
                return list(map(list, zip(*columns, strict=True)))
        return [self.admit(x) for x in rows]

    @abstractmethod
    def _fold_together(self, last: list[Any]) -> None:
        """Fold the last observations, in their order, into whatever is smoothed."""

    def _fold(self) -> None:
        with self._folding:  # another thread may be reading
            last = self._unfolded[:]  # more may be coming
            if not last:
                return
            self._fold_together(last)
            for number in self._means.layout.targets:
                self._targets[number].n += len(last)
            del self._unfolded[: len(last)]

    @property
    def targets(self) -> list[Target]:
        """The features, and pairs, with the number of observations behind each."""
        self._fold()
        return self._targets

    @property
    def means(self) -> Means:
        """The smoothed answers, or effects."""
        self._fold()
        return self._means

    @means.setter
    def means(self, means: Means) -> None:
        self._means, self._step = means, None

    def __getstate__(self) -> State:
        self._fold()
        own = {name: value for name, value in vars(self).items() if name != "_folding"}
        return {**own, "_step": None}

    def __setstate__(self, state: State) -> None:
        vars(self).update(state, _folding=Lock())

    # Segments of a stream.

    @abstractmethod
    def copy(self, grids: dict[FeatureName, Grid] | None = None) -> Self:
        """An independent copy, with other grids if they are given."""

    def _copied_targets(self, grids: Mapping[FeatureName, Grid] | None) -> list[Target]:
        """The targets with other grids, or with copies of theirs."""
        own = grids or {name: grid.copy() for name, grid in self.grids.items()}
        return [
            replace(target, grids=tuple(own[name] for name in target.names))
            for target in self.targets
        ]

    def _take_clock(self, other: Self) -> None:
        self.seen, self.t, self.starts_at = other.seen, other.t, other.starts_at

    def successor(self) -> Self:
        later = self.copy()
        later.means = self.means.successor()
        for target in later.targets:
            target.n = 0
        later.starts_at = self.seen
        return later

    def _joined(self, later: Self) -> Self:
        """A copy of the later one, with the grids, means and numbers of both."""
        if [a.feature for a in self.targets] != [b.feature for b in later.targets]:
            raise ValueError("explainers can be merged only if they follow the same features")
        means = self.means.merge(later.means, later.targets)
        merged = None
        if not later.follows(self):
            merged = {name: grid.merge(later.grids[name]) for name, grid in self.grids.items()}
        joined = later.copy(merged)
        joined.means, joined.columns = means, self.columns
        joined.join_clocks(self, later)
        for target, before in zip(joined.targets, self.targets, strict=True):
            target.n += before.n
        return joined
