"""The answers of the walk, compared with plain calls."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.typing import FloatArray, Label, State
from ipdp.models.base import Outputs

# The share of rounding that is granted: of the value itself, and of the largest of its curve.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


class Checker:
    """Says which answers are to be compared with plain calls, and compares.

    Parameters
    ----------
    first
        The first so many observations are compared in full.
    every
        And then each so many.
    ensemble_every
        Of the others one random point is compared: each so many times with the whole ensemble, else
        with one of its trees, which is cheaper by as many as there are.
    seed
        Start of the random numbers by which points and trees are chosen.

    Examples
    --------
    >>> checker = Checker(first=1, every=3)
    >>> [checker.wants_all() for _ in range(6)]
    [True, False, True, False, False, True]
    """

    def __init__(
        self, *, first: int = 20, every: int = 200, ensemble_every: int = 4, seed: int = 0
    ) -> None:
        self.first = first
        self.every = every
        self.ensemble_every = ensemble_every
        self.seed = seed
        self._seen = 0
        self._random = random.Random(seed)

    def wants_all(self) -> bool:
        """Whether the next observation is to be compared in full."""
        self._seen += 1
        return self._seen <= self.first or self._seen % self.every == 0

    def wants_ensemble(self) -> bool:
        """Whether one point of this observation is to be compared with the whole ensemble."""
        return self._seen % self.ensemble_every == 0

    def one_of(self, numbers: Sequence[int]) -> int:
        """A random one."""
        return numbers[int(self._random.random() * len(numbers))]

    @property
    def state(self) -> State:
        """Where it stands, JSON-safe; a checker that is given it wants the same from there on."""
        version, internal, gauss = self._random.getstate()
        return {"seen": self._seen, "random": [version, list(internal), gauss]}

    @state.setter
    def state(self, state: State) -> None:
        version, internal, gauss = state["random"]
        self._random.setstate((version, tuple(internal), gauss))
        self._seen = int(state["seen"])


def aligned(outputs: Outputs, labels: tuple[Label, ...]) -> Outputs:
    """The same answer with its outputs in another order; those that it does not have are 0."""
    if outputs.labels == labels:
        return outputs
    values = np.zeros((len(outputs.values), len(labels), outputs.values.shape[2]))
    for label, value in zip(outputs.labels or (), outputs.values.swapaxes(0, 1), strict=True):
        values[:, labels.index(label)] = value
    return Outputs(labels, values)


def agree(labels: tuple[Label, ...], values: FloatArray, plain: Outputs) -> bool:
    """Whether two answers for one observation are the same, whatever the order of the outputs.

    Parameters
    ----------
    labels, values
        Ours; the values are of shape (n_outputs, n_points).
    plain
        That of plain calls.
    """
    if not set(plain.labels or ()) <= set(labels):
        return False
    return all(map(_close, values, aligned(plain, labels).values[0]))


def agree_at(labels: Sequence[Label], values: FloatArray, column: int, plain: Any) -> bool:
    """Whether the answer at one point is that of a plain call there."""
    if type(plain) is not dict and not isinstance(plain, Mapping):
        plain = {PREDICTION[0]: plain}
    known = 0
    for k, label in enumerate(labels):
        ours, theirs = values.item(k, column), 0.0
        if label in plain:
            known += 1
            theirs = plain[label]
        # Almost always they are the same at once.
        same = abs(ours - theirs) <= _RELATIVE * abs(theirs) < math.inf
        if not same and not _close(ours, theirs, values[k]):
            return False
    return known == len(plain)


def _close(ours: Any, theirs: Any, curve: Any = None) -> bool:
    size = np.abs(theirs if curve is None else curve)
    size = size.max(initial=0.0, where=np.isfinite(size))
    with np.errstate(invalid="ignore"):
        close = np.abs(ours - theirs) <= _RELATIVE * np.abs(theirs) + _ABSOLUTE * size
    # What is not finite has to be the same.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return bool(np.all(np.where(np.isfinite(ours) & np.isfinite(theirs), close, same)))
