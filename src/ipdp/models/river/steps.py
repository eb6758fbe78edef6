"""Which features are added up at points, in which order, and what is prepared for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipdp.core.typing import FeatureName
from ipdp.models.river.kernels.linear import Order
from ipdp.models.trees.points import Columns, Points

# Columns change with the grids; an engine keeps those of its last questions, and so few are in use.
# Of many features they take megabytes.
_MOST = 8


class Steps:
    """What adds up the features of an observation, made once for its features and columns.

    Parameters
    ----------
    make
        Makes it of the order of the features and the number of columns.
    """

    def __init__(self, make: Callable[[Order, int], Any]) -> None:
        self._make = make
        self._known: dict[Columns, tuple[tuple[FeatureName, ...], Order, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}

    def of(self, points: Points) -> tuple[Order, Any]:
        """The features in the order of the observation, those that are replaced, and the step."""
        features, columns = tuple(points.x), points.columns
        known = self._known.get(columns)
        if known is None or known[0] != features:
            names = tuple(dict.fromkeys([*features, *columns.names]))
            at = {name: place for place, name in enumerate(names)}
            order = (names, sorted((at[name], lo, hi) for name, lo, hi in columns.places))
            known = features, order, self._make(order, columns.n)
            self._known[columns] = known
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]  # the oldest
        return known[1:]
