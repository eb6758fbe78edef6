"""A memory that folds some observations into its means at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from threading import Lock
from typing import Any

from ipdp.core.typing import FeatureName, State
from ipdp.explainers.memory import Memory
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.targets import Target


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
        # The last observations, which are not in the means yet.
        self._unfolded: list[Any] = []
        self._folding = Lock()

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
        self._means = means

    def __getstate__(self) -> State:
        self._fold()
        return {name: value for name, value in vars(self).items() if name != "_folding"}

    def __setstate__(self, state: State) -> None:
        vars(self).update(state, _folding=Lock())
