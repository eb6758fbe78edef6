"""A checksum of a model, by which two logs can tell that it was one and the same."""

from __future__ import annotations

import hashlib
import pickle
import random
from typing import Any

import numpy as np

# What a pickle takes by its name is what it was only where the code is a library's: a function of
# the user's may be another one under the same name.
_LIBRARIES = frozenset(
    (
        *("builtins", "collections", "copyreg", "datetime", "functools", "math", "operator"),
        *("_codecs", "catboost", "ipdp", "lightgbm", "numpy", "pandas", "random", "river"),
        *("scipy", "sklearn", "xgboost"),
    )
)
# What learning draws from says nothing of a model that has learnt, and not all files keep it.
_GENERATORS = (np.random.RandomState, np.random.Generator, random.Random)
# A larger model is not looked at: that would take seconds.
_MOST = 256 * 2**20


def model_digest(model: Any) -> str | None:
    """A checksum of all that a model has learnt; None where it cannot be had.

    The same one means the same model. Another one may also be the same, saved otherwise.

    Examples
    --------
    >>> from river import linear_model
    >>> one, same = linear_model.LinearRegression(), linear_model.LinearRegression()
    >>> model_digest(one) == model_digest(same)
    True
    >>> model_digest(lambda x: x["a"]) is None
    True
    """
    digest = _Digest()
    try:
        pickler = _Pickler(digest, protocol=5)
        # Without it, two texts that are equal count as one or as two, as they were loaded.
        pickler.fast = True
        pickler.dump(model)
    except Exception:
        return None  # objects of the user's, with code of theirs, may raise anything
    return digest.sum.hexdigest()


class _Digest:
    """A file that keeps only the checksum of what is written to it."""

    def __init__(self) -> None:
        self.sum = hashlib.sha256()
        self._left = _MOST

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self._left -= size
        if self._left < 0:
            raise OverflowError("too large")
        self.sum.update(data)
        return size


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        """How an object is written; raise for code that is no library's."""
        root = str(getattr(type(obj), "__module__", "")).partition(".")[0]
        if isinstance(obj, type) or (callable(obj) and hasattr(obj, "__qualname__")):
            root = str(getattr(obj, "__module__", "")).partition(".")[0]
        if root not in _LIBRARIES:
            raise pickle.PicklingError(f"{root} is no library")
        if isinstance(obj, np.ndarray) and obj.dtype.names:
            # Field by field: between the fields of the nodes of a tree there may be anything.
            return tuple, ([obj[name].tolist() for name in obj.dtype.names],)
        if isinstance(obj, _GENERATORS):
            return str, (type(obj).__name__,)
        return NotImplemented
