"""From a text to a model: an expression, a file, or a factory of the user's own."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipdp.models.detect import engine, parameters_of
from ipdp.models.load.expressions import load_object
from ipdp.models.load.files import is_file, load_file
from ipdp.models.load.names import LoadError, attribute, first_line, imported

_FACTORY = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def load_model(spec: str | Path, *, allow_pickle: bool = False, trusted: Sequence[str] = ()) -> Any:
    """The model that a text stands for.

    That is an import path with literal arguments (see `load_object`); `module:factory`, a function
    of your own, looked for in the current directory too; or a file: .skops, .onnx, .pt2 (torch),
    .json and .ubj (XGBoost), .txt (LightGBM), .cbm and .json (CatBoost), .pkl and .joblib.
    `allow_pickle` lets a .pkl, .joblib or .pt2 file be loaded, which runs whatever code is in it;
    `trusted` are types that a .skops file may hold beside those that skops trusts itself.
    """
    text = str(spec).strip()
    if not text:
        raise LoadError("the model is empty: give an import path, module:factory or a file")
    if is_file(text):
        model = load_file(Path(text), allow_pickle=allow_pickle, trusted=trusted)
    elif is_factory(text):
        model = _call_factory(text)
    elif os.path.isfile(text):  # which takes any text, unlike Path.is_file
        raise LoadError(
            f"{text} is a file of no kind that is known: .skops, .onnx, .pt2, .json, .ubj, .txt, "
            ".cbm, .pkl, .joblib"
        )
    else:
        model = load_object(text)
    try:
        engine(model)
    except TypeError as error:
        raise LoadError(f"{text}: {error}") from None
    return model


def is_factory(text: str) -> bool:
    """Whether a text has the form `module:factory`."""
    return _FACTORY.fullmatch(text) is not None


def _call_factory(spec: str) -> Any:
    """The model that `module:factory` makes; the factory may be `Class.method`.

    The module is looked for in the current directory too. A function without parameters is called;
    a function that needs an argument is itself the model; so is anything else.
    """
    name, _, path = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    found: Any = imported(name, absent=f", neither in {here} nor installed")
    for part in path.split("."):
        found = attribute(found, part, name)
    is_function = inspect.isroutine(found)
    if not (inspect.isclass(found) or is_function) or (is_function and _needs_arguments(found)):
        return found
    try:
        return found()
    except Exception as error:  # whatever the user's own code does
        raise LoadError(f"{spec} failed: {type(error).__name__}: {first_line(error)}") from error


def _needs_arguments(function: Any) -> bool:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = parameters_of(function) or ()
    return any(p.default is p.empty and p.kind not in kinds for p in parameters)
