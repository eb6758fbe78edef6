"""Which split of another feature explains why the ICE curves of a feature disagree.

The *gain* of a split is the share of the variance of the centred ICE curves, over all points, that
is between its two sides (Herbinger et al. 2022, for a stream). A share is between 0 and 1, so that
after n independent observations Hoeffding's inequality bounds how far it may be from the truth, for
all splits at once. Observations that depend on each other are worth fewer: as many as the memory of
the centred curves leaves (`core/dependence.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.dependence import FEWEST, independent_errors
from ipdp.core.typing import Array, FeatureName, FloatArray
from ipdp.explainers.regions.axis import MISSING, N_ROWS, OTHER, Axis, is_number
from ipdp.explainers.regions.sums import RegionSums

# A split has to explain at least this share of the variance, more by the bound; and the bound holds
# for all splits with this probability.
_LEAST, _DELTA = 0.1, 0.01
# What it explains has to be at least this share of what any feature does.
_MATERIAL = 0.01
# Each side has at least this share of the observations.
_SIDE = 0.05
# By which share a split has to be better than one of the same feature that is easier to tell.
_HARDER = 0.05
_TINY = 1e-300


Rows = frozenset[int]
"""The rows of one side of a split."""


@dataclass(frozen=True)
class Part:
    """A split of an axis: the rows of both sides, and what it gains."""

    axis: int
    first: Rows
    second: Rows
    gain: float
    bound: float


class Search:
    """The best splits of all targets.

    Parameters
    ----------
    sums
        Where nothing waits.
    shares
        For each column how much of its target's data is there; of shape (n_columns,), the sum over
        a target is 1.
    scale
        What one unit of each output is, of shape (n_outputs,).
    names
        The feature of each target.
    """

    def __init__(
        self,
        sums: RegionSums,
        shares: FloatArray,
        scale: FloatArray,
        names: Mapping[int, FeatureName],
    ) -> None:
        self.sums = sums
        numbers = np.array([column.target for column in sums.columns], dtype=int)
        self.targets: list[int] = list(dict.fromkeys(numbers.tolist()))
        # (n_targets, n_outputs, n_columns): what each number counts for each target.
        owner = (numbers == np.array(self.targets)[:, None]) * shares
        self._counts = owner[:, None] / scale[:, None] ** 2
        self._names = names

    def found(self) -> dict[int, Part]:
        """The split of each target that has one."""
        sums = self.sums
        blocks = sums.blocks.closed(sums.centred.t or 0.0)
        if len(blocks.numbers) < FEWEST or not self.targets:
            return {}
        variance = np.nan_to_num(sums.centred.variance)
        hidden = self._of_targets(variance)
        effect = self._of_targets(self._curve_variance())
        largest = float((hidden + effect).max(initial=0.0))
        worth = dict(zip(self.targets, self._worth(variance).tolist(), strict=True))
        best: dict[int, Part] = {}
        for k in range(len(sums.axes)):
            for number, between, gain, first, second in self._of_axis(k):
                bound = self._bound(max(worth[number], self._worth_of_sides(k, first, second)))
                if gain <= (best[number].gain if number in best else 0.0):
                    continue
                if gain - bound >= _LEAST and between >= _MATERIAL * largest:
                    best[number] = Part(k, first, second, gain, bound)
        return {number: best[number] for number in self.targets if number in best}

    def _of_targets(self, values: FloatArray) -> FloatArray:
        """Sums over the points and outputs of each target; values (..., n_outputs, n_columns)."""
        return np.asarray(np.einsum("joc,...oc->...j", self._counts, values))

    def _curve_variance(self) -> FloatArray:
        """The squared distance of each smoothed curve from its own mean."""
        mean = self.sums.centred.mean
        shares = self._counts.sum(axis=1) / np.maximum(
            self._counts.sum(axis=(1, 2))[:, None], _TINY
        )
        level = np.einsum("jc,oc->jo", shares, mean)
        owner = (shares > 0).argmax(axis=0)
        return np.asarray((mean - level[owner].T) ** 2)

    def _worth(self, variance: FloatArray) -> FloatArray:
        """How many independent observations the centred curves of each target are worth."""
        _, n = independent_errors(self.sums.centred, self.sums.blocks)
        whole = self._of_targets(variance)
        lost = self._of_targets(variance / np.maximum(n, 1.0))
        return np.asarray(np.where(lost > 0, whole / np.where(lost > 0, lost, 1.0), np.inf))

    def _worth_of_sides(self, k: int, first: Rows, second: Rows) -> float:
        """The same of the sides of a split, from how often successive observations change them.

        If either the curves or the sides are independent, so is what they have in common: a drift
        of the curves is not taken for their memory where the sides change often.
        """
        turns, (one, other) = self.sums.turns[k], (list(first), list(second))
        total = max(float(turns.sum()), _TINY)
        share = float(turns[one].sum()) / total
        changes = float(turns[np.ix_(one, other)].sum() + turns[np.ix_(other, one)].sum()) / total
        # Of a chain of two states: 1 minus its correlation from one to the next.
        left = min(changes / max(2 * share * (1 - share), _TINY), 1.0)
        return float(np.median(self.sums.centred.n_effective)) * left / (2 - left)

    def _bound(self, worth: float) -> float:
        """By how much the gain of any split may be off, for so many independent observations."""
        n_splits = max(sum(len(axis.edges) + len(axis.rows) for axis in self.sums.axes), 1)
        return math.sqrt(math.log(n_splits / _DELTA) / (2 * max(worth, _TINY)))

    def _of_axis(self, k: int) -> list[tuple[int, float, float, Rows, Rows]]:
        """The best split of one axis for each target: its number, variance, gain and rows."""
        sums, axis = self.sums, self.sums.axes[k]
        if axis.is_categorical is None:
            return []
        weight = sums.weight[k]
        total = np.maximum(weight.sum(axis=0), _TINY)
        mean = sums.mean[k][:, sums.n_outputs :]
        whole = np.einsum("rc,roc->oc", weight, mean) / total
        off = mean - whole
        spread = sums.spread[k][:, sums.n_outputs :]
        variance = (spread + weight[:, None] * off * off).sum(axis=0) / total
        hidden = self._of_targets(variance)
        moved = weight[:, None] * off
        found = []
        for j, number in enumerate(self.targets):
            if axis.name == self._names[number] or not hidden[j] > 0:
                continue
            own = np.flatnonzero(self._counts[j].any(axis=0))
            of_target = weight[:, own], moved[..., own], self._counts[j][:, own]
            between, first, second = _best(axis, *of_target)
            if between > 0:
                gain = min(between / float(hidden[j]), 1.0)
                found.append((number, between, gain, first, second))
        return found


def _best(
    axis: Axis, weight: FloatArray, moved: FloatArray, counts: FloatArray
) -> tuple[float, Rows, Rows]:
    """The best split of one axis for one target: the variance between its sides, their rows."""
    best, first, second = 0.0, Rows(), Rows()
    for order in _orders(axis, weight, moved, counts):
        gains = _gains(weight[order], moved[order], counts)
        # Groups of numbers that are not in order are harder to tell: they have to gain.
        if len(gains) and gains.max() > best * (1 + _HARDER):
            at = int(gains.argmax()) + 1
            best, first, second = float(gains.max()), Rows(order[:at]), Rows(order[at:])
    if axis.is_categorical:  # a line has no direction
        first, second = sorted((first, second), key=lambda rows: _least(axis, rows))
    return best, first, second


def _least(axis: Axis, rows: Rows) -> tuple[bool, float, str]:
    """The least of the categories of some rows, by which both sides have an order."""
    known = [value for value, row in axis.rows.items() if row in rows]
    least = [
        (False, v, "") if _in_order(axis, [axis.rows[v]]) else (False, 0.0, str(v)) for v in known
    ]
    return min(least, default=(True, 0.0, ""))


def _gains(weight: FloatArray, moved: FloatArray, counts: FloatArray) -> FloatArray:
    """The variance between both sides of each split of rows in an order, of shape (n_rows - 1,).

    Weights (n_rows, n_columns), weighted deviations from the mean (n_rows, n_outputs, n_columns).
    """
    total = np.maximum(weight.sum(axis=0), _TINY)
    left = weight.cumsum(axis=0)[:-1] / total
    sums = moved.cumsum(axis=0)[:-1] / total[None]
    sides = left * (1 - left)
    between = sums**2 / np.where(sides > 0, sides, 1.0)[:, None]
    gains = np.einsum("oc,roc->r", counts, between)
    share = (left * counts.sum(axis=0)).sum(axis=1) / counts.sum()
    return np.where((share >= _SIDE) & (share <= 1 - _SIDE), gains, 0.0)


def _orders(
    axis: Axis, weight: FloatArray, moved: FloatArray, counts: FloatArray
) -> list[list[int]]:
    """The orders of the rows along which an axis is split.

    Numbers have theirs, with what is missing at either end. Categories are in the order of how far
    they lie along the line on which they differ most; those that are numbers in their own first.
    """
    size = weight.max(axis=1, initial=0.0)
    some = [row for row in range(N_ROWS) if size[row] > 0]
    if axis.is_categorical:
        by_value = _in_order(axis, some)
        mean = moved[some] / np.maximum(weight[some].mean(axis=1), _TINY)[:, None, None]
        table = (mean * np.sqrt(counts)).reshape(len(some), -1)
        heavy = np.sqrt(size[some])[:, None]
        line = np.linalg.svd(table * heavy, full_matrices=False)[2][0]
        place = table @ line
        alike = [some[k] for k in np.argsort(place, kind="stable")]
        return [by_value, alike] if by_value else [alike]
    parts = [row for row in some if row < OTHER]
    if MISSING not in some:
        return [parts]
    return [[MISSING, *parts], [*parts, MISSING]]


def _in_order(axis: Axis, rows: Sequence[int]) -> list[int]:
    """The rows in the order of their numbers; empty if they do not all have one."""
    value = {row: v for v, row in axis.rows.items() if is_number(v) and not isinstance(v, bool)}
    return sorted(rows, key=value.__getitem__) if all(row in value for row in rows) else []


def sides_in_words(axis: Axis, part: Part) -> tuple[str, str]:
    """The conditions of both sides of a split: "hour <= 6" and "hour > 6"."""
    name, first, second = str(axis.name), part.first, part.second
    if {MISSING} in (first, second):
        words = f"{name} is missing", f"{name} is known"
        return words if MISSING in first else words[::-1]
    if axis.is_categorical:
        in_order = _in_order(axis, [*first, *second])
        if len(in_order) > 2 and set(in_order[: len(first)]) == first:
            last = next(v for v, row in axis.rows.items() if row == in_order[len(first) - 1])
            return f"{name} <= {_category(last)}", f"{name} > {_category(last)}"
        known = {**{row: _category(value) for value, row in axis.rows.items()}, **_WORDS}
        sides = [sorted(known[row] for row in side if row in known) for side in (first, second)]
        one, other = (_named(name, *pair) for pair in (sides, sides[::-1]))
        return one, other
    edge = f"{axis.edges[max(first - {MISSING})]:.10g}"
    low, high = (" or missing" if MISSING in side else "" for side in (first, second))
    return f"{name} <= {edge}{low}", f"{name} > {edge}{high}"


_WORDS = {OTHER: "others", MISSING: "missing"}


def _named(name: str, own: list[str], others: list[str]) -> str:
    """The condition of one side of categories, by the fewer words."""
    if len(own) == 1:
        return f"{name} = {own[0]}"
    if len(others) == 1:
        return f"{name} is not {others[0]}"
    if len(own) <= len(others):
        return f"{name} in {', '.join(own)}"
    return f"{name} not in {', '.join(others)}"


def _category(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_first(axis: Axis, part: Part, values: Sequence[Any]) -> Array:
    """Which of some values are on the first side."""
    return np.isin(axis.locate(values), list(part.first))
