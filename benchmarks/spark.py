"""What ipdp costs on Spark, against one process.

    python benchmarks/spark.py [--rows N] [--only tables|workers|streams|large|fleets|keys]

CPU seconds of all processes (driver, JVM, Python workers), so that a loaded machine does not
matter. Needs the extra `spark` and Java. Results: docs/notes/spark.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
from river import tree
from sklearn.ensemble import HistGradientBoostingRegressor

import ipdp
import ipdp.spark
from ipdp.spark.fleet import Member

NAMES = [f"x{k}" for k in range(8)]
_TICKS = os.sysconf("SC_CLK_TCK")
_SOME = 50_000


class Meter:
    """CPU seconds of this process and of all that it has started, also of those that have ended."""

    def __init__(self) -> None:
        self._spent: dict[int, float] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self._look()

    def _look(self) -> None:
        parents, times = {}, {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            times[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
        mine = {os.getpid(), *(self._spent.keys() & parents.keys())}
        while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
            mine |= more
        self._spent |= {pid: times[pid] for pid in mine}

    @property
    def seconds(self) -> float:
        """All of them so far."""
        self._look()
        return sum(self._spent.values())


def measured(meter: Meter, name: str, job, n: int) -> float:
    """CPU seconds of a job, which are printed."""
    before, started = meter.seconds, time.perf_counter()
    job()
    spent = meter.seconds - before
    wall, each = time.perf_counter() - started, 1e6 * spent / n
    print(f"{name:36s} {spent:8.1f} s CPU {wall:8.1f} s wall {each:8.1f} us a row", flush=True)
    return spent


def table(n: int) -> pd.DataFrame:
    """Eight numbers."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 8)), columns=NAMES)


def one_row_for_each_value(model, df, grid) -> None:
    """What others do: a row for each ICE value, predicted and averaged by Spark."""
    from pyspark.sql import functions as F  # noqa: N812

    def predicted(batches):
        for batch in batches:
            batch["y"] = model.predict(batch[NAMES])
            yield batch[["feature", "point", "y"]]

    for name in NAMES:
        points = F.explode(F.array(*map(F.lit, grid.tolist())))
        rows = df.withColumn("point", points).withColumn("feature", F.lit(name))
        rows = rows.withColumn(name, F.col("point"))
        answers = rows.mapInPandas(predicted, "feature string, point double, y double")
        answers.groupBy("feature", "point").avg("y").collect()


def tables(n: int) -> None:
    """A table: Spark against one process."""
    X, meter = table(n), Meter()
    model = trained()
    path = f"/tmp/ipdp-bench-{n}.parquet"
    X.to_parquet(path, row_group_size=max(n // 8, 1))
    spark = ipdp.spark.session("local[2]", spark__driver__memory="2g")
    df = spark.read.parquet(path)
    ipdp.spark.partial_dependence(model, df.limit(100), NAMES)  # warm
    grid = ipdp.grid.MinMax(10)
    for label, chosen in (("MinMax", grid), ("Auto (exact quantiles)", None)):
        one = measured(
            meter,
            f"one process, {label}",
            lambda g=chosen: ipdp.partial_dependence(model, X, NAMES, grid=g, ice=False),
            n,
        )
        ours = measured(
            meter,
            f"Spark, {label}",
            lambda g=chosen: ipdp.spark.partial_dependence(model, df, NAMES, grid=g),
            n,
        )
        print(f"  ratio {ours / one:.2f}")
    # What takes long is measured on fewer rows, and given by the row.
    points, some = np.linspace(-3, 3, 10), min(n, _SOME)
    few = df.limit(some).cache()
    few.count()
    theirs = measured(
        meter, "a row for each ICE value", lambda: one_row_for_each_value(model, few, points), some
    )
    print(f"  against ours {theirs / some / (ours / n):.2f}")
    pdp = ipdp.IncrementalPDP(model, NAMES, n_ice=0)
    one = measured(meter, "one process, explain_many", lambda: pdp.explain_many(X[:some]), some)
    ordered = few.rdd.zipWithIndex().map(lambda pair: (*pair[0], pair[1]))
    ordered = ordered.toDF([*NAMES, "seq"]).cache()
    ordered.count()
    fresh = ipdp.IncrementalPDP(model, NAMES, n_ice=0)
    ours = measured(
        meter, "Spark, explain", lambda: ipdp.spark.explain(fresh, ordered, order_by="seq"), some
    )
    print(f"  ratio {ours / one:.2f}")
    spark.stop()


def workers(n: int) -> None:
    """A table by wall clock: two workers against one. Only on a machine that does nothing else."""
    X, model = table(n), trained()
    path = f"/tmp/ipdp-bench-{n}.parquet"
    X.to_parquet(path, row_group_size=max(n // 8, 1))
    for label, grid in (("MinMax", ipdp.grid.MinMax(10)), ("Auto (exact quantiles)", None)):
        walls: dict[int, float] = {}
        for count in (2, 1, 2):  # the first one is for the JVM, which compiles what it runs often
            spark = ipdp.spark.session(f"local[{count}]", spark__driver__memory="2g")
            df, meter = spark.read.parquet(path), Meter()
            few = df.limit(20_000).repartition(count)  # a part for each, so that all are started
            ipdp.spark.partial_dependence(model, few, NAMES, grid=grid)
            started = time.perf_counter()
            measured(
                meter,
                f"local[{count}], {label}",
                lambda df=df, g=grid: ipdp.spark.partial_dependence(model, df, NAMES, grid=g),
                n,
            )
            walls[count] = time.perf_counter() - started
            spark.stop()
        print(f"  two workers are {walls[1] / walls[2]:.2f} times as fast as one")


def trained(n_trees: int = 50) -> HistGradientBoostingRegressor:
    """A booster."""
    X = table(20_000)
    model = HistGradientBoostingRegressor(max_iter=n_trees, early_stopping=False, random_state=0)
    return model.fit(X, np.sin(X["x0"]) + X["x1"] * X["x2"])


def streams(n: int) -> None:
    """A stream: micro-batches in a sink, against the same rows one by one in one process.

    A quick model is asked on the driver, a slow one on the workers. What a query takes to start is
    given apart: all until the end of the first micro-batch.
    """
    spark, X = ipdp.spark.session("local[2]"), table(n)
    for n_trees, size in ((50, n // 30), (50, n), (2_000, n // 30)):  # the first: for the JVM
        print(f"a booster of {n_trees} trees, {size:,} rows")
        with tempfile.TemporaryDirectory() as folder:
            _stream(spark, trained(n_trees), X[:size], folder)
    spark.stop()


def _stream(spark, model, X: pd.DataFrame, folder: str) -> None:
    n, meter = len(X), Meter()
    first, *others = np.array_split(np.arange(n), 6)
    for k, own in enumerate((first, *others)):
        X.iloc[own].to_parquet(f"{folder}/{k}.parquet")
        os.utime(f"{folder}/{k}.parquet", (k, k))  # they come in this order
    pdp, rows = ipdp.IncrementalPDP(model, NAMES, n_ice=0), X.to_dict("records")
    list(map(pdp.explain_one, rows[: len(first)]))
    n_after = n - len(first)
    one = measured(
        meter, "one process", lambda: list(map(pdp.explain_one, rows[len(first) :])), n_after
    )
    fresh = ipdp.IncrementalPDP(model, NAMES, n_ice=0)
    sink = ipdp.spark.Sink(fresh, log=f"{folder}/run", snapshots=n + 1)
    jobs = {"rows that are only fetched": lambda df, _: df.toArrow(), "a sink": sink}
    for name, job in jobs.items():
        start, spent = _query(spark, job, folder, name, meter)
        print(f"Spark, {name}: {start:.1f} s CPU until the first batch has ended, {spent:.1f} then")
    sink.close()
    print(f"  {1e6 * spent / n_after:.1f} us a row, ratio {spent / one:.2f}", flush=True)


def _query(spark, job, folder: str, name: str, meter: Meter) -> tuple[float, float]:
    """CPU seconds of a query until its first micro-batch has ended, and after that."""
    times = [meter.seconds]

    def timed(df, batch) -> None:
        job(df, batch)
        times.append(meter.seconds)

    stream = spark.readStream.schema(spark.read.parquet(f"{folder}/0.parquet").schema)
    stream = stream.option("maxFilesPerTrigger", 1).parquet(f"{folder}/*.parquet")
    query = stream.writeStream.foreachBatch(timed).trigger(availableNow=True)
    query.option("checkpointLocation", f"{folder}/{name}").start().awaitTermination()
    return times[1] - times[0], meter.seconds - times[1]


def large(n: int) -> None:
    """A table that only Spark has, and how much memory the driver takes for it."""
    from pyspark.sql import functions as F  # noqa: N812

    spark, meter = ipdp.spark.session("local[2]", spark__driver__memory="1g"), Meter()
    columns = [F.randn(k).alias(name) for k, name in enumerate(NAMES)]
    model = trained()
    for rows in (n // 10, n):
        df = spark.range(rows, numPartitions=max(rows // 250_000, 2)).select(*columns)
        measured(
            meter,
            f"Spark, Auto, {rows:,} rows",
            lambda df=df: ipdp.spark.partial_dependence(model, df, NAMES),
            rows,
        )
        jvm = spark.sparkContext._gateway.proc.pid
        own, java = _most_memory(os.getpid()), _most_memory(jvm)
        print(f"  at most so far: Python {own:.0f} MB, JVM {java:.0f} MB", flush=True)
    spark.stop()


def _most_memory(pid: int) -> float:
    """The most memory that a process, or the JVM that it has started, has taken, in MB."""
    found = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    if pid != os.getpid():  # Spark's launcher is a shell that becomes, or starts, the JVM
        found = [p for p in found if "java" in Path(f"/proc/{p}/comm").read_text()] or found
    status = Path(f"/proc/{found[0]}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def member(**setup):
    """What makes the explainer of a key."""

    def make():
        model = tree.HoeffdingTreeRegressor(grace_period=50)
        return ipdp.IncrementalPDP(model, [f"x{k}" for k in range(10)], seed=1, **setup)

    return make


def fleets(n_keys: int = 30, n_rows: int = 20, n_batches: int = 6) -> None:
    """A fleet: restore, rows, results and save of a key and micro-batch, and the bytes kept."""
    small = {"n_ice": 0, "n_past": 0}
    for name, setup in (
        ("default", {}),
        ("n_ice=0, n_past=0", small),
        ("and dependence=False", {**small, "dependence": False}),
        ("and MinMax(10)", {**small, "dependence": False, "grid": ipdp.grid.MinMax(10)}),
    ):
        make, rng = member(**setup), np.random.default_rng(0)
        spent, kept = np.zeros(4), [None] * n_keys
        for _ in range(n_batches):
            X = rng.normal(size=(n_keys, n_rows, 10))
            for k in range(n_keys):
                rows = [({f"x{j}": v for j, v in enumerate(x)}, x[0]) for x in X[k].tolist()]
                times = [time.thread_time()]
                own = Member(make, kept[k])
                times.append(time.thread_time())
                found = own.take(rows, learn=True)
                times.append(time.thread_time())
                list(own.results(found))
                times.append(time.thread_time())
                kept[k] = own.kept()
                times.append(time.thread_time())
                spent += np.diff(times)
        sizes = len(kept[0][0]), len(kept[0][1])
        ms = 1e3 * spent / (n_keys * n_batches)
        restored, save = (ms[0] + ms[3]) / ms.sum(), ms[3] / ms[1:].sum()
        print(
            f"fleet, {name:22s} restore {ms[0]:5.2f} rows {ms[1]:5.2f} results {ms[2]:5.2f} "
            f"save {ms[3]:5.2f} ms a key and batch\n  restore and save are {restored:.2f} of it, "
            f"save alone {save:.2f}; state {sizes[0] / 1e3:.1f} kB, model {sizes[1] / 1e3:.1f} kB"
        )


# What a fleet that is large should be made with; docs/spark.md says so.
_LEAN = {"n_ice": 0, "n_past": 0, "dependence": False, "estimator": "pointwise"}


def keys(n_keys: int = 1_000, n_rows: int = 20, n_batches: int = 25) -> None:
    """A fleet in Spark itself: the share of restore and save, and what Spark keeps of a key."""
    for name, kind in (
        ("classifiers", tree.HoeffdingTreeClassifier),
        ("regressors", tree.HoeffdingTreeRegressor),
    ):
        with tempfile.TemporaryDirectory() as folder:
            spark = ipdp.spark.session("local[2]", spark__sql__shuffle__partitions="2")
            X = np.random.default_rng(0).normal(size=(n_batches, n_keys * n_rows, 10))
            for k, own in enumerate(X):
                rows = pd.DataFrame(own, columns=[f"x{j}" for j in range(10)])
                rows["y"] = rows["x0"] + rows["x1"]
                if name == "classifiers":
                    rows["y"] = rows["y"] > 0
                rows["key"] = np.tile(np.arange(n_keys), n_rows)
                rows["at"] = np.repeat(np.arange(n_rows), n_keys)
                rows.to_parquet(f"{folder}/{k}.parquet")
                os.utime(f"{folder}/{k}.parquet", (k, k))
            _keys(spark, timed(kind, folder), folder, name, n_keys)
            spark.stop()


def timed(kind, folder: str):
    """What makes the explainer of a key, and lets its worker note what it spends, in a file."""

    def make():
        from ipdp.spark.fleet import Member  # that of the worker, and not a copy

        if not hasattr(Member, "spent"):
            Member.spent = [0.0, 0.0, 0.0]  # restore, save, all
            _timed(Member, folder)
        features = [f"x{j}" for j in range(10)]
        grid = ipdp.grid.Auto(window=200)
        return ipdp.IncrementalPDP(kind(), features, seed=1, grid=grid, **_LEAN)

    return make


def _timed(member, folder: str) -> None:
    restore, kept = member._restore, member.kept
    path = Path(folder) / f"spent-{os.getpid()}.txt"

    def restoring(self, *given):
        before = time.thread_time()
        restore(self, *given)
        member.spent[0] += time.thread_time() - before

    def keeping(self):
        before = time.thread_time()
        data = kept(self)
        member.spent[1] += time.thread_time() - before
        member.spent[2] = time.process_time()
        sizes = len(data[0]), len(data[1])
        path.write_text(" ".join(map(str, [*member.spent, self.pdp.n_seen, *sizes])))
        return data

    member._restore, member.kept = restoring, keeping


def _keys(spark, make, folder: str, name: str, n_keys: int) -> None:
    meter, before = Meter(), np.zeros(3)
    stream = spark.readStream.schema(spark.read.parquet(f"{folder}/0.parquet").schema)
    stream = stream.option("maxFilesPerTrigger", 1).parquet(f"{folder}/*.parquet")
    curves = ipdp.spark.fleet(stream, make, key="key", label="y", time="at")
    began = meter.seconds

    def report(df, batch: int) -> None:
        nonlocal before, began
        df.write.format("noop").mode("overwrite").save()
        found = [p.read_text().split() for p in Path(folder).glob("spent-*.txt")]
        spent = np.array([row[:3] for row in found], dtype=float).sum(axis=0)
        n, *sizes = (max(int(row[k]) for row in found) for k in (3, 4, 5))
        restored, saved, workers = spent - before
        everything = meter.seconds - began
        if batch < 3 or batch % 4 == 0:
            print(
                f"fleet of {n_keys} {name}, {n} rows: restore {restored:.1f}, save {saved:.1f} of "
                f"{workers:.1f} s CPU of the workers and {everything:.1f} in all; "
                f"explainer {sizes[0] / 1e3:.1f} kB, model {sizes[1] / 1e3:.1f} kB a key",
                flush=True,
            )
        before, began = spent, meter.seconds

    query = curves.writeStream.foreachBatch(report).outputMode("update").trigger(availableNow=True)
    query.option("checkpointLocation", f"{folder}/spark").start().awaitTermination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument(
        "--only", choices=["tables", "workers", "streams", "large", "fleets", "keys"]
    )
    given = parser.parse_args()
    if given.only in (None, "tables"):
        tables(given.rows)
    if given.only == "workers":
        workers(given.rows)
    if given.only in (None, "streams"):
        streams(min(given.rows, 300_000))
    if given.only == "large":
        large(given.rows)
    if given.only in (None, "fleets"):
        fleets()
    if given.only == "keys":
        keys()
