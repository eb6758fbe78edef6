"""The grids that a whole table has, from aggregates of Spark.

The points are those of `ipdp.partial_dependence` on the same rows, bit for bit: extremes and
categories from counts, quantiles from exact order statistics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, State
from ipdp.grid import (
    Auto,
    Categories,
    Fixed,
    Grid,
    MinMax,
    QuantileRange,
    Quantiles,
    Thresholds,
)
from ipdp.grid.auto import LOWER, UPPER
from ipdp.grid.base import LARGEST, RUG_SIZE, Key
from ipdp.spark.order_statistics import order_statistics
from ipdp.spark.sending import quoted

# Whole numbers up to this are those that floats can hold.
_WHOLE = 2**53
_KNOWN = (Auto, MinMax, QuantileRange, Quantiles, Categories, Fixed, Thresholds)
# As many rows at the end of the table are fetched; a pair shows so many.
N_LAST = 256


class KnownGrid(Grid):
    """A grid that has seen a whole table: its points, and the values to show, are given."""

    _settings = ("shown", "known_keys", "values", "n", "is_whole", "missing")

    def __init__(
        self,
        *,
        shown: Array,
        known_keys: tuple[Key, ...],
        values: Array,
        n: int,
        is_whole: bool,
        missing: bool,
    ) -> None:
        super().__init__(warm_up=1, missing=missing)
        self.shown, self.known_keys, self.values = shown, known_keys, values
        self.n, self.is_whole = n, is_whole
        self.categorical = shown.dtype == object

    @classmethod
    def of(cls, grid: Grid, values: Array, n: int) -> KnownGrid:
        """One with the points that another grid has by now."""
        return cls(
            shown=grid.points,
            known_keys=grid.keys,
            values=values,
            n=n,
            is_whole=grid.whole,
            missing=grid.missing,
        )

    def admit(self, x: Any) -> Any:
        # What is missing, or too large, is None, as in every grid.
        return None if isinstance(x, float) and not abs(x) < LARGEST else x

    @property
    def admits_numbers(self) -> bool:
        return not self.categorical

    def update(self, x: Any) -> None:
        """Nothing changes any more."""

    version = 0  # of the points, which stay

    @property
    def watch(self) -> Any:
        return self

    @property
    def whole(self) -> bool:
        return self.is_whole

    @property
    def ready(self) -> bool:
        return True

    @property
    def points(self) -> Array:
        return self.shown

    @property
    def keys(self) -> tuple[Key, ...]:
        return self.known_keys

    @property
    def rug(self) -> Array:
        return self.values

    @property
    def n_values(self) -> int:
        return self.n

    @property
    def state(self) -> State:
        return {}

    @state.setter
    def state(self, state: State) -> None:
        """Nothing is remembered but the settings."""

    def merge(self, later: KnownGrid) -> KnownGrid:
        return later


@dataclass
class Table:
    """What is known of a table before its model is asked.

    Attributes
    ----------
    n
        Number of rows.
    grids
        The grids by feature.
    last
        The last rows, as tuples in the order of the grids.
    """

    n: int
    grids: dict[FeatureName, KnownGrid]
    last: list[tuple[Any, ...]]


def look_at(
    df: Any,
    names: Sequence[str],
    patterns: Mapping[str, Grid],
    weights: str | None,
) -> Table:
    """The grids of some columns, by passes over the table that need no model."""
    kinds = {name: _kind(df, name, patterns[name]) for name in names}
    first = _first_pass(df, names, kinds, patterns, weights)
    chosen = {name: _chosen(df, name, patterns[name], kinds[name], first[name]) for name in names}
    ranks = {name: _ranks(grid, first[name].n) for name, grid in chosen.items()}
    ordered = _read(df, {c: r for c, r in ranks.items() if len(r)}, kinds, first)
    admits = {name: patterns[name].spanning(first.n).fresh().admit for name in names}
    rows = df.select(*(df[quoted(name)] for name in names)).tail(N_LAST)
    last = [tuple(admits[c](v) for c, v in zip(names, row, strict=True)) for row in rows]
    grids: dict[FeatureName, KnownGrid] = {}
    for k, name in enumerate(names):
        own = [row[k] for row in last if row[k] is not None]
        if name not in ordered and len(own) < min(RUG_SIZE, first[name].n):
            some = df.where(_value(df, name, kinds[name]).isNotNull()).select(df[quoted(name)])
            own = [admits[name](row[0]) for row in some.tail(RUG_SIZE)]
        is_counted = isinstance(chosen[name], Categories)
        common = _most_common(df, name, kinds[name], chosen[name]) if is_counted else []
        grids[name] = _filled(chosen[name], first[name], ordered.get(name, {}), common, own)
    return Table(first.n, grids, last)


# What a column holds.


def _kind(df: Any, name: str, grid: Grid) -> str:
    """Whether a column holds "numbers", "whole" ones, "truth" values or "text"; or an error."""
    if type(grid) not in _KNOWN:
        raise ValueError(
            f"the grid of {name!r}, {type(grid).__name__}, cannot be had exactly from Spark's "
            "aggregates: take Auto, MinMax, QuantileRange, Quantiles, Categories, Thresholds, or "
            "Fixed with the points themselves"
        )
    kind = df.schema[name].dataType.typeName()
    if kind in ("byte", "short", "integer", "long"):
        found = "whole"
    elif kind in ("float", "double", "decimal"):
        found = "numbers"
    elif kind in ("string", "boolean"):
        found = "text" if kind == "string" else "truth"
    else:
        raise TypeError(
            f"feature {name!r} is of Spark's type {kind}: cast it to a number, a string or a "
            "boolean, or leave it out of features"
        )
    takes_text = isinstance(grid, (Auto, Categories)) or grid.categorical
    if found == "text" and not takes_text:
        raise TypeError(
            f"feature {name!r} holds strings, and {type(grid).__name__} needs numbers; use "
            "ipdp.grid.Categories() for this feature"
        )
    return found


def _value(df: Any, name: str, kind: str) -> Any:
    """A column without what counts as missing: null, NaN, infinity, and numbers beyond 1e70."""
    from pyspark.sql import functions as F  # noqa: N812  (everybody calls it so)

    column = df[quoted(name)]
    if kind != "numbers":
        return column
    number = column.cast("double")
    return F.when(F.abs(number) < LARGEST, number)


# First pass: counts and extremes.


@dataclass
class _Column:
    n: int
    low: Any
    high: Any
    n_distinct: int

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are whole, and floats can hold them."""
        return type(self.low) is int and self.low >= -_WHOLE and self.high <= _WHOLE


class _Columns(dict[str, _Column]):
    """Columns by name, and the number of rows."""

    n: int = 0


def _first_pass(
    df: Any,
    names: Sequence[str],
    kinds: Mapping[str, str],
    patterns: Mapping[str, Grid],
    weights: str | None,
) -> _Columns:
    from pyspark.sql import functions as F  # noqa: N812

    asked = [F.count(F.lit(1)).alias("n")]
    if weights is not None:
        asked.append(F.max(df[quoted(weights)].cast("double")).alias("heaviest"))
    for k, name in enumerate(names):
        value = _value(df, name, kinds[name])
        number = value.cast("long") if kinds[name] == "truth" else value
        asked += [F.count(value).alias(f"n{k}"), F.min(number).alias(f"low{k}")]
        asked.append(F.max(number).alias(f"high{k}"))
        if kinds[name] == "whole" and type(patterns[name]) is Auto:
            asked.append(F.approx_count_distinct(value).alias(f"distinct{k}"))
    found = df.agg(*asked).first().asDict()
    if not found["n"]:
        raise ValueError("df has no rows: there is nothing to average over")
    if weights is not None and not found["heaviest"]:
        raise ValueError("weights must not all be 0")
    columns = _Columns()
    columns.n = found["n"]
    for k, name in enumerate(names):
        if not found[f"n{k}"]:
            raise ValueError(f"feature {name!r} has no values in df, only missing ones")
        extremes = found[f"low{k}"], found[f"high{k}"]
        columns[name] = _Column(found[f"n{k}"], *extremes, found.get(f"distinct{k}", 0))
    return columns


def _chosen(df: Any, name: str, grid: Grid, kind: str, column: _Column) -> Grid:
    """The grid itself, or what an `Auto` chooses when it has seen all values."""
    if not isinstance(grid, Auto):
        return grid
    categories = Categories(max(grid.size, 20), missing=grid.missing)
    if kind in ("text", "truth"):
        return categories
    if column.is_whole and column.n_distinct <= 2 * grid.size + 10:
        value = _value(df, name, kind)
        distinct = df.where(value.isNotNull()).select(value).distinct().limit(grid.size + 1)
        if distinct.count() <= grid.size:
            return categories
    if grid.ends == "extremes":
        return MinMax(grid.size, missing=grid.missing)
    return QuantileRange(grid.size, LOWER, UPPER, missing=grid.missing)


# Second pass: the values of some ranks.


def _quantiles(grid: Grid) -> list[float]:
    if isinstance(grid, QuantileRange):
        return [grid.lower, grid.upper]
    if isinstance(grid, Quantiles):
        return [float(q) for q in np.arange(grid.size) / (grid.size - 1)]
    return []


def _ranks(grid: Grid, n: int) -> Array:
    """Which of n values in order a grid's points and its rug are read from."""
    quantiles = _quantiles(grid)
    if not quantiles:
        return np.empty(0, dtype=int)
    below = [int(q * (n - 1)) for q in quantiles]
    above = [min(rank + 1, n - 1) for rank in below]
    return np.unique(np.concatenate([_rug_ranks(n), below, above]).astype(int))


def _rug_ranks(n: int) -> Array:
    if n <= RUG_SIZE:
        return np.arange(n)
    return np.linspace(0, n - 1, RUG_SIZE).round().astype(int)


def _read(
    df: Any, ranks: Mapping[str, Array], kinds: Mapping[str, str], columns: _Columns
) -> dict[str, dict[int, Any]]:
    """The values of some ranks, exactly, by column and rank."""
    if not ranks:
        return {}
    numbers = [
        _value(df, name, kinds[name]).cast("double").alias(f"c{k}") for k, name in enumerate(ranks)
    ]
    wanted = {name: (own, columns[name].n) for name, own in ranks.items()}
    read = {}
    for name, values in order_statistics(df.select(*numbers), wanted).items():
        as_number = int if columns[name].is_whole else float
        read[name] = dict(zip(ranks[name].tolist(), map(as_number, values), strict=True))
    return read


# The grids.


def _filled(
    grid: Grid,
    column: _Column,
    ordered: Mapping[int, Any],
    common: list[Any],
    recent: list[Any],
) -> KnownGrid:
    """The grid of a column that has seen the whole table."""
    n = column.n
    if isinstance(grid, Categories):
        own: Grid = Categories(grid.size, missing=grid.missing)
        own.take(common)
        values = np.empty(len(recent[-RUG_SIZE:]), dtype=object)
        values[:] = recent[-RUG_SIZE:]
        return KnownGrid.of(own, values, n)
    if isinstance(grid, Fixed):
        own = grid.fresh()
        own.take(recent)
        return KnownGrid.of(own, own.rug, n)
    if isinstance(grid, MinMax):
        own = MinMax(grid.size, integers=_integers(grid, column), missing=grid.missing)
        own.take([column.low, column.high])
        return KnownGrid.of(own, np.sort(np.array(recent[-RUG_SIZE:])), n)
    rug = np.array([ordered[rank] for rank in _rug_ranks(n).tolist()])
    quantiles = [_quantile(ordered, q, n) for q in _quantiles(grid)]
    whole = _integers(grid, column)
    if isinstance(grid, QuantileRange):
        own = MinMax(grid.size, integers=whole, missing=grid.missing)
        own.take(quantiles)
        return KnownGrid.of(own, rug, n)
    return _of_quantiles(grid, quantiles, rug, n, whole)


def _of_quantiles(grid: Grid, quantiles: list[float], rug: Array, n: int, whole: bool) -> KnownGrid:
    points: Array = np.array(quantiles, dtype=float)
    if whole:
        points = np.unique(np.floor(points + 0.5).astype(np.int64))
    keys = tuple(range(len(points)))
    return KnownGrid(
        shown=points, known_keys=keys, values=rug, n=n, is_whole=whole, missing=grid.missing
    )


def _integers(grid: Any, column: _Column) -> bool:
    return column.is_whole if grid.integers is None else bool(grid.integers)


def _quantile(values: Mapping[int, Any], q: float, n: int) -> Any:
    """As a reservoir that holds all values reads it."""
    rank = q * (n - 1)
    below = math.floor(rank)
    value = values[below]
    return value + (rank - below) * (values[below + 1] - value) if rank > below else value


def _most_common(df: Any, name: str, kind: str, grid: Any) -> list[Any]:
    """The most frequent categories; at a tie in their natural order."""
    from pyspark.sql import functions as F  # noqa: N812

    value = _value(df, name, kind).alias("value")
    counts = df.select(value).where(F.col("value").isNotNull()).groupBy("value").count()
    rows = counts.orderBy(F.desc("count"), F.asc("value")).limit(grid.size).collect()
    return [row["value"] for row in rows]
