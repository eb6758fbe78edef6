"""River's models: all points at once, a frame of many, or one observation at a time."""

from __future__ import annotations

import sys
from typing import Any

from ipdp.models.per_row import RowEngine
from ipdp.models.river.frames import MiniBatchEngine, takes_frames


def is_river_model(model: Any) -> bool:
    """Whether a model predicts one observation at a time, as river's models do."""
    methods = ("predict_one", "predict_proba_one", "score_one")
    return any(hasattr(model, method) for method in methods)


def river_engine(model: Any, response: str = "auto") -> RowEngine:
    """The engine of a river model, or of anything that speaks like one.

    A pipeline is taken for its last step. "auto" is the probabilities of a classifier where it has
    them, else its classes, or clusters; the `score_one` of an anomaly detector.
    """
    last = _last_step(model)
    name = type(last).__name__ if last is model else f"pipeline of {type(last).__name__}"
    if response == "decision_function":
        raise ValueError(f"{name} is a river model: it has no decision_function")
    predicts = hasattr(last, "predict_one") or hasattr(last, "predict_proba_one")
    if response == "auto" and hasattr(last, "score_one") and not predicts:
        what = f"{name}.score_one"
        return RowEngine(model.score_one, model=model, description=what, leave_out=True)
    if not predicts:
        raise TypeError(f"{name} predicts nothing: the last step must be a model")
    if response == "predict_proba" or (response == "auto" and _has_probabilities(last)):
        if not _has_probabilities(last):
            raise ValueError(f"{name} has no predict_proba_one; use response='predict'")
        return _engine(model, "predict_proba_one", f"{name}.predict_proba_one")
    if _gives_labels(last):
        what = f"{name}.predict_one, the share of each class"
        return _engine(model, "predict_one", what, hard=True)
    return _engine(model, "predict_one", f"{name}.predict_one")


def _engine(model: Any, method: str, description: str, *, hard: bool = False) -> RowEngine:
    """All points at once, where the parts of the model are known; a frame; else plain calls."""
    call = getattr(model, method)
    many = method.replace("_one", "_many")
    has_frames = not hard and takes_frames(model, _last_step(model), many)
    # Who has a model of river has imported this.
    if "river.base" in sys.modules and not hard:
        from ipdp.models.river.compose import composed_engine

        engine = composed_engine(call, model, description, entirely=has_frames)
        if engine is not None:
            return engine
    if has_frames:
        return MiniBatchEngine(call, getattr(model, many), model=model, description=description)
    return RowEngine(call, model=model, description=description, hard=hard, leave_out=True)


def _last_step(model: Any) -> Any:
    """The step of a pipeline that predicts; a wrapper (a tuned or calibrated model) is its own."""
    while hasattr(model, "steps") and model.steps:
        model = list(model.steps.values())[-1]
    return model


def _gives_labels(model: Any) -> bool:
    """Whether what it predicts is to be counted: classes, or clusters."""
    base = sys.modules.get("river.base")
    known = base is not None and isinstance(model, (base.Classifier, base.Clusterer))
    return known or hasattr(model, "predict_proba_one")


def _has_probabilities(model: Any) -> bool:
    base = sys.modules.get("river.base")
    method = getattr(type(model), "predict_proba_one", None)
    # river's own default only raises NotImplementedError.
    return method is not None and (base is None or method is not base.Classifier.predict_proba_one)
