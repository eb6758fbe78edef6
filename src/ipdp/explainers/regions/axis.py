"""By which values of a feature observations can be told apart: its parts, as rows of sums.

Numbers are cut at quantiles of the recent values, rounded so that they can be read; categories are
parts themselves. A missing value is a part of its own. When the values move, numbers are cut anew,
and what was summed is shared out among the new parts, as if it lay evenly in the old ones.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import Array, FeatureName, FloatArray, State

N_ROWS = 34
"""As many parts there are: of numbers or categories, one for other categories, one for missing."""

OTHER, MISSING = N_ROWS - 2, N_ROWS - 1

NOWHERE = -1
"""The row of an observation before there are any parts."""

# So many recent values are kept; numbers are cut from so many on, anew each time that they have
# doubled, and later when a part holds so many times the share that it would have of evenly many.
_N_RECENT, _FEWEST, _UNEVEN = 256, 32, 2.5
_GOLDEN = (math.sqrt(5) - 1) / 2
# A cut is rounded to this share of the distance to its neighbours.
_ROUNDED = 0.25
# So many whole numbers, or fewer, are categories.
_FEW = 10
# Of numbers, so many of the last are looked at whether they still are.
_LAST = 8
# A category with less than this share of the weight makes room for another.
_SELDOM = 0.002


class Axis:
    """The parts of one feature.

    Parameters
    ----------
    name
        The feature.
    every
        Of how many values one is kept, once there are enough.

    Attributes
    ----------
    is_categorical
        Whether its values are categories; None before there are parts.
    edges
        Of numbers: part k is above edge k - 1, up to and with edge k.
    rows
        Of categories: the part of each.
    """

    def __init__(self, name: FeatureName, *, every: int) -> None:
        self.name = name
        self.every = every
        self.n = 0
        self.recent: deque[Any] = deque(maxlen=_N_RECENT)
        self.is_categorical: bool | None = None
        self.edges: FloatArray = np.empty(0)
        self.rows: dict[Any, int] = {}
        self._due = _FEWEST

    def locate(self, values: Sequence[Any]) -> Array:
        """The parts of some values, None if missing; `NOWHERE` before there are parts."""
        found = np.full(len(values), MISSING)
        if self.is_categorical is None:
            found[:] = NOWHERE
        elif self.is_categorical:
            found[:] = [MISSING if v is None else self.rows.get(v, OTHER) for v in values]
        else:
            known = [k for k, v in enumerate(values) if is_number(v)]
            numbers = np.array([values[k] for k in known], dtype=float)
            found[known] = np.searchsorted(self.edges, numbers, side="left")
        return found

    def take(self, values: Sequence[Any]) -> None:
        """Remember some of these values."""
        for value in values:
            if value is None:
                continue
            self.n += 1
            # Not every k-th: of a cycle these could be always the same.
            if self.n <= _N_RECENT or self.n * _GOLDEN % 1.0 < 1 / self.every:
                self.recent.append(value)

    def renewed(self, weights: FloatArray) -> FloatArray | None:
        """Let the parts follow the values; how the sums go to the new parts, None if they stay.

        Parameters
        ----------
        weights
            What each part weighs, of shape (N_ROWS,).

        Returns
        -------
        Shape (N_ROWS, N_ROWS): the share of each old part, a column, that goes to each new one.
        """
        if self.n < _FEWEST:
            return None
        is_categorical = self._seems_categorical()
        if is_categorical is not self.is_categorical:
            self.is_categorical = is_categorical
            self.edges, self.rows = np.empty(0), {}
            self._due = self.n
            if is_categorical:
                self._take_categories(weights)
            else:
                self._cut()
            return np.zeros((N_ROWS, N_ROWS))
        if is_categorical:
            return self._take_categories(weights)
        return self._cut_again(weights) if self.n >= self._due else None

    def _seems_categorical(self) -> bool:
        """Whether the values are no numbers, or few whole ones."""
        if self.is_categorical is False:  # it stays so, unless what came last is no number
            last = islice(reversed(self.recent), _LAST)
            return not all(map(is_number, last))
        values = set(self.recent)
        if any(isinstance(v, (bool, np.bool_)) or not is_number(v) for v in values):
            return True
        # They are few up to twice as many once they have been: a kind is not to come and go.
        few = 2 * _FEW if self.is_categorical else _FEW
        return len(values) <= few and all(float(v).is_integer() for v in values)

    def _take_categories(self, weights: FloatArray) -> FloatArray | None:
        """Give categories that are new a part, if there is room for them."""
        new = [v for v in dict.fromkeys(self.recent) if v not in self.rows]
        kept = np.eye(N_ROWS)
        for value in new:
            free = set(range(OTHER)) - set(self.rows.values())
            if not free:
                least = min(self.rows, key=lambda v: weights[self.rows[v]])
                if weights[self.rows[least]] > _SELDOM * weights.sum():
                    break
                free = {self.rows.pop(least)}
                kept[:, list(free)] = 0.0
            self.rows[value] = min(free)
        return kept if new and not (kept == np.eye(N_ROWS)).all() else None

    def _cut_again(self, weights: FloatArray) -> FloatArray | None:
        # Twice as many values are known by then, or all that is kept are others.
        self._due = self.n + max(min(self.n, _N_RECENT * self.every), _FEWEST)
        rows = self.locate(list(self.recent))
        counts = np.bincount(rows, minlength=N_ROWS)[: len(self.edges) + 1]
        is_even = counts.max() <= _UNEVEN * len(self.recent) / (len(self.edges) + 1)
        if is_even and self.n > _N_RECENT and weights.any():
            return None
        before = self.edges
        self._cut()
        return None if np.array_equal(before, self.edges) else self._shared_out(before)

    def _cut(self) -> None:
        values = np.sort(np.array([v for v in self.recent if is_number(v)], dtype=float))
        different = np.unique(values)
        if len(different) <= OTHER:
            self.edges = different[:-1]
            return
        at = np.arange(1, OTHER) / OTHER
        cuts = np.unique(np.quantile(values, at, method="lower"))
        self.edges = np.unique(_rounded(cuts[cuts < values[-1]]))

    def _shared_out(self, before: FloatArray) -> FloatArray:
        """How much of each part between the edges of before is in each one now."""
        shares = np.zeros((N_ROWS, N_ROWS))
        shares[[OTHER, MISSING], [OTHER, MISSING]] = 1.0
        values = [v for v in self.recent if is_number(v)]
        ends = [e for edges in (before, self.edges) for e in edges]
        low, high = min([*values, *ends]), max([*values, *ends])
        width = (high - low) or 1.0
        # Beyond the last edges there is as much room as the values take.
        old = [low - width / N_ROWS, *before, high + width / N_ROWS]
        new = [-math.inf, *self.edges, math.inf]
        for j, (start, stop) in enumerate(pairwise(old)):
            for k, (first, last) in enumerate(pairwise(new)):
                common = min(stop, last) - max(start, first)
                if common > 0:
                    shares[k, j] = common / (stop - start)
        return shares

    # Copies and state.

    def empty(self) -> Axis:
        """One of the same feature that has seen nothing."""
        return Axis(self.name, every=self.every)

    def copy(self) -> Axis:
        """An independent copy."""
        twin = self.empty()
        vars(twin).update(vars(self))
        twin.recent, twin.rows = deque(self.recent, maxlen=_N_RECENT), dict(self.rows)
        return twin

    def merged(self, later: Axis) -> tuple[Axis, FloatArray]:
        """The parts of a later segment, and how the sums of this one go to them."""
        joined = later.copy()
        joined.n += self.n
        joined.recent.clear()
        joined.recent.extend([*self.recent, *later.recent])
        if later.is_categorical is None:
            joined.is_categorical, joined.edges = self.is_categorical, self.edges
            joined.rows = dict(self.rows)
            return joined, np.eye(N_ROWS)
        shares = np.zeros((N_ROWS, N_ROWS))
        if self.is_categorical is not later.is_categorical:
            return joined, shares
        if not later.is_categorical:
            return joined, joined._shared_out(self.edges)
        shares[[OTHER, MISSING], [OTHER, MISSING]] = 1.0
        for value, row in self.rows.items():
            free = sorted(set(range(OTHER)) - set(joined.rows.values()))
            if value not in joined.rows and free:
                joined.rows[value] = free[0]
            shares[joined.rows.get(value, OTHER), row] = 1.0
        return joined, shares

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        return {
            "n": self.n,
            "due": self._due,
            "recent": [encode_name(value) for value in self.recent],
            "is_categorical": self.is_categorical,
            "edges": self.edges.tolist(),
            "rows": [[encode_name(value), row] for value, row in self.rows.items()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what `state` gave."""
        schema.check(state, n=schema.count, due=schema.count)
        schema.check(state, is_categorical=schema.maybe(schema.flag))
        schema.check(state, edges=schema.each(schema.value), rows=schema.each(schema.parts))
        self.n, self._due = int(state["n"]), int(state["due"])
        self.recent.clear()
        self.recent.extend(schema.categories(state, "recent"))
        self.is_categorical = state["is_categorical"]
        self.edges = np.array(state["edges"], dtype=float)
        self.rows = {decode_name(value): int(row) for value, row in state["rows"]}
        rows = list(self.rows.values())
        if len(self.edges) >= OTHER or any(not 0 <= row < OTHER for row in rows):
            raise ValueError(f"the state is damaged: there are too many parts of {self.name!r}")


def _rounded(edges: FloatArray) -> FloatArray:
    """Numbers with as few digits as still tell them apart well."""
    if len(edges) < 2:
        return edges
    gaps = np.diff(edges)
    near = np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))
    digits = np.ceil(-np.log10(_ROUNDED * near * 2)).astype(int)
    return np.array([round(float(e), int(d)) for e, d in zip(edges, digits, strict=True)])


def is_number(value: Any) -> bool:
    """Whether a value is a number, and finite."""
    return hasattr(value, "__float__") and math.isfinite(value)
