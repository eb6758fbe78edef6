"""What every explainer is: a state that follows a model along a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from ipdp.core.importance import Result
from ipdp.core.typing import Feature, State
from ipdp.models import Engine, engine


class Explainer(ABC):
    """What log, page, metrics and checkpoints ask of an explainer.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` understands.

    Attributes
    ----------
    name
        What the explainer is called in a log, on the page and in metrics.
    needs_label
        Whether `explain_one` takes the label of an observation as its second argument.
    """

    name: ClassVar[str]
    needs_label: ClassVar[bool] = False

    alpha: float | None
    features: list[Feature] | None
    seed: int | None

    def __init__(self, model: Any) -> None:
        self._engine = engine(model)

    @property
    def model(self) -> Any:
        """The model that is explained."""
        return self._engine.model

    @property
    def engine(self) -> Engine:
        """What asks the model; it says what the model was taken for."""
        return self._engine

    @engine.setter
    def engine(self, other: Engine) -> None:
        self._engine = other

    @property
    def every(self) -> int:
        """Every k-th observation is explained; this is k."""
        return 1

    # What an explainer must answer.

    @property
    @abstractmethod
    def n_seen(self) -> int:
        """Number of observations seen, explained or not."""

    @property
    @abstractmethod
    def t(self) -> float | None:
        """Time of the last observation; None before the first."""

    @abstractmethod
    def results(self) -> dict[Feature, Result]:
        """What there is to tell by now, by feature: curves, or importances."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The arguments on which the state depends."""

    @abstractmethod
    def merge(self, later: Self) -> Self:
        """The explainer of this one's observations and of those of another."""

    @property
    @abstractmethod
    def state(self) -> State:
        """Everything it remembers, JSON-safe; the model and the settings are not in it."""

    @state.setter
    @abstractmethod
    def state(self, state: State) -> None: ...
