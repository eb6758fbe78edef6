"""Streams that leave one concept for the next, and when."""

from __future__ import annotations

import math
import random

from river.datasets import base

from ipdp.core.validation import as_number, whole_number
from ipdp.core.words import shown


class Drift:
    """The share of the new concept over time.

    Parameters
    ----------
    position
        Number of observations before the drift; the middle of one that takes time.
    width
        How long it takes. 0 is sudden: the observation after the first `position` ones is the
        first of the new concept. Otherwise each observation comes from the new concept with a
        probability that rises along a sigmoid, as in river's `ConceptDriftStream`.

    Examples
    --------
    >>> sudden, gradual = Drift(1_000), Drift(1_000, width=500)
    >>> [sudden.probability(t) for t in (999, 1_000)]
    [0.0, 1.0]
    >>> [round(gradual.probability(t), 2) for t in (0, 750, 1_000, 1_250, 2_000)]
    [0.0, 0.12, 0.5, 0.88, 1.0]
    """

    def __init__(self, position: float, width: float = 0) -> None:
        if not (as_number(position) >= 0 and as_number(width) >= 0):
            given = f"{shown(position)} and {shown(width)}"
            raise ValueError(f"position and width of a drift must not be negative, got {given}")
        self.position = position
        self.width = width

    def probability(self, t: int) -> float:
        """Chance that the observation after t others is one of the new concept."""
        if not self.width:
            return float(t >= self.position)
        # tanh instead of 1 / (1 + exp(-z)), which overflows far from the drift.
        return 0.5 + 0.5 * math.tanh(2 * (t - self.position) / self.width)

    def happened(self, t: int, rng: random.Random) -> bool:
        """Whether the observation after t others is one of the new concept."""
        return rng.random() < self.probability(t)


class DriftStream(base.SyntheticDataset):
    """A generated stream of two classes whose concept changes, as `Drift` says."""

    def __init__(
        self,
        position: float,
        width: float,
        *,
        n_features: int,
        n_samples: int | None,
        seed: int | None,
    ) -> None:
        super().__init__(  # type: ignore[no-untyped-call] # river is not typed there
            task=base.BINARY_CLF,
            n_features=n_features,
            n_samples=None if n_samples is None else whole_number("n_samples", n_samples, least=0),
            n_classes=2,
            n_outputs=1,
        )
        self._drift = Drift(position, width)
        self.position = position
        self.width = width
        self.seed = seed
