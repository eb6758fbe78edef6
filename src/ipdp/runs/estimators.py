"""A learning model of scikit-learn in skops's format, which runs no code when it is loaded."""

from __future__ import annotations

import io
import sys
import zipfile
from importlib import import_module
from typing import Any

from ipdp.runs.checkpoint import CheckpointError

# Beside what skops trusts itself: the optimisers of scikit-learn's neural networks, which are plain
# objects of numbers and arrays. Without them no network could be kept.
_TRUSTED = [
    f"sklearn.neural_network._stochastic_optimizers.{name}"
    for name in ("AdamOptimizer", "SGDOptimizer")
]


class CannotBeKept(TypeError):
    """A model that cannot be written in the format; the text says why."""


def has_format(model: Any) -> bool:
    """Whether a model is one of scikit-learn's, and skops is there to write it."""
    base = sys.modules.get("sklearn.base")
    if base is None or not isinstance(model, base.BaseEstimator):
        return False
    try:
        import_module("skops.io")
    except ImportError:
        return False
    return True


def dumped(model: Any) -> bytes:
    """A model in skops's format; CannotBeKept if that would not load again without trust.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> model = SGDRegressor(random_state=1).partial_fit([[1.0]], [2.0])
    >>> other = SGDRegressor()
    >>> load_into(other, dumped(model))
    >>> bool(other.predict([[3.0]]) == model.predict([[3.0]]))
    True
    """
    skops: Any = import_module("skops.io")
    try:
        data: bytes = skops.dumps(model)
        unknown = _untrusted(data)
    except Exception as error:  # whatever the model's own code does
        raise CannotBeKept(f"{type(error).__name__}: {error}") from error
    if unknown:
        raise CannotBeKept(f"skops does not trust {', '.join(unknown)}")
    return data


def load_into(model: Any, data: bytes) -> None:
    """Bring a model to what another one of the same class had learnt.

    Nothing is made of the data before all types in it are known to be harmless.

    Parameters
    ----------
    model
        Changed in place, so that whoever holds it has the one that learns on.
    data
        What `dumped` gave.
    """
    try:
        skops: Any = import_module("skops.io")
    except ImportError:
        raise CheckpointError(
            "the model in the checkpoint is in skops's format: pip install 'ipdp[sklearn]'"
        ) from None
    try:
        unknown = _untrusted(data)
        loaded = None if unknown else skops.loads(data, trusted=_TRUSTED)
    except Exception as error:  # not an archive, a class that is no longer there
        raise CheckpointError(f"the model in the checkpoint cannot be loaded: {error}") from error
    if unknown:
        raise CheckpointError(
            f"the model in the checkpoint was not loaded: skops does not trust {', '.join(unknown)}"
        )
    if type(loaded) is not type(model):
        raise CheckpointError(
            f"the model in the checkpoint is a {type(loaded).__name__} and the one given is a "
            f"{type(model).__name__}: make everything as it was made at the start"
        )
    vars(model).clear()
    vars(model).update(vars(loaded))


def _untrusted(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # As they are written here; what is packed may unpack to far more than the file's size.
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("it is compressed, which no checkpoint of ipdp is")
    skops: Any = import_module("skops.io")
    return sorted(set(skops.get_untrusted_types(data=data)) - set(_TRUSTED))
