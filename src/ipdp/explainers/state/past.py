"""Whole observations of the past, of which some are drawn."""

from __future__ import annotations

from ipdp.core.jsonable import decode_name, decode_value, encode_name, encode_value
from ipdp.core.random import Uniforms
from ipdp.core.typing import Observation, State


class PastObservations:
    """A geometric reservoir of whole observations: each new one replaces any of those kept."""

    def __init__(self, size: int, seed: int | None) -> None:
        self.size = size
        self.kept: list[Observation] = []
        self._uniforms = Uniforms(seed=seed)

    def update(self, x: Observation) -> None:
        """Take an observation in."""
        if len(self.kept) < self.size:
            self.kept.append(x)
        else:
            self.kept[self._uniforms.draw_below(self.size)] = x

    def draw(self, uniforms: Uniforms) -> Observation:
        """One of those kept, by the given random numbers."""
        return self.kept[uniforms.draw_below(len(self.kept))]

    def top_up(self, earlier: PastObservations) -> None:
        """Fill free places with observations of an earlier part of the stream."""
        room = self.size - len(self.kept)
        self.kept = earlier.kept[max(0, len(earlier.kept) - room) :] + self.kept

    @property
    def state(self) -> State:
        """Everything it remembers."""
        # Pairs and not objects: a feature may be called by a number.
        kept = [[[encode_name(name), encode_value(v)] for name, v in x.items()] for x in self.kept]
        return {"kept": kept, "uniforms": self._uniforms.state}

    @state.setter
    def state(self, state: State) -> None:
        if len(state["kept"]) > self.size:
            raise ValueError("the state is damaged: there are more observations than are kept")
        self.kept = [{decode_name(name): decode_value(v) for name, v in x} for x in state["kept"]]
        self._uniforms.state = state["uniforms"]
