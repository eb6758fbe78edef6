"""Trees of LightGBM, from the text in which it saves a model."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.models.forests import links
from ipdp.models.forests.flat import Codes, Flat, NotRead, Tree, codes_of, flatten
from ipdp.models.forests.kernels.ice import ZERO_IS_MISSING

# Bits of a split: by category, missing values go left, and what counts as missing.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_ZERO, _NAN = 1, 2
# Numbers that are no larger are zeros to it.
_LEAST = float(np.float32(1e-35))


def booster_of(model: Any) -> Any:
    """The booster of an estimator; a booster is its own."""
    return getattr(model, "booster_", model)


def signature(model: Any) -> Any:
    """What changes when the model learns."""
    booster = booster_of(model)
    return booster, booster.num_trees(), booster.best_iteration, booster._handle.value


def read(model: Any, response: str) -> Flat:
    """The trees of a booster, or of an estimator."""
    booster = booster_of(model)
    # As in its `predict`: up to the best iteration, if it was stopped early.
    text = booster.model_to_string(num_iteration=max(booster.best_iteration, 0) or None)
    head, *trees = text.partition("end of trees")[0].split("\nTree=")
    settings = dict(line.partition("=")[::2] for line in head.splitlines())
    n_outputs = int(settings["num_tree_per_iteration"])
    if "average_output" in settings and not trees:
        raise NotRead("it has no trees")
    link = _link(settings.get("objective", ""), is_native=booster is model)
    if response not in ("predict", "predict_proba") or callable(getattr(model, "objective", None)):
        raise NotRead("its objective is not LightGBM's")
    scale = n_outputs / len(trees) if "average_output" in settings else 1.0
    return flatten(
        [_tree(tree, k % n_outputs) for k, tree in enumerate(trees)],
        np.zeros(n_outputs),
        link,
        scale=scale,
        codes=_codes(booster, settings),
    )


def _link(objective: str, *, is_native: bool) -> Any:
    name, *options = objective.split() or [""]
    values = dict(option.partition(":")[::2] for option in options)
    if name == "regression" and "sqrt" in options:
        return _signed_square
    if name in ("binary", "multiclassova", "cross_entropy"):
        factor = float(values.get("sigmoid", 1.0))
        # An estimator gives the probabilities of both classes.
        two = name == "binary" and not is_native
        return partial(links.two_classes if two else links.sigmoid, factor=factor)
    if name == "multiclass":
        return links.softmax
    if name in ("poisson", "gamma", "tweedie"):
        return links.exponential
    if name in ("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank"):
        return links.identity
    raise NotRead(f"its objective is {name or 'unknown'}")


def _signed_square(raw: FloatArray) -> FloatArray:
    return np.sign(raw) * raw * raw


def _tree(text: str, output: int) -> Tree:
    fields = dict(line.partition("=")[::2] for line in text.splitlines())
    if fields.get("is_linear", "0") != "0":
        raise NotRead("its leaves are linear")
    leaves = _numbers(fields, "leaf_value", float)
    n = int(fields["num_leaves"]) - 1
    if n == 0:
        one = np.zeros(1, dtype=np.int64)
        return Tree(one - 1, one, one, one, one, leaves, output)
    kind = _numbers(fields, "decision_type", np.int64)
    threshold = _numbers(fields, "threshold", float)
    missing = (kind >> 2) & 3
    # If NaN is no missing value it is a zero.
    missing_left = np.where(missing == 0, threshold >= 0.0, (kind & _DEFAULT_LEFT) != 0)
    is_category = (kind & _CATEGORICAL) != 0
    children = [
        _child(_numbers(fields, side, np.int64), n) for side in ("left_child", "right_child")
    ]

    def over_all(of_splits: Array, of_leaves: Any) -> Array:
        return np.concatenate([of_splits, np.broadcast_to(of_leaves, len(leaves))])

    return Tree(
        over_all(_numbers(fields, "split_feature", np.int64), -1),
        over_all(np.where(is_category, threshold, _beside_zero(threshold)), 0.0),
        over_all(children[0], 0),
        over_all(children[1], 0),
        over_all(missing_left & ~is_category, False),
        over_all(np.zeros(n), leaves),
        output,
        over_all(np.where((missing == _ZERO) & ~is_category, ZERO_IS_MISSING, 0), 0),
        _categories(fields, threshold, is_category),
    )


def _beside_zero(threshold: FloatArray) -> FloatArray:
    """Thresholds that numbers as small as a zero are on the same side of as a zero is."""
    is_below = (threshold >= -_LEAST) & (threshold < 0)
    is_above = (threshold >= 0) & (threshold < _LEAST)
    below = np.nextafter(-_LEAST, -np.inf)
    return np.where(is_below, below, np.where(is_above, _LEAST, threshold))


def _numbers(fields: dict[str, str], name: str, kind: Any) -> Array:
    return np.array(fields[name].split(), dtype=kind)


def _child(numbers: Array, n_splits: int) -> Array:
    """Leaves, which are below zero, follow the splits."""
    return np.where(numbers < 0, n_splits - 1 - numbers, numbers)


def _categories(
    fields: dict[str, str], threshold: Array, is_category: Array
) -> dict[int, tuple[Array, bool]]:
    """The codes that go left at each split by category; all others go right."""
    if not is_category.any():
        return {}
    bounds = _numbers(fields, "cat_boundaries", np.int64)
    words = _numbers(fields, "cat_threshold", np.int64)
    found = {}
    for node in np.flatnonzero(is_category).tolist():
        number = int(threshold[node])
        own = words[bounds[number] : bounds[number + 1], None]
        found[node] = ((own >> np.arange(32)) & 1).ravel(), False
    return found


def _codes(booster: Any, settings: dict[str, str]) -> dict[int, Codes]:
    """The codes of columns that were categories of pandas."""
    lists = booster.pandas_categorical or []
    if not lists:
        return {}
    infos = settings["feature_infos"].split()
    # Numbers are "[low:high]", categories "0:1:2"; "none" is a feature that is not used.
    columns = [k for k, info in enumerate(infos) if not info.startswith("[")]
    if len(columns) != len(lists) or "none" in infos:
        raise NotRead("it does not say which of its features are categories")
    return {column: codes_of(own) for column, own in zip(columns, lists, strict=True)}
