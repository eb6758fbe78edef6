"""A fold as plain lists and numbers, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import State
from ipdp.explainers.state.means import Fold, IceRecord
from ipdp.explainers.state.points import Layout

_PLAIN = (str, int, float, bool, type(None))


def save(fold: Fold) -> State:
    """Everything the fold remembers, JSON-safe."""
    layouts = list(dict.fromkeys([fold.layout, *(record.layout for record in fold.recent)]))
    return {
        "seen": fold.seen,
        "t": fold.t,
        "starts_at": fold.starts_at,
        "columns": _plain(fold.columns),
        "outputs": _plain(fold.outputs),
        "named": fold.named,
        "grids": [_plain(grid.state, pairs=False) for grid in fold.grids.values()],
        "effects": [
            {"feature": _plain(e.feature), "names": _plain(e.names), "n": e.n} for e in fold.effects
        ],
        "layouts": [
            {
                "effects": list(layout.effects),
                "keys": _plain(layout.keys),
                "whole": _plain(layout.whole),
            }
            for layout in layouts
        ],
        "attic": _plain(fold.attic),
        "inherited": _plain(sorted(fold.inherited, key=repr)),
        "lost": _plain(sorted(fold.lost, key=repr)),
        "smoothing": fold.smoothing.state,
        "attic_smoothing": fold.attic_smoothing.state,
        "recent": [
            {
                "layout": layouts.index(record.layout),
                "positions": record.positions.tolist(),
                "values": record.values.tolist(),
            }
            for record in fold.recent
        ],
        "together": [_plain(list(values), pairs=False) for values in fold.together],
    }


def restore(fold: Fold, state: State) -> None:
    """Bring a new fold of the same features to a saved state."""
    fold.seen, fold.t = state["seen"], state["t"]
    fold.starts_at = state["starts_at"]
    fold.columns = _tuples(state["columns"])
    fold.outputs, fold.named = [_tuples(label) for label in state["outputs"]], state["named"]
    for grid, saved in zip(fold.grids.values(), state["grids"], strict=True):
        grid.state = saved
    for effect, saved in zip(fold.effects, state["effects"], strict=True):
        effect.n = saved["n"]
    layouts = [
        Layout.of(fold.effects, s["effects"], _tuples(s["keys"]), _tuples(s["whole"]))
        for s in state["layouts"]
    ]
    fold.attic = [_tuples(slot) for slot in state["attic"]]
    fold.inherited = frozenset(_tuples(slot) for slot in state["inherited"])
    fold.lost = {_tuples(slot) for slot in state["lost"]}
    fold.smoothing = Smoothing.from_state(state["smoothing"])
    fold.attic_smoothing = Smoothing.from_state(state["attic_smoothing"])
    fold.place(layouts[0])
    fold.together.clear()
    fold.together.extend(map(tuple, state["together"]))
    fold.recent.clear()
    for record in state["recent"]:
        layout = layouts[record["layout"]]
        n_points = layout.n_points
        fold.recent.append(
            IceRecord(
                layout,
                np.array(record["positions"], dtype=float).reshape(-1, n_points),
                np.array(record["values"], dtype=float).reshape(-1, n_points),
            )
        )


def _plain(value: Any, pairs: bool = True) -> Any:
    """The value for JSON: tuples of our own become lists; a category may not be one."""
    if isinstance(value, dict):
        return {name: _plain(item, pairs) for name, item in value.items()}
    if isinstance(value, list) or (pairs and isinstance(value, tuple)):
        return [_plain(item, pairs) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, _PLAIN):
        raise TypeError(
            f"{value!r} cannot be saved: feature names, classes and categories must be strings, "
            "numbers or booleans"
        )
    return value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
