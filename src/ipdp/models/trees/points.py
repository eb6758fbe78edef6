"""An observation and the points that it is asked about, as the walk wants them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ipdp.core.typing import FeatureName, FloatArray

if TYPE_CHECKING:
    from ipdp.models.trees.columns import Columns

ABSENT = object()
"""Stands in a column for a missing value: the point does not have the feature."""

NONE: frozenset[FeatureName] = frozenset()
"""No features."""


class Points:
    """One observation and its points, one column each.

    Parameters
    ----------
    columns
        What is the same for all observations.
    x
        The observation.
    numbers
        What stands in each column in place of a feature of x; NaN where it is not a number.
    odd
        Features that have a value which is not a number, in x or among the points.
    values
        The same as the numbers, in Python's own types; None if it follows from them.
    unordered
        Features whose values do not ascend, or are not numbers all.

    Attributes
    ----------
    easy
        The part of x that a branch at a threshold may be decided by at once.
    """

    __slots__ = ("_values", "columns", "easy", "numbers", "odd", "unordered", "x")

    def __init__(
        self,
        columns: Columns,
        x: dict[FeatureName, Any],
        numbers: FloatArray,
        odd: frozenset[FeatureName] = NONE,
        *,
        values: list[Any] | None = None,
        unordered: Collection[FeatureName] = NONE,
    ) -> None:
        self.columns = columns
        self.x = self.easy = x
        if unordered:
            self.easy = {name: value for name, value in x.items() if name not in unordered}
        self.numbers = numbers
        self._values = values
        self.unordered = unordered
        self.odd = odd

    @property
    def values(self) -> list[Any]:
        """What stands in each column, in Python's own types; ABSENT for a missing value."""
        if self._values is None:
            self._values = self.columns.values(self.numbers)
        return self._values

    def at(
        self, column: int, features: Collection[FeatureName] | None = None
    ) -> dict[FeatureName, Any]:
        """The observation with the value of one column; only some features if they are given."""
        name: Any = self.columns.name_of[column]
        if self._values is None:
            value = self.columns.value(self.numbers, column)
        else:
            value = self._values[column]
        point = {**self.x, name: value}
        if value is ABSENT:
            del point[name]
        if features is None:
            return point
        return {name: point[name] for name in features if name in point}
