"""The order of categories along the axis of an accumulated local effect.

Effects are accumulated from a category to the next, so that the next one should be alike: then few
observations are moved to where none of their kind are. Apley and Zhu (2020) order categories by the
similarity of the other features. So does this, by means: of the ranks of other numbers and of the
shares of other categories, over recent observations. The order is that of the first principal
component of these means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ipdp.core.counts import in_order
from ipdp.core.typing import Array, FloatArray

Row = tuple[Any, ...]
"""The values of one observation, by column: numbers, categories, or None."""

# So many of the most frequent categories of another feature count.
_LEVELS = 10
# Differences below this share of the largest are rounding.
_ROUNDING = 1e-6


def ordered(categories: Sequence[Any], column: int, rows: Sequence[Row]) -> tuple[Any, ...]:
    """The categories of one column, such that neighbours are alike in the other columns.

    Numbers keep the order of numbers, and so do categories that cannot be told apart keep theirs.

    Parameters
    ----------
    categories
        Those to order.
    column
        Where in a row they stand.
    rows
        Recent observations.

    Examples
    --------
    >>> rows = [("mild", 15.0), ("hot", 30.0), ("cold", -5.0), ("mild", 17.0), ("hot", 29.0)]
    >>> ordered(["cold", "hot", "mild"], 0, rows)
    ('cold', 'mild', 'hot')
    """
    natural = in_order(list(categories))
    if len(natural) < 3 or all(map(_is_number, natural)) or not rows:
        return tuple(natural)
    profiles = _profiles(natural, column, rows)
    if not profiles.size:
        return tuple(natural)
    counts = Counter(row[column] for row in rows)
    weight = np.sqrt([counts[category] for category in natural])
    # The first of them in every pair of opposite directions is the one that begins as names do.
    _, _, directions = np.linalg.svd(weight[:, None] * profiles, full_matrices=False)
    score = profiles @ directions[0]
    largest = np.abs(score).max()
    if largest <= _ROUNDING:
        return tuple(natural)
    score = np.round(score / (_ROUNDING * largest))
    if np.sum(score * np.arange(len(score))) < 0:
        score = -score
    return tuple(natural[k] for k in np.argsort(score, kind="stable"))


def _profiles(categories: Sequence[Any], column: int, rows: Sequence[Row]) -> FloatArray:
    """What the other features are on average at each category, around what they are overall."""
    own = [row[column] for row in rows]
    parts = [_described([row[k] for row in rows]) for k in range(len(rows[0])) if k != column]
    described = np.hstack([np.empty((len(rows), 0)), *parts])
    described = described - described.mean(axis=0)
    places = {category: k for k, category in enumerate(categories)}
    profiles = np.zeros((len(categories), described.shape[1]))
    counts = np.zeros(len(categories))
    for value, line in zip(own, described, strict=True):
        k = places.get(value)
        if k is not None:
            profiles[k] += line
            counts[k] += 1
    return profiles / np.maximum(counts, 1)[:, None]


def _described(values: list[Any]) -> FloatArray:
    """One column as numbers that can be compared: ranks, or a column for each category."""
    if all(value is None or _is_number(value) for value in values):
        return _ranks(np.array([np.nan if v is None else v for v in values], dtype=float))
    common = in_order([value for value, _ in Counter(map(str, values)).most_common(_LEVELS)])
    return np.array([[float(str(value) == level) for level in common] for value in values])


def _ranks(values: FloatArray) -> FloatArray:
    """Shares of the values below each, from 0 to 1; a missing one is in the middle."""
    known = ~np.isnan(values)
    if not known.any():
        return np.empty((len(values), 0))
    inverse: Array
    _, inverse, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), 0.5)
    ranks[known] = ((np.cumsum(counts) - counts / 2) / counts.sum())[inverse]
    return ranks[:, None]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
