"""River's models that take a frame of many observations."""

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


def takes_frames(model: Any, last: Any, method: str) -> bool:
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
