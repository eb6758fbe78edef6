"""A model that does not get one of the columns of the observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.typing import FeatureName, FloatArray, Observation
from ipdp.models.base import Engine, Outputs, Probe


class Without(Engine):
    """Asks another engine, with a column left out of the observations.

    Parameters
    ----------
    engine
        The engine that is asked.
    column
        What its model does not get.
    columns
        All columns of the observations.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.models.without import Without
    >>> asked = Without(ipdp.models.engine(lambda x: len(x)), "b", ("a", "b"))
    >>> asked.predict([{"a": 1, "b": 2}]).values
    array([[[1.]]])
    """

    def __init__(self, engine: Engine, column: FeatureName, columns: Sequence[FeatureName]) -> None:
        self.engine = engine
        self.column = column
        self.model = engine.model
        self.ordered, self.has_gradients = engine.ordered, engine.has_gradients
        self.schema = engine.schema
        self._names = tuple(name for name in columns if name != column)

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        return self._names

    def remember(self, X: Any) -> None:
        self.engine.remember(X)
        self.schema = self.engine.schema

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:
        return self.engine.orders(self._rest(x))

    def check_columns(self, columns: Sequence[FeatureName]) -> None:
        self.engine.check_columns([name for name in columns if name != self.column])

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        return self.engine.ice([self._rest(x) for x in observations], probes, positions)

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        return self.engine.ice_again([self._rest(x) for x in observations], probes, positions)

    def gradients(
        self, observations: Sequence[Observation], names: Sequence[FeatureName]
    ) -> tuple[Outputs, FloatArray]:
        return self.engine.gradients([self._rest(x) for x in observations], names)

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        return self.engine.predict([self._rest(x) for x in observations])

    def _rest(self, x: Observation) -> Observation:
        return {name: value for name, value in x.items() if name != self.column}

    @property
    def description(self) -> str:
        return f"{self.engine.description}, without {self.column}"


def takes(engine: Engine, x: Observation) -> bool:
    """Whether a model has an answer for an observation."""
    try:
        engine.predict([x])
    except Exception:
        return False
    return True
