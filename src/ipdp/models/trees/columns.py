"""What a question is about, whatever the observation."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any

import numpy as np

from ipdp.models.base import Probe
from ipdp.models.trees import loops
from ipdp.models.trees.points import ABSENT, NONE, Points
from ipdp.typing import Array, FeatureName, FloatArray, Observation

_NUMBERS = frozenset((float, int, bool))


class Columns:
    """What the probes say about the columns.

    Parameters
    ----------
    probes
        The probes of a question.

    Attributes
    ----------
    own, others
        The probes that a walk serves, and those that need plain calls.
    names
        The features that are replaced, one at a time.
    spans
        The columns of each of them: the first, and the one after the last.
    number_of
        For each column the place of its feature in `names`, the one after the last for columns that
        need plain calls.
    name_of
        The feature itself, None for columns that need plain calls.
    own_columns
        The columns that a walk serves.
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = probes
        self.own: list[Probe] = []
        self.others: list[Probe] = []
        self.spans: dict[FeatureName, tuple[int, int]] = {}
        for probe in probes:
            # Two features at once are two replacements, which one walk does not follow.
            if len(probe.names) > 1 or probe.names[0] in self.spans:
                self.others.append(probe)
            else:
                self.own.append(probe)
                self.spans[probe.names[0]] = (probe.start, probe.stop)
        self.names = tuple(self.spans)
        n = max((probe.stop for probe in probes), default=0)
        self.number_of: Array = np.full(n, len(self.names))
        self.name_of: list[FeatureName | None] = [None] * n
        # For each column whether it is to be at least the one before it, and whether it is whole.
        follows, whole = bytearray(n), bytearray(n)
        for number, probe in enumerate(self.own):
            self.number_of[probe.start : probe.stop] = number
            for column in range(probe.start, probe.stop):
                self.name_of[column] = probe.names[0]
                follows[column] = column > probe.start
                whole[column] = probe.whole[0]
        self._follows, self._whole = bytes(follows), bytes(whole)
        self.own_columns: list[int] = np.flatnonzero(self.number_of < len(self.names)).tolist()
        # What does not depend on positions.
        self._settled = {
            column: value for probe in self.own for column, value in _settled(probe).items()
        }
        # A single point has nothing to be compared with, but may be NaN or no number.
        self._may_be_odd = bool(self._settled) or any(
            probe.stop - probe.start == 1 for probe in self.own
        )

    def points(self, x: Observation, positions: FloatArray) -> Points:
        """The points of one observation, given their positions of shape (1, n_axes, n_points)."""
        if type(x) is not dict:
            x = dict(x)
        odd = NONE
        if not loops.current.has_only_numbers(x):
            odd = frozenset([name for name, value in x.items() if not isinstance(value, Real)])
        numbers = np.ascontiguousarray(positions[0, 0])
        if self._may_be_odd or not in_order(numbers, self._follows, self._whole):
            values = self.values(numbers)
            return self.arrange(x, values, np.array(list(map(_number, values))), odd)
        return Points(self, x, numbers, odd)

    def arrange(
        self,
        x: dict[Any, Any],
        values: list[Any],
        numbers: FloatArray,
        odd: Collection[FeatureName],
    ) -> Points:
        """The points, given the values in the columns and the features of x that are no numbers."""
        if not self._may_be_odd and in_order(numbers, self._follows, bytes(len(numbers))):
            return Points(self, x, numbers, frozenset(odd), values=values)
        unordered = set()
        odd = set(odd)
        for name, (lo, hi) in self.spans.items():
            own = numbers[lo:hi]
            if np.isnan(own).any() or not (own[1:] >= own[:-1]).all():
                unordered.add(name)
                if not all(isinstance(v, Real) or v is ABSENT for v in values[lo:hi]):
                    odd.add(name)
        return Points(self, x, numbers, frozenset(odd), values=values, unordered=unordered)

    def values(self, numbers: FloatArray) -> list[Any]:
        """What stands in each column, in Python's own types, given the positions."""
        values: list[Any] = numbers.tolist()
        for probe in self.own:
            if probe.whole[0]:
                values[probe.start : probe.stop] = map(int, values[probe.start : probe.stop])
        for column, value in self._settled.items():
            values[column] = value
        return values

    def value(self, numbers: FloatArray, column: int) -> Any:
        """What stands in one column; the same as `values(numbers)[column]`."""
        if column in self._settled:
            return self._settled[column]
        value = numbers.item(column)
        return int(value) if self._whole[column] else value


def in_order(numbers: FloatArray, follows: bytes, whole: bytes) -> bool:
    """Whether columns that follow others are not below them, and whole ones are whole numbers."""
    if loops.current.in_order is not None:
        return bool(loops.current.in_order(numbers, follows, whole))
    climbs = numbers[1:] >= numbers[:-1]
    climbs |= np.frombuffer(follows, dtype=bool)[1:] < 1
    if any(whole):
        climbs &= (np.frombuffer(whole, dtype=bool)[1:] < 1) | (np.trunc(numbers) == numbers)[1:]
    return bool(climbs.all())


def _settled(probe: Probe) -> dict[int, Any]:
    """The columns of categories and missing values, with what stands in them."""
    categories = probe.categories[0]
    values = [] if categories is None else categories.tolist()
    settled = dict(enumerate(values, start=probe.start))
    if probe.missing:
        settled[probe.stop - 1] = ABSENT
    return settled


def _number(value: Any) -> float:
    is_number = type(value) in _NUMBERS or isinstance(value, Real)
    return float(value) if is_number else math.nan
