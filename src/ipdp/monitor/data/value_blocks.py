"""From the values of a block of observations to the numbers that are tested for moves.

missing   share of the observations without a value
place     of numbers: the mean, on a scale that is linear in the middle and logarithmic far out
width     of numbers: logarithm of the range that holds the middle 80 %
shares    of categories: the share of each of the most frequent ones, and of all others
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.jsonable import encode_name, pack_floats, unpack_floats
from ipdp.core.kernels.moves import LINEAR
from ipdp.core.typing import Array, FloatArray, State

BLOCK = 32
"""Observations in a block."""

MISSING, PLACE, WIDTH = range(3)
"""Columns of a feature; the shares of its categories are where the place would be, and after it."""

N_SHARES = 8
"""So many shares are followed, the last is that of all other categories together."""

# The scale is taken from at least so many values.
_FEWEST_FOR_SCALE = 24
# A season is followed in at most so many parts, each of which must have been seen so often.
_PARTS, _OFTEN = 96, 2.0


class ValueBlocks:
    """Reads blocks of values; each feature on the scale of its own first values.

    `periods` are the lengths of the features' seasons on the clock of the stream, 0 for none.
    """

    def __init__(self, n_features: int, periods: Sequence[float]) -> None:
        self.periods = np.array(periods, dtype=float)
        self.is_category = [False] * n_features
        self.categories: list[list[Any]] = [[] for _ in range(n_features)]
        # Median and robust standard deviation; NaN until they are known.
        self._scale = np.full((2, n_features), np.nan)
        self.middle, self.spread = self._scale
        self.unknown = set(range(n_features))  # the features that have none yet
        self._has_seasons = bool(self.periods.any())
        self._season = np.zeros((2, n_features, _PARTS))  # mean and number of values of each part

    @property
    def n_columns(self) -> int:
        """Columns of each feature."""
        return 1 + N_SHARES if any(self.is_category) else 3

    def forget(self, row: int) -> None:
        """Forget the scale of a feature."""
        self.middle[row] = self.spread[row] = np.nan
        self.unknown.add(row)
        self._season[:, row] = 0.0

    def take_scale(self, row: int, values: Sequence[Any]) -> None:
        """Take the scale of a feature from some values, if they are enough."""
        known = [value for value in values if not is_missing(value)]
        if self.is_category[row]:
            if len(known) >= _FEWEST_FOR_SCALE:
                common = Counter(known).most_common(N_SHARES - 1)
                self.categories[row] = [category for category, _ in common]
                self.middle[row], self.spread[row] = 0.0, 1.0
                self.unknown.discard(row)
            return
        numbers = as_floats([[value] for value in known]).ravel()
        numbers = numbers[~np.isnan(numbers)]
        if len(numbers) >= _FEWEST_FOR_SCALE:
            low, middle, high = np.quantile(numbers, (0.1, 0.5, 0.9))
            # 2.56: what lies between these quantiles of a normal distribution. Rare values do not
            # show in them, then the mean deviation is taken; of a constant a part of itself.
            spread = (high - low) / 2.56 or float(np.abs(numbers - middle).mean())
            self.middle[row], self.spread[row] = middle, spread or 1e-3 * abs(middle) or 1.0
            self.unknown.discard(row)

    def read(
        self, rows: Sequence[Sequence[Any]], times: Sequence[float]
    ) -> tuple[FloatArray, FloatArray]:
        """The numbers of a block, (n_features, n_columns), and its values, (n, n_features).

        NaN where something is not known, and for values that are categories.
        """
        kernel = kernels.moves_kernel()
        values = np.empty((len(rows), len(self.is_category)))
        if not kernel.take_numbers(rows, self.is_category, values):
            values = as_floats([[None if c else v for c, v in self._kinds(row)] for row in rows])
        read, season = np.empty((values.shape[1], self.n_columns)), values[:0]
        if self._has_seasons:
            places = LINEAR * np.arcsinh((values - self.middle) / self.spread / LINEAR)
            season = self._of_season(places, ~np.isnan(values), times)
        kernel.read_block(values, self._scale, self.periods, season, read)
        for row, is_category in enumerate(self.is_category):
            if is_category:
                read[row] = self._shares(row, [values[row] for values in rows])
        return read, values

    def _kinds(self, row: Sequence[Any]) -> zip[tuple[bool, Any]]:
        return zip(self.is_category, row, strict=True)

    def _shares(self, row: int, values: Sequence[Any]) -> FloatArray:
        read = np.full(self.n_columns, np.nan)
        known = [value for value in values if not is_missing(value)]
        read[MISSING] = 1 - len(known) / len(values)
        if 2 * len(known) >= len(values) and not math.isnan(self.middle[row]):
            counts = Counter(known)
            shares = [counts[category] / len(known) for category in self.categories[row]]
            read[1 : 1 + len(shares)] = shares
            read[N_SHARES] = 1 - sum(shares)
        return read

    def _of_season(self, places: FloatArray, known: Array, times: Sequence[float]) -> FloatArray:
        """What the season makes of the places, NaN where it is not known yet; learns it, too."""
        means, counts = self._season
        expected = np.zeros(places.shape)
        for row in np.flatnonzero(self.periods):
            period = self.periods[row]
            n_parts = int(min(max(period, 2), _PARTS))
            part = (np.mod(times, period) * (n_parts / period)).astype(int) % n_parts
            expected[:, row] = np.where(counts[row, part] >= _OFTEN, means[row, part], np.nan)
            there = known[:, row] & ~np.isnan(places[:, row])
            np.add.at(counts[row], part[there], 1.0)
            steps = (places[there, row] - means[row, part[there]]) / counts[row, part[there]]
            np.add.at(means[row], part[there], steps)
        return expected

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "is_category": list(self.is_category),
            "categories": [[encode_name(c) for c in own] for own in self.categories],
            "middle": pack_floats(self.middle),
            "spread": pack_floats(self.spread),
            "season": pack_floats(self._season) if self.periods.any() else None,
        }

    @state.setter
    def state(self, state: State) -> None:
        middle, spread = unpack_floats(state["middle"]), unpack_floats(state["spread"])
        if middle.shape != self.middle.shape or spread.shape != self.spread.shape:
            raise ValueError("the state has other features than the explainer")
        n = len(self.is_category)
        schema.check(state, is_category=schema.each(schema.flag, n))
        schema.check(state, categories=schema.each(schema.parts, n))
        self.is_category = list(state["is_category"])
        self.categories = [schema.categories({"own": own}, "own") for own in state["categories"]]
        self.middle[:], self.spread[:] = middle, spread
        self.unknown = set(np.flatnonzero(np.isnan(middle)).tolist())
        if state["season"] is not None:
            season = unpack_floats(state["season"])
            schema.must_fit("season", season, self._season.shape, finite=False)
            self._season = season


def is_missing(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_floats(rows: Sequence[Sequence[Any]]) -> FloatArray:
    """Values as floats; NaN for what is no finite number."""
    try:
        values = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array([[_as_float(value) for value in row] for row in rows])
    if not np.isfinite(values).all():
        values[np.isinf(values)] = np.nan
    return values


def _as_float(value: Any) -> float:
    try:
        return float(value) if isinstance(value, (int, float, np.number)) else math.nan
    except OverflowError:
        return math.nan
