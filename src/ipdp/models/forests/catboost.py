"""Trees of CatBoost, from the JSON in which it saves a model."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ipdp.models.forests import links
from ipdp.models.forests.flat import Flat, NotRead, Tree, flatten

_PROBABILITIES = {"Logloss": links.two_classes, "MultiClass": links.softmax}
_RAW = ("RMSE", "MAE", "Quantile", "MAPE", "Huber", "LogLinQuantile", "Logloss", "CrossEntropy")


def signature(model: Any) -> Any:
    """What changes when the model learns."""
    return model.tree_count_, model.get_metadata()["model_guid"]


def read(model: Any, response: str) -> Flat:
    """The trees of a model."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved = json.loads(path.read_text())
    if "oblivious_trees" not in saved:
        raise NotRead("its trees are not symmetric")
    loss = saved["model_info"]["params"]["loss_function"]["type"]
    known = _PROBABILITIES if response == "predict_proba" else dict.fromkeys(_RAW, links.identity)
    if loss not in known:
        raise NotRead(f"its loss is {loss}")
    scale, bias = saved.get("scale_and_bias", [1.0, [0.0]])
    features = saved["features_info"]
    if features.get("categorical_features") or features.get("text_features"):
        raise NotRead("it has features that are no numbers")
    columns, missing_left = {}, {}
    for feature in features["float_features"]:
        columns[feature["feature_index"]] = feature["flat_feature_index"]
        # The smallest of all values, or the largest.
        missing_left[feature["feature_index"]] = feature["nan_value_treatment"] != "AsTrue"
    trees = [_tree(tree, columns, missing_left, len(bias)) for tree in saved["oblivious_trees"]]
    return flatten(trees, bias, known[loss], scale=scale, single_precision=True, tolerance=1e-9)


def _tree(
    tree: dict[str, Any], columns: dict[int, int], missing_left: dict[int, bool], n_outputs: int
) -> Tree:
    """A symmetric tree, in which all nodes of a level are the same split."""
    splits = tree["splits"] or []
    if any(split["split_type"] != "FloatFeature" for split in splits):
        raise NotRead("it has splits of another kind")
    depth = len(splits)
    n = 2 ** (depth + 1) - 1
    level = np.array([(k + 1).bit_length() - 1 for k in range(n)])
    is_leaf = level == depth
    # The last split is the root: it is the highest bit of a leaf's number.
    own = [splits[depth - 1 - k] for k in level[~is_leaf].tolist()]
    feature, threshold, missing = np.full(n, -1), np.zeros(n), np.zeros(n, dtype=bool)
    feature[~is_leaf] = [columns[split["float_feature_index"]] for split in own]
    threshold[~is_leaf] = np.array([split["border"] for split in own], dtype=np.float32)
    missing[~is_leaf] = [missing_left[split["float_feature_index"]] for split in own]
    values = np.zeros((n, n_outputs))
    values[is_leaf] = np.array(tree["leaf_values"], dtype=float).reshape(-1, n_outputs)
    number = np.arange(n)
    return Tree(
        feature,
        threshold,
        2 * number + 1,
        2 * number + 2,
        missing,
        values[:, 0] if n_outputs == 1 else values,
    )
