"""A fleet: a model and an explainer for each key, which learn inside Spark's state store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.typing import Observation
from ipdp.explainers import IncrementalPDP
from ipdp.explainers.state.targets import followed
from ipdp.monitor import Change, Monitor
from ipdp.runs.models import Order, alike, engine_state, learner, restore_engine
from ipdp.spark import keeping
from ipdp.spark.keys import COLUMNS
from ipdp.spark.sending import (
    ROCKS,
    STORE,
    context_of,
    must_be_told_apart,
    need_columns,
    one_thread,
    pickled,
    quoted,
)

Make = Callable[[], Any]
"""What makes the explainer of a key, or the explainer and its monitor, with a new model."""

_STATE = "n long, state binary, model binary"


def fleet(
    df: Any,
    make: Make,
    *,
    key: str,
    label: str | None = None,
    time: str | None = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """Explain, then teach, a model of its own for each key of a stream of Spark.

    For each key the curves and changes are those of one process that has seen its rows alone. The
    state of a key (the model by pickle, explainer and monitor as bytes) is in Spark's state store,
    which makes it exactly once.

    Parameters
    ----------
    df
        A frame of Spark that is a stream.
    make
        Called without arguments once for each key: gives a new `IncrementalPDP` with a new model,
        or a pair of it and its `Monitor`.
    key
        The column of the keys. The model does not get it.
    label
        The column of the labels, from which the models learn; None: they do not learn.
    time
        The column by which the rows of a key are ordered in each micro-batch.
    columns
        The columns that the models get; by default all others.

    Returns
    -------
    A stream with a row for each key that had rows in a micro-batch, and for each feature and
    output: the key, `n` (rows seen), `feature`, `output`, `importance`, `grid` or `categories`,
    `average`, `std_error`, and `changes`, sentences on what the monitor found in this batch.

    Examples
    --------
    >>> import tempfile
    >>> from river import tree
    >>> import ipdp.spark
    >>> spark, place = ipdp.spark.session("local[2]"), tempfile.mkdtemp()
    >>> rows = [("north" if k % 2 else "south", float(k % 7), k % 7 > 3) for k in range(200)]
    >>> df = spark.createDataFrame(rows, "device string, a double, y boolean")
    >>> df.write.parquet(f"{place}/rows")
    >>> stream = spark.readStream.schema(df.schema).parquet(f"{place}/rows")
    >>> def make():
    ...     return ipdp.IncrementalPDP(tree.HoeffdingTreeClassifier(), ["a"], n_past=0)
    >>> curves = ipdp.spark.fleet(stream, make, key="device", label="y")
    >>> writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    >>> writer = writer.option("checkpointLocation", f"{place}/spark")
    >>> ipdp.spark.wait(writer.start(f"{place}/curves"))
    >>> sorted({row.device for row in spark.read.parquet(f"{place}/curves").collect()})
    ['north', 'south']
    """
    context_of(df)
    need_columns(df, key=key, label=label, time=time, columns=columns)
    must_be_told_apart(df.columns)
    if key in COLUMNS:
        raise ValueError(f"a column of the results is called {key!r}: rename that of the keys")
    grouped = df.groupBy(df[quoted(key)])
    _must_be_able(df, grouped)
    taken = [c for c in df.columns if c not in (key, label, time)] if columns is None else columns
    _must_make(make, taken, learn=label is not None)
    kind = df.schema[key].dataType.simpleString()
    return grouped.transformWithState(
        _processor(make, key, list(taken), label, time),
        outputStructType=", ".join([f"{quoted(key)} {kind}", *map(" ".join, COLUMNS.items())]),
        outputMode="Update",
        timeMode="None",
    )


def _must_be_able(df: Any, grouped: Any) -> None:
    if not df.isStreaming:
        raise ValueError("a fleet needs a stream (spark.readStream), and df is a table")
    if not hasattr(grouped, "transformWithState"):
        raise ImportError("a fleet needs pyspark 4.1 or newer: pip install 'pyspark>=4.1,<5'")
    if df.sparkSession.conf.get(STORE, "") != ROCKS:
        raise ValueError(f"a fleet needs the state store RocksDB: set {STORE} to {ROCKS}")


def _must_make(make: Make, columns: Sequence[str], *, learn: bool) -> None:
    """Raise unless it makes what can be kept, for these columns; it is tried once."""
    pickled(make, "what makes the explainers")
    pdp, monitor = made(make)
    pickled(pdp.model, "the model")
    pdp.engine.check_columns(tuple(columns))
    followed(dict.fromkeys(columns), pdp.features, pdp.engine)
    if learn and not (hasattr(pdp.model, "learn_one") or hasattr(pdp.model, "partial_fit")):
        raise ValueError(
            f"{type(pdp.model).__name__} cannot learn one observation (it has no learn_one and no "
            "partial_fit): leave `label` out to explain it as it is"
        )
    if any(isinstance(feature, tuple) for feature in pdp.features or ()):
        raise ValueError("a fleet has curves of single features: leave the pairs out")
    if monitor is not None and (monitor.detector is not None or monitor.statistic != "shape"):
        raise ValueError("the monitors of a fleet have no detectors of river: leave them out")


def made(make: Make) -> tuple[IncrementalPDP, Monitor | None]:
    """A new explainer, and its monitor if there is one; or an error."""
    given = make()
    pdp, monitor = given if isinstance(given, tuple) else (given, None)
    fits = monitor is None or (isinstance(monitor, Monitor) and monitor.pdp is pdp)
    if not isinstance(pdp, IncrementalPDP) or not fits:
        raise TypeError(
            "make must give an IncrementalPDP, or a pair of it and its Monitor, got "
            f"{type(given).__name__}"
        )
    return pdp, monitor


class Live:
    """Members that this Python worker had last: they need not be restored if they are meant.

    They are meant if what Spark has kept of them is what they gave it, byte for byte; after a batch
    that failed it is not.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._members: dict[Any, tuple[tuple[bytes, bytes], Member]] = {}

    def take(self, name: Any, make: Make, kept: tuple[bytes, bytes] | None) -> Member:
        """The member of a key, which is not live until it is put back."""
        known, member = self._members.pop(name, (None, None))
        return member if member is not None and known == kept else Member(make, kept)

    def put(self, name: Any, member: Member) -> tuple[bytes, bytes]:
        """Keep a member for the next time; gives what Spark is to keep of it."""
        kept = member.kept()
        self._members[name] = kept, member
        while len(self._members) > self.size:
            del self._members[next(iter(self._members))]
        return kept


# One for all fleets of a worker. With fewer places than keys in a micro-batch every one of them
# would be lost before its turn came again; each takes some 0.1 MB.
_LIVE = Live(2048)


def live() -> Live:
    """Those of this process; by a function, since what Spark sends of a class has copies."""
    return _LIVE


class Member:
    """The model, explainer and monitor of one key; what is done with its rows, and kept of it."""

    def __init__(self, make: Make, kept: tuple[bytes, bytes] | None = None) -> None:
        self.pdp, self.monitor = made(make)
        self.order = Order()
        if kept is not None:
            with keeping.without_collector():
                self._restore(*kept)

    def _restore(self, state: bytes, model: bytes) -> None:
        saved, own = keeping.loaded(state), keeping.loaded(model)
        engine = alike(self.pdp.engine, own)
        if engine is None:
            raise ValueError("the model of a fleet must be one that ipdp.models.engine knows")
        restore_engine(engine, saved["engine"])
        self.pdp.engine = engine
        # Not by `state`, which reads the curves once to see whether they can be read: what is kept
        # beside a pickled model is trusted as the model is.
        self.pdp._memory = self.pdp._restored(saved["pdp"])
        if self.monitor is not None:
            self.monitor.state = saved["monitor"]
        if self.pdp.memory is not None:
            self.order.columns = self.pdp.memory.columns

    def kept(self) -> tuple[bytes, bytes]:
        """What another one goes on from."""
        monitor = None if self.monitor is None else self.monitor.state
        engine = engine_state(self.pdp.engine)
        state = {"pdp": self.pdp.state, "monitor": monitor, "engine": engine}
        return keeping.kept(state), keeping.kept(self.pdp.model)

    def take(self, rows: Sequence[tuple[Observation, Any]], *, learn: bool) -> list[Change]:
        """Explain each row, then learn it; the changes that were found."""
        found: list[Change] = []
        teach = learner(self.pdp.model, self.order) if learn else None
        for x, y in rows:
            self.pdp.explain_one(x)
            if self.monitor is not None:
                found += self.monitor.update(x)
            if teach is not None:
                teach(x, y)
        return found

    def results(self, found: list[Change]) -> Iterator[tuple[Any, ...]]:
        """A row for each feature and output."""
        for feature, curve in self.pdp.results().items():
            sentences = [change.summary() for change in found if change.feature == feature]
            yield from _rows(self.pdp.n_seen, str(feature), curve, sentences)


def _rows(n: int, feature: str, curve: Any, changes: list[str]) -> Iterator[tuple[Any, ...]]:
    assert isinstance(curve, Curve)
    axis = curve.grid_values[0].tolist()
    numbers, names = ([], [*map(str, axis)]) if curve.categorical[0] else ([*map(float, axis)], [])
    for k, output in enumerate(curve.outputs):
        values = curve.average[k].tolist(), curve.std_error[k].tolist()
        importance = float(curve.importance[k])
        yield (n, feature, str(output), importance, numbers, names, *values, changes)
        changes = []  # once for each feature


def _processor(
    make: Make, key: str, columns: list[str], label: str | None, time: str | None
) -> Any:
    """What Spark calls for each key of a micro-batch."""
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    token = uuid.uuid4().hex  # of this fleet: another one may have the same keys
    names = [key, *COLUMNS]

    class Keys(StatefulProcessor):  # type: ignore[misc]
        def init(self, handle: Any) -> None:
            one_thread()
            self.kept = handle.getValueState("ipdp", _STATE)

        def handleInputRows(  # noqa: N802  (Spark's name)
            self,
            name: Any,
            rows: Any,
            timers: Any,  # noqa: ARG002
        ) -> Iterator[Any]:
            kept = self.kept.get() if self.kept.exists() else None
            state = None if kept is None else (bytes(kept[1]), bytes(kept[2]))
            member = live().take((token, name[0]), make, state)
            taken = list(rows)
            if time is not None:
                taken.sort(key=lambda row: row[time])
            pairs = [({c: row[c] for c in columns}, label and row[label]) for row in taken]
            found = member.take(pairs, learn=label is not None)
            # Before it is kept: the model is asked for them, which the explainer remembers.
            results = list(member.results(found))
            self.kept.update((member.pdp.n_seen, *live().put((token, name[0]), member)))
            for result in results:
                yield Row(**dict(zip(names, (name[0], *result), strict=True)))

        def close(self) -> None:
            pass

    return Keys()
