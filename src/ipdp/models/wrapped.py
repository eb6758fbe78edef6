"""An engine around another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from ipdp.core.typing import FeatureName, FloatArray, Label, Observation
from ipdp.models.base import Engine, Outputs, Probe


class Wrapped(Engine):
    """Asks another engine, and changes what it is given (`_given`), or what it says (`_said`).

    Parameters
    ----------
    engine
        The engine that is asked.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.models.wrapped import Wrapped
    >>> Wrapped(ipdp.models.engine(lambda x: x["a"])).predict([{"a": 2.0}]).values
    array([[[2.]]])
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.model = engine.model
        self.ordered, self.has_gradients = engine.ordered, engine.has_gradients
        self.schema, self.link = engine.schema, engine.link

    def around(self, engine: Engine) -> Self:
        """The same around another engine."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        Wrapped.__init__(twin, engine)
        twin.link = self.link
        return twin

    def _given(self, x: Observation) -> Observation:
        """What the engine gets of an observation."""
        return x

    def _said(self, outputs: Outputs) -> Outputs:
        """What is made of its answer."""
        return outputs

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        return self.engine.feature_names

    def remember(self, X: Any) -> None:
        self.engine.remember(X)
        self.schema = self.engine.schema

    def origin(self, output: Label) -> float:
        return self.engine.origin(output)

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:
        return self.engine.orders(self._given(x))

    def check_columns(self, columns: Sequence[FeatureName]) -> None:
        self.engine.check_columns(columns)

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        given = [self._given(x) for x in observations]
        return self._said(self.engine.ice(given, probes, positions))

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        given = [self._given(x) for x in observations]
        return self._said(self.engine.ice_again(given, probes, positions))

    def gradients(
        self, observations: Sequence[Observation], names: Sequence[FeatureName]
    ) -> tuple[Outputs, FloatArray]:
        return self.engine.gradients([self._given(x) for x in observations], names)

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        return self._said(self.engine.predict([self._given(x) for x in observations]))

    @property
    def description(self) -> str:
        return self.engine.description


def innermost(engine: Engine) -> Engine:
    """The engine that asks the model itself."""
    while isinstance(engine, Wrapped):
        engine = engine.engine
    return engine
