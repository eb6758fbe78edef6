"""Workers, executors and drivers that are killed in the middle change nothing in the result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ipdp
import ipdp.spark
from ipdp.spark import sink

ROOT = Path(__file__).parents[1]
N = 600
GRID = ipdp.grid.Fixed([0.0, 1.0, 2.0])


def table():
    rng = np.random.default_rng(3)
    return [{"seq": i, "a": float(a)} for i, a in enumerate(rng.normal(size=N))]


class Deadly:
    """A model that kills the process it runs in, or the executor above it, so many times in all."""

    def __init__(self, directory, kills, *, executor=False):
        self.directory, self.kills, self.executor = Path(directory), kills, executor

    def __call__(self, x):
        for k in range(self.kills):
            try:
                (self.directory / f"{k}").touch(exist_ok=False)  # one process only gets this number
            except FileExistsError:
                continue
            os.kill(_executor() if self.executor else os.getpid(), signal.SIGKILL)
        return np.sin(x["a"])


def _executor():
    """The process that has started the one that has started this one: a JVM."""
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def harmless(x):
    return np.sin(x["a"])


def run(job, *arguments):
    """A driver of its own; gives its exit code."""
    code = f"from tests_spark import test_kills; test_kills.{job}(*{arguments!r})"
    # For the workers too, which run elsewhere.
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, "-c", code], check=False, env=env).returncode


# A table.


def killed_table(directory, kills, executor):
    """In a driver of its own: a table whose workers, or executors, are killed."""
    master = "local-cluster[2,1,1024]" if executor else "local[2,1000]"
    spark = ipdp.spark.session(
        master,
        spark__task__maxFailures="1000",
        spark__executor__memory="512m",
        spark__driver__host="127.0.0.1",
        spark__sql__warehouse__dir=directory,
    )
    spark.sparkContext.setLogLevel("OFF")
    df = spark.createDataFrame(table(), "seq long, a double").repartitionByRange(4, "seq")
    model = Deadly(directory, kills, executor=executor)
    [curve] = ipdp.spark.partial_dependence(model, df, ["a"], grid=GRID)
    np.save(Path(directory) / "curve.npy", np.concatenate([curve.average, curve.std_error]))
    spark.stop()


@pytest.mark.parametrize(
    ("kills", "executor"),
    [
        (20, False),
        (2, True),
        pytest.param(100, False, marks=pytest.mark.slow),
        pytest.param(8, True, marks=pytest.mark.slow),
    ],
)
def test_a_table_whose_workers_are_killed(tmp_path, kills, executor):
    assert run("killed_table", str(tmp_path), kills, executor) == 0
    assert len([path for path in tmp_path.iterdir() if path.name.isdigit()]) == kills
    [want] = ipdp.partial_dependence(harmless, table(), ["a"], grid=GRID, ice=False)
    got = np.load(tmp_path / "curve.npy")
    np.testing.assert_allclose(got[0], want.average[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(got[1], want.std_error[0], rtol=1e-12)


# A stream.


def explainer():
    return ipdp.IncrementalPDP(harmless, ["a"], alpha=0.01, seed=1)


def killed_stream(directory, place):
    """In a driver of its own: a stream whose driver is killed in its first new batch."""
    spark = ipdp.spark.session(
        "local[1]", spark__driver__host="127.0.0.1", spark__sql__warehouse__dir=directory
    )
    spark.sparkContext.setLogLevel("OFF")
    data = Path(directory) / "data"
    if not data.exists():
        for start in range(0, N, N // 3):
            part = spark.createDataFrame(table()[start : start + N // 3], "seq long, a double")
            part.coalesce(1).write.mode("append").json(str(data))
    write = sink.checkpoint.write

    def dies(path, parts):
        is_batch = parts["sink"]["batch"] >= 0
        if not (is_batch and place == "before the file"):
            write(path, parts)
        if is_batch and place is not None:
            os.kill(os.getpid(), signal.SIGKILL)

    sink.checkpoint.write = dies
    stream = spark.readStream.schema("seq long, a double").option("maxFilesPerTrigger", 1)
    with ipdp.spark.Sink(explainer(), log=f"{directory}/run", columns=["a"]) as own:
        query = stream.json(str(data)).writeStream.foreachBatch(own)
        query = query.option("checkpointLocation", f"{directory}/checkpoint")
        query.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


def test_a_stream_whose_driver_is_killed(tmp_path):
    for place in ("before the file", "after the file"):
        assert run("killed_stream", str(tmp_path), place) == -signal.SIGKILL
    assert run("killed_stream", str(tmp_path), None) == 0
    whole = explainer()
    with ipdp.LogReader(tmp_path / "run") as reader:
        snapshots = list(reader.between(0, N))
        assert reader.status.n == N
    assert [snapshot.n for snapshot in snapshots] == list(range(100, N + 1, 100))
    for snapshot in snapshots:
        for row in table()[whole.n_seen : snapshot.n]:
            whole.explain_one({"a": row["a"]})
        want, got = whole.results()["a"], snapshot.curves["a"]
        np.testing.assert_allclose(got.average, want.average, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(got.std_error, want.std_error, rtol=1e-12)
