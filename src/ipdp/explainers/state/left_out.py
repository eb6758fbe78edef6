"""Features that look like an id or a clock, for an explainer that has no grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.core.typing import Feature, FeatureName, Observation, State
from ipdp.explainers.state.targets import make_targets, tell_of_left_out
from ipdp.grid import Auto


class LeftOut:
    """Looks at the values of features until it is known that they are no ids and no clocks.

    Parameters
    ----------
    features
        All features that are explained unless they look so; none where they were asked for.
    orders
        The categories of some features, in order: these are no ids.

    Examples
    --------
    >>> import warnings
    >>> left_out = LeftOut(["age", "row"])
    >>> for k in range(30):
    ...     left_out.update({"age": k * 7 % 5, "row": k})
    >>> left_out.features
    {'row'}
    """

    def __init__(
        self,
        features: Sequence[Feature] = (),
        orders: Mapping[FeatureName, Sequence[Any]] | None = None,
    ) -> None:
        grids: dict[str, Any] = {"regrid": False, "seed": None, "orders": orders, "wary": True}
        self._targets = make_targets(features, Auto(), **grids) if features else []
        self._watched = list(self._targets)
        self.features: frozenset[Feature] | set[Feature] = frozenset()

    def tell(self) -> None:
        """Name what is left out, once; if that were all features, none is."""
        if self.features:
            tell_of_left_out(self._targets)
            self._look()

    def update(self, x: Observation) -> None:
        """Take an observation."""
        for target in self._watched:
            [grid] = target.grids
            try:
                value = grid.admit(x.get(target.names[0]))
            except TypeError:  # neither a number nor a name: no id
                grid.trust()
                continue
            if value is not None:
                grid.update(value)
        self._look()

    def _look(self) -> None:
        if self._watched:
            self._watched = [target for target in self._watched if not target.ready]
            self.features = {t.feature for t in self._watched if t.looks_like is not None}

    def merge(self, later: LeftOut) -> LeftOut:
        """What is left out in both of two segments of a stream."""
        others = {target.feature: target for target in later._watched}
        joined = LeftOut()
        joined._targets = self._targets
        for target in self._watched:
            if target.feature in others:
                other = others[target.feature]
                target.grids = (target.grids[0].merge(other.grids[0]),)
                target.is_told = target.is_told or other.is_told
                joined._watched.append(target)
        joined._look()
        return joined

    @property
    def state(self) -> State:
        """What it remembers."""
        return {
            str(k): {"grid": target.grids[0].state, "is_told": target.is_told}
            for k, target in enumerate(self._targets)
            if target in self._watched
        }

    @state.setter
    def state(self, state: State) -> None:
        self._watched = []
        for k, target in enumerate(self._targets):
            if str(k) in state:
                target.grids[0].state = state[str(k)]["grid"]
                target.is_told = state[str(k)]["is_told"]
                self._watched.append(target)
        self._look()
