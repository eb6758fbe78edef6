"""Models that take many observations in one call."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.observations import NA_TYPES, Block, is_na
from ipdp.core.typing import Array, FeatureName, FloatArray, Labels, Observation
from ipdp.core.words import shown
from ipdp.models.base import Engine, Outputs, Probe, Rows, as_rows
from ipdp.models.columns import ice_beside_idle, must_have

# A call gets at most this many numbers (rows x columns), 32 MB of floats: large enough that the
# call itself costs nothing, small enough for any machine.
MAX_CELLS = 4_000_000


class BatchedEngine(Engine):
    """All points of all features, and of many observations, as rows of one call.

    The columns of a call are those of its first observation, in their order. The description says
    in a few words what the model was taken for.

    Examples
    --------
    >>> import numpy as np
    >>> import ipdp
    >>> class Doubler(ipdp.models.BatchedEngine):
    ...     def _call(self, columns):
    ...         return None, 2 * np.asarray(columns["a"], dtype=float)
    >>> isinstance(Doubler(None, "doubles"), ipdp.models.Engine)
    True
    """

    ordered = True

    def __init__(self, model: Any, description: str) -> None:
        self.model = model
        self._description = description

    @property
    def description(self) -> str:
        return f"{self._description}, all points in one call"

    @abstractmethod
    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        """Call the model on columns of equal length."""

    def _labels(self) -> Labels | None:
        """Names of the outputs where the model knows them."""
        return None

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        columns = self._columns_of(observations[0])
        labels, values = self._answer(table_of(observations, columns), columns)
        return Outputs(labels, values[:, :, None])

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        columns = self._columns_of(observations[0])
        at = _numbered(columns)
        idle = self.idle(probes, observations[0], columns)
        if any(idle):
            each = list(zip(probes, idle, strict=True))
            plain = self.predict(observations)
            return ice_beside_idle(self.ice, plain, observations, each, positions)
        n_points = positions.shape[2]
        if n_points > _most_rows(columns):
            return self._in_pieces(observations, probes, positions, _most_rows(columns))
        step = max(1, _most_rows(columns) // max(1, n_points))
        parts = []
        labels: Labels | None = None
        for first in range(0, len(observations), step):
            chunk = slice(first, first + step)
            table = table_of(observations[chunk], columns)
            labels, values = self._answer(_stack(table, probes, positions[chunk], at), columns)
            parts.append(values.reshape(-1, n_points, values.shape[1]).swapaxes(1, 2))
        return Outputs(labels, parts[0] if len(parts) == 1 else np.concatenate(parts))

    def _in_pieces(
        self,
        observations: Sequence[Observation],
        probes: Sequence[Probe],
        positions: FloatArray,
        most: int,
    ) -> Outputs:
        """The same where one observation alone has more points than a call may get."""
        answers = [
            self.ice(observations, few, positions[:, :, own]) for own, few in pieces(probes, most)
        ]
        return Outputs(answers[-1].labels, np.concatenate([a.values for a in answers], axis=2))

    def check_columns(self, columns: Sequence[FeatureName]) -> None:
        if self.feature_names is not None:
            must_have(self.model, self.feature_names, columns)

    def _columns_of(self, x: Observation) -> tuple[FeatureName, ...]:
        names = self.feature_names
        if names is None:
            return tuple(x)
        if not x.keys() >= set(names):
            must_have(self.model, names, tuple(x))
        return names

    def _unused(self) -> frozenset[FeatureName]:
        """Columns that the model was fitted on and does not look at."""
        return frozenset()

    def idle(
        self, probes: Sequence[Probe], x: Observation, columns: Sequence[FeatureName]
    ) -> list[bool]:
        """For each probe, whether all that it replaces is nothing to the model, with its columns.

        An error if it replaces what the observation does not have.
        """
        used = set(columns) - self._unused()
        for name in {name for probe in probes for name in probe.names} - x.keys():
            raise ValueError(f"the model has no feature {shown(name)}; it has {list(x)}")
        return [used.isdisjoint(probe.names) for probe in probes]

    def _answer(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Rows:
        labels, values = as_rows(self._call(table, columns), len(table[0]))
        return self._labels() or labels, values


class ArrayEngine(BatchedEngine):
    """A function of a 2-D array.

    Examples
    --------
    >>> import numpy as np
    >>> engine = ArrayEngine(lambda X: X @ np.array([1.0, 10.0]))
    >>> engine.predict([{"a": 1, "b": 2}, {"a": 3, "b": 4}]).values[:, 0, 0]
    array([21., 43.])
    """

    def __init__(
        self,
        call: Callable[[Array], Any],
        *,
        model: Any = None,
        description: str = "a function of an array",
    ) -> None:
        super().__init__(call if model is None else model, description)
        self.call = call
        self._probes: Sequence[Probe] = ()
        self._columns: tuple[FeatureName, ...] = ()
        self._replaced: Replaced | None = None

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        if len(observations) == 1:
            answers = self._ice_of_numbers(observations[0], probes, positions)
            if answers is not None:
                return answers
        return super().ice(observations, probes, positions)

    def _ice_of_numbers(
        self, x: Observation, probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs | None:
        """The curves of one observation of numbers, without the detour over columns; else None."""
        columns = self._columns_of(x)
        if probes is not self._probes or columns != self._columns:
            self._probes, self._columns = probes, columns
            self._replaced = _replaced(probes, columns, positions.shape[1])
        if self._replaced is None:
            return None
        try:
            row = np.array(list(map(x.get, columns)), dtype=float)
        except (TypeError, ValueError):  # something that is not a number among the other features
            return None
        labels: Labels | None = None
        parts = []
        for rows in self._replaced.rows(row, positions[0]):
            labels, values = as_rows(self.call(rows), len(rows))
            parts.append(values.T[None])
        return Outputs(labels, parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2))

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        del columns  # an array has none
        return self.call(np.column_stack(list(table)))


class FrameEngine(BatchedEngine):
    """A function of a data frame.

    Parameters
    ----------
    call
        The function.
    backend
        Library of the frame, as narwhals names it.

    Examples
    --------
    >>> engine = FrameEngine(lambda X: X["a"] + 10 * X["b"])
    >>> engine.predict([{"a": 1, "b": 2}, {"a": 3, "b": 4}]).values[:, 0, 0]
    array([21., 43.])
    """

    def __init__(
        self,
        call: Callable[[Any], Any],
        *,
        model: Any = None,
        description: str = "a function of a frame",
        backend: Any = "pandas",
    ) -> None:
        super().__init__(call if model is None else model, f"{description} ({backend})")
        self.call = call
        self.backend = backend
        # What else is done to the columns of a frame of pandas.
        self.prepare: Callable[[dict[FeatureName, Any]], dict[FeatureName, Any]] = dict

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        data = dict(zip(columns, table, strict=True))
        if self.backend == "pandas":
            import pandas as pd

            return self.call(pd.DataFrame(self.prepare(self.schema.restore_pandas(data))))
        if self.backend == "polars" == self.schema.backend:
            return self.call(self.schema.restore_polars(data))
        import narwhals as nw

        natives = {
            str(name): column.tolist() if column.dtype == object else column
            for name, column in data.items()
        }
        return self.call(nw.from_dict(natives, backend=self.backend).to_native())


@lru_cache(maxsize=16)
def _numbered(columns: tuple[FeatureName, ...]) -> dict[FeatureName, int]:
    return {name: column for column, name in enumerate(columns)}


def table_of(observations: Sequence[Observation], columns: Sequence[FeatureName]) -> list[Array]:
    """The columns of some observations; what an observation does not have is missing."""
    return list(map(_column, list_of_columns(observations, columns)))


def list_of_columns(
    observations: Sequence[Observation], columns: Sequence[FeatureName]
) -> list[list[Any]]:
    """The same as lists, with None for what is missing."""
    if isinstance(observations, Block):
        return list(observations.arranged(columns).columns.values())
    return [[x.get(name) for x in observations] for name in columns]


def _stack(
    table: list[Array], probes: Sequence[Probe], positions: FloatArray, at: dict[FeatureName, int]
) -> list[Array]:
    """Each column repeated for all points, the probed ones replaced; each (n_rows * n_points,)."""
    stacked = [np.repeat(column[:, None], positions.shape[2], axis=1) for column in table]
    for probe in probes:
        for axis, name in enumerate(probe.names):
            if name not in at:  # one of a pair, which the model was not fitted on
                continue
            k, values = at[name], probe.column(positions, axis)
            stacked[k] = _fitting(stacked[k], values)
            stacked[k][:, probe.start : probe.stop] = values
    return [column.reshape(-1) for column in stacked]


class Replaced(NamedTuple):
    """What is replaced in the copies of an observation, one copy a point.

    `cells` are places in the table of all copies, row by row; `sources` are places in
    all positions, row by row, with `constants` behind them: categories and missing values.
    """

    cells: Array
    sources: Array
    constants: FloatArray
    n_points: int

    def rows(self, x: FloatArray, positions: FloatArray) -> Iterator[Array]:
        """The copies of x, some at a time."""
        values = np.concatenate((positions.ravel(), self.constants)).take(self.sources)
        most = _most_rows(x)
        if self.n_points <= most:
            yield _copies(x, self.n_points, self.cells, values)
            return
        for first in range(0, self.n_points, most):
            n = min(most, self.n_points - first)
            cells = self.cells - first * len(x)
            own = (cells >= 0) & (cells < n * len(x))
            yield _copies(x, n, cells[own], values[own])


def _copies(x: FloatArray, n: int, cells: Array, values: FloatArray) -> FloatArray:
    """Some copies of an observation, with other values in some cells of the table."""
    rows = np.empty((n, len(x)))
    rows[:] = x
    rows.put(cells, values)
    return rows


def _replaced(
    probes: Sequence[Probe], columns: tuple[FeatureName, ...], n_axes: int
) -> Replaced | None:
    """What the probes replace; None if a category is not a number."""
    at, n_points = _numbered(columns), probes[-1].stop
    cells: list[Array] = []
    sources: list[Array] = []
    constants: list[float] = []
    for probe in probes:
        for axis, name in enumerate(probe.names):
            if name not in at or any(probe.times):
                return None
            own = np.arange(probe.start, probe.stop)
            source, behind = axis * n_points + own, n_axes * n_points + len(constants)
            categories = probe.categories[axis]
            if categories is not None:
                if not {*map(type, categories.tolist())} <= {int, float, NoneType}:
                    return None
                source = behind + np.arange(len(categories))
                constants += [math.nan if c is None else float(c) for c in categories.tolist()]
            elif probe.missing:
                source[-1] = behind
                constants.append(math.nan)
            cells.append(own * len(columns) + at[name])
            sources.append(source)
    return Replaced(np.concatenate(cells), np.concatenate(sources), np.array(constants), n_points)


def _most_rows(columns: Sized) -> int:
    """How many rows of these columns a call may get."""
    return max(1, MAX_CELLS // max(1, len(columns)))


def pieces(probes: Sequence[Probe], most: int) -> Iterator[tuple[slice, tuple[Probe, ...]]]:
    """The probes in parts of at most so many points: their columns, and the probes over these.

    A probe with more points than that is cut.
    """
    n_points = probes[-1].stop
    for first in range(0, n_points, most):
        end = min(first + most, n_points)
        few = [p.within(first, end) for p in probes if p.start < end and p.stop > first]
        yield slice(first, end), tuple(few)


def _column(values: list[Any]) -> Array:
    """Values as floats (None is NaN), as whole numbers or booleans if all are, else as objects."""
    kinds = set(map(type, values))
    if not NA_TYPES.isdisjoint(kind.__name__ for kind in kinds):
        return _column([None if is_na(value) else value for value in values])
    if kinds in ({bool}, {int}):
        return np.array(values)
    if not kinds & {str, bytes}:
        try:
            return np.array(values, dtype=float)
        except (TypeError, ValueError):
            pass
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _fitting(column: Array, values: Array) -> Array:
    """The column in a type that can hold the values as well."""
    if values.dtype == object and column.dtype != object:
        items = _column(values.ravel().tolist())
        return column.astype(object if items.dtype == object else np.result_type(column, items))
    if object in (column.dtype, values.dtype):
        return column
    return column.astype(np.result_type(column, values), copy=False)
