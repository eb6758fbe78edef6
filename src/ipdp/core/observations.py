"""From whatever holds many observations to dicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, overload

import numpy as np

from ipdp.core.typing import FeatureName, Observation

NA_TYPES = {"NAType", "NaTType"}
"""Types of pandas' own missing values."""

# So many rows of a table are made into dicts at a time.
_BLOCK = 2_048


class Block(Sequence[dict[Any, Any]]):
    """Neighbouring rows of a table, as dicts that are made when they are asked for.

    Whoever goes through them more than once makes a list of them.

    Parameters
    ----------
    columns
        The values of each column, as Python's own.
    n
        How many rows there are.

    Examples
    --------
    >>> block = Block({"a": [1, 2, 3], "b": [4, 5, 6]}, 3)
    >>> block[1], list(block[:1])
    ({'a': 2, 'b': 5}, [{'a': 1, 'b': 4}])
    """

    def __init__(self, columns: Mapping[FeatureName, list[Any]], n: int) -> None:
        self.columns = columns
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, k: int) -> dict[Any, Any]: ...
    @overload
    def __getitem__(self, k: slice) -> Block: ...
    def __getitem__(self, k: int | slice) -> dict[Any, Any] | Block:
        if isinstance(k, slice):
            return self.take(range(self._n)[k])
        return {name: column[k] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[dict[Any, Any]]:
        names = tuple(self.columns)
        for row in zip(*self.columns.values(), strict=True) if names else [()] * self._n:
            yield dict(zip(names, row, strict=True))

    def take(self, numbers: Sequence[int]) -> Block:
        """Some of them."""
        taken = {name: [own[k] for k in numbers] for name, own in self.columns.items()}
        return Block(taken, len(numbers))

    def arranged(self, columns: Sequence[FeatureName]) -> Block:
        """The same with its columns in a given order; what it does not have is None."""
        if tuple(self.columns) == tuple(columns):
            return self
        nothing = [None] * self._n
        return Block({name: self.columns.get(name, nothing) for name in columns}, self._n)


class Rows(Sequence[dict[Any, Any]]):
    """The rows of a table as dicts, which are made some at a time: all of them would be large.

    Parameters
    ----------
    n
        How many rows there are.
    block
        Gives those from one number to before another.
    """

    def __init__(self, n: int, block: Callable[[int, int], Sequence[dict[Any, Any]]]) -> None:
        self._n = n
        self._block = block

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, k: int) -> dict[Any, Any]: ...
    @overload
    def __getitem__(self, k: slice) -> list[dict[Any, Any]]: ...
    def __getitem__(self, k: int | slice) -> dict[Any, Any] | list[dict[Any, Any]]:
        if isinstance(k, slice):
            start, stop, step = k.indices(self._n)
            return list(self._block(start, stop)) if step == 1 else list(self)[k]
        if not -self._n <= k < self._n:
            raise IndexError(f"there are {self._n} rows, and none has the number {k}")
        return self._block(k % self._n, k % self._n + 1)[0]

    def __iter__(self) -> Iterator[dict[Any, Any]]:
        for block in self.blocks(_BLOCK):
            yield from block

    def blocks(self, size: int) -> Iterator[Sequence[dict[Any, Any]]]:
        """All of them, so many at a time; those of a frame, or an array, as a `Block`."""
        for start in range(0, self._n, size):
            yield self._block(start, min(start + size, self._n))


def observations(X: Any, names: Sequence[FeatureName] | None = None) -> Rows:
    """The rows of a frame (any that narwhals knows), a 2-D array or an iterable of dicts, as dicts.

    `names` are for the columns of an array, which are numbered without them.
    """
    if isinstance(X, Mapping):
        raise TypeError("one observation is a dict, many are a frame, an array or a list of dicts")
    if isinstance(X, np.ndarray):
        return _from_array(X, names)
    if names is not None:
        raise ValueError("names are for arrays; a frame and a list of dicts have their own")
    if isinstance(X, (str, bytes)):
        raise TypeError(f"{X!r} does not hold observations; read the file into a frame first")
    if is_frame(X):
        return _from_frame(X)
    if not isinstance(X, Iterable):
        raise TypeError(
            f"many observations are a frame, an array or a list of dicts, got {X!r:.60}"
        )
    rows = list(X)
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(
                f"an observation must be a dict, got {type(row).__name__}; "
                "for arrays give a 2-D numpy array"
            )
    return Rows(len(rows), lambda start, stop: [dict(row) for row in rows[start:stop]])


def is_frame(X: Any) -> bool:
    """Whether something is a table with named columns."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


def as_observation(x: Any) -> dict[Any, Any]:
    """One observation as a dict; it may be a Series of pandas, or a row as a named tuple."""
    if isinstance(x, Mapping):
        return x  # type: ignore[return-value]  # which nobody changes
    if hasattr(x, "to_dict") and hasattr(x, "index") and getattr(x, "ndim", 0) == 1:
        x = x.to_dict()
    elif hasattr(x, "_asdict"):
        x = x._asdict()
    else:
        raise TypeError(
            f"one observation is a dict, got {type(x).__name__}; use explain_many for a table"
        )
    return {name: None if is_na(value) else value for name, value in x.items()}


def is_na(value: Any) -> bool:
    """Whether a value is pandas' own missing one, recognised by name: no import."""
    return type(value).__name__ in NA_TYPES


def arranged(x: Observation, columns: tuple[FeatureName, ...]) -> Observation:
    """The observation with its features in a given order; what it does not have is None.

    Parameters
    ----------
    x
        An observation.
    columns
        The features, in the order in which a model that takes arrays wants them.

    Examples
    --------
    >>> arranged({"b": 2, "a": 1}, ("a", "b", "c"))
    {'a': 1, 'b': 2, 'c': None}
    """
    return x if tuple(x) == columns else {name: x.get(name) for name in columns}


def without_missing(x: Observation) -> Observation:
    """The observation without the features that are None, which river's models want left out."""
    if NoneType not in map(type, x.values()):
        return x
    # The same words at the same place: Python says them once.
    warnings.warn("features that are None are left out of what a model of river gets", stacklevel=1)
    return {name: value for name, value in x.items() if value is not None}


def _from_array(X: Any, names: Sequence[FeatureName] | None) -> Rows:
    if X.ndim != 2:
        raise ValueError(f"an array of observations has two dimensions, got {X.ndim}")
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"names must be a list, got {names!r:.60}")
    columns = list(range(X.shape[1])) if names is None else list(names)
    if len(columns) != X.shape[1]:
        raise ValueError(f"{len(columns)} names for {X.shape[1]} columns")

    def block(start: int, stop: int) -> Block:
        n = max(stop - start, 0)
        return Block(dict(zip(columns, X[start:stop].T.tolist(), strict=True)), n)

    return Rows(len(X), block)


def _from_frame(X: Any) -> Rows:
    import narwhals as nw

    given: Any = getattr(X, "columns", None)
    if not getattr(given, "is_unique", True):  # of pandas
        twice = given[given.duplicated()][0]
        raise ValueError(f"the frame has two columns that are called {twice!r}: rename one of them")
    frame = nw.from_native(X, eager_only=True)
    names = list(frame.columns)

    def block(start: int, stop: int) -> Block:
        # Columns as lists of Python's own values: numpy's scalars are slow in plain Python, and
        # river tells whole numbers from others by their type.
        part = frame[start:stop]
        return Block({name: _without_na(part[name].to_list()) for name in names}, len(part))

    return Rows(len(frame), block)


def _without_na(values: list[Any]) -> list[Any]:
    """The values with None for pandas' own missing ones."""
    if NA_TYPES.isdisjoint(kind.__name__ for kind in set(map(type, values))):
        return values
    return [None if is_na(value) else value for value in values]
