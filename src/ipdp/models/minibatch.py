"""river's models that also take a frame of many observations."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from ipdp.core.typing import FloatArray, Observation
from ipdp.models.base import Outputs, Probe, SlowPathWarning, agree_at
from ipdp.models.batched import FrameEngine
from ipdp.models.per_row import RowEngine

# river's calls on a frame cost about half a millisecond each, whatever its length: for fewer rows
# than this, one call for each is faster (measured with linear models, scaled and not).
LEAST_ROWS = 500
# So many failures in a row, and the frame is not tried again: a model may only not be ready yet.
_PATIENCE = 3


class MiniBatchEngine(RowEngine):
    """A river model with `predict_many`: a frame for many points, one call each for few.

    The last point of every frame is compared with a plain call. If they differ, or if the model
    cannot do it, one call for each point is made from then on, with one warning.

    Parameters
    ----------
    call, many
        The model's method for one observation, and that for a frame.
    model
        What the user gave.
    description
        What it was taken for.

    Examples
    --------
    >>> from river import linear_model
    >>> model = linear_model.LogisticRegression()
    >>> MiniBatchEngine(
    ...     model.predict_proba_one,
    ...     model.predict_proba_many,
    ...     model=model,
    ...     description="LogisticRegression.predict_proba_one",
    ... )
    <MiniBatchEngine: LogisticRegression.predict_proba_one, one call for each point, one for all \
where they are many>
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
        self._frames = FrameEngine(many, model=model)
        self._failures = 0

    @property
    def description(self) -> str:
        more = "" if self._failures >= _PATIENCE else ", one for all where they are many"
        return f"{super().description}{more}"

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
        replaced = {
            name: probe.values(positions, axis)[-1] for axis, name in enumerate(probe.names)
        }
        plain = self.call({**x, **replaced})
        return agree_at(answer.labels or (), answer.values[-1], -1, plain)

    def _fail(self, fault: str) -> None:
        self._failures += 1
        if self._failures < _PATIENCE:
            return
        warnings.warn(
            f"{type(self.model).__name__} is asked about one point at a time from now on, which is "
            f"slower: its method for a frame failed ({fault})",
            SlowPathWarning,
            stacklevel=4,
        )


def takes_frames(model: Any, last: Any, method: str) -> bool:
    """Whether a river model, and every step before its last one, can do with a frame.

    Parameters
    ----------
    model, last
        The model, and the step of it that predicts.
    method
        "predict_proba_many" or "predict_many".
    """
    base = sys.modules.get("river.base")
    default = None if base is None else getattr(base.MiniBatchClassifier, method, None)
    own = getattr(type(last), method, None)
    if own is None or own is default or find_spec("pandas") is None:
        return False
    return all(hasattr(step, "transform_many") for step in _steps(model) if step is not last)


def _steps(model: Any) -> list[Any]:
    return list(model.steps.values()) if hasattr(model, "steps") else [model]


def _is_full(observations: Sequence[Observation], probes: Sequence[Probe]) -> bool:
    """Whether nothing is missing: an absent feature is not the same as a NaN in a frame."""
    if any(probe.missing for probe in probes):
        return False
    names = observations[0].keys()
    return all(x.keys() == names and not any(map(_is_missing, x.values())) for x in observations)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
