"""Trees of XGBoost, from the JSON in which it saves a model."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.models.forests import links
from ipdp.models.forests.flat import Flat, NotRead, Tree, flatten

_IDENTITY = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "binary:logitraw",
    "rank:ndcg",
    "rank:map",
    "rank:pairwise",
)
_SIGMOID = ("binary:logistic", "reg:logistic")
_EXPONENTIAL = ("count:poisson", "reg:gamma", "reg:tweedie")


def booster_of(model: Any) -> Any:
    """The booster of an estimator; a booster is its own."""
    return model.get_booster() if hasattr(model, "get_booster") else model


def signature(model: Any) -> Any:
    """What changes when the model learns."""
    booster = booster_of(model)
    limit = None if booster is model else booster.attr("best_iteration")
    return booster, booster.num_boosted_rounds(), limit, getattr(model, "missing", None)


def read(model: Any, response: str) -> Flat:
    """The trees of a booster, or of an estimator."""
    booster = booster_of(model)
    is_native = booster is model
    if not math.isnan(getattr(model, "missing", math.nan)):
        raise NotRead("its missing values are no NaN")
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting = learner["gradient_booster"]
    if boosting["name"] not in ("gbtree", "dart"):
        raise NotRead(f"it is a {boosting['name']}")
    weights = boosting.get("weight_drop")
    saved = boosting.get("gbtree", boosting)["model"]
    if response not in ("predict", "predict_proba") or callable(getattr(model, "objective", None)):
        raise NotRead("its objective is not XGBoost's")
    outputs = saved["tree_info"]
    trees = [
        _tree(tree, output, weights[k] if weights else 1.0)
        for k, (tree, output) in enumerate(zip(saved["trees"], outputs, strict=True))
    ]
    best = None if is_native else booster.attr("best_iteration")
    if best is not None:  # an estimator that was stopped early does without the rest
        trees = trees[: saved["iteration_indptr"][int(best) + 1]]
    objective = learner["objective"]["name"]
    n_outputs = max(outputs, default=0) + 1
    return flatten(
        trees,
        np.broadcast_to(_base(learner, objective), n_outputs).copy(),
        _link(objective, n_outputs, is_native=is_native),
        single_precision=True,
        tolerance=2e-5,
    )


def _base(learner: dict[str, Any], objective: str) -> FloatArray:
    """What the trees start with, as the sum of their leaves is."""
    text = str(learner["learner_model_param"]["base_score"]).strip("[]")
    score = np.array([float(part) for part in text.split(",")])
    if objective in (*_SIGMOID, "binary:logitraw"):
        return np.log(score / (1.0 - score)) if objective in _SIGMOID else score
    return np.log(score) if objective in _EXPONENTIAL else score


def _link(objective: str, n_outputs: int, *, is_native: bool) -> Any:
    if objective in _SIGMOID and n_outputs == 1:
        two = objective == "binary:logistic" and not is_native
        return links.two_classes if two else links.sigmoid
    if objective == "multi:softprob":
        return links.softmax
    if objective in _EXPONENTIAL:
        return links.exponential
    if objective in _IDENTITY:
        return links.identity
    raise NotRead(f"its objective is {objective}")


def _tree(tree: dict[str, Any], output: int, weight: float) -> Tree:
    if tree["tree_param"].get("size_leaf_vector", "1") not in ("0", "1"):
        raise NotRead("its leaves are vectors")
    if any(tree["split_type"]):
        raise NotRead("it splits by category")
    left = np.array(tree["left_children"], dtype=np.int64)
    value = np.array(tree["split_conditions"], dtype=np.float32)
    # What is below the threshold goes left: what is at most the number of 32 bits before it.
    before: Array = np.nextafter(value, np.float32(-np.inf))
    return Tree(
        np.where(left < 0, -1, np.array(tree["split_indices"], dtype=np.int64)),
        before.astype(float),
        left,
        np.array(tree["right_children"], dtype=np.int64),
        np.array(tree["default_left"], dtype=bool),
        value.astype(float) * weight,
        output,
    )
