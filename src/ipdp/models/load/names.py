"""From a dotted name to what it names, and whether a text may call it."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ipdp.core.validation import did_you_mean

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
MAKERS = (
    "sklearn.pipeline.make_pipeline",
    "sklearn.pipeline.make_union",
    "sklearn.compose.make_column_transformer",
    "sklearn.compose._column_transformer.make_column_transformer",
)
"""The functions that make a model of its parts."""


class LoadError(ValueError):
    """A text that no model could be made of; the message says why and what to write instead.

    `untrusted` are the types of a .skops file that would have to be trusted.
    """

    untrusted: Sequence[str] = ()


def first_line(error: BaseException) -> str:
    """The first line of an error's text, without the full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def attribute(owner: Any, name: str, path: str) -> Any:
    """An attribute, or an error that says which one may have been meant; `path` is the owner's."""
    if not hasattr(owner, name):
        raise LoadError(f"{path} has no {name!r}{hint(name, dir(owner))}")
    return getattr(owner, name)


def hint(name: str, known: Iterable[str]) -> str:
    """Which name may have been meant, as the end of a sentence; nothing if none is like it."""
    question = did_you_mean(name, known)
    return f"; {question}" if question else ""


def resolve(path: str, within: Sequence[str] = ()) -> Any:
    """What `package.module.Name` names; a name without dots is looked for in some modules."""
    names = path.split(".")
    if any(name.startswith("_") for name in names):
        raise LoadError(f"{path} has a name that begins with an underscore, which is private")
    if len(names) == 1:
        return _within(path, within)
    found: Any = _library_module(names[0])
    for k, name in enumerate(names[1:], start=1):
        submodule = ".".join(names[: k + 1])
        if isinstance(found, ModuleType) and not hasattr(found, name) and _is_there(submodule):
            found = _library_module(submodule)
        else:
            found = attribute(found, name, ".".join(names[:k]))
    return found


def _within(name: str, modules: Sequence[str]) -> Any:
    there = ChainMap(*[vars(_library_module(module)) for module in modules])
    if name in there:
        return there[name]
    more = hint(name, there) or "; write its whole path, such as river.forest.ARFClassifier()"
    raise LoadError(f"there is no {name!r}{more}")


def _library_module(name: str) -> ModuleType:
    first = name.partition(".")[0]
    return imported(name, absent=hint(first, LIBRARIES) or _as_in_a_notebook(first))


def _as_in_a_notebook(name: str) -> str:
    """What to write for a module that is there after `from river import forest`."""
    return f"; write river.{name}" if _is_there(f"river.{name}") else ""


def imported(name: str, absent: str) -> ModuleType:
    """A module; `absent` ends the sentence of the error if there is none of that name."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            raise LoadError(f"there is no module {error.name!r}{absent}") from None
        raise LoadError(f"{name} needs {error.name}, which is not installed") from None
    except Exception as error:  # whatever the module does when it is imported
        why = f"{type(error).__name__}: {first_line(error)}"
        raise LoadError(f"{name} cannot be imported: {why}") from error


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what comes before the last dot is not a package
        return False


def check_callable(thing: Any, path: str) -> None:
    """Refuse to call what does not make a model or a part of one.

    A text may come from a file that someone else wrote. It can make models, with plain values, and
    do nothing else: no functions, and no classes from elsewhere that do not look like a model.
    """
    if f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}" in MAKERS:
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
