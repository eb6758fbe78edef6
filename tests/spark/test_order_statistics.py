"""Order statistics in passes are those of a sorted column, and the driver holds few values."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ipdp.spark import order_statistics as own


class Frame:
    """A frame whose partitions are passed through a function, as Spark does it."""

    def __init__(self, columns, n_partitions):
        table = pa.table(columns)
        bounds = np.linspace(0, table.num_rows, n_partitions + 1).astype(int).tolist()
        self._parts = [
            table.slice(start, stop - start).to_batches(max_chunksize=50)
            for start, stop in pairwise(bounds)
        ]
        self.passes, self.n_sent = 0, 0

    def mapInArrow(self, job, schema):  # noqa: N802  (Spark's name)
        assert schema == "chunks long, counts binary, sent binary"
        self._job = job
        return self

    def collect(self):
        self.passes += 1
        rows = [row for part in self._parts for b in self._job(iter(part)) for row in b.to_pylist()]
        self.n_sent = max(self.n_sent, sum(len(row["sent"]) // 8 for row in rows))
        return [SimpleNamespace(**row) for row in rows]


COLUMNS = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "nine zeros in ten": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.gamma(2.0, size=n)),
    "few values": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "one value": lambda rng, n: np.full(n, 3.0),
    "in order": lambda rng, n: np.arange(n) / 7,
}


@pytest.mark.parametrize("n_partitions", [1, 3, 40])
@pytest.mark.parametrize("n", [1, 7, 20_000])
def test_they_are_those_of_sorted_columns(n, n_partitions, monkeypatch):
    monkeypatch.setattr(own, "_SENT", 1_000)
    monkeypatch.setattr(own, "_SORTED", 10_000)
    rng = np.random.default_rng(n + n_partitions)
    columns = {name: made(rng, n) for name, made in COLUMNS.items()}
    ranks = np.unique(np.linspace(0, n - 1, 25).round().astype(int))
    wanted = dict.fromkeys(columns, (ranks, n))
    frame = Frame(columns, n_partitions)
    for name, values in own.order_statistics(frame, wanted).items():
        assert values.tolist() == np.sort(columns[name])[ranks].tolist(), name
    # So many values of a column, and those that the chunks begin with; more in each further pass.
    assert frame.n_sent <= len(columns) * 1_000 * 2 ** (frame.passes - 1) + 5 * n_partitions * 25
    assert frame.passes <= 6


def test_what_is_missing_is_left_out():
    values = pa.array([4.0, None, 1.0, None, 3.0, 2.0])
    found = own.order_statistics(Frame({"a": values}, 2), {"a": (np.array([0, 3]), 4)})
    assert found["a"].tolist() == [1.0, 4.0]


def test_a_table_that_changes_between_passes_is_refused():
    frame = Frame({"a": np.arange(10.0)}, 2)
    with pytest.raises(RuntimeError, match="the values of 'a' are not the same in two passes"):
        own.order_statistics(frame, {"a": (np.array([0, 12]), 13)})
