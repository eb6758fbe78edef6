"""Trees of any library as flat arrays, and how their sum becomes what the library predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray
from ipdp.models.forests.kernels.ice import CATEGORICAL, MISSING_LEFT, OTHER_LEFT
from ipdp.models.forests.kernels.masks import Splits, are_small

NODE = np.dtype(
    [("threshold", "f8"), ("left", "i4"), ("feature", "i4"), ("kind", "i4"), ("unused", "i4")]
)
"""A node: its left child, which the right one follows, its feature (-1 for a leaf), and flags.

A value goes left if it is at most the threshold. At a split by category the threshold is the number
of a table. In a leaf it is the value, where that is one number; else `left` is its row in a table.
"""

Codes = dict[Any, float]
"""What a category is to the trees."""


def codes_of(categories: Sequence[Any]) -> Codes:
    """Categories by their place in a list; a missing value is none."""
    # Only NaN is not itself.
    present = [value is not None and bool(value == value) for value in categories]  # noqa: PLR0124
    return {value: float(k) for k, value in enumerate(categories) if present[k]}


class NotRead(Exception):
    """The trees of a model cannot be read; the reason is a few words."""


class Tree(NamedTuple):
    """One tree as a reader gives it: arrays over its nodes, the root first.

    Attributes
    ----------
    feature
        -1 for a leaf.
    threshold
        A value goes left if it is at most this.
    left, right
        Numbers of the children, in this tree.
    missing_left
        Whether a missing value goes left.
    value
        Shape (n_nodes,), or (n_nodes, n_outputs) if a leaf speaks of all outputs.
    output
        Which output a leaf of one number speaks of.
    flags
        More of the flags of `kernels/ice.py`.
    categories
        For splits by category, by node: for each code whether it goes left, and whether others do.
    """

    feature: Array
    threshold: Array
    left: Array
    right: Array
    missing_left: Array
    value: Array
    output: int = 0
    flags: Array | int = 0
    categories: Mapping[int, tuple[Array, bool]] = MappingProxyType({})


@dataclass(eq=False)
class Flat:
    """All trees of a model.

    Attributes
    ----------
    nodes
        Those of all trees, of type `NODE`.
    roots, outputs
        For each tree its first node and the first output that it speaks of.
    leaves
        What leaves of several numbers say, of shape (n_leaves, n_outputs).
    set_start, sets
        Table k of a split by category is `sets[set_start[k]:set_start[k + 1]]`: 1 goes left.
    depth
        Of the deepest tree.
    base
        What the sum of the leaves starts with, one number for each output.
    link
        From the sums, of shape (n_rows, n_outputs, n_points), to what the library predicts; it
        may write into its argument.
    columns
        For each feature of the trees the column of the table that it is; None if they are equal.
    codes
        For columns of categories, what each is to the trees; all others are missing values.
    single_precision
        Whether values are rounded to 32 bits before they are compared.
    tolerance
        By how much the library's own answers may differ, of the value: that of 32 bits is 1e-5.
    """

    nodes: Array
    roots: Array
    outputs: Array
    leaves: FloatArray
    set_start: Array
    sets: Array
    depth: int
    base: FloatArray
    link: Callable[[FloatArray], FloatArray]
    columns: Array | None = None
    codes: dict[int, Codes] = field(default_factory=dict)
    single_precision: bool = False
    tolerance: float = 1e-9

    @property
    def n_outputs(self) -> int:
        """Number of sums."""
        return len(self.base)

    @cached_property
    def splits(self) -> Splits | None:
        """Its splits by tree and feature, if the trees are small enough for masks of leaves."""
        return Splits(self) if are_small(self) else None

    @property
    def n_features(self) -> int:
        """How many features there must be, for all splits to find theirs."""
        return 1 + int(self.nodes["feature"].max(initial=-1))


def flatten(
    trees: Sequence[Tree],
    base: Any,
    link: Callable[[FloatArray], FloatArray],
    *,
    scale: float = 1.0,
    **more: Any,
) -> Flat:
    """All trees of a model as one; leaves are multiplied by the scale."""
    parts: list[Array] = []
    tables: list[Array] = []
    leaves: list[Array] = []
    starts, n_leaves, depth = [0], 0, 0
    for tree in trees:
        order, levels = _by_level(tree)
        part = _nodes(tree, tables)[order]
        is_leaf = part["feature"] < 0
        # Children stand side by side, in the order of their parents.
        part["left"][~is_leaf] = starts[-1] + 1 + 2 * np.arange((~is_leaf).sum())
        values = tree.value[order[is_leaf]] * scale
        if values.ndim == 1:
            part["threshold"][is_leaf] = values
        else:
            part["left"][is_leaf] = np.arange(n_leaves, n_leaves + len(values))
            leaves.append(values)
            n_leaves += len(values)
        parts.append(part)
        starts.append(starts[-1] + len(part))
        depth = max(depth, levels)
    flat_leaves = np.ascontiguousarray(np.concatenate(leaves)) if leaves else np.zeros((1, 1))
    # The walk checks no index, and a model may come from a file of somebody else.
    if max(tree.output for tree in trees) + flat_leaves.shape[1] > np.size(base):
        raise NotRead("its leaves have more values than it has outputs")
    return Flat(
        nodes=np.concatenate(parts),
        roots=np.array(starts[:-1], dtype=np.int32),
        outputs=np.array([tree.output for tree in trees], dtype=np.int32),
        leaves=flat_leaves,
        set_start=np.cumsum([0, *map(len, tables)], dtype=np.int32),
        sets=np.concatenate([*tables, np.zeros(1)]).astype(np.uint8),
        depth=depth,
        base=np.atleast_1d(np.asarray(base, dtype=float)),
        link=link,
        **more,
    )


def _nodes(tree: Tree, tables: list[Array]) -> Array:
    """The nodes in their own order, without children; the tables of categories are added."""
    nodes = np.zeros(len(tree.feature), dtype=NODE)
    nodes["feature"] = tree.feature
    nodes["threshold"] = tree.threshold
    nodes["kind"] = np.where(tree.missing_left, MISSING_LEFT, 0) | tree.flags
    for node, (goes_left, others_go_left) in tree.categories.items():
        nodes["threshold"][node] = len(tables)
        nodes["kind"][node] |= CATEGORICAL | (OTHER_LEFT if others_go_left else 0)
        tables.append(goes_left)
    return nodes


def _by_level(tree: Tree) -> tuple[Array, int]:
    """The nodes from the root downwards, level by level, and the number of levels with splits."""
    level = np.zeros(1, dtype=np.int64)
    levels, n_nodes = [level], 1
    while (splits := level[tree.feature[level] >= 0]).size:
        level = np.stack([tree.left[splits], tree.right[splits]], axis=1).ravel()
        levels.append(level)
        n_nodes += len(level)
        if n_nodes > len(tree.feature):  # a node is the child of two, or of one below it
            raise NotRead("a tree of it is no tree")
    return np.concatenate(levels), len(levels) - 1
