"""The incremental curves along a long table of Spark, made in segments and merged.

Grids move with the data, so a segment has to begin with the storages that the one before it ends
with. They depend on the values alone and not on the model: one worker lets the rows pass through
the grids, which is quick, and cuts the table into segments, each with the `successor` that it
begins with. Then all workers ask the model, each about its own segments, and the driver merges them
one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.importance import Result
from ipdp.core.typing import Feature, FloatArray
from ipdp.core.validation import whole_number
from ipdp.explainers import IncrementalPDP
from ipdp.models import Engine
from ipdp.models.base import Outputs
from ipdp.spark.interrupts import interruptible, is_busy
from ipdp.spark.sending import Sent, context_of, must_be_sendable, need_columns, quoted, sentences

# Rows that are asked about at a time, and rows of a segment at most.
_BLOCK, _SEGMENT = 1000, 20_000
_CUT = "segment long, first long, state binary, rows binary"
_DONE = "segment long, state binary"


class History(NamedTuple):
    """What `explain` gives.

    Attributes
    ----------
    explainer
        The explainer at the end of the table.
    snapshots
        Its results on the way, by the number of observations that it had seen.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import ipdp.spark
    >>> model = LinearRegression().fit([[0], [1]], [0, 2])
    >>> spark = ipdp.spark.session("local[2]")
    >>> df = spark.createDataFrame([(k, float(k % 7)) for k in range(140)], "time long, a double")
    >>> history = ipdp.spark.explain(ipdp.IncrementalPDP(model), df, order_by="time", snapshots=70)
    >>> history.explainer.curve("a").t, sorted(history.snapshots)
    (140, [70, 140])
    """

    explainer: IncrementalPDP
    snapshots: dict[int, dict[Feature, Result]]


def explain(
    pdp: IncrementalPDP,
    df: Any,
    *,
    order_by: str,
    snapshots: int | None = None,
    log: Any = None,
    weights: str | None = None,
    t: str | None = None,
) -> History:
    """Explain the rows of a table of Spark in the order of a column, in parallel.

    The curves are those of `pdp.explain_many` on the same rows in that order, to rounding, with
    every grid; the model does not change on the way. Only the past observations that are kept for
    the curve of the model as it is now (`n_past`) are others, picked in the same way.

    Parameters
    ----------
    pdp
        The explainer to begin with; it is left as it is.
    df
        A frame of Spark.
    order_by
        The column of the order, usually the time; each value once, as the order of rows with the
        same one is Spark's. The model does not get it.
    snapshots
        Take a snapshot after each so many rows.
    log
        A new `ipdp.Log`, or the path of one, for the snapshots: a run that the page and the
        report show as any other.
    weights, t
        Columns of the rows' weights, and of times on a clock of your own (`order_by`, as a rule).
        The model does not get them.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import ipdp.spark
    >>> model = LinearRegression().fit([[0], [1]], [0, 2])
    >>> spark = ipdp.spark.session("local[2]")
    >>> df = spark.createDataFrame([(k, float(k % 7)) for k in range(140)], "time long, a double")
    >>> pdp = ipdp.IncrementalPDP(model, alpha=0.05)
    >>> end, snapshots = ipdp.spark.explain(pdp, df, order_by="time", snapshots=70)
    >>> (end.curve("a").at(4.0) - end.curve("a").at(2.0)).round(6)
    array([4.])
    """
    if not isinstance(pdp, IncrementalPDP):
        raise TypeError(
            f"only curves can be explained in segments, got {type(pdp).__name__}: give an "
            "IncrementalPDP"
        )
    context = context_of(df)
    if not isinstance(order_by, str):
        raise TypeError(f"order_by must be the name of a column, got {order_by!r:.60}")
    need_columns(df, order_by=order_by, weights=weights, t=t)
    must_be_sendable(df.columns)
    every = None if snapshots is None else whole_number("snapshots", snapshots)
    start = pdp.from_bytes(pdp.state_bytes())
    sent = Sent(context, (start.engine, start.settings, start._unsaved), "the model")
    columns = [c for c in df.columns if c not in (order_by, weights, t)]
    cutting = _Cutting(sent, start.state_bytes(), columns, every)
    cutting.order_by, cutting.weights, cutting.t = order_by, weights, t
    ordered = df.orderBy(df[quoted(order_by)]).coalesce(1)
    segments = ordered.mapInArrow(cutting, _CUT).groupBy("segment")
    explaining = _Explaining(cutting)
    # A function of one argument: of anything else Spark thinks that it wants the key too.
    done = segments.applyInArrow(lambda table: explaining(table), _DONE)  # noqa: PLW0108
    message = "stopped before the end of the table; a log has the snapshots up to then"
    with (
        _persisted(done) as kept,
        _recorded(log, start) as write,
        sentences(),
        interruptible(context, message),
    ):
        return _merged(start, kept, every, write)


@contextmanager
def _persisted(df: Any) -> Iterator[Any]:
    """A frame that is computed once, for a while."""
    from pyspark import StorageLevel

    kept = df.persist(StorageLevel.DISK_ONLY)
    try:
        yield kept
    except KeyboardInterrupt:
        # To remove what a task still writes would last as long as that; and if the program ends
        # before it, the JVM complains in pages. It goes with the context.
        with suppress(Exception):  # the context may be gone
            if not is_busy(df.sparkSession.sparkContext):
                kept.unpersist(blocking=True)
        raise
    except Exception:
        kept.unpersist()
        raise
    kept.unpersist(blocking=True)


def _merged(start: IncrementalPDP, done: Any, every: int | None, write: Any) -> History:
    """Merge the segments one after the other; the driver holds one of them at a time."""
    taken: dict[int, dict[Feature, Result]] = {}
    joined, begun = start, start.n_seen
    for row in done.orderBy("segment").toLocalIterator():
        part = start.from_bytes(bytes(row.state))
        joined = joined.merge(part) if row.segment else part
        n = joined.n_seen
        if every is not None and (n - begun) % every == 0:
            taken[n] = joined.results()
            write(taken[n], n)
    return History(joined, taken)


class _recorded:  # noqa: N801  (a context manager, used as a function)
    """A log for the time of a backfill; gives what writes a snapshot to it."""

    def __init__(self, log: Any, pdp: IncrementalPDP) -> None:
        self._given, self._pdp, self._n = log, pdp, pdp.n_seen
        self._log: Any = None

    def __enter__(self) -> Any:
        if self._given is not None:
            from ipdp.log import Log

            self._log = self._given if hasattr(self._given, "snapshot") else Log(self._given)
            settings = {"engine": "spark", "model": self._pdp.engine.description}
            self._log.begin(settings, {self._pdp.name: self._pdp.features})
        return self._write

    def _write(self, results: dict[Feature, Result], n: int) -> None:
        self._n = n
        if self._log is not None and results:
            self._log.snapshot({self._pdp.name: results}, n)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self._log is None:
            return
        if error is None:
            self._log.end(self._n)
        elif isinstance(error, Exception):
            self._log.end(self._n, "failed", f"{type(error).__name__}: {error}")
        else:  # Ctrl-C
            self._log.end(self._n, "stopped")
        if self._log is not self._given:
            self._log.close()


# In the workers.


class NoAnswers(Engine):
    """A model that has learnt nothing yet: it has no outputs, and the grids go on all the same."""

    model = None

    def ice(
        self,
        observations: Any,
        probes: Any,  # noqa: ARG002
        positions: FloatArray,
    ) -> Outputs:
        return Outputs((), np.empty((len(observations), 0, positions.shape[2])))

    def predict(self, observations: Any) -> Outputs:
        return Outputs((), np.empty((len(observations), 0, 1)))

    @property
    def description(self) -> str:
        return "no model"


class _Cutting:
    """Lets the rows pass through the grids, and cuts them into segments."""

    def __init__(self, sent: Sent, state: bytes, columns: list[str], every: int | None) -> None:
        self.sent, self.state, self.columns, self.every = sent, state, columns, every
        self.order_by = ""
        self.weights: str | None = None
        self.t: str | None = None

    def explainer(self, engine: Engine | None = None) -> IncrementalPDP:
        """An explainer that has seen nothing, with the model or another engine."""
        own, settings, unsaved = self.sent.load()
        return IncrementalPDP(own if engine is None else engine, **settings, **unsaved)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        cutter = self.explainer(NoAnswers()).from_bytes(self.state)
        begun, first, number = cutter.n_seen, cutter.n_seen, 0
        state, rows = self.state, []
        last = None
        for batch in batches:
            last = self._must_ascend(batch, last)
            at = 0
            while at < batch.num_rows:
                piece = batch.slice(at, self._room(cutter.n_seen - begun))
                at += piece.num_rows
                self.explain(cutter, pa.Table.from_batches([piece]))
                rows.append(piece)
                if self._is_boundary(cutter.n_seen - begun):
                    yield _segment(number, first, state, rows)
                    state, first = self._handed_on(cutter), cutter.n_seen
                    number, rows = number + 1, []
        if rows:
            yield _segment(number, first, state, rows)

    @staticmethod
    def _handed_on(cutter: IncrementalPDP) -> bytes:
        """What the next segment goes on from: where the points are, and no answers."""
        later = cutter.successor()
        later.memory.spreads = later.memory.spreads.alone()
        return later.state_bytes()

    def _must_ascend(self, batch: Any, last: Any) -> Any:
        """The last value of the order, unless Spark gave the rows in another one."""
        values = batch.column(self.order_by)
        if values.null_count:
            raise ValueError(f"order_by: the column {self.order_by!r} has missing values")
        if not len(values):
            return last
        if last is not None and values[0].as_py() < last:
            raise RuntimeError("Spark did not keep the order of the rows: nothing was explained")
        return values[-1].as_py()

    def _room(self, n: int) -> int:
        """How many rows there are until the next boundary, and no more than a block."""
        room = _SEGMENT - n % _SEGMENT
        if self.every is not None:
            room = min(room, self.every - n % self.every)
        return min(room, _BLOCK)

    def _is_boundary(self, n: int) -> bool:
        return n % _SEGMENT == 0 or (self.every is not None and n % self.every == 0)

    def explain(self, pdp: IncrementalPDP, table: Any) -> None:
        """Let an explainer have some rows."""
        weights = None if self.weights is None else table[self.weights].to_pylist()
        times = None if self.t is None else table[self.t].to_pylist()
        pdp.explain_many(table.select(self.columns), w=weights, t=times)


def _segment(number: int, first: int, state: bytes, rows: list[Any]) -> Any:
    """A segment as one row."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows[0].schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
    content = [[number], [first], [state], [sink.getvalue().to_pybytes()]]
    return pa.RecordBatch.from_arrays(
        [pa.array(values) for values in content], names=["segment", "first", "state", "rows"]
    )


class _Explaining:
    """Asks the model about the rows of a segment."""

    def __init__(self, cutting: _Cutting) -> None:
        self.cutting = cutting

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        numbers, states = [], []
        for row in table.to_pylist():
            pdp = self.cutting.explainer().from_bytes(row["state"])
            rows = pa.ipc.open_stream(row["rows"]).read_all()
            for start in range(0, rows.num_rows, _BLOCK):
                self.cutting.explain(pdp, rows.slice(start, _BLOCK))
            numbers.append(row["segment"])
            states.append(pdp.state_bytes())
        return pa.table({"segment": pa.array(numbers, pa.int64()), "state": states})
