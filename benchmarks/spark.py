"""What ipdp costs on Spark, against one process.

    python benchmarks/spark.py [--rows N] [--only tables|streams|large|fleets]

CPU seconds of all processes (driver, JVM, Python workers), so that a loaded machine does not
matter. Needs the extra `spark` and Java. Results: docs/notes/spark.md.
"""

from __future__ import annotations

import argparse
import os
import resource
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
    # What takes long is measured on fewer rows, and told by the row.
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


def trained() -> HistGradientBoostingRegressor:
    """A booster of 50 trees."""
    X = table(20_000)
    model = HistGradientBoostingRegressor(max_iter=50, random_state=0)
    return model.fit(X, np.sin(X["x0"]) + X["x1"] * X["x2"])


def streams(n: int) -> None:
    """A stream: micro-batches in a sink, against the same rows one by one in one process."""
    spark, meter, X, model = ipdp.spark.session("local[2]"), Meter(), table(n), trained()
    with tempfile.TemporaryDirectory() as folder:
        for k in range(5):
            X[k * n // 5 : (k + 1) * n // 5].to_parquet(f"{folder}/{k}.parquet")
        pdp, rows = ipdp.IncrementalPDP(model, NAMES, n_ice=0), X.to_dict("records")
        one = measured(meter, "one process", lambda: list(map(pdp.explain_one, rows)), n)
        fresh = ipdp.IncrementalPDP(model, NAMES, n_ice=0)
        sink = ipdp.spark.Sink(fresh, log=f"{folder}/run", snapshots=n + 1)
        schema = spark.read.parquet(f"{folder}/0.parquet").schema
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        query = stream.parquet(f"{folder}/*.parquet").writeStream.foreachBatch(sink)
        query = query.option("checkpointLocation", f"{folder}/checkpoint")
        ours = measured(
            meter,
            "Spark, a sink",
            lambda: query.trigger(availableNow=True).start().awaitTermination(),
            n,
        )
        sink.close()
    print(f"  ratio {ours / one:.2f}")
    spark.stop()


def large(n: int) -> None:
    """A table that only Spark has, and how much memory the driver takes for it."""
    from pyspark.sql import functions as F  # noqa: N812

    spark, meter = ipdp.spark.session("local[2]", spark__driver__memory="1g"), Meter()
    columns = [F.randn(k).alias(name) for k, name in enumerate(NAMES)]
    model, grid = trained(), ipdp.grid.MinMax(10)
    for rows in (1_000, n):
        df = spark.range(rows, numPartitions=max(rows // 250_000, 2)).select(*columns)
        measured(
            meter,
            f"Spark, MinMax, {rows:,} rows",
            lambda df=df: ipdp.spark.partial_dependence(model, df, NAMES, grid=grid),
            rows,
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  the driver's Python has taken {peak:.0f} MB at most", flush=True)
    spark.stop()


def member(**setup):
    """What makes the explainer of a key."""

    def make():
        model = tree.HoeffdingTreeRegressor(grace_period=50)
        return ipdp.IncrementalPDP(model, [f"x{k}" for k in range(10)], seed=1, **setup)

    return make


def fleets(n_keys: int = 30, n_rows: int = 20, n_batches: int = 6) -> None:
    """A fleet: restore, work and save of a key and micro-batch, and the bytes kept."""
    small = {"n_ice": 0, "n_past": 0}
    for name, setup in (
        ("default", {}),
        ("n_ice=0, n_past=0", small),
        ("and dependence=False", {**small, "dependence": False}),
        ("and MinMax(10)", {**small, "dependence": False, "grid": ipdp.grid.MinMax(10)}),
    ):
        make, rng = member(**setup), np.random.default_rng(0)
        spent, sizes, kept = np.zeros(3), (0, 0), [None] * n_keys
        for _ in range(n_batches):
            X = rng.normal(size=(n_keys, n_rows, 10))
            for k in range(n_keys):
                rows = [({f"x{j}": v for j, v in enumerate(x)}, x[0]) for x in X[k].tolist()]
                times = [time.thread_time()]
                own = Member(make, kept[k])
                times.append(time.thread_time())
                own.take(rows, learn=True)
                times.append(time.thread_time())
                kept[k] = own.kept()
                times.append(time.thread_time())
                spent += np.diff(times)
        sizes = len(kept[0][0]), len(kept[0][1])
        ms = 1e3 * spent / (n_keys * n_batches)
        print(
            f"fleet, {name:22s} restore {ms[0]:5.2f} work {ms[1]:5.2f} save {ms[2]:5.2f} ms "
            f"a key and batch; state {sizes[0] / 1e3:.1f} kB, model {sizes[1] / 1e3:.1f} kB"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", choices=["tables", "streams", "large", "fleets"])
    given = parser.parse_args()
    if given.only in (None, "tables"):
        tables(given.rows)
    if given.only in (None, "streams"):
        streams(min(given.rows, 100_000))
    if given.only == "large":
        large(given.rows)
    if given.only in (None, "fleets"):
        fleets()
