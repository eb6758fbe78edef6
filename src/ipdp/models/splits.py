"""Where the trees of a model split its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import FeatureName, FloatArray
from ipdp.models.detect import engine
from ipdp.models.forests.engine import ForestEngine
from ipdp.models.forests.flat import Flat, NotRead
from ipdp.models.forests.kernels.ice import CATEGORICAL


def thresholds(
    model: Any, names: Sequence[FeatureName] | None = None
) -> dict[FeatureName, FloatArray]:
    """The thresholds at which trees split each feature, for `ipdp.grid.Thresholds`.

    Parameters
    ----------
    model
        A tree, forest or booster of scikit-learn, LightGBM, XGBoost or CatBoost, or its engine.
    names
        Names of all features, in the order of the columns, for a model that was trained on an array
        and does not know them.

    Returns
    -------
    For each feature that is split by numbers its thresholds, ascending, one for each split: a value
    that is no larger goes to the left. Features that are split by category, or not at all, are not
    in it.

    Examples
    --------
    >>> import ipdp, pandas as pd
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "noise": [0.0, 0.0, 0.0, 0.0]})
    >>> model = DecisionTreeRegressor().fit(X, [1, 1, 5, 9])
    >>> ipdp.models.thresholds(model)
    {'age': array([35., 45.])}
    >>> grid = {f: ipdp.grid.Thresholds(at) for f, at in ipdp.models.thresholds(model).items()}
    >>> [curve] = ipdp.partial_dependence(model, X, ["age"], grid=grid)
    >>> curve.average
    array([[1., 1., 5., 9.]])
    """
    forest = engine(model)
    if not isinstance(forest, ForestEngine):
        raise TypeError(
            f"{type(forest.model).__name__} has no trees whose thresholds can be read: those of "
            "scikit-learn, LightGBM, XGBoost and CatBoost can, but not inside a pipeline"
        )
    trees = _trees(forest)
    known = _names(forest, trees, names)
    nodes = trees.nodes[trees.nodes["feature"] >= 0]
    nodes = nodes[nodes["kind"] & CATEGORICAL == 0]
    columns = nodes["feature"] if trees.columns is None else trees.columns[nodes["feature"]]
    at = _as_compared(nodes["threshold"]) if trees.single_precision else nodes["threshold"]
    return {known[k]: np.sort(at[columns == k]) for k in np.unique(columns).tolist()}


def _trees(forest: ForestEngine) -> Flat:
    kind = type(forest.model).__name__
    try:
        return forest.reader.read(forest.model, forest.response)
    except NotRead as error:
        raise ValueError(f"the trees of {kind} cannot be read: {error}") from None
    except Exception as error:
        raise ValueError(
            f"{kind} has no trees to read, perhaps it is not trained yet ({type(error).__name__})"
        ) from error


def _names(
    forest: ForestEngine, trees: Flat, given: Sequence[FeatureName] | None
) -> Sequence[FeatureName]:
    """The names of all columns, or an error."""
    names = forest.feature_names if given is None else given
    if names is None:
        raise ValueError("the model does not know the names of its features: give names=[...]")
    if len(names) < trees.n_features:
        raise ValueError(
            f"the model splits {trees.n_features} features, and names has {len(names)}"
        )
    return names


def _as_compared(thresholds: FloatArray) -> FloatArray:
    """The largest numbers of 32 bits that are not above the thresholds."""
    rounded = thresholds.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > thresholds, below, rounded).astype(float)
