"""Native boosters of LightGBM, XGBoost and CatBoost, as their own `train` functions give them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, Observation
from ipdp.models.batched import BatchedEngine


def is_booster(model: Any) -> bool:
    """Whether a model is one of the native boosters, told without importing their libraries."""
    return (_library(model), type(model).__name__) in {
        ("lightgbm", "Booster"),
        ("xgboost", "Booster"),
        ("catboost", "CatBoost"),
    }


def _library(model: Any) -> str:
    return type(model).__module__.partition(".")[0]


class BoosterEngine(BatchedEngine):
    """A native booster; what it gives is what its objective makes of it, a probability as a rule.

    Parameters
    ----------
    model
        `lightgbm.Booster`, `xgboost.Booster` or `catboost.CatBoost`. If it knows the names of its
        features, the order of an observation's features does not matter.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._predict = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}[
            _library(model)
        ]

    @property
    def description(self) -> str:
        kind = f"{_library(self.model)}.{type(self.model).__name__}"
        return f"{kind}.predict, all points in one call"

    def _columns_of(self, x: Observation) -> tuple[FeatureName, ...]:
        columns = super()._columns_of(x)
        names = _feature_names(self.model)
        return tuple(names) if names and set(names) <= set(columns) else columns

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        return self._predict(self.model, table, columns)


def _feature_names(model: Any) -> list[str]:
    """The names that it was trained on; made-up ones for an array, which no observation has."""
    names = {"lightgbm": "feature_name", "xgboost": "feature_names", "catboost": "feature_names_"}
    found = getattr(model, names[_library(model)])
    return list((found() if callable(found) else found) or [])


def _lightgbm(model: Any, table: Sequence[Array], columns: Sequence[FeatureName]) -> Any:
    if any(column.dtype == object for column in table):
        return model.predict(_frame_with_categories(table, columns))
    return model.predict(np.column_stack(list(table)))


def _xgboost(model: Any, table: Sequence[Array], columns: Sequence[FeatureName]) -> Any:
    matrix = sys.modules["xgboost"].DMatrix
    if any(column.dtype == object for column in table):
        frame = _frame_with_categories(table, columns)
        return model.predict(matrix(frame, enable_categorical=True))
    return model.predict(matrix(np.column_stack(list(table)), feature_names=model.feature_names))


def _catboost(model: Any, table: Sequence[Array], columns: Sequence[FeatureName]) -> Any:
    del columns  # catboost goes by position
    return model.predict(np.column_stack(list(table)))


def _frame_with_categories(table: Sequence[Array], columns: Sequence[FeatureName]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(dict(zip(columns, table, strict=True)))
    texts = [name for name, column in zip(columns, table, strict=True) if column.dtype == object]
    return frame.astype(dict.fromkeys(texts, "category"))
