"""How a model predicts, learns, and is kept in a checkpoint."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, get_args

import numpy as np

from ipdp.core.observations import arranged, without_missing
from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FeatureName, Observation
from ipdp.models import Engine, engine
from ipdp.models.base import Outputs
from ipdp.models.detect import Response
from ipdp.models.load.archives import must_be_as_large_as_it_seems
from ipdp.models.wrapped import Wrapped, innermost
from ipdp.runs.checkpoint import CheckpointError
from ipdp.runs.metrics import Scores

Predict = Callable[[Any], Any]
Learn = Callable[[Any, Any], Any]


class Order:
    """Brings observations into the order of the first, for models that do not know names."""

    def __init__(self) -> None:
        self.columns: tuple[FeatureName, ...] | None = None

    def __call__(self, x: Observation) -> Observation:
        if self.columns is None:
            self.columns = tuple(x)
        return arranged(x, self.columns)


def predictor(model: Any, asked: Engine, scores: Scores, order: Order) -> Predict | None:
    """What gives the prediction of one observation, as the metrics want it; None for no metrics."""
    if not scores:
        return None
    last = model
    while hasattr(last, "steps") and isinstance(last.steps, dict) and last.steps:
        last = list(last.steps.values())[-1]
    if hasattr(last, "classify") and hasattr(last, "score_one"):  # a filter of anomalies
        return lambda x: model.classify(model.score_one(without_missing(x)))
    if hasattr(last, "predict_one") or hasattr(last, "predict_proba_one"):
        _must_suit(model, scores)
        return _of_river(model, last, wants_labels=scores.wants_labels)
    if hasattr(last, "score_one"):
        return lambda x: model.score_one(without_missing(x))
    return _by_engine(model, asked, scores.wants_labels, order)


def _of_river(model: Any, last: Any, *, wants_labels: bool) -> Predict:
    if hasattr(last, "predict_proba_one"):
        if not wants_labels:
            return lambda x: in_order(model.predict_proba_one(without_missing(x)))
        if _takes_the_most_probable(last):
            return lambda x: _most_probable(model.predict_proba_one(without_missing(x)))
    return lambda x: model.predict_one(without_missing(x))


def in_order(said: Any) -> Any:
    """Probabilities of classes that are texts by name; others as they are.

    River's trees give them in the order of a set, which for texts is another one in each process:
    a run that is resumed would not predict what it did.

    Examples
    --------
    >>> list(in_order({"no": 0.5, "maybe": 0.5})), list(in_order({True: 0.5, False: 0.5}))
    (['maybe', 'no'], [True, False])
    """
    if isinstance(said, dict) and all(isinstance(label, str) for label in said):
        return dict(sorted(said.items()))
    return said


def _takes_the_most_probable(model: Any) -> bool:
    """Whether a classifier of river predicts the class with the highest probability."""
    base = sys.modules.get("river.base")
    return base is not None and getattr(type(model), "predict_one", None) is (
        base.Classifier.predict_one
    )


def _most_probable(said: Any) -> Any:
    """The class that river's `predict_one` gives, of texts that are as probable the first one."""
    ordered = in_order(said)
    return max(ordered, key=ordered.get) if ordered else None


def learner(model: Any, order: Order) -> Learn:
    """What teaches the model one observation."""
    if not hasattr(model, "learn_one") and hasattr(model, "partial_fit"):
        return _partial_learner(model, order)
    if not hasattr(model, "learn_one"):
        raise ValueError(
            f"{_kind(model)} cannot learn one observation (it has no learn_one and no "
            "partial_fit): give learn=False to explain it as it is"
        )
    if learns_without_labels(model):
        return lambda x, _: model.learn_one(without_missing(x))
    return lambda x, y: model.learn_one(without_missing(x), y)


def _partial_learner(model: Any, order: Order) -> Learn:
    """Teaches a model of scikit-learn, by name where it knows its features, else in their order."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return lambda x, y: model.partial_fit([list(order(x).values())], [y])
    names = list(known)

    def learn(x: Any, y: Any) -> None:
        import pandas as pd

        model.partial_fit(pd.DataFrame([[x[name] for name in names]], columns=names), [y])

    return learn


def learns_without_labels(model: Any) -> bool:
    """Whether the model wants x only: anomaly detectors, clusterers."""
    return not getattr(model, "_supervised", True)


def _by_engine(model: Any, asked: Engine, wants_labels: bool, order: Order) -> Predict:
    if wants_labels and model is not asked:
        # What an estimator itself decides; a function has but one answer.
        with suppress(TypeError, ValueError):
            asked = engine(model, response="predict")

    def predict(x: Any) -> Any:
        return _answer(asked.predict([order(x) if asked.ordered else x]), wants_labels)

    return predict


def _answer(outputs: Outputs, wants_labels: bool) -> Any:
    labels, values = outputs.labels, outputs.values[0, :, 0]
    if labels == PREDICTION:
        return float(values[0])
    if labels is None:
        labels = tuple(range(len(values)))
    if not len(values):
        return None
    if wants_labels:
        return labels[int(np.argmax(values))]
    return dict(zip(labels, values.tolist(), strict=True))


def _must_suit(model: Any, scores: Scores) -> None:
    from river import base

    if not isinstance(model, base.Base):
        return  # it only speaks like one of river
    for name, metric in scores.by_name.items():
        works_with = getattr(metric, "works_with", None)
        if works_with is not None and not works_with(model):
            raise ValueError(f"the metric {name} does not suit a {_kind(model)}")


def _kind(model: Any) -> str:
    return getattr(model, "__name__", type(model).__name__)


# What an engine remembers, and another model for an explainer.


def engine_state(known: Engine) -> dict[str, Any] | None:
    """What an engine of trees remembers of its own checks, JSON-safe.

    At some observations it gives the answers of plain calls, which differ from its own in the last
    bits; which observations these are must be the same after a resume.
    """
    known = innermost(known)
    checker: Any = getattr(known, "checker", None)
    if checker is None:
        return None
    # The checks of batch-trained trees, which are compared anew when they are read, change nothing.
    return {**getattr(checker, "state", {}), "fault": getattr(known, "fault", None)}


def restore_engine(known: Any, state: Mapping[str, Any] | None) -> None:
    """Bring an engine's checks to where they were."""
    known = innermost(known)
    if state is not None and getattr(known, "checker", None) is not None:
        known.fault = state["fault"]
        if hasattr(known.checker, "state"):
            known.checker.state = state


def alike(known: Engine, model: Any) -> Engine | None:
    """An engine for a model that asks it in the same way as a known one asks another.

    None if the known one is not what `ipdp.models.engine` makes.
    """
    if isinstance(known, Wrapped):
        inner = alike(known.engine, model)
        return None if inner is None else known.around(inner)
    for response in get_args(Response):
        with suppress(TypeError, ValueError):
            made = engine(model, response=response)
            if type(made) is type(known) and _way(made) == _way(known):
                return made
    return None


def _way(known: Engine) -> str:
    """What of the model is asked; how many calls that takes does not matter."""
    return known.description.split(", one ")[0]


# A learning model of scikit-learn in the format of skops, which runs no code when it is loaded.

# Beside what skops trusts itself: the optimisers of scikit-learn's neural networks, which are plain
# objects of numbers and arrays. Without them no network could be kept.
_TRUSTED = [
    f"sklearn.neural_network._stochastic_optimizers.{name}"
    for name in ("AdamOptimizer", "SGDOptimizer")
]


class CannotBeKept(TypeError):
    """A model that cannot be written in the format; the text says why."""


def dumped(model: Any) -> bytes | None:
    """A model of scikit-learn in skops's format; None for others, or if skops is not there.

    CannotBeKept if that would not load again without trust.
    """
    base = sys.modules.get("sklearn.base")
    if base is None or not isinstance(model, base.BaseEstimator):
        return None
    try:
        skops: Any = import_module("skops.io")
    except ImportError:
        return None
    try:
        data: bytes = skops.dumps(model)
        unknown = _untrusted(skops, data)
    except Exception as error:  # whatever the model's own code does
        raise CannotBeKept(f"{type(error).__name__}: {error}") from error
    if unknown:
        raise CannotBeKept(f"skops does not trust {', '.join(unknown)}")
    return data


def load_into(model: Any, data: bytes) -> None:
    """Give a model, in place, what another one of the same class has learnt: what `dumped` gave.

    Nothing is made of the data before all types in it are known to be harmless.
    """
    try:
        skops: Any = import_module("skops.io")
    except ImportError:
        raise CheckpointError(
            "the model in the checkpoint is in skops's format: pip install 'ipdp[sklearn]'"
        ) from None
    try:
        unknown = _untrusted(skops, data)
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


def _untrusted(skops: Any, data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # As they are written here; what is packed may unpack to far more than the file's size.
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("it is compressed, which no checkpoint of ipdp is")
    must_be_as_large_as_it_seems(io.BytesIO(data), len(data))
    return sorted(set(skops.get_untrusted_types(data=data)) - set(_TRUSTED))
