"""Trust, but verify: the answers of the walk against plain calls."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.typing import FloatArray, Label, State
from ipdp.models.base import Outputs

# The share of rounding that is granted: of the value itself, and of the largest of its curve.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


class SlowPathWarning(RuntimeWarning):
    """A tree model is explained by plain calls from now on, which is slower and says the same."""


class Checker:
    """Says which answers are to be compared with plain calls, and compares.

    Parameters
    ----------
    first
        The first so many observations are compared in full.
    every
        And then each so many.
    whole
        Of the others one random point is compared: each so many times the whole model is asked,
        else one of its trees, which is cheaper by as many as there are.
    seed
        Start of the random numbers by which points and trees are chosen.

    Examples
    --------
    >>> checker = Checker(first=1, every=3)
    >>> [checker.wants_all() for _ in range(6)]
    [True, False, True, False, False, True]
    """

    def __init__(self, *, first: int = 20, every: int = 200, whole: int = 4, seed: int = 0) -> None:
        self.first = first
        self.every = every
        self.whole = whole
        self.seed = seed
        self._seen = 0
        self._random = random.Random(seed)

    def wants_all(self) -> bool:
        """Whether the next observation is to be compared in full."""
        self._seen += 1
        return self._seen <= self.first or self._seen % self.every == 0

    def wants_the_whole(self) -> bool:
        """Whether at one point of this observation the whole model is to be asked."""
        return self._seen % self.whole == 0

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


class Member(NamedTuple):
    """One tree of an ensemble.

    Attributes
    ----------
    values
        What the walk takes it to say, of shape (n_outputs, n_points).
    said_at
        Asks the tree itself about one column.
    """

    values: FloatArray
    said_at: Callable[[int], Any]


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


def agree_at(labels: Sequence[Label], values: FloatArray, column: int, said: Any) -> bool:
    """Whether the answer at one point is what the model said there."""
    if type(said) is not dict and not isinstance(said, Mapping):
        said = {PREDICTION[0]: said}
    known = 0
    for k, label in enumerate(labels):
        ours, theirs = values.item(k, column), 0.0
        if label in said:
            known += 1
            theirs = said[label]
        # Almost always they are the same at once.
        same = abs(ours - theirs) <= _RELATIVE * abs(theirs) < math.inf
        if not same and not _close(ours, theirs, values[k]):
            return False
    return known == len(said)


def _close(ours: Any, theirs: Any, curve: Any = None) -> bool:
    size = np.abs(theirs if curve is None else curve)
    size = size.max(initial=0.0, where=np.isfinite(size))
    with np.errstate(invalid="ignore"):
        close = np.abs(ours - theirs) <= _RELATIVE * np.abs(theirs) + _ABSOLUTE * size
    # What is not finite has to be the same.
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return bool(np.all(np.where(np.isfinite(ours) & np.isfinite(theirs), close, same)))
