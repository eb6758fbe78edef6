"""Exact order statistics of columns that no machine can sort.

They are found in two steps: `percentile_approx` says between which two values each one lies for
certain, then the values below are counted and the few in between are fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FloatArray

# How exact the approximate quantiles are: their ranks are off by at most n / _ACCURACY.
_ACCURACY = 20_000


def order_statistics(picked: Any, wanted: Mapping[str, tuple[Array, int]]) -> dict[str, FloatArray]:
    """The values of some ranks, exactly, by column.

    Parameters
    ----------
    picked
        A frame of Spark whose columns are those that are wanted, as doubles, in their order.
    wanted
        For each of them, by its name in errors, the ranks and the number of its values.
    """
    from pyspark.sql import functions as F  # noqa: N812  (everybody calls it so)

    asked = []
    for column, (ranks, n) in zip(picked.columns, wanted.values(), strict=True):
        shares = F.array(*map(F.lit, _around(ranks, n).tolist()))
        asked.append(F.percentile_approx(column, shares, F.lit(_ACCURACY)))
    found = picked.agg(*asked).first()
    brackets = [_joined(np.array(each, dtype=float)) for each in found]
    below, inside = _fetched(picked, brackets)
    return {
        name: _at_ranks(ranks, below[k], inside[k], name)
        for k, (name, (ranks, _)) in enumerate(wanted.items())
    }


def _around(ranks: Array, n: int) -> FloatArray:
    """Shares between which the ranks are for certain, each with the one below and the one above."""
    room = 2 * n / _ACCURACY + 2
    shares = np.column_stack([ranks - room, ranks + room]) / n
    return np.asarray(shares.clip(0.0, 1.0).ravel())


def _joined(edges: FloatArray) -> FloatArray:
    """Intervals, of shape (n, 2), of which those that touch each other have become one."""
    intervals = edges.reshape(-1, 2)
    joined = [intervals[0].tolist()]
    for low, high in intervals[1:].tolist():
        if low <= joined[-1][1]:
            joined[-1][1] = max(high, joined[-1][1])
        else:
            joined.append([low, high])
    return np.array(joined)


def _fetched(picked: Any, brackets: list[FloatArray]) -> tuple[list[Array], list[list[FloatArray]]]:
    """For each column and interval: how many values are below it, and those in it, in order."""
    parts = picked.mapInArrow(_Counting(brackets), "counts binary, inside binary").collect()
    below = [np.zeros(len(edges), dtype=np.int64) for edges in brackets]
    inside: list[list[list[FloatArray]]] = [[[] for _ in edges] for edges in brackets]
    sizes = [len(edges) for edges in brackets]
    for part in parts:
        counts = np.frombuffer(part.counts, dtype="<i8").reshape(2, -1)
        values = np.frombuffer(part.inside, dtype="<f8")
        cells = np.split(values, np.cumsum(counts[1])[:-1])
        at = 0
        for k, size in enumerate(sizes):
            below[k] += counts[0, at : at + size]
            for j in range(size):
                inside[k][j].append(cells[at + j])
            at += size
    return below, [[np.sort(np.concatenate(own)) for own in column] for column in inside]


class _Counting:
    """In a worker: counts values below intervals, and keeps those in them."""

    def __init__(self, brackets: list[FloatArray]) -> None:
        self.brackets = brackets

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        below = [np.zeros(len(edges), dtype=np.int64) for edges in self.brackets]
        inside: list[list[FloatArray]] = [[] for edges in self.brackets for _ in edges]
        for batch in batches:
            at = 0
            for k, edges in enumerate(self.brackets):
                values = np.sort(batch.column(k).drop_null().to_numpy(zero_copy_only=False))
                starts = np.searchsorted(values, edges[:, 0], "left")
                stops = np.searchsorted(values, edges[:, 1], "right")
                below[k] += starts
                for j, (start, stop) in enumerate(zip(starts, stops, strict=True)):
                    inside[at + j].append(values[start:stop])
                at += len(edges)
        joined = [np.concatenate([np.empty(0), *own]) for own in inside]
        counts = np.stack([np.concatenate(below), [len(own) for own in joined]])
        content = {
            "counts": [counts.astype("<i8").tobytes()],
            "inside": [np.concatenate(joined).astype("<f8").tobytes()],
        }
        yield pa.RecordBatch.from_pydict(content)


def _at_ranks(ranks: Array, below: Array, inside: Sequence[FloatArray], name: str) -> FloatArray:
    """The values at some ranks, given how many are below each interval and those in it."""
    lengths = np.array([len(values) for values in inside])
    which = np.searchsorted(below, ranks, "right") - 1
    within = ranks - below[which]
    if (which < 0).any() or (within >= lengths[which]).any():
        raise RuntimeError(
            f"the values of {name!r} are not the same in two passes: cache df, or write it to a "
            "file, so that it does not change meanwhile"
        )
    return np.array([inside[w][k] for w, k in zip(which, within, strict=True)])
