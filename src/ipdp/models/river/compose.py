"""The engine of river's models: what their parts answer for all points at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ipdp.models.river import (  # noqa: F401  (they register what they know)
    bayes,
    committees,
    encoders,
    linear,
    selectors,
)
from ipdp.models.river.copies import Asked
from ipdp.models.river.parts import (
    NUMBER,
    PROBABILITIES,
    Part,
    PlainPart,
    TreePart,
    known_part,
    part_of,
    register,
)
from ipdp.models.river.scalers import n_before, scales_of
from ipdp.models.river.transform import (
    is_known,
    is_pipeline,
    learns_while_predicting,
    through,
)
from ipdp.models.trees.base import Answer, Member
from ipdp.models.trees.engine import TreeEngine
from ipdp.models.trees.kinds import find
from ipdp.models.trees.points import Points


def composed_engine(
    call: Callable[[dict[Any, Any]], Any], model: Any, description: str, *, entirely: bool
) -> TreeEngine | None:
    """The engine of a model whose parts are known, `entirely` or at least some; else None.

    `call` is the method of the model that predicts.
    """
    part = known_part(model, call.__name__)
    if part is None or (entirely and not part.whole):
        return None
    if isinstance(part, TreePart):
        return TreeEngine(call, model=model, description=description, walk=part.walk)
    return ComposedEngine(call, model=model, description=description, walk=part)


class PipelinePart(Part):
    """Transformers, and the model behind them."""

    def __init__(self, model: Any, method: str) -> None:
        super().__init__(model)
        self.method = method
        self._last: Part = self._part()

    def _part(self) -> Part:
        last = list(self.model.steps.values())[-1]
        return part_of(last, self.method)

    @property
    def leaves(self) -> str:  # type: ignore[override]
        """How the last step answers."""
        return self._last.leaves

    @property
    def checked_every(self) -> int:  # type: ignore[override]
        """As for the last step."""
        return self._last.checked_every

    @property
    def whole(self) -> bool:  # type: ignore[override]
        """Whether all steps are known."""
        *steps, _ = self.model.steps.values()
        return self._last.whole and all(map(is_known, steps))

    def ice(self, points: Asked) -> Answer | None:
        if learns_while_predicting():
            return None
        *steps, last = self.model.steps.values()
        if self._last.model is not last:
            self._last = self._part()
        own: Any = self._last
        if not own.takes_scales:
            return self._last.ice(through(steps, points))
        scales = scales_of(steps, points)
        if scales is None:
            # What comes before scalers changes other things: names, say.
            first = n_before(steps)
            points, steps = through(steps[:first], points), steps[first:]
            scales = scales_of(steps, points)
            if scales is None:
                return self._last.ice(through(steps, points))
        answer: Answer | None = own.ice(points, scales)
        return answer

    def ice_all(self, points: Iterable[Points]) -> Answer | None:
        *steps, last = self.model.steps.values()
        own: Any = self._last
        if own.model is not last or not own.takes_scales or learns_while_predicting():
            return None
        asked = list(points)
        # What scalers do is read once, for the features that all have.
        if len({tuple(each.x) for each in asked}) > 1:
            return None
        scales = scales_of(steps, asked[0])
        if scales is None:
            return None
        answer: Answer | None = own.ice_all(asked, scales)
        return answer

    def member(self, choose: Callable[[Any], int]) -> Member | None:
        return self._last.member(choose)

    def simplify(self) -> bool:
        return self._last.simplify()


def _pipeline_of(method: str) -> Callable[[Any], Part | None]:
    def make(model: Any) -> Part | None:
        if not is_pipeline(model) or not model.steps:
            return None
        *steps, _ = model.steps.values()
        part = PipelinePart(model, method)
        known = list(map(is_known, steps))
        if isinstance(part._last, PlainPart):
            return part if any(known) else None
        return None if part._last.cheap and not all(known) else part

    return make


class ComposedEngine(TreeEngine):
    """A model of river's whose parts are known: all points at once.

    Answers are compared with plain calls as those of trees are.
    """

    given_up = "answering for all points at once"

    @property
    def description(self) -> str:
        if self.fault is not None:
            return super().description
        return f"{self._description}, all points at once, {self.walk.leaves} ({self.build})"


for _method in (PROBABILITIES, NUMBER):
    register(_method, find("compose", "Pipeline", _method), _pipeline_of(_method))
