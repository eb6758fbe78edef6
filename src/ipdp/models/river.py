"""river's models: one observation at a time, a frame of many, or one walk where they are trees."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from ipdp.core.typing import FloatArray, Observation
from ipdp.models.base import Outputs, Probe, agree_at, warn_of_slow_path
from ipdp.models.batched import FrameEngine
from ipdp.models.per_row import RowEngine

# river's calls on a frame cost about half a millisecond each, whatever its length: for fewer rows
# than this, one call for each is faster (measured with linear models, scaled and not).
LEAST_ROWS = 500
# So many failures in a row, and the frame is not tried again: a model may only not be ready yet.
_PATIENCE = 3


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
        return _engine("predict_proba", model, name)
    if _gives_labels(last):
        what = f"{name}.predict_one, the share of each class"
        return RowEngine(
            model.predict_one, model=model, description=what, hard=True, leave_out=True
        )
    return _engine("predict", model, name)


def _engine(method: str, model: Any, name: str) -> RowEngine:
    """One walk for models of trees; a frame for those that can; else one call for each point."""
    call = getattr(model, f"{method}_one")
    description = f"{name}.{method}_one"
    # Who has a tree has imported river's trees.
    if "river.tree" in sys.modules:
        from ipdp.models.trees import tree_engine

        engine = tree_engine(call, model, description)
        if engine is not None:
            return engine
    if _takes_frames(model, _last_step(model), f"{method}_many"):
        many = getattr(model, f"{method}_many")
        return MiniBatchEngine(call, many, model=model, description=description)
    return RowEngine(call, model=model, description=description, leave_out=True)


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


class MiniBatchEngine(RowEngine):
    """A river model with `predict_many`: a frame for many points, one call each for few.

    The last point of every frame is compared with a plain call. If they differ, or if the model
    cannot do it, one call for each point is made from then on, with one warning.
    """

    def __init__(
        self,
        call: Callable[[dict[Any, Any]], Any],
        many: Callable[[Any], Any],
        *,
        model: Any,
        description: str,
    ) -> None:
        super().__init__(call, model=model, description=description, leave_out=True)
        self._frames = FrameEngine(many)
        self._failures = 0

    @property
    def description(self) -> str:
        alone = super().description
        return alone if self._failures >= _PATIENCE else f"{alone}, one for all where they are many"

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        n_rows = len(observations) * positions.shape[2]
        if n_rows >= LEAST_ROWS and self._failures < _PATIENCE and _is_full(observations, probes):
            try:
                answer = self._frames.ice(observations, probes, positions)
                same = self._agrees(answer, observations[-1], probes[-1], positions[-1])
                fault = "" if same else "its answers differ from those for one observation"
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            if not fault:
                self._failures = 0
                return answer
            self._fail(fault)
        return super().ice(observations, probes, positions)

    def _agrees(self, answer: Outputs, x: Observation, probe: Probe, positions: FloatArray) -> bool:
        """Whether the last point of the answer is that of a plain call."""
        point = dict(x)
        for axis, name in enumerate(probe.names):
            point[name] = probe.values(positions, axis)[-1]
        return agree_at(answer.labels or (), answer.values[-1], -1, self.call(point))

    def _fail(self, fault: str) -> None:
        self._failures += 1
        if self._failures == _PATIENCE:
            warn_of_slow_path(
                f"{type(self.model).__name__} is asked about one point at a time from now on, "
                f"which is slower: its method for a frame failed ({fault})"
            )


def _takes_frames(model: Any, last: Any, method: str) -> bool:
    """Whether `last`, which predicts by the method, and every step before it take a frame."""
    base = sys.modules.get("river.base")
    default = None if base is None else getattr(base.MiniBatchClassifier, method, None)
    own = getattr(type(last), method, None)
    if own is None or own is default or find_spec("pandas") is None:
        return False
    steps = model.steps.values() if hasattr(model, "steps") else [model]
    return all(hasattr(step, "transform_many") for step in steps if step is not last)


def _is_full(observations: Sequence[Observation], probes: Sequence[Probe]) -> bool:
    """Whether nothing is missing: an absent feature is not the same as a NaN in a frame."""
    if any(probe.missing for probe in probes):
        return False
    names = observations[0].keys()
    return all(x.keys() == names and not any(map(_is_missing, x.values())) for x in observations)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
