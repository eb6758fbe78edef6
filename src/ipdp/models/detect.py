"""From a model to its engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args

from ipdp.core.words import shown
from ipdp.models.base import Engine
from ipdp.models.batched import ArrayEngine, FrameEngine
from ipdp.models.boosters import BoosterEngine, is_booster
from ipdp.models.forests import with_walk
from ipdp.models.onnx import OnnxEngine, is_onnx_session
from ipdp.models.per_row import RowEngine
from ipdp.models.river import is_river_model, river_engine
from ipdp.models.sklearn import SklearnEngine, is_method
from ipdp.models.torch import TorchEngine, is_torch_module

Takes = Literal["dict", "frame", "array"]
"""What a function is called with."""

Response = Literal["auto", "predict_proba", "decision_function", "predict"]
"""Which answer of an estimator is explained."""

Predicate = Callable[[Any], bool]
"""Whether a model is of a certain kind."""

Factory = Callable[[Any, str], Engine]
"""The engine of a model of that kind, given the model and the response that was asked for."""


def _estimator(model: Any, response: str) -> Engine:
    plain = SklearnEngine(model, response)
    return with_walk(plain, plain.response)


# The first entry whose predicate holds makes the engine. A predicate must not import the library of
# the model: whoever has a model has imported it.
_REGISTER: list[tuple[Predicate, Factory]] = [
    (is_river_model, river_engine),
    (is_method, lambda method, _: _estimator(method.__self__, method.__name__)),
    (is_booster, lambda model, _: with_walk(BoosterEngine(model))),
    (is_torch_module, lambda model, _: TorchEngine(model)),
    (is_onnx_session, lambda model, _: OnnxEngine(model)),
    (lambda model: hasattr(model, "predict"), _estimator),
]


def register(predicate: type | Predicate, factory: Factory) -> None:
    """Let `ipdp.models.engine`, and whatever takes a model, know another kind of model.

    What is registered last is tried first, before the kinds that are known already. The function
    `ipdp.checks.check_engine` tests the engine.

    Parameters
    ----------
    predicate
        The class of such models, or a function that says whether a model is one of them. It is
        called with models of all kinds.
    factory
        Makes the engine from the model and the `response` that was asked for.

    Examples
    --------
    >>> import ipdp
    >>> class Thermostat:
    ...     def heating(self, x):
    ...         return max(0.0, 20.0 - x["outside"])
    >>> ipdp.models.register(
    ...     Thermostat,
    ...     lambda model, response: ipdp.models.RowEngine(
    ...         model.heating, model=model, description="a thermostat"
    ...     ),
    ... )
    >>> ipdp.models.engine(Thermostat())
    <RowEngine: a thermostat, one call for each point>
    >>> grid = ipdp.grid.Fixed([0, 10])
    >>> pdp = ipdp.IncrementalPDP(Thermostat(), grid=grid)
    >>> pdp.explain_one({"outside": 15.0})
    >>> pdp.curve("outside").average
    array([[20., 10.]])
    """
    fits = predicate.__instancecheck__ if isinstance(predicate, type) else predicate
    _REGISTER.insert(0, (fits, factory))


def engine(
    model: Any, *, takes: Takes | None = None, response: Response = "auto", backend: str = "pandas"
) -> Engine:
    """The engine that computes the ICE curves of a model.

    Parameters
    ----------
    model
        A river or scikit-learn estimator or pipeline; a model of LightGBM, XGBoost or CatBoost
        (their scikit-learn classes and their native boosters); a torch module; an ONNX Runtime
        session; a model of a kind that was added by `ipdp.models.register`; a function; or an
        engine, which is given back as it is.
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
        raise ValueError(f"takes must be one of {', '.join(get_args(Takes))}, got {shown(takes)}")
    if response not in (known := get_args(Response)):
        raise ValueError(f"response must be one of {', '.join(known)}, got {shown(response)}")
    if inspect.isclass(model):
        raise TypeError(f"{model.__name__} is a class: give a model, {model.__name__}(...)")
    if takes is None:
        for predicate, factory in _REGISTER:
            if predicate(model):
                return factory(model, response)
    if callable(model):
        return _function_engine(model, takes or _annotated(model) or "dict", backend)
    raise TypeError(
        f"a {type(model).__name__} is not a model: give a river or scikit-learn estimator, "
        "or a function"
    )


def parameters_of(function: Any) -> list[inspect.Parameter] | None:
    """The parameters of a function or class; None where Python cannot tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _function_engine(function: Callable[[Any], Any], takes: Takes, backend: str) -> Engine:
    if takes == "array":
        return ArrayEngine(function)
    if takes == "frame":
        return FrameEngine(function, backend=backend)
    return RowEngine(function, description="a function of one dict")


def _annotated(function: Callable[[Any], Any]) -> Takes | None:
    """What the type of the function's first parameter says that it takes."""
    parameters = parameters_of(function)
    annotation = str(parameters[0].annotation) if parameters else ""
    if "DataFrame" in annotation:
        return "frame"
    return "array" if "ndarray" in annotation or "NDArray" in annotation else None
