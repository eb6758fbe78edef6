"""What a model is, in the words of who made it."""

from __future__ import annotations

import inspect
from typing import Any

_LIBRARIES = {
    "sklearn": "scikit-learn",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "onnxruntime": "ONNX Runtime",
}


def words_of(model: Any) -> str:
    """A model in a few words: its library and class, of a pipeline also its last step.

    Examples
    --------
    >>> from river import forest, linear_model, preprocessing
    >>> words_of(forest.ARFClassifier())
    'river ARFClassifier'
    >>> words_of(preprocessing.StandardScaler() | linear_model.LinearRegression())
    'river Pipeline with LinearRegression'
    >>> def price(x):
    ...     return 3 * x["size"]
    >>> words_of(price)
    'function price'
    """
    if inspect.isroutine(model):
        name = getattr(model, "__name__", "")
        return "a function" if name in ("", "<lambda>") else f"function {name}"
    library = type(model).__module__.partition(".")[0]
    known = _LIBRARIES.get(library, "" if library in ("__main__", "builtins") else library)
    text = f"{known} {type(model).__name__}".strip()
    last = _last_step(model)
    return text if last is model else f"{text} with {type(last).__name__}"


def _last_step(model: Any) -> Any:
    steps = getattr(model, "steps", None)
    while steps:
        model = list(steps.values())[-1] if isinstance(steps, dict) else steps[-1][1]
        steps = getattr(model, "steps", None)
    return model
