"""The state of a memory of local effects, out and in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ipdp.core import schema
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.smoothing import Smoothing
from ipdp.core.typing import State
from ipdp.core.words import shown
from ipdp.explainers.state.points import Layout
from ipdp.explainers.state.saved import check_names, plain
from ipdp.explainers.state.targets import Target
from ipdp.grid.base import MOST_POINTS


def saved_state(memory: Any) -> State:
    """Everything that a memory of local effects remembers."""
    means = memory.means
    return {
        "outputs": encode_name(tuple(means.outputs)),
        "named": means.named,
        "grids": [plain(grid.state) for grid in memory.grids.values()],
        "counts": [target.n for target in memory.targets],
        "targets": list(means.layout.targets),
        "bins": encode_name(means.layout.keys),
        "whole": encode_name(means.layout.whole),
        "dormant": encode_name(tuple(means.dormant)),
        "inherited": encode_name(tuple(sorted(means.inherited, key=repr))),
        "lost": encode_name(tuple(sorted(means.lost, key=repr))),
        "back": encode_name(tuple(sorted(means.back, key=repr))),
        "smoothing": means.smoothing.state,
        "dormant_smoothing": means.dormant_smoothing.state,
        "blocks": means.blocks.state,
        "rows": [encode_name(row) for row in memory.rows],
        "orders": [encode_name((name, order)) for name, order in memory.orders.items()],
        "n_asked": memory.n_asked,
        "keeps_rows": memory.keeps_rows,
    }


def restore(memory: Any, state: State) -> None:
    """Let an empty memory have what another one has saved, or an error."""
    for grid, saved in zip(memory.grids.values(), state["grids"], strict=True):
        grid.state = saved
    schema.check(state, counts=schema.each(schema.count), n_asked=schema.count)
    schema.check(state, keeps_rows=schema.flag)
    for target, n in zip(memory.targets, state["counts"], strict=True):
        target.n = n
    means = memory.means
    check_names(state, ("dormant", "inherited", "lost", "back"))
    means.outputs, means.named = list(decode_name(state["outputs"])), state["named"]
    means.layout = _restored_bins(memory.targets, state)
    means.dormant = list(decode_name(state["dormant"]))
    means.inherited = frozenset(decode_name(state["inherited"]))
    means.lost, means.back = (set(decode_name(state[name])) for name in ("lost", "back"))
    means.smoothing = Smoothing.from_state(state["smoothing"])
    means.dormant_smoothing = Smoothing.from_state(state["dormant_smoothing"])
    for smoothing, n in (
        (means.smoothing, means.layout.n_points),
        (means.dormant_smoothing, len(means.dormant)),
    ):
        if smoothing.mean.shape != (len(means.outputs), n):
            raise ValueError(
                f"the state is damaged: there are {n} bins of {len(means.outputs)} outputs, "
                f"and means of the shape {smoothing.mean.shape}"
            )
    means.blocks = means.empty_blocks()
    means.blocks.restore(state["blocks"])
    memory.must_be_past(means.smoothing.t, means.dormant_smoothing.t)
    schema.must_ascend([means.blocks.last, means.smoothing.t])
    schema.check(state, rows=schema.each(schema.parts))
    if any(len(row) != len(memory.columns) for row in state["rows"]):
        raise ValueError("the state is damaged: a row has not a value for each column")
    memory.rows.extend(decode_name(row) for row in state["rows"])
    memory.orders = dict(decode_name(item) for item in state["orders"])
    schema.check({"orders": [*memory.orders.values()]}, orders=schema.each(schema.parts))
    if any(len(set(order)) < len(order) for order in memory.orders.values()):
        raise ValueError("the state is damaged: a category is twice in an order")
    memory.n_asked, memory.keeps_rows = state["n_asked"], state["keeps_rows"]


def _restored_bins(targets: Sequence[Target], state: State) -> Layout:
    """The layout of the bins of a state, or an error."""
    schema.check(state, targets=schema.each(schema.below(len(targets))))
    keys, whole = decode_name(state["bins"]), decode_name(state["whole"])
    if not len(state["targets"]) == len(keys) == len(whole) == len(set(state["targets"])):
        raise ValueError("the state is damaged: its bins are not those of its features")
    dormant = decode_name(state["dormant"])
    for number, own, flags in zip(state["targets"], keys, whole, strict=True):
        n_axes = len(targets[number].names)
        schema.check({"whole": flags}, whole=schema.each(schema.flag, n_axes))
        asleep = [key for n, key in dormant if n == number]
        is_one_too_many = len(set(own)) < len(own) or len(own) > _most_bins(targets[number])
        if not own or is_one_too_many or not all(is_bin(key, n_axes) for key in (*own, *asleep)):
            raise ValueError(f"the state is damaged: {shown(own)} are no bins")
    return Layout.of(targets, state["targets"], keys, whole)


def _most_bins(target: Target) -> int:
    """How many bins and categories a target may have: reading takes the square of them."""
    # An Auto has room for 20 categories, a lattice for some points more than its size, and each
    # category has a bin of its own. A grid of somebody's own may not say its size.
    grids = [getattr(grid, "grid", grid) for grid in target.grids]
    sizes = [max(getattr(grid, "size", MOST_POINTS), 20) for grid in grids]
    return math.prod(4 * size for size in sizes)


def is_bin(key: Any, n_axes: int) -> bool:
    """Whether this can be the key of a bin: two ends, or a category; for pairs one of each."""
    if not isinstance(key, tuple):
        return False
    if n_axes == 2:
        return len(key) == 2 and all(is_bin(part, 1) for part in key)
    if len(key) == 1:
        return schema.name.fits(key[0])
    return len(key) == 2 and all(map(schema.name.fits, key))
