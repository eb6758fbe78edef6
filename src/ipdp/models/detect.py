"""The one door from a model to its engine."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, Literal, get_args

from ipdp.models.base import Engine
from ipdp.models.batched import ArrayEngine, FrameEngine
from ipdp.models.boosters import BoosterEngine, is_booster
from ipdp.models.onnx import OnnxEngine, is_onnx_session
from ipdp.models.per_row import RowEngine
from ipdp.models.torch import TorchEngine, is_torch_module

Takes = Literal["dict", "frame", "array"]
"""What a function is called with."""

Response = Literal["auto", "predict_proba", "decision_function", "predict"]
"""Which answer of an estimator is explained."""


def engine(
    model: Any, *, takes: Takes | None = None, response: Response = "auto", backend: str = "pandas"
) -> Engine:
    """The engine that computes the ICE curves of a model.

    Parameters
    ----------
    model
        A river or scikit-learn estimator or pipeline; a model of LightGBM, XGBoost or CatBoost
        (their scikit-learn classes and their native boosters); a torch module; an ONNX Runtime
        session; a function; or an engine, which is given back as it is.
    takes
        For functions: called with one observation as a "dict" (the default, unless the type of the
        first parameter says otherwise), or with many as a "frame" or a 2-D "array".
    response
        For estimators: "auto" is what scikit-learn takes for partial dependence, `predict_proba`
        of a classifier, else `decision_function`, else `predict`. With "predict" a classifier's
        curve is the share of each predicted class.
    backend
        For functions of a frame: the library of the frame.

    Examples
    --------
    >>> import ipdp
    >>> ipdp.models.engine(lambda x: x["a"])
    <RowEngine: a function of one dict, one call for each point>
    >>> ipdp.models.engine(lambda X: X[:, 0], takes="array")
    <ArrayEngine: a function of an array, all points in one call>
    >>> ipdp.models.engine("model.pkl")
    Traceback (most recent call last):
    ...
    TypeError: a str is not a model: give a river or scikit-learn estimator, or a function
    """
    if isinstance(model, Engine):
        return model
    if takes is not None and takes not in get_args(Takes):
        raise ValueError(f"takes must be one of {', '.join(get_args(Takes))}, got {takes!r}")
    if response not in get_args(Response):
        raise ValueError(
            f"response must be one of {', '.join(get_args(Response))}, got {response!r}"
        )
    if inspect.isclass(model):
        raise TypeError(f"{model.__name__} is a class: give a model, {model.__name__}(...)")
    if takes is None and _speaks_one(model):
        from ipdp.models.river import river_engine

        return river_engine(model, response)
    owner = getattr(model, "__self__", None)
    if takes is None and owner is not None and _is_sklearn(owner):
        from ipdp.models.sklearn import SklearnEngine

        return SklearnEngine(owner, response=model.__name__)
    if takes is None and (special := _special_engine(model)) is not None:
        return special
    if takes is None and hasattr(model, "predict"):
        from ipdp.models.sklearn import SklearnEngine

        return SklearnEngine(model, response=response)
    if callable(model):
        return _function_engine(model, takes or _annotated(model) or "dict", backend)
    raise TypeError(
        f"a {type(model).__name__} is not a model: give a river or scikit-learn estimator, "
        "or a function"
    )


def _special_engine(model: Any) -> Engine | None:
    """The engine of a model that is known by its type."""
    if is_booster(model):
        return BoosterEngine(model)
    if is_torch_module(model):
        return TorchEngine(model)
    if is_onnx_session(model):
        return OnnxEngine(model)
    return None


def _speaks_one(model: Any) -> bool:
    methods = ("predict_one", "predict_proba_one", "score_one")
    return any(hasattr(model, method) for method in methods)


def _is_sklearn(owner: Any) -> bool:
    sklearn = sys.modules.get("sklearn.base")
    return sklearn is not None and isinstance(owner, sklearn.BaseEstimator)


def _function_engine(function: Callable[[Any], Any], takes: Takes, backend: str) -> Engine:
    if takes == "array":
        return ArrayEngine(function)
    if takes == "frame":
        return FrameEngine(function, backend=backend)
    return RowEngine(function, description="a function of one dict")


def _annotated(function: Callable[[Any], Any]) -> Takes | None:
    """What the type of the function's first parameter says that it takes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    annotation = str(next(iter(parameters.values())).annotation) if parameters else ""
    if "DataFrame" in annotation:
        return "frame"
    return "array" if "ndarray" in annotation or "NDArray" in annotation else None
