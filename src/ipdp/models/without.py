"""A model that does not get one of the columns of the observations."""

from __future__ import annotations

from collections.abc import Sequence

from ipdp.core.typing import FeatureName, Observation
from ipdp.models.base import Engine
from ipdp.models.wrapped import Wrapped


class Without(Wrapped):
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
        super().__init__(engine)
        self.column = column
        self._names = tuple(name for name in columns if name != column)

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        return self._names

    def check_columns(self, columns: Sequence[FeatureName]) -> None:
        self.engine.check_columns([name for name in columns if name != self.column])

    def _given(self, x: Observation) -> Observation:
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
