"""Some of the last observations with the model's predictions, to see how much splits explain."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.typing import FeatureName, State
from ipdp.explainers.state.records import IceRecord
from ipdp.explainers.state.shares import read_off

# So many are kept, over half of the time that the smoothing reaches back.
_SIZE, _REACH = 256, 0.5


class One(NamedTuple):
    """One observation: its values, and the model's outputs."""

    own: list[Any]
    said: list[float]


class Predictions:
    """At most 256 of the last observations."""

    def __init__(self, *, alpha: float | None) -> None:
        self.alpha = alpha
        self.n = 0  # number of observations
        self.t: float | None = None
        self.kept: deque[One] = deque(maxlen=_SIZE)
        self._every = 4 if alpha is None else max(1, round(_REACH / (alpha * _SIZE)))

    def fold(self, ice: IceRecord, own: Mapping[FeatureName, Any], t: float) -> None:
        """Take what the model said of one observation, with the values of its features."""
        if self.n % self._every == 0:
            said = read_off(ice, own)
            if said is not None:
                self.kept.append(One(list(own.values()), said))
        self.n, self.t = self.n + 1, t

    def empty(self) -> Predictions:
        """One of the same kind that has seen nothing."""
        return Predictions(alpha=self.alpha)

    def copy(self) -> Predictions:
        """An independent copy."""
        twin = self.empty()
        twin.n, twin.t = self.n, self.t
        twin.kept.extend(self.kept)
        return twin

    def merge(
        self, later: Predictions, rows: Sequence[int], later_rows: Sequence[int]
    ) -> Predictions:
        """Those of both, with the outputs of these rows; -1 stands for one that was 0 so far."""
        joined = self.empty()
        joined.n, joined.t = self.n + later.n, self.t if later.t is None else later.t
        for part, own in ((self, rows), (later, later_rows)):
            joined.kept.extend(
                One(one.own, [one.said[k] if 0 <= k < len(one.said) else 0.0 for k in own])
                for one in part.kept
            )
        return joined

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        kept = [[[encode_name(value) for value in one.own], one.said] for one in self.kept]
        return {"n": self.n, "t": self.t, "kept": kept}

    def restore(self, state: State, *_: Any) -> None:
        """Take what `state` gave."""
        schema.check(state, n=schema.count, t=schema.maybe(schema.number))
        self.n, self.t = state["n"], state["t"]
        self.kept.clear()
        for own, said in state["kept"]:
            schema.check({"said": said}, said=schema.each(schema.value))
            self.kept.append(One([*map(decode_name, own)], list(said)))
