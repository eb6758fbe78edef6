"""What the first observations of a source look like, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from ipdp.core.times import is_wall_clock, seconds
from ipdp.core.words import counted, ends_text, listed
from ipdp.sources.base import Pair
from ipdp.sources.columns import DECIMAL_COMMA

# Fewer rows do not tell an id or a clock from a column that happens to look like one.
_ENOUGH = 10
# Times that go back at no more than this share of the rows come late, and are a clock all the same.
_LATE = 0.1
# A target with more different whole numbers than this among the first 100 is not made of classes.
_MOST_CLASSES = 20
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Profile:
    """The first observations and their labels.

    `target` is the name of the labels, if it is known, `time` the column of the clock.

    Examples
    --------
    >>> rows = [({"age": 30 + k % 7, "job": "ab"[k % 2], "row": k}, k % 3 == 0) for k in range(100)]
    >>> Profile(rows, "granted").sentence()
    'the first 100 rows: 2 numbers, 1 text (job), target granted with 2 classes (False and True); 1 column looks like an id (row)'
    """  # noqa: E501

    rows: Sequence[Pair]
    target: str | None = None
    time: str | None = None

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The values of each column that are not missing."""
        names = [name for name in (self.rows[0][0] if self.rows else ()) if name != self.time]
        return {n: [v for x, _ in self.rows if (v := x.get(n)) is not None] for n in names}

    @cached_property
    def labels(self) -> list[Any]:
        """The labels that are not missing."""
        return [y for _, y in self.rows if y is not None]

    @property
    def texts(self) -> list[str]:
        """The columns that hold text."""
        return self._of_kind("text")

    @cached_property
    def clocks(self) -> list[str]:
        """Columns that look like the time of the observation: times that do not go back."""
        return [name for name, values in self.columns.items() if _is_clock(values)]

    @cached_property
    def dates(self) -> list[str]:
        """Columns of text that are times, and not that of the observation."""
        return [n for n in self.texts if n not in self.clocks and _times(self.columns[n])]

    @cached_property
    def ids(self) -> list[str]:
        """Columns that look like the name or the number of an observation."""
        times = {*self.clocks, *self.dates}
        return [n for n, v in self.columns.items() if n not in times and _is_id(v)]

    @property
    def different(self) -> list[str]:
        """Columns of text that is another one in each row: ids, and times mostly."""
        return [name for name in self.texts if _is_id(self.columns[name])]

    @property
    def decimal_commas(self) -> list[str]:
        """Columns of text that are numbers with a decimal comma."""
        return [n for n in self.texts if all(map(DECIMAL_COMMA.fullmatch, self.columns[n]))]

    @property
    def indices(self) -> list[str]:
        """Columns that are the index of a frame of pandas."""
        return [name for name in self.columns if _PANDAS_INDEX.fullmatch(name)]

    @property
    def is_continuous(self) -> bool:
        """Whether the labels are numbers, and no classes."""
        labels = self.labels
        if not labels or not all(_kind(y) == "number" for y in labels):
            return False
        return any(y != int(y) for y in labels) or len(set(labels)) > _MOST_CLASSES

    def _of_kind(self, kind: str) -> list[str]:
        return [n for n, values in self.columns.items() if values and _kind(values[0]) == kind]

    # In words.

    def sentence(self) -> str:
        """What was understood."""
        texts = self.texts
        parts = [counted(n, "number") for n in [len(self._of_kind("number"))] if n]
        parts += [f"{counted(len(b), 'bool')} ({listed(b)})" for b in [self._of_kind("bool")] if b]
        if texts:
            parts.append(f"{counted(len(texts), 'text')} ({listed(texts)})")
        parts += [f"{listed(e)} always missing" for e in [self._empty] if e]
        parts += [self._target] if self.labels else []
        parts += [f"time from {self.time}"] if self.time else []
        looks: list[str] = []
        for what, names in (("a clock", self.clocks), ("an id", self.ids)):
            if names:
                word = "" if looks else f"column{'s' * (len(names) > 1)} "
                verb = "" if looks else f"look{'s' * (len(names) == 1)} "
                looks.append(f"{len(names)} {word}{verb}like {what} ({listed(names)})")
        end = f"; {', '.join(looks)}" if looks else ""
        rows = counted(len(self.rows), "row")
        return f"the first {rows}: {', '.join(parts)}{end}"

    @property
    def _empty(self) -> list[str]:
        return [name for name, values in self.columns.items() if not values]

    @property
    def _target(self) -> str:
        named = f"target {self.target}" if self.target else "a target"
        if self.is_continuous:
            low, high = ends_text(min(self.labels), max(self.labels))
            return f"{named} from {low} to {high}"
        classes = sorted(set(self.labels), key=lambda y: (str(type(y)), y))
        return f"{named} with {counted(len(classes), 'class')} ({listed(classes)})"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "text" if isinstance(value, str) else "number"


def _is_clock(values: Sequence[Any]) -> bool:
    """Times that do not go back; of those that are text some may, and all may be in reverse."""
    steps = [b - a for a, b in pairwise(_times(values))]
    back, forth = sum(s < 0 for s in steps), sum(s > 0 for s in steps)
    if not isinstance(values[0] if values else None, str):
        return forth > 0 and not back
    return back + forth > 0 and min(back, forth) <= _LATE * len(steps)


def _times(values: Sequence[Any]) -> list[float]:
    """The values in seconds since 1970; none if they are no times, or too few to tell."""
    if len(values) < _ENOUGH:
        return []
    times = [t for v in values if (t := seconds(v)) is not None and _is_time(v, t)]
    return times if len(times) == len(values) else []


def _is_time(value: Any, t: float) -> bool:
    # A number may be any, a text that is read as a time is one.
    return isinstance(value, str) or is_wall_clock(t)


def _is_id(values: Sequence[Any]) -> bool:
    """Texts that all differ, or whole numbers each of which is larger than the one before."""
    if len(values) < _ENOUGH or _kind(values[0]) == "bool":
        return False
    if _kind(values[0]) == "text":
        is_number = all(map(DECIMAL_COMMA.fullmatch, values))
        return len(set(values)) == len(values) and not is_number
    if any(value != int(value) for value in values):
        return False
    return all(a < b for a, b in pairwise(values))
