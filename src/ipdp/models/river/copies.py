"""Copies of an observation in which one feature after the other is replaced by several values.

Before the first transformer each copy differs from the observation in one feature: such copies are
`Points`, which trees and linear models take at once. Behind an encoder it may be several features
(a category that was replaced is two columns of zeros and ones): such copies are `Copies`. They are
`Groups`, of points again, if the copies of each feature differ in one feature from an observation
that they share (the one without the category).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.trees.kinds import ABSENT
from ipdp.models.trees.points import Columns, Points

_NUMBERS = {float, int, bool}

Row: TypeAlias = FloatArray | list[Any]
"""The values of one feature in neighbouring copies: numbers as an array, or Python's own values."""


class Block(NamedTuple):
    """Neighbouring copies, from column `lo` to the one before `hi`, and what differs in them.

    `rows` has the values of each of the features `names`, ABSENT where a copy lacks it.
    """

    lo: int
    hi: int
    names: tuple[FeatureName, ...]
    rows: list[Row]


class Copies:
    """An observation `x`, and blocks of copies of it: one for each feature that is asked about.

    `columns` are those of the question, whose features the blocks are of, in their order.
    """

    def __init__(
        self, columns: Columns, x: dict[FeatureName, Any], blocks: Sequence[Block]
    ) -> None:
        self.columns = columns
        self.x = x
        self.blocks = blocks

    @classmethod
    def of(cls, asked: Asked) -> Copies:
        """The same copies in this form."""
        if isinstance(asked, Copies):
            return asked
        columns = asked.columns
        by_number = asked.made and not columns.absent and not asked.non_numeric
        values: Row = asked.numbers if by_number else asked.values
        blocks = [Block(lo, hi, (name,), [values[lo:hi]]) for name, lo, hi in columns.places]
        blocks += [Block(lo, hi, (), []) for lo, hi in columns.unchanged]
        return cls(columns.root, asked.x, sorted(blocks, key=lambda block: block.lo))

    def at(self, column: int) -> dict[FeatureName, Any]:
        """The copy in one column."""
        for lo, hi, names, rows in self.blocks:
            if lo <= column < hi:
                # In its own type: older hashers make Counters, which have a 0 for what they lack.
                point = self.x.copy()
                for name, row in zip(names, rows, strict=True):
                    value = (
                        row.item(column - lo) if isinstance(row, np.ndarray) else row[column - lo]
                    )
                    if value is not ABSENT:
                        point[name] = value
                    else:
                        point.pop(name, None)
                return point
        return self.x.copy()

    def as_points(self) -> Points | None:
        """The same as points, if no copy differs in more than one feature; else None."""
        if type(self.x) is not dict:
            return None
        walked = self.columns.walked
        spans = [(probe.start, probe.stop) for probe in walked]
        if [(block.lo, block.hi) for block in self.blocks] != spans:
            return None
        names = [block.names[0] if block.names else None for block in self.blocks]
        kept = [name for name in names if name is not None]
        if len(set(kept)) < len(kept) or any(len(block.names) > 1 for block in self.blocks):
            return None
        values: list[Any] = [0.0] * self.columns.n
        for block in self.blocks:
            if block.rows:
                values[block.lo : block.hi] = as_list(block.rows[0])
        return arranged(self.columns.renamed(tuple(names)), self.x, values)


def arranged(columns: Columns, x: dict[FeatureName, Any], values: list[Any]) -> Points:
    """The points that a transformer has made of an observation and of the values in columns."""
    non_numeric = {name for name, value in x.items() if type(value) not in _NUMBERS}
    if non_numeric:
        non_numeric = {name for name in non_numeric if not isinstance(x[name], Real)}
    return columns.arrange(x, values, frozenset(non_numeric))


class Group(NamedTuple):
    """The copies from column `lo` to the one before `hi`: points of an observation of their own."""

    lo: int
    hi: int
    points: Points  # whose first column is `lo`


class Groups(Copies):
    """Copies of which some are points of the observation, and others those of `others`.

    `points` are of the whole question; in the columns of a group they replace nothing.
    """

    def __init__(self, points: Points, others: Sequence[Group]) -> None:
        self.columns = points.columns.root
        self.x = points.x
        self.points = points
        self.others = others

    @property
    def unchanged(self) -> list[tuple[int, int]]:
        """The columns in which nothing differs from the observation."""
        ours = {group.lo for group in self.others}
        return [span for span in self.points.columns.unchanged if span[0] not in ours]

    @cached_property
    def blocks(self) -> Sequence[Block]:  # type: ignore[override]
        """The same as blocks, for what does not know groups."""
        ours = {group.lo for group in self.others}
        blocks = [block for block in Copies.of(self.points).blocks if block.lo not in ours]
        for lo, hi, points in self.others:
            made = [points.at(column) for column in range(hi - lo)]
            blocks.append(block_of(lo, hi, self.x, made))
        return sorted(blocks, key=lambda block: block.lo)

    def at(self, column: int) -> dict[FeatureName, Any]:
        for lo, hi, points in self.others:
            if lo <= column < hi:
                return points.at(column - lo)
        return self.points.at(column)

    def each(self, change: Callable[[Points], Asked]) -> Groups | None:
        """The same with other points in place of each; None if they are no points any more."""
        points = change(self.points)
        made = [Group(lo, hi, change(own)) for lo, hi, own in self.others]  # type: ignore[arg-type]
        if not all(isinstance(own, Points) for own in (points, *[group.points for group in made])):
            return None
        return Groups(points, made)  # type: ignore[arg-type]


Asked: TypeAlias = Points | Copies
"""What a part of a model is asked about."""


def block_of(lo: int, hi: int, x: dict[Any, Any], made: list[dict[Any, Any]]) -> Block:
    """A block of what each copy is, given what the observation is."""
    names = [
        name
        for name in dict.fromkeys([*x, *[name for each in made for name in each]])
        if any(_differ(each.get(name, ABSENT), x.get(name, ABSENT)) for each in made)
    ]
    rows: list[Row] = [[each.get(name, ABSENT) for each in made] for name in names]
    return Block(lo, hi, tuple(names), rows)


def _differ(one: Any, other: Any) -> bool:
    return one is not other and (type(one) is not type(other) or bool(one != other))


def as_list(row: Row) -> list[Any]:
    """A row as Python's own values."""
    return row.tolist() if isinstance(row, np.ndarray) else row


def as_table(rows: Sequence[Row], absent: float = 0.0) -> FloatArray:
    """Rows of equal length as numbers; an error, as river's, if something is not one."""
    if not all(isinstance(row, np.ndarray) for row in rows):
        lists = [as_list(row) for row in rows]
        kinds = {kind for row in lists for kind in map(type, row)}
        if not kinds <= _NUMBERS:
            lists = [[_number(value, absent) for value in row] for row in lists]
        return np.array(lists, dtype=float)
    return np.array(rows)


def _number(value: Any, absent: float) -> Any:
    if value is ABSENT:
        return absent
    if not isinstance(value, Real):
        raise TypeError(f"{value!r} is not a number")
    return value
