"""scikit-learn's estimators: many rows in one call."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, Labels, Observation
from ipdp.models.batched import ArrayEngine, BatchedEngine, FrameEngine
from ipdp.models.boosters import made_up, own_orders, takes_categories, texts_as_categories
from ipdp.models.columns import dropped_by, must_have
from ipdp.models.threads import for_rows


def is_method(model: Any) -> bool:
    """Whether a function is a method of an estimator; whoever has one has imported scikit-learn."""
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(getattr(model, "__self__", None), base.BaseEstimator)


class SklearnEngine(BatchedEngine):
    """An estimator with `predict`, and `predict_proba` or `decision_function` where it has them.

    An estimator that was fitted on a frame is called with one, in its own order of columns; the
    others are called with an array in the order of the first observation's features. Whether it
    is fitted, and on what, is looked up at each call: the model may learn in between.
    """

    def __init__(self, model: Any, response: str = "auto") -> None:
        self.response = _response(model, response)
        super().__init__(model, f"{type(model).__name__}.{self.response}")
        self._classifies = _is_classifier(model)
        self._clusters = _kind(model) == "clusterer"

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        names = getattr(self.model, "feature_names_in_", None)
        if names is not None:
            return tuple(np.asarray(names).tolist())
        known = getattr(self.model, "feature_names_", None)  # catboost
        return None if not known or made_up(known) else tuple(known)

    def _unused(self) -> frozenset[FeatureName]:
        return dropped_by(self.model)

    def _columns_of(self, x: Observation) -> tuple[FeatureName, ...]:
        names = self.feature_names
        if names is not None:
            if not x.keys() >= set(names):
                must_have(self.model, names, tuple(x))
            return names
        columns = tuple(x)
        # A copy of a CatBoost model that was fitted on an array says 0.
        expected = getattr(self.model, "n_features_in_", 0) or len(columns)
        if len(columns) != expected:
            raise ValueError(
                f"{type(self.model).__name__} was fitted on {expected} features and the "
                f"observation has {len(columns)}: {list(columns)}"
            )
        return columns

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        with for_rows(len(table[0]), self.model):
            answer = self._caller()._call(table, columns)
        # Several targets, each with its own classes; a list of numbers is as good as an array.
        if isinstance(answer, list) and np.ndim(answer[0]) > 1:
            raise TypeError(
                f"{type(self.model).__name__} has several targets with classes; give a function "
                "that picks one, as in ipdp.models.engine(f, takes='array')"
            )
        if self._hard:
            return np.asarray(answer).reshape(-1, 1) == np.asarray(self._labels())[None, :]
        return answer

    def _caller(self) -> BatchedEngine:
        """What calls the model with a frame if it was fitted on one, else with an array."""
        response = getattr(self.model, self.response)
        if not hasattr(self.model, "feature_names_in_"):
            return ArrayEngine(response)
        # Pipelines of scikit-learn may have steps that take frames of one library only.
        is_own = type(self.model).__module__.startswith("sklearn.")
        backend = "polars" if is_own and self.schema.backend == "polars" else "pandas"
        caller = FrameEngine(response, backend=backend)
        caller.schema = self.schema
        if takes_categories(self.model):
            caller.prepare = partial(texts_as_categories, self.model)
        return caller

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:
        return self.schema.orders or own_orders(self.model, x, self.feature_names)

    @property
    def _hard(self) -> bool:
        """Whether the answer is a class or a cluster, to be counted."""
        return self.response == "predict" and (self._classifies or self._clusters)

    def _labels(self) -> Labels | None:
        if self._clusters:
            return _clusters_of(self.model) if self._hard else None
        classes = getattr(self.model, "classes_", None)
        if not self._classifies or classes is None or not len(classes):
            return None
        labels = tuple(np.asarray(classes).tolist())
        # The decision function of two classes is one number, in favour of the second.
        return labels[1:] if self.response == "decision_function" and len(labels) == 2 else labels


def _is_classifier(model: Any) -> bool:
    try:
        return bool(sys.modules["sklearn.base"].is_classifier(model))
    except Exception:  # a look-alike, without scikit-learn or without its tags
        return hasattr(model, "predict_proba")


def _kind(model: Any) -> str | None:
    """What scikit-learn takes the estimator for: "classifier", "clusterer", ..."""
    try:
        kind = sys.modules["sklearn.utils"].get_tags(model).estimator_type
    except Exception:  # no scikit-learn, an old one, or a look-alike without tags
        kind = getattr(model, "_estimator_type", None)
    return None if kind is None else str(kind)


def _clusters_of(model: Any) -> Labels:
    for name in ("n_clusters", "n_components"):
        if isinstance(getattr(model, name, None), int):
            return tuple(range(getattr(model, name)))
    return tuple(sorted({int(label) for label in model.labels_} - {-1}))


def _response(model: Any, response: str) -> str:
    if response != "auto":
        if not hasattr(model, response):
            raise ValueError(f"{type(model).__name__} has no {response}")
        return response
    methods = []
    if _kind(model) == "outlier_detector":  # the higher, the more normal
        methods = ["decision_function", "score_samples"]
    if _is_classifier(model) or hasattr(model, "predict_proba"):
        methods += ["predict_proba", "decision_function"]
    return next((method for method in methods if hasattr(model, method)), "predict")
