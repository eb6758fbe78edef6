"""Exact order statistics of columns that no machine can sort.

Each worker sorts its values, a chunk at a time, and sends every s-th of them, beginning at a random
one of the first s. From these the driver knows between which two values each wanted one lies. In
the next pass over the table only what lies between those is sent, until it is so little that s is
1. So the driver never holds more than some values of a column, however long the table is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.typing import Array, FloatArray

# Values of a column that are sent in the first pass, and values that a worker sorts at a time.
_SENT, _SORTED = 2**18, 2**22
# A rank is off by more than so many times s * sqrt(chunks) once in 10^13 (Hoeffding: 2 e^-32).
_SURE = 4.0


def order_statistics(picked: Any, wanted: Mapping[str, tuple[Array, int]]) -> dict[str, FloatArray]:
    """The values of some ranks, exactly, by column.

    Parameters
    ----------
    picked
        A frame of Spark whose columns are those that are wanted, as doubles, in their order.
    wanted
        For each of them, by its name in errors, the ranks and the number of its values.
    """
    searches = [Search(ranks, n, name) for name, (ranks, n) in wanted.items()]
    while not all(search.is_done for search in searches):
        looking = Looking([search.question for search in searches])
        parts = picked.mapInArrow(looking, "chunks long, counts binary, sent binary").collect()
        for search, answer in zip(searches, looking.joined(parts), strict=True):
            search.take(answer)
    return {name: search.low for name, search in zip(wanted, searches, strict=True)}


class Question(NamedTuple):
    """What workers are asked about a column: every `step`-th value inside of some intervals."""

    edges: FloatArray  # (n, 2), in order; they may touch, and do not overlap
    step: int


class Answer(NamedTuple):
    """What they have found."""

    counts: Array  # (3, n): values below an interval, up to its lower edge, below its upper edge
    sent: list[FloatArray]  # of each interval, in order, what was sent; its edges are left out
    chunks: int  # so many parts were sorted


class Search:
    """The values at some ranks of a column, as far as they are known.

    Parameters
    ----------
    ranks
        The ranks, from 0 on, in ascending order.
    n
        Number of values in the column.
    name
        Its name in errors.

    Attributes
    ----------
    low, high
        Between which values each one is; they are the same when it is known.
    """

    def __init__(self, ranks: Array, n: int, name: str) -> None:
        self.ranks, self.name = ranks, name
        self.low = np.full(len(ranks), -math.inf)
        self.high = np.full(len(ranks), math.inf)
        self._n_between, self._n_sent = n, _SENT

    @property
    def is_done(self) -> bool:
        """Whether every value is known."""
        return bool((self.low == self.high).all())

    @property
    def question(self) -> Question:
        """What to ask in the next pass."""
        edges: list[list[float]] = []
        for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True):
            if low == high:
                continue
            if edges and low < edges[-1][1]:
                edges[-1][1] = max(high, edges[-1][1])
            else:
                edges.append([low, high])
        step = -(-self._n_between // self._n_sent)
        return Question(np.array(edges).reshape(-1, 2), max(step, 1))

    def take(self, answer: Answer) -> None:
        """Learn what was found."""
        edges, step = self.question
        off = step * min(answer.chunks, _SURE * math.sqrt(answer.chunks)) if step > 1 else 0
        which = np.searchsorted(edges[:, 0], self.low, "right") - 1
        open_ranks = np.flatnonzero(self.low < self.high).tolist()
        for k in open_ranks:
            at, rank = which[k], int(self.ranks[k])
            below, up_to_low, below_high = answer.counts[:, at].tolist()
            low, high = edges[at].tolist()
            self._must(below <= rank)
            if rank < up_to_low:
                high = low
            elif rank >= below_high:
                low = high
            elif step == 1:
                self._must(rank - up_to_low < len(answer.sent[at]))
                low = high = float(answer.sent[at][rank - up_to_low])
            else:
                sent, at_rank = answer.sent[at], rank - up_to_low
                first = math.floor((at_rank - off) / step) - 1
                last = math.ceil((at_rank + off) / step) + 1
                low = float(sent[first]) if first >= 0 else low
                high = float(sent[last]) if last < len(sent) else high
            self._must(math.isfinite(low) or low != high)
            self.low[k], self.high[k] = low, high
        around = math.ceil(2 * off + 4 * step)
        self._n_between = min(self._n_between, len(open_ranks) * around)
        self._n_sent *= 2  # so that the passes end, whatever the chunks are

    def _must(self, holds: bool) -> None:
        if not holds:
            raise RuntimeError(
                f"the values of {self.name!r} are not the same in two passes: cache df, or write "
                "it to a file, so that it does not change meanwhile"
            )


class Looking:
    """In a worker: counts values around the intervals of questions, and sends some inside."""

    def __init__(self, questions: list[Question]) -> None:
        self.questions = questions

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        rng = np.random.default_rng()
        counts = [np.zeros((3, len(edges)), dtype=np.int64) for edges, _ in self.questions]
        sent: list[list[list[FloatArray]]] = [[[] for _ in edges] for edges, _ in self.questions]
        n_chunks = 0
        for chunk in _chunks(batches, _SORTED // len(self.questions)):
            n_chunks += 1
            for k, (edges, step) in enumerate(self.questions):
                values = np.sort(chunk.column(k).drop_null().to_numpy())
                low = np.searchsorted(values, edges[:, 0], "right")
                high = np.searchsorted(values, edges[:, 1], "left")
                counts[k] += np.stack([np.searchsorted(values, edges[:, 0], "left"), low, high])
                starts = low + rng.integers(step, size=len(edges))
                for own, start, stop in zip(sent[k], starts, high, strict=True):
                    own.append(values[start:stop:step].copy())
        cells = [np.concatenate([np.empty(0), *own]) for column in sent for own in column]
        sizes = np.array([len(cell) for cell in cells])
        content = {
            "chunks": [n_chunks],
            "counts": [np.vstack([np.hstack(counts), sizes]).astype("<i8").tobytes()],
            "sent": [np.concatenate([np.empty(0), *cells]).astype("<f8").tobytes()],
        }
        yield pa.RecordBatch.from_pydict(content)

    def joined(self, parts: list[Any]) -> Iterator[Answer]:
        """The answer to each question, from those of all partitions."""
        counts = [np.frombuffer(part.counts, dtype="<i8").reshape(4, -1) for part in parts]
        cells = [
            np.split(np.frombuffer(part.sent, dtype="<f8"), np.cumsum(own[3])[:-1])
            for part, own in zip(parts, counts, strict=True)
        ]
        n_chunks, start = sum(part.chunks for part in parts), 0
        for edges, _ in self.questions:
            stop = start + len(edges)
            sent = [np.sort(np.concatenate([own[j] for own in cells])) for j in range(start, stop)]
            around = np.sum([own[:3, start:stop] for own in counts], axis=0)
            yield Answer(around, sent, n_chunks)
            start = stop


def _chunks(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Some batches after each other as one table, of about so many rows."""
    import pyarrow as pa

    held, n = [], 0
    for batch in batches:
        held.append(batch)
        n += batch.num_rows
        if n >= size:
            yield pa.Table.from_batches(held)
            held, n = [], 0
    if n:
        yield pa.Table.from_batches(held)
