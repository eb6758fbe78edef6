"""A stream of Spark, one model: what a run is, fed by micro-batches, exactly once.

After a micro-batch the log is committed, then one file is put in place with the number of the
batch, the query and the states, then Spark notes the batch as done. Whichever of these a crash
leaves out: a batch that is in the file is skipped when Spark sends it again, and one that is only
in the log is taken out of it (`Log.rewind`) and explained again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from ipdp.core import schema
from ipdp.core.observations import observations
from ipdp.core.typing import Observation
from ipdp.core.validation import sample_weight, whole_number
from ipdp.explainers import IncrementalPDP
from ipdp.log import Log, LogError, Retention
from ipdp.monitor import Change, Monitor
from ipdp.runs import checkpoint
from ipdp.runs.step import described
from ipdp.spark.interrupts import (
    await_end,
    plain_interrupts,
    restore_interrupts,
    was_interrupted,
)
from ipdp.spark.remote import RemoteEngine
from ipdp.spark.sending import check_installed, need_columns, pickled, quoted, sentences, unused

NAME = "spark.ipdp"
"""Name of the file beside the log."""

# Rows that are asked about ahead: many enough for the workers, and memory stays small.
_BLOCK = 5000


class Sink:
    """Explains what comes to `writeStream.foreachBatch`, and logs it as `ipdp.run` does.

    Executors answer the model's questions; the driver does the rest in the order of the rows. So
    curves, changes and log are those of `ipdp.run(..., learn=False)` on the same rows, whatever
    the micro-batches are.

    Parameters
    ----------
    pdp
        The explainer; its model is sent to the workers.
    monitor
        A monitor of this explainer.
    log
        The directory of the run. If there is one already, it is gone on from.
    time
        The column by which the rows of a micro-batch are ordered, and the clock of the explainer:
        a number, or a timestamp, which counts in seconds. A row that is older than what was
        explained before it has the weight of its own time. None: rows are counted as they come.
    weights
        The column of the rows' weights.
    columns
        The columns that the model gets; by default all others.
    snapshots
        Take a snapshot after each so many rows; and at each change.

    Attributes
    ----------
    n_late
        Number of rows that were older than what was explained before them.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LinearRegression
    >>> import ipdp.spark
    >>> spark, place = ipdp.spark.session("local[2]"), tempfile.mkdtemp()
    >>> df = spark.createDataFrame([(k, float(k % 7)) for k in range(140)], "time long, a double")
    >>> df.write.parquet(f"{place}/rows")
    >>> stream = spark.readStream.schema(df.schema).parquet(f"{place}/rows")
    >>> pdp = ipdp.IncrementalPDP(LinearRegression().fit([[0], [1]], [0, 2]))
    >>> with ipdp.spark.Sink(pdp, log=f"{place}/run", time="time") as sink:
    ...     writer = stream.writeStream.foreachBatch(sink).trigger(availableNow=True)
    ...     writer.option("checkpointLocation", f"{place}/spark").start().awaitTermination()
    >>> with ipdp.LogReader(f"{place}/run") as reader:
    ...     reader.status.n
    140
    """

    def __init__(
        self,
        pdp: IncrementalPDP,
        *,
        log: Any,
        monitor: Monitor | None = None,
        time: str | None = None,
        weights: str | None = None,
        columns: list[str] | None = None,
        snapshots: int = 100,
    ) -> None:
        check_installed()
        if monitor is not None and monitor.pdp is not pdp:
            raise ValueError("the monitor must be one of this explainer: Monitor(pdp)")
        self.pdp, self.monitor = pdp, monitor
        self.time, self.weights, self.columns = time, weights, columns
        self.snapshots = whole_number("snapshots", snapshots)
        self.n_late, self._batch = 0, -1
        self._query: str | None = None
        self._is_whole, self._n_kept = True, 0
        self._turn, self._is_closed = Lock(), False
        self._failure: BaseException | None = None
        self._handler: Any = None
        self._engine = RemoteEngine(pdp.engine)
        pickled(self._engine.local, "the model")
        pdp.engine = self._engine
        self._log = Log(log)
        self._file = Path(self._log.path).parent / NAME
        try:
            self._begin()
        except BaseException:
            self._log.close()
            raise

    # Before the first batch, and after a crash.

    def _begin(self) -> None:
        is_new = self._log.status.state == "empty"
        if not is_new and not self._file.exists():
            raise LogError(
                f"{self._log.path} holds a run and {self._file} is not there to go on from: log to "
                "another directory"
            )
        if self._file.exists():
            self._go_back()
        else:
            self._log.retention = Retention()
            self._keep()
        self._log_begins()

    def _go_back(self) -> None:
        """Be where the file is, whatever happened since."""
        kept = checkpoint.read(self._file)
        with schema.intact(f"{self._file}, from which the sink goes on,"):
            place = kept["sink"]
            kinds = {"batch": schema.number, "query": schema.maybe(schema.text)}
            schema.check(place, **kinds, late=schema.count)
            self.pdp.state = kept["pdp"]
            if self.monitor is not None:
                self.monitor.state = kept["monitor"]
            self._batch, self._query, self.n_late = place["batch"], place["query"], place["late"]
        self._log.rewind(self.pdp.n_seen)
        self._is_whole, self._n_kept = True, self.pdp.n_seen

    def _log_begins(self) -> None:
        settings = {
            "engine": "spark",
            "model": self._engine.description,
            "explainers": described({self.pdp.name: self.pdp}),
        }
        self._log.begin(settings, {self.pdp.name: self.pdp.features})

    def _keep(self) -> None:
        parts = {
            "sink": {"batch": self._batch, "query": self._query, "late": self.n_late},
            "pdp": self.pdp.state,
            "monitor": None if self.monitor is None else self.monitor.state,
        }
        checkpoint.write(self._file, parts)
        self._n_kept = self.pdp.n_seen

    # One micro-batch.

    def __call__(self, df: Any, batch: int) -> None:
        """Explain a micro-batch; what `foreachBatch` calls."""
        with self._turn:
            try:
                self._must_be_open()
                self._take(df, batch)
            except Exception as error:
                self._must_be_open()  # else it failed because its jobs were ended
                self._failure = error
                raise

    def _must_be_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the sink is closed, and takes no more rows") from None

    def _take(self, df: Any, batch: int) -> None:
        if not self._is_whole:  # the batch before failed
            self._go_back()
            self._log_begins()
        context = df.sparkSession.sparkContext
        query = context.getLocalProperty("sql.streaming.queryId")
        is_new = self._query is None and self._batch < 0
        if query != self._query and not is_new:
            whose = "no query" if self._query is None else f"the query {self._query}"
            raise RuntimeError(
                f"{self._file} belongs to {whose} and this is {query}, whose batches are numbered "
                "anew: give it the checkpointLocation that it had, or log to another directory"
            )
        if batch <= self._batch:
            return  # explained before a crash, and sent again
        need_columns(df, time=self.time, weights=self.weights, columns=self.columns)
        self._is_whole = False
        with sentences():
            self._engine.connect(context)
            for rows, weights, times in self._blocks(df):
                self._explain(rows, weights, times)
        self._log.beat(self.pdp.n_seen)
        self._log.commit()
        self._batch, self._query = batch, query
        self._keep()
        self._is_whole = True

    def _blocks(self, df: Any) -> Iterator[tuple[list[Any], list[float], list[Any]]]:
        """The rows in their order, some at a time, with weights and times."""
        taken = self.columns or [c for c in df.columns if c not in (self.time, self.weights)]
        asked = [df[quoted(name)] for name in taken]
        w, t = unused("_w", taken), unused("_t", taken)
        if self.weights is not None:
            asked.append(df[quoted(self.weights)].cast("double").alias(w))
        if self.time is not None:
            asked.append(df[quoted(self.time)].cast("double").alias(t))
        picked = df.select(*asked)
        table = (picked if self.time is None else picked.orderBy(t)).toArrow()
        for start in range(0, table.num_rows, _BLOCK):
            part = table.slice(start, _BLOCK)
            weights = [1.0] * part.num_rows
            if self.weights is not None:
                weights = [sample_weight(w) for w in part[w].to_pylist()]
            times: list[Any] = [None] * part.num_rows if self.time is None else part[t].to_pylist()
            if self.time is not None:
                weights, times = self._on_time(weights, times)
            yield list(observations(part.select(taken))), weights, times

    def _on_time(self, weights: list[float], times: list[float]) -> tuple[list[float], list[float]]:
        """Rows of the past as rows of now, with the weight that is left of theirs."""
        last = self.pdp.t
        if None in times:
            raise ValueError(f"time: the column {self.time!r} has missing values")
        if last is None or times[0] >= last:
            return weights, times
        late = [max(last - t, 0.0) for t in times]
        decay = 1.0 if self.pdp.alpha is None else 1.0 - self.pdp.alpha
        self.n_late += sum(age > 0 for age in late)
        aged = [w * decay**age for w, age in zip(weights, late, strict=True)]
        return aged, [max(t, last) for t in times]

    def _explain(self, rows: list[Observation], weights: list[float], times: list[Any]) -> None:
        given = None if self.time is None else times
        self._engine.ahead(self.pdp, rows, weights, given)
        for x, w, t in zip(rows, weights, times, strict=True):
            self._must_be_open()  # Ctrl-C comes in another thread
            self.pdp.explain_one(x, w=w, t=t)
            changes = [] if self.monitor is None else self.monitor.update(x)
            if changes or self.pdp.n_seen % self.snapshots == 0:
                self._record(changes)

    def _record(self, changes: list[Change]) -> None:
        n = self.pdp.n_seen
        for change in changes:
            self._log.change(change, n)
        results = self.pdp.results()
        if results:
            self._log.snapshot({self.pdp.name: results}, n, "change" if changes else "every")

    # Around it.

    def refresh(self, model: Any) -> None:
        """Explain another model from the next micro-batch on."""
        pickled(model, "the model")
        self._engine.replace(model)

    def close(self) -> None:
        """Close the log; a run that goes on later is "stopped" until then.

        A micro-batch that is being explained is given up, and sent again to the sink that goes on.
        """
        self._is_closed = True
        with self._turn:
            self._log.close()

    def __enter__(self) -> Sink:
        self._handler = plain_interrupts()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        # Spark reports in pages what failed here.
        failure = None if self._failure is error else self._failure
        is_interrupt = was_interrupted(error)
        if is_interrupt:
            self._is_closed = True  # before its jobs fail, which would count as a failure
            self._engine.cancel()
        self.close()
        if is_interrupt:
            await_end(self._query)
        restore_interrupts(self._handler)
        if is_interrupt:
            raise KeyboardInterrupt(
                f"stopped after {self._n_kept:,} rows; the same program goes on from there"
            ) from None
        if error is not None and failure is not None:
            raise failure from None
