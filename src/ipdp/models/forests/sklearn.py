"""Trees of scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.models.forests import links
from ipdp.models.forests.flat import Codes, Flat, NotRead, Tree, codes_of, flatten


def forest_signature(model: Any) -> Any:
    """What is replaced when a forest, or a tree, learns."""
    trees = getattr(model, "estimators_", None)
    return model.tree_ if trees is None else tuple(trees)


def read_forest(model: Any, response: str) -> Flat:
    """A tree, or a forest of random or extra trees."""
    trees = getattr(model, "estimators_", None) or [model]
    if model.n_outputs_ != 1:
        raise NotRead("it has several targets")
    classifies = hasattr(model, "classes_")
    if response != ("predict_proba" if classifies else "predict"):
        raise NotRead(f"of a {response} there is no mean")
    n_classes = len(model.classes_) if classifies else 1
    link = links.identity
    if classifies:
        link = links.two_shares if n_classes == 2 else links.shares
    return flatten(
        [
            _tree(tree.tree_, _shares(tree.tree_, n_classes) if classifies else None)
            for tree in trees
        ],
        np.zeros(n_classes if n_classes != 2 else 1),
        link,
        scale=1.0 / len(trees),
        single_precision=True,
    )


def _shares(tree: Any, n_classes: int) -> FloatArray:
    """The share of each class in each node; of two classes that of the second."""
    values = tree.value[:, 0, :]  # counts, in old versions
    values = values / values.sum(axis=1, keepdims=True)
    shares: FloatArray = values[:, 1] if n_classes == 2 else values
    return shares


def _tree(tree: Any, value: Array | None = None, output: int = 0) -> Tree:
    n = tree.node_count
    return Tree(
        np.where(tree.children_left < 0, -1, tree.feature),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        getattr(tree, "missing_go_to_left", np.zeros(n, dtype=bool)),
        tree.value[:, 0, 0] if value is None else value,
        output,
    )


def gradient_signature(model: Any) -> Any:
    """What changes when gradient boosting learns."""
    return (*model.estimators_.ravel(), model.learning_rate, model.init_)


def read_gradient(model: Any, response: str) -> Flat:
    """Gradient boosting."""
    start = type(model.init_).__name__
    if start not in ("DummyClassifier", "DummyRegressor") and model.init_ != "zero":
        raise NotRead(f"it starts with a {start}")
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    trees = [
        _tree(tree.tree_, tree.tree_.value[:, 0, 0] * model.learning_rate, output)
        for stage in model.estimators_
        for output, tree in enumerate(stage)
    ]
    link = links.identity
    if response == "predict_proba":
        link = links.softmax if base.size > 1 else links.two_classes
        if model.loss == "exponential":
            link = partial(links.two_classes, factor=2.0)
    return flatten(trees, np.ravel(base), link, single_precision=True)


def histogram_signature(model: Any) -> Any:
    """What changes when histogram-based gradient boosting learns."""
    return [predictor for stage in model._predictors for predictor in stage]


_INVERSE = {"IdentityLink": links.identity, "LogLink": links.exponential}


def read_histogram(model: Any, response: str) -> Flat:
    """Histogram-based gradient boosting."""
    base = np.ravel(model._baseline_prediction)
    known, number = _known_categories(model)
    trees = [
        _histogram_tree(predictor, output, known, number)
        for stage in model._predictors
        for output, predictor in enumerate(stage)
    ]
    link = links.identity
    if response == "predict_proba":
        link = links.softmax if base.size > 1 else links.two_classes
    elif response == "predict":
        inverse = type(model._loss.link).__name__
        if inverse not in _INVERSE:
            raise NotRead(f"its link is {inverse}")
        link = _INVERSE[inverse]
    columns, codes = _columns(model)
    return flatten(trees, base, link, columns=columns, codes=codes)


def _known_categories(model: Any) -> tuple[Array, Array]:
    """Bits of the categories that each categorical feature had, and which row is a feature's."""
    bitsets, number = model._bin_mapper.make_known_categories_bitsets()
    return _bits(bitsets), number


def _bits(sets: Array) -> Array:
    """Rows of 8 x 32 bits as 256 booleans."""
    shifted = np.asarray(sets)[..., None] >> np.arange(32, dtype=np.uint32)
    return (shifted & 1).astype(bool).reshape(len(sets), 256)


def _histogram_tree(predictor: Any, output: int, known: Array, number: Array) -> Tree:
    nodes = predictor.nodes
    missing_left = nodes["missing_go_to_left"].astype(bool)
    bits = _bits(predictor.raw_left_cat_bitsets)
    categories = {}
    for k in np.flatnonzero(nodes["is_categorical"] & ~nodes["is_leaf"].astype(bool)).tolist():
        # A category that was not there goes where missing values go.
        is_known = known[number[nodes["feature_idx"][k]]]
        goes_left = bits[nodes["bitset_idx"][k]] | (~is_known & missing_left[k])
        categories[k] = goes_left, bool(missing_left[k])
    return Tree(
        np.where(nodes["is_leaf"], -1, nodes["feature_idx"]),
        nodes["num_threshold"],
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        missing_left,
        nodes["value"],
        output,
        0,
        categories,
    )


def _columns(model: Any) -> tuple[Array | None, dict[int, Codes]]:
    """Which column each feature of the trees is, and the codes of categories."""
    encoder = model._preprocessor
    if encoder is None:
        return None, {}
    is_category = np.asarray(model.is_categorical_)
    categories = np.flatnonzero(is_category)
    lists = encoder.named_transformers_["encoder"].categories_
    columns = zip(categories.tolist(), lists, strict=True)
    codes = {column: codes_of(values.tolist()) for column, values in columns}
    # It puts the categories first.
    return np.concatenate([categories, np.flatnonzero(~is_category)]), codes
