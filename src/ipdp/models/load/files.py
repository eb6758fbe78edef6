"""Models from files, by safe formats; pickle only where the user asks for it."""

from __future__ import annotations

import math
import os
import pickle
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ipdp.models.load.archives import must_be_as_large_as_it_seems
from ipdp.models.load.names import LoadError, first_line

PICKLES = (".pkl", ".pickle", ".joblib", ".pt2")
"""Suffixes of files that run code when they are loaded; a .pt2 has pickled sample inputs."""

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")  # in UTF-8


def load_file(path: Path, *, allow_pickle: bool, trusted: Sequence[str] = ()) -> Any:
    """The model that a file holds; its suffix says how. See `load_model`."""
    if not os.path.isfile(path):  # which takes any text, unlike Path.is_file
        raise LoadError(f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix in PICKLES and not allow_pickle:
        raise LoadError(
            f"{path} {'holds' if suffix == '.pt2' else 'is'} a pickle, which runs whatever code is "
            "in it when it is loaded; allow it (--allow-pickle) only if you trust whoever made the "
            "file"
        )
    try:
        return _skops(path, trusted) if suffix == ".skops" else _LOADERS[suffix](path)
    except LoadError:
        raise
    except ImportError as error:
        raise LoadError(f"{path} needs {error.name}, which is not installed") from None
    except Exception as error:  # every library has errors of its own
        raise LoadError(f"{path} cannot be loaded: {first_line(error)}") from error


def is_file(spec: str) -> bool:
    """Whether a text has the suffix of a model's file."""
    return Path(spec).suffix.lower() in (".skops", *_LOADERS)


def is_read_natively(spec: str) -> bool:
    """Whether a text names a file that a compiled library reads: a crafted one can crash it."""
    return Path(spec).suffix.lower() in _LOADERS.keys() - set(PICKLES)


def _needed(module: str, what: str, package: str = "") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise LoadError(f"{what} needs {module}: pip install {package or module}") from None


def _skops(path: Path, trusted: Sequence[str]) -> Any:
    skops = _needed("skops.io", "a .skops file", "'ipdp[sklearn]'")
    must_be_as_large_as_it_seems(path, path.stat().st_size)
    unknown = sorted(set(skops.get_untrusted_types(file=path)) - set(trusted))
    if unknown:
        error = LoadError(
            f"{path} holds types that skops does not trust: {', '.join(unknown)}; name those that "
            "you trust (--trust)"
        )
        error.untrusted = unknown
        raise error
    return skops.load(path, trusted=list(trusted))


def _torch(path: Path) -> Any:
    torch = _needed("torch", "a .pt2 file")
    exported = torch.export.load(str(path)).module()

    class Exported(torch.nn.Module):  # type: ignore[name-defined, misc]
        """An exported program as a module: it is in evaluation mode and stays there."""

        def __init__(self) -> None:
            super().__init__()
            self.program = exported
            self.training = False

        def forward(self, *inputs: Any) -> Any:
            return self.program(*inputs)

        def train(self, mode: bool = True) -> Any:
            del mode  # an exported program cannot be trained
            return self

    return Exported()


def _xgboost(path: Path) -> Any:
    return _needed("xgboost", "an XGBoost file").Booster(model_file=str(path))


def _onnx(path: Path) -> Any:
    runtime = _needed("onnxruntime", "an ONNX file")
    options = runtime.SessionOptions()
    # Its warnings hold names of the file as they are, which a terminal would obey; errors are
    # raised, too.
    options.log_severity_level = 4
    return runtime.InferenceSession(str(path), options)


def _lightgbm(path: Path) -> Any:
    _must_be_of_lightgbm(path)
    return _needed("lightgbm", "a LightGBM file").Booster(model_file=str(path))


def _must_be_of_lightgbm(path: Path) -> None:
    """Refuse trees that split a column beyond the last, and what a terminal would obey.

    LightGBM does not look: it writes beyond an array when it is asked for the text of its trees,
    and prints words that it does not know as they are.
    """
    last = math.inf
    with path.open("rb") as file:
        for line in file:
            if _CONTROL.search(line):
                raise LoadError(f"{path} has characters that a terminal obeys: it is damaged")
            name, _, value = line.partition(b"=")
            if name == b"max_feature_idx":
                last = min(last, int(value))
            elif name == b"split_feature":
                columns = [int(each) for each in value.split()]
                if columns and not 0 <= min(columns) <= max(columns) <= last:
                    raise LoadError(f"{path} splits a column that it does not have: it is damaged")


def _catboost(path: Path, kind: str = "cbm") -> Any:
    return _needed("catboost", "a CatBoost file").CatBoost().load_model(str(path), format=kind)


def _json(path: Path) -> Any:
    """XGBoost and CatBoost both write JSON: the names at its start tell."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if b'"learner"' in start:
        return _xgboost(path)
    if any(name in start for name in (b'"features_info"', b'"ctr_data"', b'"oblivious_trees"')):
        return _catboost(path, "json")
    raise LoadError(f"{path} is neither a model of XGBoost nor of CatBoost")


def _pickle(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)


_LOADERS: dict[str, Callable[[Path], Any]] = {
    ".onnx": _onnx,
    ".pt2": _torch,
    ".ubj": _xgboost,
    ".txt": _lightgbm,
    ".cbm": _catboost,
    ".json": _json,
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": lambda path: _needed("joblib", "a .joblib file").load(path),
}
