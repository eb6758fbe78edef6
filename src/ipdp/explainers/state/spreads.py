"""The spread of a segment of a stream that is to be merged with the segment before it."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar

from ipdp.core import schema
from ipdp.core.typing import State
from ipdp.explainers.state.points import Layout


class Sums(Protocol):
    """Sums over observations that depend on what was before: `Spread` is one."""

    n: int
    t: float | None

    def copy(self) -> Self: ...

    def empty(self) -> Self: ...

    def merge(self, later: Self, *arranged: Any) -> Self: ...

    @property
    def state(self) -> State: ...

    def restore(self, state: State, layout: Layout, n_outputs: int) -> None: ...


S = TypeVar("S", bound=Sums)


class Spreads(Generic[S]):
    """The spread of a segment of a stream, and that from the beginning of the stream on.

    What a level is depends on what was before. A segment that is to be merged with an earlier one
    therefore goes on with a copy of that one's spread, `whole`, beside its `own`.
    """

    def __init__(
        self,
        own: S,
        whole: S | None = None,
        begins_after: tuple[int, float | None] | None = None,
    ) -> None:
        self.own = own
        self.whole = whole
        self.begins_after = begins_after  # number and time of the last observation before it
        # Those that take each observation.
        self.all = (own,) if whole is None else (own, whole)

    def copy(self) -> Spreads[S]:
        """An independent copy."""
        return Spreads(self.own.copy(), self.whole and self.whole.copy(), self.begins_after)

    def successor(self) -> Spreads[S]:
        """That of the segment that follows."""
        begins_after, before = self.begins_after, self.whole
        if before is None:
            begins_after, before = (self.own.n, self.own.t), self.own
        return Spreads(self.own.empty(), before.copy(), begins_after)

    def alone(self) -> Spreads[S]:
        """That of the segment without what was before it, for an earlier one nobody answered."""
        return Spreads(self.own.copy())

    def merge(self, later: Spreads[S], follows: bool, *arranged: Any) -> Spreads[S]:
        """That of both segments; `arranged` are the last arguments of `Spread.merge`."""
        if follows and later.whole is not None:
            if self.whole is None and later.begins_after == (self.own.n, self.own.t):
                return Spreads(later.whole.copy())
            if self.whole is not None and later.begins_after == self.begins_after:
                own = self.own.merge(later.own, *arranged)
                return Spreads(own, later.whole.copy(), later.begins_after)
        return Spreads(self.own.merge(later.own, *arranged))

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        return {
            "own": self.own.state,
            "whole": self.whole and self.whole.state,
            "begins_after": self.begins_after and list(self.begins_after),
        }

    def restored(self, state: State, layout: Layout, n_outputs: int) -> Spreads[S]:
        """What gave this `state`; the layout and the outputs are those of the means."""
        clock = schema.each(schema.maybe(schema.number), 2)
        schema.check(state, begins_after=schema.maybe(clock))
        own = self.own.empty()
        whole = None
        own.restore(state["own"], layout, n_outputs)
        if state["whole"]:
            whole = self.own.empty()
            whole.restore(state["whole"], layout, n_outputs)
        return Spreads(own, whole, state["begins_after"] and tuple(state["begins_after"]))
