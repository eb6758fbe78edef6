"""From whatever holds many observations to a list of dicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, Observation


def observations(X: Any, names: Sequence[FeatureName] | None = None) -> list[dict[Any, Any]]:
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
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return _from_frame(X)
    rows = list(X)
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(
                f"an observation must be a dict, got {type(row).__name__}; "
                "for arrays give a 2-D numpy array"
            )
    return [dict(row) for row in rows]


def arranged(x: Observation, columns: tuple[FeatureName, ...]) -> Observation:
    """The observation with its features in a given order; what it does not have is None."""
    return x if tuple(x) == columns else {name: x.get(name) for name in columns}


def without_missing(x: Observation) -> Observation:
    """The observation without the features that are None, which river's models want left out."""
    if NoneType not in map(type, x.values()):
        return x
    # The same words at the same place: Python says them once.
    warnings.warn("features that are None are left out of what a model of river gets", stacklevel=1)
    return {name: value for name, value in x.items() if value is not None}


def _from_array(X: Any, names: Sequence[FeatureName] | None) -> list[dict[Any, Any]]:
    if X.ndim != 2:
        raise ValueError(f"an array of observations has two dimensions, got {X.ndim}")
    columns = list(range(X.shape[1])) if names is None else list(names)
    if len(columns) != X.shape[1]:
        raise ValueError(f"{len(columns)} names for {X.shape[1]} columns")
    return [dict(zip(columns, row, strict=True)) for row in X.tolist()]


def _from_frame(X: Any) -> list[dict[Any, Any]]:
    import narwhals as nw

    # Columns as lists of Python's own values: numpy's scalars are slow in plain Python, and river
    # tells whole numbers from others by their type.
    frame = nw.from_native(X, eager_only=True)
    names = list(frame.columns)
    columns = [frame[name].to_list() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
