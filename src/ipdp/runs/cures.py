"""What to do when a model stumbles over text: river's own words name neither column nor cure."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ipdp.core.words import listed, shown

# What is in the errors of numbers that turn out to be texts.
_SIGNS = ("'str'", "str_", "not str", "real number", "NominalSplitterReg", "string to float")
_LABEL_SIGNS = ("'str'", "invalid literal for int()", "string to float")


def cure(error: BaseException, x: Any, y: Any, model: Any) -> str | None:
    """A sentence that names the column that a model cannot take and what to do; None: unknown."""
    said = str(error)
    texts = {n: v for n, v in x.items() if isinstance(v, str)} if isinstance(x, Mapping) else {}
    name = _last(model)
    is_label = isinstance(y, str) and (not texts or repr(y) in said)
    if is_label and any(sign in said for sign in _LABEL_SIGNS):
        return _of_label(y, name, model)
    if not texts or not any(sign in said for sign in _SIGNS):
        return None
    first = next(iter(texts))
    are = "holds" if len(texts) == 1 else "hold"
    return (
        f"{listed(texts)} {are} text ({first} is {shown(texts[first])}), which {name} cannot "
        "take: encode it in front of the model (--encode onehot; in Python river's OneHotEncoder), "
        "or leave it out (--drop)"
    )


def _of_label(y: str, name: str, model: Any) -> str:
    base = sys.modules.get("river.base")
    if base is not None and isinstance(model, base.Regressor):
        return f"the label is text ({shown(y)}) and {name} is a regressor: take a classifier"
    return (
        f"the label is text ({shown(y)}) and {name} knows true and false only: put river's "
        f"multiclass.OneVsRestClassifier around it"
    )


def _last(model: Any) -> str:
    while getattr(model, "steps", None):
        model = list(model.steps.values())[-1]
    return type(model).__name__
