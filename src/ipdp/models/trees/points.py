"""What a question is about: its columns, and the points of one observation."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.models.base import Probe
from ipdp.models.trees import kernels
from ipdp.models.trees.kernels.walk import ASCENDING, IS_NUMBER
from ipdp.models.trees.kinds import ABSENT, Features

_NUMBERS = frozenset((float, int, bool))
_NONE: frozenset[FeatureName] = frozenset()
_FLOAT: frozenset[type] = frozenset((float,))
# What is remembered of columns.
_ARRANGED, _SORTED = "arranged", "sorted"
# A selection that changes all the time must not fill the memory.
_MOST_CHILDREN = 20


class Points:
    """One observation and its points, one column each.

    `numbers` stand in the columns in place of a feature of x, NaN where it is not a number; so do
    `values`, in Python's own types. Features are `non_numeric` by any value that is not a number,
    in x or among the points, and `unordered` if those of the points do not ascend. The numbers are
    `made` if they are what a transformer made of those that were asked about.
    """

    def __init__(
        self,
        columns: Columns,
        x: dict[FeatureName, Any],
        numbers: FloatArray,
        non_numeric: frozenset[FeatureName] = _NONE,
        *,
        values: list[Any] | None = None,
        unordered: Collection[FeatureName] = _NONE,
        made: bool = False,
    ) -> None:
        self.columns = columns
        self.made = made
        self.x = x
        self.comparable = x  # what a branch at a threshold may be decided by at once
        if unordered:
            self.comparable = {name: value for name, value in x.items() if name not in unordered}
        self.numbers = numbers
        self._values = values
        self.unordered = unordered
        self.non_numeric = non_numeric

    @property
    def values(self) -> list[Any]:
        """What stands in each column, in Python's own types; ABSENT for a missing value."""
        if self._values is None:
            self._values = self.columns.values(self.numbers, made=self.made)
        return self._values

    @property
    def are_given(self) -> bool:
        """Whether what stands in the columns is of the types that were asked about."""
        return self._values is None and not self.made

    @property
    def kinds(self) -> list[frozenset[type]]:
        """The types of what stands in the columns of each feature, without missing values."""
        if self.made:
            return [_FLOAT] * len(self.columns.names)
        if self._values is None:
            return self.columns.kinds
        return [_kinds(self._values[lo:hi]) for _, lo, hi in self.columns.places]

    def at(self, column: int, features: Features = None) -> dict[FeatureName, Any]:
        """The observation with the value of one column; only some features if they are given."""
        name: Any = self.columns.name_of[column]
        if name is None:
            point = dict(self.x)
        else:
            known, columns = self._values, self.columns
            value = known[column] if known else columns.value(self.numbers, column, made=self.made)
            point = {**self.x, name: value}
            if value is ABSENT:
                del point[name]
        if features is None:
            return point
        return {name: point[name] for name in features if name in point}

    def sorted(self) -> tuple[Points, Array]:
        """The same points, those of each feature in ascending order, and where each was before.

        Only for numbers, none of which is missing.
        """
        memory, starts = self.columns.memory, self.columns.starts
        known = memory.get(_SORTED)
        if known is None or known[0] is not self.numbers:
            before = np.empty(len(starts), dtype=int)
            before[np.argsort(starts, kind="stable")] = np.lexsort((self.numbers, starts))
            known = memory[_SORTED] = (self.numbers, self.numbers[before], before)
        _, numbers, before = known
        return Points(self.columns, self.x, numbers, made=True), before

    def around(self, x: dict[FeatureName, Any], non_numeric: frozenset[FeatureName]) -> Points:
        """The same points of another observation, of which some more features are no numbers."""
        return Points(
            self.columns,
            x,
            self.numbers,
            self.non_numeric | non_numeric,
            values=self._values,
            unordered=self.unordered,
            made=self.made,
        )

    def renamed(self, names: Sequence[FeatureName | None], x: dict[FeatureName, Any]) -> Points:
        """The same points under other names of the features, None for those that are dropped.

        `x` is the observation under its other names.
        """
        columns = self.columns
        if names != columns.names:
            columns = columns.renamed(tuple(names))
        if not (self.non_numeric or self.unordered):
            return Points(columns, x, self.numbers, values=self._values, made=self.made)
        new = dict(zip(self.columns.names, names, strict=True))
        non_numeric = [new.get(name, name) for name in self.non_numeric]
        return Points(
            columns,
            x,
            self.numbers,
            frozenset([name for name in non_numeric if name in x or name in columns.spans]),
            values=self._values,
            unordered={new[name] for name in self.unordered} - {None},
            made=self.made,
        )


class Columns:
    """What is the same for all observations: the probes, column by column.

    The features `names` are replaced, one at a time, in the columns `spans[name]`: the first, and
    the one after the last. For each column `number_of` is the place of its feature in `names`, the
    one after the last for columns that need plain calls, and `name_of` the feature, or None.

    Behind a transformer they have other names, and `root` are those before it; in the spans
    `unchanged` nothing is replaced any more, as their features were dropped.
    """

    def __init__(
        self,
        probes: Sequence[Probe],
        root: Columns | None = None,
        unchanged: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.probes = probes
        self._root = root
        self.unchanged = list(unchanged)
        self.memory: dict[Any, Any] = {}  # for what a transformer makes of all observations
        self._children: dict[tuple[FeatureName | None, ...], Columns] = {}
        self.walked: list[Probe] = []  # those that a walk serves
        self.others: list[Probe] = []  # pairs, and those of a feature that has one already
        self.spans: dict[FeatureName, tuple[int, int]] = {}
        for probe in probes:
            # Two features at once are two replacements, which one walk does not follow.
            if len(probe.names) > 1 or probe.names[0] in self.spans:
                self.others.append(probe)
            else:
                self.walked.append(probe)
                self.spans[probe.names[0]] = (probe.start, probe.stop)
        self.names = tuple(self.spans)
        n = max((probe.stop for probe in probes), default=0) if root is None else root.n
        self.n: int = n
        self.places = [(name, *span) for name, span in self.spans.items()]
        # What does not depend on positions: what stands in some columns, as numbers too.
        self._constants = {
            column: value for probe in self.walked for column, value in _constants(probe).items()
        }
        self.absent = [column for column, value in self._constants.items() if value is ABSENT]
        self._places = np.array(list(self._constants), dtype=int)
        self._numbers = np.array([_number(value) for value in self._constants.values()])
        self._unordered, self._non_numeric = _irregular(self.walked)
        self._order, self._whole = self._expected(n)
        # The latest positions, which are most often those of the next observation, as bytes: whose
        # they are may change them. And the numbers in the columns, in order.
        self._latest: tuple[bytes, FloatArray] = (b"", np.empty(0))

    @property
    def root(self) -> Columns:
        """The columns under the names before any transformer."""
        # Not kept: it would be a circle, which holds on to many columns until it is looked for.
        return self if self._root is None else self._root

    @cached_property
    def walked_spans(self) -> dict[Any, tuple[int, int]]:
        """The spans of features, and those in which nothing is replaced, by a name of no feature.

        In these, too, a walk says what the model says.
        """
        return {**self.spans, **{object(): span for span in self.unchanged}}

    @cached_property
    def number_of(self) -> Array:
        """For each column the place of its feature in `names`; one more where none is replaced."""
        number_of = np.full(self.n, len(self.names))
        for number, (_, lo, hi) in enumerate(self.places):
            number_of[lo:hi] = number
        return number_of

    @cached_property
    def name_of(self) -> list[FeatureName | None]:
        """For each column the feature that is replaced there, or None."""
        name_of: list[FeatureName | None] = [None] * self.n
        for name, lo, hi in self.places:
            name_of[lo:hi] = [name] * (hi - lo)
        return name_of

    @cached_property
    def walked_columns(self) -> list[int]:
        """The columns in which a feature is replaced."""
        own = sorted(self.spans.values())
        return [column for lo, hi in own for column in range(lo, hi)]

    @cached_property
    def starts(self) -> Array:
        """For each column the first one of its feature; -1 where none is replaced."""
        starts = np.full(self.n, -1)
        for lo, hi in self.spans.values():
            starts[lo:hi] = lo
        return starts

    @cached_property
    def place_of(self) -> dict[int, int]:
        """The place of the feature whose first column it is."""
        return {probe.start: place for place, probe in enumerate(self.walked)}

    @cached_property
    def kinds(self) -> list[frozenset[type]]:
        """The types of what stands in the columns of each feature, without missing values."""
        zeros = self.values(np.zeros(self.n))
        return [_kinds(zeros[lo:hi]) for _, lo, hi in self.places]

    def renamed(self, names: tuple[FeatureName | None, ...]) -> Columns:
        """The same columns under other names of the features, None for those that are dropped."""
        child = self._children.get(names)
        if child is None:
            probes, unchanged = [], list(self.unchanged)
            for probe, name in zip(self.walked, names, strict=True):
                if name is None:
                    unchanged.append((probe.start, probe.stop))
                else:
                    probes.append(probe._replace(names=(name,)))
            child = Columns(tuple(probes), self.root, unchanged)
            if len(self._children) >= _MOST_CHILDREN:
                self._children.clear()
            self._children[names] = child
        return child

    def _expected(self, n: int) -> tuple[bytes, bytes]:
        """What `in_order` is to look for in each of n columns."""
        order, whole = bytearray(n), bytearray(n)
        for probe in self.walked:
            if probe.names[0] not in self._unordered:
                n_more = probe.stop - probe.start - 1
                order[probe.start : probe.stop] = bytes((IS_NUMBER,)) + bytes((ASCENDING,)) * n_more
            if probe.whole[0]:
                whole[probe.start : probe.stop] = b"\1" * (probe.stop - probe.start)
        for column in self._constants:
            whole[column] = False
        return bytes(order), bytes(whole)

    def points(
        self, x: Observation, positions: FloatArray, *, only_numbers: bool = False
    ) -> Points:
        """The points of one observation, given their positions of shape (1, n_axes, n_points).

        It has `only_numbers` if that is known already.
        """
        if type(x) is not dict:
            x = dict(x)
        non_numeric = self._non_numeric
        if not only_numbers and not kernels.current.has_only_numbers(x):
            non_numeric |= {name for name, value in x.items() if not isinstance(value, Real)}
        known, numbers = self._latest
        asked = positions.tobytes()
        if asked != known or not asked:
            numbers = np.array(positions[0, 0])
            if self._constants:
                numbers[self._places] = self._numbers
            if not kernels.current.in_order(numbers, self._order, self._whole):
                return self.arrange(x, self.values(numbers), non_numeric)
            self._latest = asked, numbers
        return Points(self, x, numbers, non_numeric, unordered=self._unordered)

    def arrange(
        self, x: dict[FeatureName, Any], values: list[Any], non_numeric: frozenset[FeatureName]
    ) -> Points:
        """The points, given the values in the columns and the features of x that are no numbers."""
        known = self.memory.get(_ARRANGED)
        if known is None or known[0] != values:
            known = self.memory[_ARRANGED] = (values, *self._arranged(values))
        _, numbers, unordered, irregular = known
        return Points(self, x, numbers, non_numeric | irregular, values=values, unordered=unordered)

    def _arranged(
        self, values: list[Any]
    ) -> tuple[FloatArray, frozenset[FeatureName], frozenset[FeatureName]]:
        """The values as numbers; which features do not ascend; and which of these are none."""
        are_numbers = set(map(type, values)) <= _NUMBERS
        numbers = np.array(values if are_numbers else list(map(_number, values)), float)
        falls = np.isnan(numbers)
        falls[1:] |= (numbers[1:] < numbers[:-1]) & (self.starts[1:] == self.starts[:-1])
        unordered = {
            name
            for column in np.flatnonzero(falls).tolist()
            if (name := self.name_of[column]) is not None
        }
        own = {} if are_numbers else {name: values[slice(*self.spans[name])] for name in unordered}
        irregular = {name for name, values in own.items() if not _are_numbers(values)}
        return numbers, frozenset(unordered), frozenset(irregular)

    def values(self, numbers: FloatArray, *, made: bool = False) -> list[Any]:
        """What stands in each column, in Python's own types, given the positions.

        Numbers that were `made` by a transformer stand there as they are.
        """
        values: list[Any] = numbers.tolist()
        if made:
            for column in self.absent:
                values[column] = ABSENT
            return values
        for probe in self.walked:
            if probe.whole[0]:
                own = slice(probe.start, probe.stop - probe.missing)
                values[own] = map(int, values[own])
        for column, value in self._constants.items():
            values[column] = value
        return values

    def value(self, numbers: FloatArray, column: int, *, made: bool = False) -> Any:
        """What stands in one column; the same as `values(numbers)[column]`."""
        if made:
            return ABSENT if column in self.absent else numbers.item(column)
        if column in self._constants:
            return self._constants[column]
        value = numbers.item(column)
        return int(value) if self._whole[column] else value


def _constants(probe: Probe) -> dict[int, Any]:
    """The columns of categories and missing values, with what stands in them."""
    categories = probe.categories[0]
    values = [] if categories is None else categories.tolist()
    constants = dict(enumerate(values, start=probe.start))
    if probe.missing:
        constants[probe.stop - 1] = ABSENT
    return constants


def _irregular(probes: Sequence[Probe]) -> tuple[frozenset[FeatureName], frozenset[FeatureName]]:
    """Features whose categories, with a missing value, do not ascend; those with other types."""
    unordered, non_numeric = set(), set()
    for probe in probes:
        constants = _constants(probe).values()
        fills_all = len(constants) == probe.stop - probe.start
        if constants and not (fills_all and _ascend(list(map(_number, constants)))):
            unordered.add(probe.names[0])
            if not _are_numbers(constants):
                non_numeric.add(probe.names[0])
    return frozenset(unordered), frozenset(non_numeric)


def _kinds(values: Sequence[Any]) -> frozenset[type]:
    return frozenset(type(value) for value in values if value is not ABSENT)


def _ascend(numbers: Sequence[float] | FloatArray) -> bool:
    """Whether all are numbers, none below the one before."""
    return not any(map(math.isnan, numbers)) and all(a <= b for a, b in pairwise(numbers))


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Real) or value is ABSENT for value in values)


def _number(value: Any) -> float:
    is_number = type(value) in _NUMBERS or isinstance(value, Real)
    return float(value) if is_number else math.nan
