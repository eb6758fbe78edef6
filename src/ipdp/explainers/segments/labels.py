"""Which groups there are: the most frequent ones, found by a counter whose size is bounded.

The first groups that come have a place of their own. When all places are taken, what comes counts
to `OTHERS`, and is counted: a group that has become twice as frequent as the rarest one with a
place takes it over, and what was in it goes to the others. Counts are forgotten as observations
are. They are kept as logarithms, to which the age of the first observation adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import FeatureName, Label, Observation, State
from ipdp.grid.base import is_missing

OTHERS = "others"
"""The group of all that have no place of their own."""

By = FeatureName | Callable[[Any], Any]
"""What the groups are made by: a column, or a function of an observation."""

# A group takes the place of another if it is so much more frequent (a logarithm), and is worth so
# many observations, or that share of all: the first groups that come have one or two.
_MORE = math.log(2.0)
_FEW, _SHARE = 4.0, 0.02
# How many groups without a place are counted, for each place. One that was forgotten and comes back
# costs more than one that is counted.
_COUNTED = 8


def label_of(by: By, x: Observation) -> Label | None:
    """The group of an observation; None if it is missing.

    Examples
    --------
    >>> label_of("country", {"country": "AT"}), label_of(lambda x: x["age"] > 40, {"age": 50})
    ('AT', True)
    >>> label_of("country", {"country": float("nan")}) is label_of("country", {})
    True
    """
    value = by(x) if callable(by) else x.get(by)
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, int, float)) else str(value)


def name_of(by: By) -> str:
    """What the groups are made by, in a word."""
    if not callable(by):
        return str(by)
    name = getattr(by, "__name__", "<lambda>")
    return "group" if name == "<lambda>" else name


def label_text(label: Label | None) -> str:
    """A group as it is written everywhere."""
    return "missing" if label is None else str(label)


class Place(NamedTuple):
    """Where an observation is summed: its row, and the group that has just lost it, if any."""

    row: int
    replaced: Label | None = None  # never that of missing values


Counts = Callable[[], dict[Any, float]]
"""Gives the weight of each group with a row, as a logarithm had nothing been forgotten."""


class Labels:
    """The groups and their rows, and how frequent those are that have none.

    Parameters
    ----------
    most
        How many groups have a row of their own; missing values and the others come on top.
    alpha
        How fast counts are forgotten.

    Examples
    --------
    >>> labels = Labels(1, alpha=None)
    >>> counts = lambda: {"a": 1.0}
    >>> [labels.place(each, 1.0, t, counts).row for t, each in enumerate(["a", "b", None])]
    [0, 1, 2]
    >>> list(labels.rows)
    ['a', 'others', None]
    """

    def __init__(self, most: int, *, alpha: float | None) -> None:
        self.most = most
        self.rows: dict[Label | None, int] = {}
        self.waiting: dict[Label | None, float] = {}  # logarithms of weights
        # The same of what groups had before they took over a row, which is with the others: without
        # it those that have just come would be the rarest, and lose their row again at once.
        self.credit: dict[Label | None, float] = {}
        self.growth = 0.0 if alpha is None else -math.log(max(1.0 - alpha, 1e-300))
        self._few = math.log(_FEW if alpha is None else min(_FEW, _SHARE / alpha))
        self._least = -math.inf  # no group that may be replaced has a smaller weight

    def wait(self, label: Label | None, w: float, t: float) -> int | None:
        """The row of the others, to which one more observation of a group counts.

        None if its group was not met there yet, or may be frequent enough to have a row: see
        `place`.
        """
        before = self.waiting.get(label)
        if before is None:
            return None
        now = t * self.growth
        own = now if w == 1.0 else now + math.log(w)
        # As `log_sum`, here because it is needed for each observation.
        count = before if before > own else own
        count += math.log1p(math.exp(-abs(before - own)))
        if count > self._least + _MORE and count > now + self._few:
            return None
        self.waiting[label] = count
        return self.rows.get(OTHERS)

    def place(self, label: Label | None, w: float, t: float, counts: Counts) -> Place:
        """Where an observation of a group belongs; one that has no row is counted."""
        row = self.rows.get(label)
        if row is not None:
            return Place(row)
        n_own = len(self.rows) - (None in self.rows) - (OTHERS in self.rows)
        if label is None or label == OTHERS or n_own < self.most:
            return Place(self._new(label))
        now = t * self.growth
        count = log_sum(self.waiting.get(label, -math.inf), now + math.log(w))
        self.waiting[label] = count
        if count > self._least + _MORE and count > now + self._few:
            known = counts()
            own = [each for each in self.rows if each is not None and each != OTHERS]
            rarest = min(own, key=lambda each: known.get(each, -math.inf))
            self._least = known.get(rarest, -math.inf)
            if count > self._least + _MORE:
                return self._take_over(rarest, label)
        if len(self.waiting) > 2 * _COUNTED * self.most:
            self._forget_rarest()
        return Place(self.others())

    def _new(self, label: Label | None) -> int:
        self.rows[label] = len(self.rows)
        return self.rows[label]

    def others(self) -> int:
        """The row of the others, made if there is none yet."""
        return self.rows[OTHERS] if OTHERS in self.rows else self._new(OTHERS)

    def _take_over(self, rarest: Label, label: Label | None) -> Place:
        """Give the row of one group to another one."""
        self.others()
        row = self.rows.pop(rarest)
        self.waiting[rarest] = self._least
        self.rows[label] = row
        self.credit.pop(rarest, None)
        self.credit[label] = self.waiting.pop(label)
        return Place(row, rarest)

    def _forget_rarest(self) -> None:
        """Count only the more frequent half of those without a place."""
        kept = sorted(self.waiting, key=self.waiting.__getitem__, reverse=True)
        self.waiting = {label: self.waiting[label] for label in kept[: _COUNTED * self.most]}

    def by_size(self, counts: dict[Any, float]) -> list[Label | None]:
        """The groups, most frequent first; missing values and the others come last."""
        return sorted(
            self.rows,
            key=lambda label: (label == OTHERS, label is None, -counts.get(label, -math.inf)),
        )

    def merge(
        self,
        earlier: Labels,
        later: Labels,
        counts: dict[Any, float],
        *,
        follows: bool,
        left: Collection[Any],
    ) -> None:
        """Take the groups of two segments, the most frequent ones.

        `counts` are those of both together; with `follows` the later segment had the groups of the
        earlier one to begin with, of which those that `left` have lost their row since.
        """
        self.restore(later.state)
        for label, count in earlier.credit.items():
            if label not in left:
                self.credit[label] = log_sum(self.credit.get(label, -math.inf), count)
        if follows:
            return
        both = [*earlier.rows, *later.rows]
        own = [label for label in dict.fromkeys(both) if label is not None and label != OTHERS]
        own.sort(key=lambda label: counts.get(label, -math.inf), reverse=True)
        rest = own[self.most :]
        kept = own[: self.most] + [None] * (None in both)
        kept += [OTHERS] * (bool(rest) or OTHERS in both)
        self.rows = {label: row for row, label in enumerate(kept)}
        for label in rest:
            self.waiting[label] = counts.get(label, -math.inf)
        self.waiting = {each: n for each, n in self.waiting.items() if each not in self.rows}
        self.credit = {each: n for each, n in self.credit.items() if each in self.rows}
        self._forget_rarest()

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        rows = sorted(self.rows, key=self.rows.__getitem__)
        return {
            "rows": [encode_name(label) for label in rows],
            "waiting": [[encode_name(label), count] for label, count in self.waiting.items()],
            "credit": [[encode_name(label), count] for label, count in self.credit.items()],
        }

    def restore(self, state: State) -> None:
        """Take what `state` gave."""
        labels = [decode_name(label) for label in state["rows"]]
        schema.check({"rows": labels}, rows=schema.each(schema.name))
        if len(set(labels)) != len(labels) or len(labels) > self.most + 2:  # gaps, and all others
            raise ValueError("the state is damaged: its groups are too many, or one is there twice")
        self.rows = {label: row for row, label in enumerate(labels)}
        self.waiting = {decode_name(label): float(count) for label, count in state["waiting"]}
        # Earlier versions had none.
        self.credit = {decode_name(label): float(n) for label, n in state.get("credit", [])}


def log_sum(one: float, other: float) -> float:
    """The logarithm of the sum of two numbers whose logarithms are given."""
    larger, smaller = (one, other) if one >= other else (other, one)
    if smaller == -math.inf:
        return larger
    return larger + math.log1p(math.exp(smaller - larger))
