"""How a model is asked for the prediction that is scored, and how it learns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ipdp.core.curve import PREDICTION
from ipdp.core.observations import arranged
from ipdp.core.typing import FeatureName, Observation
from ipdp.models import Engine, engine
from ipdp.models.base import Outputs
from ipdp.runs.scores import Scores

Predict = Callable[[Any], Any]
Learn = Callable[[Any, Any], Any]


class Order:
    """Brings observations into the order of the first, for models that do not know names.

    Attributes
    ----------
    columns
        The features of the first observation; None before it.

    Examples
    --------
    >>> order = Order()
    >>> [order(x) for x in ({"a": 1, "b": 2}, {"b": 3, "a": 4})]
    [{'a': 1, 'b': 2}, {'a': 4, 'b': 3}]
    """

    def __init__(self) -> None:
        self.columns: tuple[FeatureName, ...] | None = None

    def __call__(self, x: Observation) -> Observation:
        """The observation in that order."""
        if self.columns is None:
            self.columns = tuple(x)
        return arranged(x, self.columns)


def predictor(model: Any, asked: Engine, scores: Scores, order: Order) -> Predict | None:
    """What gives the prediction of one observation, as the metrics want it; None for no metrics.

    Parameters
    ----------
    model
        The model.
    asked
        Its engine in the explainer.
    scores
        The metrics.
    order
        Of the features.
    """
    if not scores:
        return None
    last = _last_step(model)
    if hasattr(last, "classify") and hasattr(last, "score_one"):  # a filter of anomalies
        return lambda x: model.classify(model.score_one(x))
    if hasattr(last, "predict_one") or hasattr(last, "predict_proba_one"):
        _must_suit(model, scores)
        probable = not scores.wants_labels and hasattr(last, "predict_proba_one")
        call: Predict = model.predict_proba_one if probable else model.predict_one
        return call
    if hasattr(last, "score_one"):
        score: Predict = model.score_one
        return score
    return _by_engine(model, asked, scores.wants_labels, order)


def learner(model: Any, order: Order) -> Learn:
    """What teaches the model one observation."""
    if not hasattr(model, "learn_one") and hasattr(model, "partial_fit"):
        return _partial_learner(model, order)
    if not hasattr(model, "learn_one"):
        raise ValueError(
            f"{_kind(model)} cannot learn one observation (it has no learn_one and no "
            "partial_fit): give learn=False to explain it as it is"
        )
    if getattr(model, "_supervised", True):
        call: Learn = model.learn_one
        return call
    return lambda x, _: model.learn_one(x)


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


def _last_step(model: Any) -> Any:
    while hasattr(model, "steps") and isinstance(model.steps, dict) and model.steps:
        model = list(model.steps.values())[-1]
    return model


def _kind(model: Any) -> str:
    return getattr(model, "__name__", type(model).__name__)
