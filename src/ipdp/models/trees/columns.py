"""What a question is about, whatever the observation."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.models.base import Probe
from ipdp.models.trees import loops
from ipdp.models.trees.points import ABSENT, Points
from ipdp.models.trees.walk import CLIMBS, IS_NUMBER

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
        for number, probe in enumerate(self.own):
            self.number_of[probe.start : probe.stop] = number
            self.name_of[probe.start : probe.stop] = [probe.names[0]] * (probe.stop - probe.start)
        self.own_columns: list[int] = np.flatnonzero(self.number_of < len(self.names)).tolist()
        # What does not depend on positions: what stands in some columns, as numbers too.
        self._settled = {
            column: value for probe in self.own for column, value in _settled(probe).items()
        }
        self._places = np.array(list(self._settled), dtype=int)
        self._numbers = np.array([_number(value) for value in self._settled.values()])
        self._unordered, self._odd = _irregular(self.own)
        self._order, self._whole = self._expected(n)

    def _expected(self, n: int) -> tuple[bytes, bytes]:
        """What `in_order` is to look for in each of n columns."""
        order, whole = bytearray(n), bytearray(n)
        for probe in self.own:
            if probe.names[0] not in self._unordered:
                order[probe.start] = IS_NUMBER
                order[probe.start + 1 : probe.stop] = bytes([CLIMBS]) * (
                    probe.stop - probe.start - 1
                )
            for column in range(probe.start, probe.stop):
                whole[column] = probe.whole[0] and column not in self._settled
        return bytes(order), bytes(whole)

    def points(self, x: Observation, positions: FloatArray) -> Points:
        """The points of one observation, given their positions of shape (1, n_axes, n_points)."""
        if type(x) is not dict:
            x = dict(x)
        odd = self._odd
        if not loops.current.has_only_numbers(x):
            odd |= {name for name, value in x.items() if not isinstance(value, Real)}
        numbers = np.ascontiguousarray(positions[0, 0])
        if self._settled:
            numbers = numbers.copy()
            numbers[self._places] = self._numbers
        if in_order(numbers, self._order, self._whole):
            return Points(self, x, numbers, odd, unordered=self._unordered)
        values = self.values(numbers)
        return self.arrange(x, values, np.array(list(map(_number, values))), odd)

    def arrange(
        self,
        x: dict[Any, Any],
        values: list[Any],
        numbers: FloatArray,
        odd: Collection[FeatureName],
    ) -> Points:
        """The points, given the values in the columns and the features of x that are no numbers."""
        if not self._unordered and in_order(numbers, self._order, bytes(len(numbers))):
            return Points(self, x, numbers, frozenset(odd), values=values)
        unordered = set()
        odd = set(odd)
        for name, (lo, hi) in self.spans.items():
            if not _is_in_order(numbers[lo:hi].tolist()):
                unordered.add(name)
                if not all(isinstance(v, Real) or v is ABSENT for v in values[lo:hi]):
                    odd.add(name)
        return Points(self, x, numbers, frozenset(odd), values=values, unordered=unordered)

    def values(self, numbers: FloatArray) -> list[Any]:
        """What stands in each column, in Python's own types, given the positions."""
        values: list[Any] = numbers.tolist()
        for probe in self.own:
            if probe.whole[0]:
                own = slice(probe.start, probe.stop - probe.missing)
                values[own] = map(int, values[own])
        for column, value in self._settled.items():
            values[column] = value
        return values

    def value(self, numbers: FloatArray, column: int) -> Any:
        """What stands in one column; the same as `values(numbers)[column]`."""
        if column in self._settled:
            return self._settled[column]
        value = numbers.item(column)
        return int(value) if self._whole[column] else value


def in_order(numbers: FloatArray, order: bytes, whole: bytes) -> bool:
    """Whether columns are numbers, not below the one before, and whole, as far as expected."""
    if loops.current.in_order is not None:
        return bool(loops.current.in_order(numbers, order, whole))
    expected = np.frombuffer(order, dtype=np.int8)
    fits = (expected == 0) | ~np.isnan(numbers)
    fits[1:] &= (expected[1:] != CLIMBS) | (numbers[1:] >= numbers[:-1])
    if any(whole):
        fits &= (np.frombuffer(whole, dtype=bool) < 1) | (np.trunc(numbers) == numbers)
    return bool(fits.all())


def _settled(probe: Probe) -> dict[int, Any]:
    """The columns of categories and missing values, with what stands in them."""
    categories = probe.categories[0]
    values = [] if categories is None else categories.tolist()
    settled = dict(enumerate(values, start=probe.start))
    if probe.missing:
        settled[probe.stop - 1] = ABSENT
    return settled


def _irregular(probes: Sequence[Probe]) -> tuple[frozenset[FeatureName], frozenset[FeatureName]]:
    """Features whose categories, with a missing value, are not in order; those with other types."""
    unordered, odd = set(), set()
    for probe in probes:
        settled = _settled(probe).values()
        if settled and (
            len(settled) < probe.stop - probe.start
            or not _is_in_order([_number(value) for value in settled])
        ):
            unordered.add(probe.names[0])
            if not all(isinstance(value, Real) or value is ABSENT for value in settled):
                odd.add(probe.names[0])
    return frozenset(unordered), frozenset(odd)


def _is_in_order(numbers: list[float]) -> bool:
    return not any(map(math.isnan, numbers)) and all(a <= b for a, b in pairwise(numbers))


def _number(value: Any) -> float:
    is_number = type(value) in _NUMBERS or isinstance(value, Real)
    return float(value) if is_number else math.nan
