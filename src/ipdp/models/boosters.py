"""Native boosters of LightGBM, XGBoost and CatBoost, as their own `train` functions give them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, Observation
from ipdp.models.batched import BatchedEngine
from ipdp.models.schema import within

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

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:
        return self.schema.orders or own_orders(self.model, x, self.feature_names)

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        data = dict(zip(columns, table, strict=True))
        has_texts = any(column.dtype == object for column in table) or bool(self.schema.orders)
        options: dict[str, Any] = {"enable_categorical": True}
        if has_texts and self._kind != "catboost.CatBoost":  # which goes by position
            import pandas as pd

            restored = self.schema.restore_pandas(data)
            rows: Any = pd.DataFrame(texts_as_categories(self.model, restored))
        else:
            rows = np.column_stack(list(table))
            options = {"feature_names": getattr(self.model, "feature_names", None)}
        if self._kind == "xgboost.Booster":
            rows = sys.modules["xgboost"].DMatrix(rows, **options)
        return self.model.predict(rows)


# Categories of pandas, which LightGBM and XGBoost are trained on.


def takes_categories(model: Any) -> bool:
    """Whether a model wants text as categories of pandas."""
    return type(model).__module__.partition(".")[0] in ("lightgbm", "xgboost")


def _known_categories(model: Any) -> list[Sequence[Any]] | None:
    """The categories that a model was trained on, in the order of its columns; None if unknown."""
    booster = getattr(model, "booster_", model)
    if hasattr(booster, "pandas_categorical"):  # lightgbm
        return list(booster.pandas_categorical or [])
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not hasattr(booster, "get_categories"):  # an older xgboost
        return None
    try:
        columns = booster.get_categories(export_to_arrow=True).to_arrow()
    except Exception:  # without pyarrow, or of a model that is not made of trees
        return None
    return [column.to_pylist() for _, column in columns if column is not None]


def own_orders(
    model: Any, x: Observation, names: Sequence[FeatureName] | None
) -> dict[FeatureName, Sequence[Any]]:
    """The categories of the features that are text, as the model knows them, if it does."""
    if not takes_categories(model):
        return {}
    texts = [name for name in names or () if isinstance(x.get(name), str)]
    known = _known_categories(model) if texts else None
    return dict(zip(texts, known, strict=True)) if known and len(known) == len(texts) else {}


def texts_as_categories(model: Any, data: Mapping[FeatureName, Any]) -> dict[FeatureName, Any]:
    """The columns of a frame with those of text as categories of pandas, those of the model."""
    import pandas as pd

    made = dict(data)
    texts = [
        name
        for name, column in data.items()
        if (isinstance(column, np.ndarray) and column.dtype == object)
        or isinstance(getattr(column, "dtype", None), pd.StringDtype)
    ]
    typed = sum(isinstance(column, pd.Categorical) for column in data.values())
    is_lightgbm = type(model).__module__.startswith("lightgbm")
    # XGBoost takes numbers for categories; LightGBM wants all of them as such.
    known = _known_categories(model) if texts or (is_lightgbm and not typed) else []
    if known is None or (not typed and len(known) != len(texts)):
        if not texts and not known:
            return made
        fitted = "categories" if known is None else f"{len(known)} columns of categories"
        raise ValueError(
            f"{type(model).__name__} was fitted on {fitted}, and {len(texts)} columns of the "
            "observations are text: explain a frame with the same types first (explain_many), "
            "then single observations"
        )
    if not typed:
        for name, categories in zip(texts, known, strict=True):
            made[name] = pd.Categorical(
                within(data[name].tolist(), categories), categories=list(categories)
            )
    return made
