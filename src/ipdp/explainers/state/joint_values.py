"""Values of features that came together, over all of the past that the curves rest on.

What a pair does is weighted by how often its values come together, which the grids of two features
do not know. One observation in a fixed number of them is kept, by its place in the stream: the same
ones, however the stream was cut into segments. Without an end to the past there are ever fewer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name, pack_floats, unpack_floats
from ipdp.core.typing import FloatArray, State

# At most so many are kept, over so many times the reach of the smoothing.
_SIZE, _REACH = 2048, 3.0


class Row(NamedTuple):
    """One observation: its place in the stream, time, weight, and some of its values."""

    n: int
    t: float
    w: float
    values: tuple[Any, ...]


class JointValues:
    """The values at some places of past observations; without places nothing is kept."""

    def __init__(self, places: Sequence[int], *, alpha: float | None) -> None:
        self.places = tuple(places)
        self.alpha = alpha
        self.every = 1 if alpha is None else max(1, round(_REACH / (alpha * _SIZE)))
        self.rows: deque[Row] = deque()

    def add(self, n: int, values: Sequence[Any], w: float, t: float) -> None:
        """Take the n-th observation, unless it is one of those that are left out."""
        if self.places and w and not n % self.every:
            self.rows.append(Row(n, t, w, tuple([values[k] for k in self.places])))
            if len(self.rows) > _SIZE:
                self._make_room()

    def _make_room(self) -> None:
        while len(self.rows) > _SIZE:
            if self.alpha is None:
                self.every *= 2
                self.rows = deque(row for row in self.rows if not row.n % self.every)
            else:
                self.rows.popleft()

    def of(self, places: Sequence[int], t: float) -> tuple[list[list[Any]], FloatArray]:
        """The values at some places that came together, and how much they weigh at a time."""
        columns = [self.places.index(place) for place in places]
        known = [row for row in self.rows if None not in [row.values[k] for k in columns]]
        weights = np.array([row.w for row in known])
        if self.alpha is not None:
            weights = weights * (1 - self.alpha) ** (t - np.array([row.t for row in known]))
        return [[row.values[k] for row in known] for k in columns], weights

    # Copies, segments of a stream, state.

    def copy(self) -> JointValues:
        """An independent copy."""
        twin = self.successor()
        twin.rows.extend(self.rows)
        return twin

    def successor(self) -> JointValues:
        """Those of what comes next."""
        later = JointValues(self.places, alpha=self.alpha)
        later.every = self.every
        return later

    def merge(self, later: JointValues, seen: int) -> JointValues:
        """Those of both segments; the later one begins after so many more observations."""
        both = self.successor()
        both.every = max(self.every, later.every)
        moved = (row._replace(n=row.n + seen) for row in later.rows)
        both.rows.extend(row for row in [*self.rows, *moved] if not row.n % both.every)
        both._make_room()
        return both

    @property
    def state(self) -> State:
        """Everything in it, JSON-safe."""
        numbers = [[row.n, row.t, row.w] for row in self.rows]
        columns = [[row.values[k] for row in self.rows] for k in range(len(self.places))]
        return {
            "every": self.every,
            "numbers": pack_floats(np.array(numbers, dtype=float).ravel()),
            "columns": [_saved(column) for column in columns],
        }

    def restore(self, state: State) -> None:
        """Take what `state` gave."""
        numbers = unpack_floats(state["numbers"]).reshape(-1, 3).tolist()
        columns = list(map(_restored, state["columns"]))
        if len(columns) != len(self.places):
            raise ValueError("the state is damaged: its values that came together do not fit")
        schema.check(
            state, every=schema.Kind("at least 1", lambda n: schema.count.fits(n) and n >= 1)
        )
        self.every = state["every"]
        rows = zip(*columns, strict=True) if columns else ()
        self.rows = deque(
            Row(int(n), t, w, values) for (n, t, w), values in zip(numbers, rows, strict=True)
        )


def _saved(column: list[Any]) -> Any:
    """A column of numbers, packed where all of them are of one kind; else one by one."""
    kinds = set(map(type, column)) - {type(None)}
    if kinds == {float}:
        return pack_floats(np.array([np.nan if v is None else v for v in column]))
    return [encode_name(value) for value in column]


def _restored(saved: Any) -> list[Any]:
    if isinstance(saved, list):
        return [decode_name(value) for value in saved]
    values = unpack_floats(saved)
    schema.must_fit("columns", values, (values.size,), finite=False)
    return [None if np.isnan(value) else value for value in values.tolist()]
