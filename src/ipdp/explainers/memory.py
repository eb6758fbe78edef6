"""What an explainer remembers: one observation is *ask, then commit*.

`Memory.ask` puts its questions to the model and checks the answers, and may raise; `Memory.commit`
folds them in, and cannot. So an observation changes everything or nothing.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import Any, Self

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import FeatureName, Observation, State


class Memory(ABC):
    """What an explainer remembers.

    Parameters
    ----------
    columns
        Names of all features, in the order of the first observation.

    Attributes
    ----------
    seen
        Number of observations, explained or not.
    t
        Time of the last one; None before it.
    starts_at
        For a segment of a stream that follows another: how many observations that one had seen.

    Examples
    --------
    Every explainer has one from its first observation on:

    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    >>> pdp.explain_one({"a": 1.0, "b": 2.0})
    >>> isinstance(pdp.memory, Memory), pdp.memory.columns, pdp.memory.seen
    (True, ('a', 'b'), 1)
    """

    def __init__(self, columns: tuple[FeatureName, ...]) -> None:
        self.columns = columns
        self.seen = 0
        self.t: float | None = None
        self.starts_at: int | None = None

    @abstractmethod
    def ask(self, explainer: Any, x: Observation, y: Any, w: float) -> Any:
        """Everything that may go wrong, without a change: questions to the model, checked answers.

        Parameters
        ----------
        explainer
            Whose memory it is: it has the `engine`, which asks the model, and the settings.
        x, y
            The observation, and its label if one is needed.
        w
            Its weight; with 0 the model is not asked, but the observation will be stored.
        """

    @abstractmethod
    def commit(self, asked: Any, w: float, t: float) -> None:
        """Fold in what `ask` gave; nothing can go wrong here."""

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    @abstractmethod
    def successor(self) -> Self:
        """The memory for what comes next: the same storages, and nothing explained yet."""

    @abstractmethod
    def merge(self, later: Self) -> Self:
        """The memory of both segments; the later one may be a successor of this one, or not."""

    @abstractmethod
    def _saved(self) -> State:
        """What it remembers beside what every memory does, JSON-safe."""

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Take what `_saved` gave."""

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        clock = {"seen": self.seen, "t": self.t, "starts_at": self.starts_at}
        return {**clock, "columns": encode_name(self.columns), **self._saved()}

    @state.setter
    def state(self, state: State) -> None:
        may = schema.maybe
        schema.check(state, seen=schema.count, t=may(schema.number), starts_at=may(schema.count))
        self.seen, self.t, self.starts_at = state["seen"], state["t"], state.get("starts_at")
        self.columns = decode_name(state["columns"])
        self._restore(state)

    def must_be_past(self, *times: float | None) -> None:
        """Raise if one of the times of what was saved is later than that of the last observation.

        Time would go back: what decays would grow without bound.
        """
        last = -math.inf if self.t is None else self.t
        if any(t is not None and schema.goes_back(t, last) for t in times):
            raise ValueError("the state is damaged: a part of it is later than its last time")

    def follows(self, earlier: Memory) -> bool:
        """Whether this is the memory of a successor of another one."""
        return self.starts_at is not None and self.starts_at == earlier.seen

    def join_clocks(self, earlier: Memory, later: Memory) -> None:
        """Take the number of observations and the time of both segments."""
        self.seen = later.seen if later.follows(earlier) else earlier.seen + later.seen
        times = [t for t in (earlier.t, later.t) if t is not None]
        self.t = max(times) if times else None
        self.starts_at = earlier.starts_at
