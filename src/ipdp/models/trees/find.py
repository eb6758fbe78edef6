"""From a model to its walk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipdp.models.trees.engine import TreeEngine, Walk
from ipdp.models.trees.ensembles import ClassifierWalk
from ipdp.models.trees.mondrian import MondrianWalk
from ipdp.models.trees.regression import RegressorWalk
from ipdp.models.trees.scalers import ScaledWalk, is_scaled


def tree_engine(
    call: Callable[[dict[Any, Any]], Any], model: Any, description: str
) -> TreeEngine | None:
    """The engine that walks a model's trees; None if it is not a model of trees that is known.

    Parameters
    ----------
    call
        The method of the model that predicts.
    model
        The model, or a pipeline.
    description
        What it was taken for.

    Examples
    --------
    >>> from river import tree
    >>> model = tree.HoeffdingTreeClassifier()
    >>> tree_engine(model.predict_proba_one, model, "a tree")  # doctest: +ELLIPSIS
    <TreeEngine: a tree, one walk for all points, factored leaves (...)>
    """
    walk = _walk(model, getattr(call, "__name__", ""))
    if walk is None:
        return None
    return TreeEngine(call, model=model, description=description, walk=walk)


def _walk(model: Any, method: str) -> Walk | None:
    if is_scaled(model):
        last = list(model.steps.values())[-1]
        walk = _walk(last, method)
        return None if walk is None else ScaledWalk(model, walk)
    if method == "predict_proba_one" and ClassifierWalk.serves(model):
        return ClassifierWalk(model)
    if method == "predict_proba_one" and MondrianWalk.serves(model):
        return MondrianWalk(model)
    if method == "predict_one" and RegressorWalk.serves(model):
        return RegressorWalk(model)
    return None
