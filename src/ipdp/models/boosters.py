"""Native boosters of LightGBM, XGBoost and CatBoost, as their own `train` functions give them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName
from ipdp.models.batched import BatchedEngine

_FEATURE_NAMES = {
    "lightgbm.Booster": "feature_name",
    "xgboost.Booster": "feature_names",
    "catboost.CatBoost": "feature_names_",
}


def is_booster(model: Any) -> bool:
    """Whether a model is one of the native boosters, told without importing their libraries."""
    return _kind(model) in _FEATURE_NAMES


def _kind(model: Any) -> str:
    return f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}"


def made_up(names: Sequence[FeatureName]) -> bool:
    """Whether names are those that LightGBM and CatBoost give to the columns of an array.

    Examples
    --------
    >>> made_up(["Column_0", "Column_1"]), made_up(["0", "1"]), made_up(["age", "Column_1"])
    (True, True, False)
    """
    return all(name in (f"Column_{k}", str(k)) for k, name in enumerate(names))


class BoosterEngine(BatchedEngine):
    """A native booster; what it gives is what its objective makes of it, a probability as a rule.

    If it knows the names of its features, the order of an observation's features does not matter.
    """

    def __init__(self, model: Any) -> None:
        self._kind = _kind(model)
        super().__init__(model, f"{self._kind}.predict")

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        found = getattr(self.model, _FEATURE_NAMES[self._kind])
        names = tuple((found() if callable(found) else found) or ())
        return None if not names or made_up(names) else names

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        data = dict(zip(columns, table, strict=True))
        texts = [name for name, column in data.items() if column.dtype == object]
        options: dict[str, Any] = {"enable_categorical": True}
        if texts and self._kind != "catboost.CatBoost":  # which goes by position
            import pandas as pd

            rows: Any = pd.DataFrame(data).astype(dict.fromkeys(texts, "category"))
        else:
            rows = np.column_stack(list(table))
            options = {"feature_names": getattr(self.model, "feature_names", None)}
        if self._kind == "xgboost.Booster":
            rows = sys.modules["xgboost"].DMatrix(rows, **options)
        return self.model.predict(rows)
