"""What the columns of a frame are, so that a model gets them as it was fitted on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from ipdp.core.observations import is_frame
from ipdp.core.typing import Array, FeatureName


@dataclass(frozen=True)
class Column:
    """A column of a frame.

    Attributes
    ----------
    dtype
        As its library has it; None for plain numbers.
    categories
        Those of a categorical type, in its order; None where it has none, or no order of them.
    """

    dtype: Any = None
    categories: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a frame that are more than plain numbers, and the frame's library."""

    backend: str = ""
    columns: tuple[tuple[FeatureName, Column], ...] = ()

    @classmethod
    def of(cls, X: Any) -> Schema:
        """That of a frame; an empty one of anything else.

        Examples
        --------
        >>> import pandas as pd
        >>> days = pd.Categorical(["Tue", "Mon"], categories=["Mon", "Tue"])
        >>> Schema.of(pd.DataFrame({"day": days, "a": [1.0, 2.0]})).orders
        {'day': ('Mon', 'Tue')}
        """
        if not is_frame(X):
            return cls()
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        backend = frame.implementation.value
        native = frame.to_native()
        columns = []
        for name in frame.columns:
            series = frame[name]
            dtype = native[name].dtype if backend in ("pandas", "polars") else None
            categories = _categories(series, backend)
            if categories is not None or _is_special(dtype):
                columns.append((name, Column(dtype, categories)))
        return cls(backend, tuple(columns))

    @property
    def orders(self) -> dict[FeatureName, tuple[Any, ...]]:
        """The categories of those columns that have them, in order."""
        return {n: c.categories for n, c in self.columns if c.categories is not None}

    def restore_pandas(self, data: dict[FeatureName, Array]) -> dict[FeatureName, Any]:
        """The columns of a frame of pandas as they were in the first one, as far as they can be."""
        restored: dict[FeatureName, Any] = {n: _as_times(c) for n, c in data.items()}
        for name, column in self.columns:
            if name in data:
                restored[name] = _as_pandas(data[name], column, native=self.backend == "pandas")
        return restored

    def restore_polars(self, data: dict[FeatureName, Array]) -> Any:
        """A frame of polars with the types of the first one, as far as it can have them."""
        import polars as pl

        dtypes = dict(self.columns)
        made = {}
        for name, values in data.items():
            dtype = dtypes[name].dtype if name in dtypes else None
            listed = [None if _is_nan(v) else v for v in values.tolist()]
            made[str(name)] = pl.Series(str(name), listed, dtype=dtype, strict=False)
        return pl.DataFrame(made)


def _categories(series: Any, backend: str) -> tuple[Any, ...] | None:
    import narwhals as nw

    if series.dtype == nw.Enum:
        return tuple(series.dtype.categories)
    if series.dtype == nw.Categorical and backend == "pandas":
        return tuple(series.to_native().dtype.categories.tolist())
    return None


def _is_special(dtype: Any) -> bool:
    """Whether a type is more than numbers of numpy."""
    if dtype is None:
        return False
    return not isinstance(dtype, np.dtype) or dtype.kind in "MO"


def _as_pandas(values: Array, column: Column, *, native: bool) -> Any:
    import pandas as pd

    if column.categories is not None:
        dtype = column.dtype if native else pd.CategoricalDtype(list(column.categories), True)
        return pd.Categorical(within(values.tolist(), dtype.categories), dtype=dtype)
    if not native or column.dtype == object:
        return values
    if column.dtype.kind == "M":
        return _as_times(values, column.dtype)
    try:
        return pd.array([None if _is_nan(v) else v for v in values.tolist()], dtype=column.dtype)
    except (TypeError, ValueError):  # points between whole numbers, for instance
        return values


def within(values: list[Any], categories: Any) -> list[Any]:
    """The values with None for those that are none of the categories."""
    known = set(categories)
    return [value if value in known else None for value in values]


def _as_times(values: Array, dtype: Any = None) -> Any:
    """A column of times as pandas has them; other columns as they are."""
    items = values.tolist() if values.dtype == object else []
    first = next((value for value in items if value is not None), None)
    if not isinstance(first, date):
        return values
    import pandas as pd

    made = pd.Series(pd.to_datetime(items, utc=bool(getattr(first, "tzinfo", None))))
    return made if dtype is None else made.astype(dtype)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
