"""Ctrl-C in the middle: one sentence, nothing broken, and the same program goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.dataset as ds
import pytest
from river import tree

import ipdp
import ipdp.spark
from ipdp.spark.fleet import Member
from ipdp.spark.interrupts import interruptible

ROOT = Path(__file__).parents[1]
N = 600
SCHEMA = "seq long, a double"


def table():
    rng = np.random.default_rng(5)
    return [{"seq": i, "a": float(a)} for i, a in enumerate(rng.normal(size=N))]


class Slow:
    """A model that notes, by a file, that it is asked; it is slow while that is awaited."""

    def __init__(self, directory, begin=0):
        self.directory, self.begin, self.n = Path(directory), begin, 0

    def __call__(self, x):
        self.n += 1
        if self.n > self.begin and not (self.directory / "finish").exists():
            (self.directory / "asked").touch()
            time.sleep(0.02)
        return np.sin(x["a"])


def plain(x):
    return np.sin(x["a"])


def explainer(model):
    return ipdp.IncrementalPDP(model, ["a"], alpha=0.01, seed=1, n_past=0)


def begun(directory):
    return ipdp.spark.session(
        "local[2]", spark__driver__host="127.0.0.1", spark__sql__warehouse__dir=directory
    )


def of_table(directory):
    df = begun(directory).createDataFrame(table(), SCHEMA).repartition(4)
    [curve] = ipdp.spark.partial_dependence(Slow(directory), df, ["a"], columns=["a"])
    np.save(Path(directory) / "curve.npy", np.concatenate([curve.average, curve.std_error]))


def of_history(directory):
    df, pdp = begun(directory).createDataFrame(table(), SCHEMA), explainer(Slow(directory))
    log = Path(directory) / ("again" if (Path(directory) / "run").exists() else "run")
    ipdp.spark.explain(pdp, df, order_by="seq", snapshots=100, log=log)


def of_stream(directory):
    spark, data = begun(directory), Path(directory) / "data"
    if not data.exists():
        for start in range(0, N, 200):
            part = spark.createDataFrame(table()[start : start + 200], SCHEMA)
            part.coalesce(1).write.mode("append").json(str(data))
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(data))
    pdp = explainer(Slow(directory, begin=4_500))  # in the second micro-batch
    with ipdp.spark.Sink(pdp, log=f"{directory}/run", columns=["a"]) as own:
        query = stream.writeStream.foreachBatch(own).trigger(availableNow=True)
        query.option("checkpointLocation", f"{directory}/spark").start().awaitTermination()


class SlowLearner(tree.HoeffdingTreeClassifier):
    """A tree that is slow to learn, in the second micro-batch, while Ctrl-C is awaited."""

    directory, n = None, 0

    def learn_one(self, x, y, w=1.0):
        self.n += 1
        if self.n > 150 and not (self.directory / "finish").exists():
            (self.directory / "asked").touch()
            time.sleep(0.02)
        super().learn_one(x, y, w=w)


def of_key(directory):
    """What makes the explainer of a key."""

    def make():
        model = SlowLearner(grace_period=30)
        model.directory = Path(directory)
        return explainer(model)

    return make


def of_fleet(directory):
    spark, data = begun(directory), Path(directory) / "data"
    if not data.exists():
        for start in range(0, N, 200):
            part = spark.createDataFrame(table()[start : start + 200], SCHEMA)
            part = part.selectExpr("*", "seq % 2 as device", "a > 0 as y")
            part.coalesce(1).write.mode("append").parquet(str(data))
    stream = spark.readStream.schema(f"{SCHEMA}, device long, y boolean")
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(data))
    made = of_key(directory)
    curves = ipdp.spark.fleet(stream, made, key="device", label="y", time="seq")
    writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", f"{directory}/spark")
    ipdp.spark.wait(writer.start(f"{directory}/curves"))


def run(job, directory, *, interrupt):
    """A program of its own; gives its exit code and what it printed on the terminal."""
    code = f"from tests_spark import test_interrupts as own; own.{job}({str(directory)!r})"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 300
    while interrupt and not (directory / "asked").exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.1)
    if interrupt:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all that the program started
    printed = process.communicate(timeout=300)[1]
    return process.returncode, printed


# A task may come to its end while the JVM is ending, after all that Python waits for: then Scala
# itself prints, past every logger, that a pool of threads that shuts down takes nothing more.
SHUTTING_DOWN = re.compile(
    r"^java\.util\.concurrent\.RejectedExecutionException: .*Shutting down.*\n(\tat .*\n)*",
    re.MULTILINE,
)


def interrupted(job, directory):
    """Ctrl-C, and then the same program again; gives the last line of the first one."""
    code, printed = run(job, directory, interrupt=True)
    printed = SHUTTING_DOWN.sub("", printed)
    assert code == -signal.SIGINT
    assert "\tat " not in printed  # nothing of Java
    assert "py4j" not in printed
    assert len(printed.split("Traceback")) == 2
    (directory / "finish").touch()
    code, complaint = run(job, directory, interrupt=False)
    assert code == 0, complaint
    return printed.strip().splitlines()[-1]


def test_a_table(tmp_path):
    printed = interrupted("of_table", tmp_path)
    assert printed == "KeyboardInterrupt: stopped before all rows were read"
    [want] = ipdp.partial_dependence(plain, [{"a": r["a"]} for r in table()], ["a"], ice=False)
    got = np.load(tmp_path / "curve.npy")
    np.testing.assert_allclose(got[0], want.average[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(got[1], want.std_error[0], rtol=1e-12)


@pytest.mark.parametrize("job", ["of_history", "of_stream"])
def test_what_is_logged(tmp_path, job):
    printed = interrupted(job, tmp_path)
    place = tmp_path / ("run" if job == "of_stream" else "again")
    if job == "of_stream":
        message = "stopped after 200 rows; the same program goes on from there"
    else:
        message = "stopped before the end of the table; a log has the snapshots up to then"
        with ipdp.LogReader(tmp_path / "run") as reader:
            assert reader.status.state == "stopped"
    assert printed == f"KeyboardInterrupt: {message}"
    whole = explainer(plain)
    with ipdp.LogReader(place) as reader:
        snapshots = list(reader.between(0, N))
        assert reader.status.n == N
    assert [snapshot.n for snapshot in snapshots] == list(range(100, N + 1, 100))
    for snapshot in snapshots:
        for row in table()[whole.n_seen : snapshot.n]:
            whole.explain_one({"a": row["a"]})
        want, got = whole.results()["a"], snapshot.curves["a"]
        np.testing.assert_allclose(got.average, want.average, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(got.std_error, want.std_error, rtol=1e-12)


def test_a_fleet(tmp_path):
    message = interrupted("of_fleet", tmp_path)
    assert message == (
        "KeyboardInterrupt: stopped; the same program goes on from its checkpointLocation, after "
        "the last micro-batch that ended"
    )
    files = ds.dataset(tmp_path / "curves", exclude_invalid_files=True)
    found = sorted(files.to_table().to_pylist(), key=lambda row: (row["device"], row["n"]))
    want = []
    for device in (0, 1):
        member = Member(of_key(tmp_path))
        own = [({"a": r["a"]}, r["a"] > 0) for r in table() if r["seq"] % 2 == device]
        for start in range(0, N // 2, 100):  # each micro-batch once
            member.take(own[start : start + 100], learn=True)
            want += [(device, *row) for row in member.results([])]
    assert [tuple(row.values()) for row in found] == want


def asleep(k):
    time.sleep(600)
    return k


def test_nothing_runs_any_more(spark):
    context, tracker = spark.sparkContext, spark.sparkContext.statusTracker()

    def job():
        with suppress(Exception):  # it is cancelled
            context.parallelize(range(2), 2).map(asleep).collect()

    def n_tasks():
        return sum(executor.numRunningTasks for executor in tracker.getExecutorInfos())

    def interrupted():
        with interruptible(context, "stopped"):
            thread.start()
            while n_tasks() < 2:
                time.sleep(0.05)
            raise KeyboardInterrupt

    thread = threading.Thread(target=job)
    with pytest.raises(KeyboardInterrupt, match=r"^stopped$"):
        interrupted()
    assert not tracker.getActiveJobsIds()
    assert n_tasks() == 0
    thread.join()


class Impatient:
    """A log during whose first snapshot somebody presses Ctrl-C; and a call to Spark is cut off."""

    def begin(self, *given):
        pass

    def snapshot(self, *given):
        try:
            raise KeyboardInterrupt
        finally:
            raise OSError("there is no answer")

    def end(self, n, state, *why):
        self.state = state


def test_nothing_of_a_history_is_kept(spark):
    def n_kept():
        return len(spark.sparkContext._jsc.sc().getRDDStorageInfo())

    df, pdp, log = spark.createDataFrame(table(), SCHEMA), explainer(plain), Impatient()
    before = n_kept()  # other tests cache frames
    with pytest.raises(KeyboardInterrupt, match="end of the table"):
        ipdp.spark.explain(pdp, df, order_by="seq", snapshots=100, log=log)
    assert log.state == "stopped"
    assert n_kept() == before
