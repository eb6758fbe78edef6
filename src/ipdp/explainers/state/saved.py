"""The memory of curves as a state, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import State
from ipdp.explainers.state.means import Means
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.records import IceRecord, must_fit

if TYPE_CHECKING:
    from ipdp.explainers.state.curve_memory import CurveMemory


def saved(memory: CurveMemory) -> State:
    """Everything in a memory but its clock, JSON-safe."""
    means = memory.means
    layouts = list(dict.fromkeys([means.layout, *(record.layout for record in memory.recent)]))
    return {
        "outputs": encode_name(tuple(means.outputs)),
        "named": means.named,
        "grids": [plain(grid.state) for grid in memory.grids.values()],
        "effects": [
            {"feature": encode_name(t.feature), "names": encode_name(t.names), "n": t.n}
            for t in memory.targets
        ],
        "layouts": [layout.state for layout in layouts],
        "attic": encode_name(tuple(means.dormant)),
        "inherited": encode_name(tuple(sorted(means.inherited, key=repr))),
        "lost": encode_name(tuple(sorted(means.lost, key=repr))),
        "smoothing": means.smoothing.state,
        "attic_smoothing": means.dormant_smoothing.state,
        "blocks": means.blocks.state,
        "back": encode_name(tuple(sorted(means.back, key=repr))),
        "newcomers": means.newcomers.state,
        "recent": [
            {
                "layout": layouts.index(record.layout),
                "positions": record.positions.tolist(),
                "values": record.values.tolist(),
            }
            for record in memory.recent
        ],
        "spread": memory.spreads.state,
        "pool": memory.pool.state,
        "together": [plain(list(values)) for values in memory.joint],
        "joint_values": memory.joint_values.state,
    }


def restore(memory: CurveMemory, state: State) -> None:
    """Take what `saved` gave."""
    for grid, saved in zip(memory.grids.values(), state["grids"], strict=True):
        grid.state = saved
    for target, saved in zip(memory.targets, state["effects"], strict=True):
        schema.check(saved, n=schema.count)
        target.n = saved["n"]
    layouts = [Layout.restored(memory.targets, saved) for saved in state["layouts"]]
    means = memory.means
    _restore_means(means, layouts[0], state)
    if "spread" in state:  # not in those of version 0.4 and before
        memory.spreads = memory.spreads.restored(state["spread"], means.layout, len(means.outputs))
    memory.joint.extend(map(decode_name, state["together"]))
    if "joint_values" in state:  # not in those of version 0.4 and before
        memory.joint_values.restore(state["joint_values"])
    if state.get("pool") and memory.pool.size:  # states of earlier versions have none
        memory.pool.restore(state["pool"], memory.targets)
    newcomers, spreads = means.newcomers, memory.spreads.all
    memory.must_be_past(
        *(part.t for part in (means.smoothing, means.dormant_smoothing, newcomers.past, *spreads)),
        *(point.since for point in newcomers.points),
        memory.pool.last,
        *(kept.record.t for kept in memory.pool.kept),
    )
    schema.must_ascend([means.blocks.last, means.smoothing.t])
    for saved in state["recent"]:
        memory.recent.append(_restored_record(saved, layouts))
        must_fit(memory.recent[-1], means.n_axes)


def _restore_means(means: Means, layout: Layout, state: State) -> None:
    check_names(state, ("attic", "inherited", "lost", "back"))
    means.outputs, means.named = list(decode_name(state["outputs"])), state["named"]
    means.layout = layout
    means.dormant = list(decode_name(state["attic"]))
    means.inherited = frozenset(decode_name(state["inherited"]))
    means.lost = set(decode_name(state["lost"]))
    means.smoothing = Smoothing.from_state(state["smoothing"])
    means.dormant_smoothing = Smoothing.from_state(state["attic_smoothing"])
    _check_shapes(means)
    means.blocks = means.empty_blocks()
    if "blocks" in state:  # not in those of version 0.3 and before
        means.blocks.restore(state["blocks"])
        means.back = set(decode_name(state["back"]))
    if "newcomers" in state:
        means.newcomers.restore(state["newcomers"])
    else:
        means.newcomers.with_rows([-1] * (means.n_axes + len(means.outputs)))


def _restored_record(saved: State, layouts: Sequence[Layout]) -> IceRecord:
    schema.check(saved, layout=schema.below(len(layouts)))
    layout = layouts[saved["layout"]]
    positions, values = (
        np.array(saved[name], dtype=float).reshape(-1, layout.n_points)
        for name in ("positions", "values")
    )
    schema.must_fit("positions", positions, positions.shape)
    return IceRecord(layout, positions, values)


def check_names(state: State, names: Sequence[str]) -> None:
    """Raise unless outputs have names, and each of some lists holds slots: a number and a key."""
    schema.check(state, outputs=schema.parts, named=schema.flag)
    if len(set(decode_name(state["outputs"]))) != len(state["outputs"]):
        raise ValueError("the state is damaged: two outputs have the same name")
    for name in names:
        slots = decode_name(state.get(name, []))
        if not isinstance(slots, tuple) or not all(map(_is_slot, slots)):
            raise ValueError(f"the state is damaged: {name} does not hold points")


def _is_slot(slot: Any) -> bool:
    return isinstance(slot, tuple) and len(slot) == 2 and schema.count.fits(slot[0])


def _check_shapes(means: Means) -> None:
    """Raise unless there is a column for each slot, and a row for each axis and output."""
    n_rows = means.n_axes + len(means.outputs)
    for smoothing, n in (
        (means.smoothing, means.layout.n_points),
        (means.dormant_smoothing, len(means.dormant)),
    ):
        if smoothing.mean.shape != (n_rows, n):
            raise ValueError(
                f"the state is damaged: there are {n} points of {n_rows} numbers, and means of "
                f"the shape {smoothing.mean.shape}"
            )


def plain(value: Any) -> Any:
    """The state of a grid: dicts and lists of plain values."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        if set(map(type, value)) == {float} and math.isfinite(sum(value)):
            return list(value)
        return [plain(item) for item in value]
    return encode_name(value)
