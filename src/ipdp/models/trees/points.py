"""An observation and the points that it is asked about, as the walk wants them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ipdp.models.base import Probe
from ipdp.typing import Array, FeatureName, FloatArray, Observation

ABSENT = object()
"""Stands in a column for a missing value: the point does not have the feature."""

_NUMBERS = frozenset((float, int, bool))
_NONE: frozenset[FeatureName] = frozenset()


@dataclass(slots=True)
class Points:
    """One observation and its points, one column each.

    Attributes
    ----------
    columns
        What is the same for all observations.
    x
        The observation.
    values
        What stands in each column in place of a feature of x, in Python's own types.
    numbers
        The same as floats, NaN where it is not a number.
    unordered
        Features whose values do not ascend, or are not numbers all.
    easy
        The part of x that a branch at a threshold may be decided by at once.
    odd
        Features that have a value which is not a number, in x or among the points.
    """

    columns: Columns
    x: Observation
    values: list[Any]
    numbers: FloatArray
    unordered: frozenset[FeatureName]
    easy: Observation
    odd: frozenset[FeatureName]

    def at(
        self, column: int, features: Collection[FeatureName] | None = None
    ) -> dict[FeatureName, Any]:
        """The observation with the value of one column; only some features if they are given."""
        name = self.columns.names[self.columns.number_of[column]]
        point = {**self.x, name: self.values[column]}
        if point[name] is ABSENT:
            del point[name]
        if features is None:
            return point
        return {name: point[name] for name in features if name in point}


class Columns:
    """What the probes say about the columns, whatever the observation.

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
        for number, probe in enumerate(self.own):
            self.number_of[probe.start : probe.stop] = number
        self.own_columns: list[int] = np.flatnonzero(self.number_of < len(self.names)).tolist()
        self._whole = [(probe.start, probe.stop) for probe in self.own if probe.whole[0]]
        self._is_whole = np.zeros(n, dtype=bool)
        for lo, hi in self._whole:
            self._is_whole[lo:hi] = True
        # What does not depend on positions.
        self._settled = [
            (column, value, _number(value))
            for probe in self.own
            for column, value in _settled(probe).items()
        ]
        self._has_single = any(probe.stop - probe.start == 1 for probe in self.own)
        # The first column of a feature may be below the one before; those of others do not matter.
        self._edges = np.zeros(max(n - 1, 0), dtype=bool)
        self._edges[[probe.start - 1 for probe in probes if probe.start]] = True
        for probe in self.others:
            self._edges[probe.start : probe.stop - 1] = True

    def points(self, x: Observation, positions: FloatArray) -> Points:
        """The points of one observation, given their positions of shape (n_axes, n_points)."""
        numbers = positions[0]
        values: list[Any] = numbers.tolist()
        odd = [name for name, value in x.items() if type(value) not in _NUMBERS]
        if odd:
            odd = [name for name in odd if not isinstance(x[name], Real)]
        for lo, hi in self._whole:
            values[lo:hi] = map(int, values[lo:hi])
        if self._whole:
            numbers = np.where(self._is_whole, np.trunc(numbers), numbers)
        if self._settled:
            numbers = numbers.copy()
            for column, value, number in self._settled:
                values[column] = value
                numbers[column] = number
        return self.arrange(x, values, numbers, odd)

    def arrange(
        self, x: Observation, values: list[Any], numbers: FloatArray, odd: Sequence[FeatureName]
    ) -> Points:
        """The points, given the values in the columns and the features of x that are no numbers."""
        climbs = numbers[1:] >= numbers[:-1]
        climbs |= self._edges
        # A single point has nothing to be compared with, but may be NaN or no number.
        if climbs.all() and not self._has_single:
            return Points(self, x, values, numbers, _NONE, x, frozenset(odd))
        unordered = set()
        odd = list(odd)
        for name, (lo, hi) in self.spans.items():
            own = numbers[lo:hi]
            if np.isnan(own).any() or not (own[1:] >= own[:-1]).all():
                unordered.add(name)
                if not all(isinstance(v, Real) or v is ABSENT for v in values[lo:hi]):
                    odd.append(name)
        easy = {name: value for name, value in x.items() if name not in unordered}
        return Points(self, x, values, numbers, frozenset(unordered), easy, frozenset(odd))


def _settled(probe: Probe) -> dict[int, Any]:
    """The columns of categories and missing values, with what stands in them."""
    categories = probe.categories[0]
    values = [] if categories is None else categories.tolist()
    settled = dict(enumerate(values, start=probe.start))
    if probe.missing:
        settled[probe.stop - 1] = ABSENT
    return settled


def _number(value: Any) -> float:
    return float(value) if isinstance(value, Real) else math.nan
