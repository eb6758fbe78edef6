"""The one door from a word to a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipdp.models import engine
from ipdp.models.load.errors import LoadError
from ipdp.models.load.expressions import load_object
from ipdp.models.load.factories import call_factory, is_factory
from ipdp.models.load.files import is_file, load_file


def load_model(spec: str | Path, *, allow_pickle: bool = False, trusted: Sequence[str] = ()) -> Any:
    """The model that a word stands for.

    Parameters
    ----------
    spec
        An import path with literal arguments, such as
        `river.forest.ARFClassifier(n_models=10, seed=42)`, or a pipeline of them with `|`;
        `module:factory`, a function of your own, looked for in the current directory too; or a
        file: .skops, .onnx, .pt2 (torch), .json and .ubj (XGBoost), .txt (LightGBM), .cbm and
        .json (CatBoost), .pkl and .joblib.
    allow_pickle
        Whether a .pkl or .joblib file may be loaded. Loading one runs whatever code is in it.
    trusted
        Types that a .skops file may hold beside those that skops trusts itself.

    Examples
    --------
    >>> from ipdp.models.load import load_model
    >>> load_model("river.tree.HoeffdingTreeClassifier(grace_period=50)").grace_period
    50
    >>> load_model("river.tree.HoeffdingTreeClasifier()")
    Traceback (most recent call last):
    ...
    ipdp.models.load.errors.LoadError: river.tree has no 'HoeffdingTreeClasifier'; did you mean
    'HoeffdingTreeClassifier'?
    """
    text = str(spec).strip()
    if not text:
        raise LoadError("the model is empty: give an import path, module:factory or a file")
    if is_file(text):
        model = load_file(Path(text), allow_pickle=allow_pickle, trusted=trusted)
    elif is_factory(text):
        model = call_factory(text)
    elif os.path.isfile(text):  # which takes any text, unlike Path.is_file
        raise LoadError(
            f"{text} is a file of no kind that is known: .skops, .onnx, .pt2, .json, .ubj, .txt, "
            ".cbm, .pkl, .joblib"
        )
    else:
        model = load_object(text, within=())
    try:
        engine(model)
    except TypeError as error:
        raise LoadError(f"{text}: {error}") from None
    return model
