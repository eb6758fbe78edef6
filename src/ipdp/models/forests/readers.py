"""Which models have trees that can be read, told without importing their libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ipdp.models.forests import catboost, lightgbm, sklearn, xgboost
from ipdp.models.forests.flat import Flat


class Reader(NamedTuple):
    """How the trees of a kind of model are read.

    Attributes
    ----------
    signature
        Of a model: what is another, by ==, after it has learned; it is looked at for every
        observation. An error says that there are no trees yet.
    read
        The trees of a model, given the response that is explained.
    """

    signature: Callable[[Any], Any]
    read: Callable[[Any, str], Flat]


_FOREST = Reader(sklearn.forest_signature, sklearn.read_forest)
_GRADIENT = Reader(sklearn.gradient_signature, sklearn.read_gradient)
_HISTOGRAM = Reader(sklearn.histogram_signature, sklearn.read_histogram)

_READERS = {
    f"sklearn.{name}{task}": reader
    for task in ("Classifier", "Regressor")
    for name, reader in {
        "DecisionTree": _FOREST,
        "ExtraTree": _FOREST,
        "RandomForest": _FOREST,
        "ExtraTrees": _FOREST,
        "GradientBoosting": _GRADIENT,
        "HistGradientBoosting": _HISTOGRAM,
    }.items()
}

_READERS |= {
    f"{library}.{name}": Reader(module.signature, module.read)
    for library, module, names in (
        ("lightgbm", lightgbm, ("Booster", "LGBMClassifier", "LGBMRegressor", "LGBMRanker")),
        ("xgboost", xgboost, ("Booster", "XGBClassifier", "XGBRegressor", "XGBRFClassifier")),
        ("xgboost", xgboost, ("XGBRFRegressor", "XGBRanker")),
        ("catboost", catboost, ("CatBoost", "CatBoostClassifier", "CatBoostRegressor")),
    )
    for name in names
}


def reader_of(model: Any) -> Reader | None:
    """The reader of a model; None if there is none. A class of one's own is not looked into."""
    return _READERS.get(f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}")
