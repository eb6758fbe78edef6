"""`module:factory`: a function of the user's own that makes the model."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from ipdp.models.load.errors import LoadError, first_line, meant

_FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_factory(spec: str) -> bool:
    """Whether a word has the form `module:factory`."""
    return _FORM.fullmatch(spec) is not None


def call_factory(spec: str) -> Any:
    """The model that `module:factory` makes.

    The module is looked for in the current directory too. A function without parameters is called;
    a function that needs an argument is itself the model; so is anything else.

    Parameters
    ----------
    spec
        `module:factory`; the factory may be an attribute of something: `module:Class.method`.
    """
    name, _, path = spec.partition(":")
    found = _imported(name)
    for part in path.split("."):
        if not hasattr(found, part):
            raise LoadError(f"{name} has no {part!r}{meant(part, dir(found))}")
        found = getattr(found, part)
    if not (inspect.isclass(found) or inspect.isroutine(found)):
        return found
    if not inspect.isclass(found) and _needs_arguments(found):
        return found
    try:
        return found()
    except Exception as error:  # whatever the user's own code does
        raise LoadError(f"{spec} failed: {type(error).__name__}: {first_line(error)}") from error


def _imported(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            raise LoadError(
                f"there is no module {error.name!r}, neither in {here} nor installed"
            ) from None
        raise LoadError(f"{name} needs {error.name}, which is not installed") from None
    except Exception as error:
        raise LoadError(
            f"{name} cannot be imported: {type(error).__name__}: {first_line(error)}"
        ) from error


def _needs_arguments(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.default is p.empty and p.kind not in kinds for p in parameters)
