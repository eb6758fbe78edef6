"""From a dotted name to what it names, and whether a word may call it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ipdp.models.load.errors import LoadError, first_line, meant

LIBRARIES = ("river", "sklearn", "lightgbm", "xgboost", "catboost", "deep_river", "ipdp.grid")
"""Libraries whose classes are models and parts of models."""

_METHODS = (
    "predict_one",
    "predict_proba_one",
    "score_one",
    "learn_one",
    "transform_one",
    "predict",
    "transform",
)
_MAKERS = (
    "sklearn.pipeline.make_pipeline",
    "sklearn.pipeline.make_union",
    "sklearn.compose._column_transformer.make_column_transformer",
)


def resolve(path: str, within: Sequence[str] = ()) -> Any:
    """What a dotted name names.

    Parameters
    ----------
    path
        `package.module.Name`, or a name without dots that is looked for in `within`.
    within
        Names of modules.

    Examples
    --------
    >>> resolve("river.forest.ARFClassifier").__name__
    'ARFClassifier'
    >>> resolve("river.forest.ARFClassifer")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ipdp.models.load.errors.LoadError: ...; did you mean 'ARFClassifier'?
    """
    names = path.split(".")
    if any(name.startswith("_") for name in names):
        raise LoadError(f"{path} has a name that begins with an underscore, which is private")
    if len(names) == 1:
        return _within(path, within)
    found: Any = _module(names[0])
    for k, name in enumerate(names[1:], start=1):
        if hasattr(found, name):
            found = getattr(found, name)
        elif isinstance(found, ModuleType) and _is_there(submodule := ".".join(names[: k + 1])):
            found = _module(submodule)
        else:
            owner = ".".join(names[:k])
            raise LoadError(f"{owner} has no {name!r}{meant(name, dir(found))}")
    return found


def _within(name: str, modules: Sequence[str]) -> Any:
    there: dict[str, Any] = {}
    for module in modules:
        there = {**vars(_module(module)), **there}
    if name in there:
        return there[name]
    hint = meant(name, there) or "; write its whole path, such as river.forest.ARFClassifier()"
    raise LoadError(f"there is no {name!r}{hint}")


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            root = name.partition(".")[0]
            raise LoadError(f"there is no module {error.name!r}{meant(root, LIBRARIES)}") from None
        raise LoadError(f"{name} needs {error.name}, which is not installed") from None
    except Exception as error:  # whatever the module does when it is imported
        raise LoadError(f"{name} cannot be imported: {first_line(error)}") from error


def _is_there(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        return error.name is not None and not name.startswith(error.name)
    except Exception:
        return True  # it is there, and `_module` will say what is wrong with it
    return True


def check_callable(thing: Any, path: str) -> None:
    """Refuse to call what does not make a model or a part of one.

    A word may come from a file that someone else wrote. It can make models, with plain values, and
    do nothing else: no functions, and no classes from elsewhere that do not look like a model.
    """
    if f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}" in _MAKERS:
        return
    if not inspect.isclass(thing):
        what = "module" if isinstance(thing, ModuleType) else type(thing).__name__
        raise LoadError(
            f"{path} is a {what}, not a class; a function that makes a model is written "
            f"module:function"
        )
    if not (is_part(thing) or any(hasattr(thing, method) for method in _METHODS)):
        raise LoadError(f"{path} is not a model: it has no predict_one or predict")


def is_part(thing: Any) -> bool:
    """Whether something was defined by one of the libraries."""
    module = f"{getattr(thing, '__module__', '')}."
    return module.startswith(tuple(f"{name}." for name in LIBRARIES))
