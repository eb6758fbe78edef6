"""Each key of a fleet has the curves of one process that has seen its rows alone."""

from __future__ import annotations

import numpy as np
import pytest
from river import tree

import ipdp
import ipdp.spark
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange
from ipdp.spark.fleet import Member

SCHEMA = "device string, seq long, a double, b long, c string, y boolean"
BATCHES = [(0, 60), (60, 200), (200, 330)]


def make():
    model = tree.HoeffdingTreeClassifier(grace_period=30)
    pdp = ipdp.IncrementalPDP(model, ["a", "b", "c"], alpha=0.02, n_ice=2, n_past=10, seed=1)
    return pdp, ipdp.Monitor(pdp, warm_up=50, cool_down=50)


def make_ranges():
    model = tree.HoeffdingTreeClassifier(grace_period=30)
    grids = {"a": QuantileRange(5, window=60, select="age"), "b": MinMax(4), "c": Categories(2)}
    return ipdp.IncrementalPDP(model, ["a", "b", "c"], n_past=0, seed=2, grid=grids)


def make_points():
    model = tree.HoeffdingTreeClassifier(grace_period=30)
    grids = {"a": Fixed([-1.0, 0.0, 1.0]), "b": Auto(6, window=80)}
    setup = {"estimator": "pointwise", "n_ice": 0, "n_past": 0, "dependence": False}
    return ipdp.IncrementalPDP(model, ["a", "b", "c"], seed=2, grid=grids, **setup)


def table():
    rng = np.random.default_rng(4)
    made = []
    for device in ("north", "south", "east"):
        for seq in range(330):
            a, b = float(rng.normal()), int(rng.integers(0, 40))
            c = str(rng.choice(["x", "y"]))
            made.append((device, seq, None if seq % 50 == 7 else a, b, c, bool(a * (b - 20) > 0)))
    return made


TABLE = table()


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("fleet") / "data")
    for start, stop in BATCHES:
        part = [row for row in TABLE if start <= row[1] < stop]
        order = np.random.default_rng(start).permutation(len(part))
        frame = spark.createDataFrame([part[k] for k in order], SCHEMA).coalesce(1)
        frame.write.mode("append").json(path)
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(path)


@pytest.mark.filterwarnings("ignore:features that are None")
def test_each_key_is_one_process(stream, tmp_path):
    curves = ipdp.spark.fleet(stream, make, key="device", label="y", time="seq")
    got = []
    query = (
        curves.writeStream.foreachBatch(
            lambda df, batch: got.extend((batch, r) for r in df.collect())
        )
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    for device in ("north", "south", "east"):
        member, rows = Member(make), [row for row in TABLE if row[0] == device]
        for batch, (start, stop) in enumerate(BATCHES):
            part = [({"a": a, "b": b, "c": c}, y) for _, _, a, b, c, y in rows[start:stop]]
            want = list(member.results(member.take(part, learn=True)))
            own = [tuple(row)[1:] for at, row in got if (at, row["device"]) == (batch, device)]
            assert [row[:3] for row in own] == [row[:3] for row in want]
            for ours, theirs in zip(own, want, strict=True):
                for x, y in zip(ours[3:], theirs[3:], strict=True):
                    assert x == y or np.allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:features that are None")
@pytest.mark.parametrize(
    ("ends", "make"),
    [
        ([330], make),
        ([5, 6, 150, 330], make),
        ([100, 200, 330], make_ranges),
        ([3, 250, 330], make_points),
    ],
    ids=["one", "many", "ranges", "points"],
)
def test_any_split_into_micro_batches(spark, tmp_path, ends, make):
    start = 0
    for stop in ends:
        part = [row for row in TABLE if start <= row[1] < stop]
        frame = spark.createDataFrame(part, SCHEMA).coalesce(1)
        frame.write.mode("append").json(str(tmp_path / "data"))
        start = stop
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream, got = stream.json(str(tmp_path / "data")), []
    curves = ipdp.spark.fleet(stream, make, key="device", label="y", time="seq")
    query = curves.writeStream.foreachBatch(lambda df, _: got.extend(df.collect()))
    query = query.option("checkpointLocation", str(tmp_path / "checkpoint")).outputMode("update")
    query.trigger(availableNow=True).start().awaitTermination()
    for device in ("north", "south", "east"):
        part = [({"a": a, "b": b, "c": c}, y) for d, _, a, b, c, y in TABLE if d == device]
        member = Member(make)
        changes = [change.summary() for change in member.take(part, learn=True)]
        own = [row for row in got if row["device"] == device]
        assert sorted(text for row in own for text in row["changes"]) == sorted(changes)
        last = [tuple(row)[1:-1] for row in own if row["n"] == 330]
        for ours, theirs in zip(last, member.results([]), strict=True):
            assert ours[1:3] == theirs[1:3]
            for x, y in zip(ours[3:], theirs[3:-1], strict=True):
                assert x == y or np.allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:features that are None")
def test_a_fleet_is_written_as_parquet_and_read_without_spark(stream, tmp_path):
    curves = ipdp.spark.fleet(stream, make, key="device", label="y", time="seq")
    writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "spark"))
    writer.start(str(tmp_path / "curves")).awaitTermination()
    found = {key.name: key for key in ipdp.spark.keys(tmp_path / "curves")}
    assert found.keys() == {"north", "south", "east"}
    for device, key in found.items():
        member = Member(make)
        part = [({"a": a, "b": b, "c": c}, y) for d, _, a, b, c, y in TABLE if d == device]
        results, n_changes = [], 0
        for start, stop in BATCHES:
            n_changes += len(member.take(part[start:stop], learn=True))
            results.append(member.pdp.results())
        assert (key.n, key.since) == (330, 60)
        for mine, curves in ((key.then, results[0]), (key.now, results[2])):
            for feature, curve in curves.items():
                np.testing.assert_allclose(mine[feature].average, curve.average, rtol=1e-12)
        assert len(key.changes) == n_changes


def test_a_model_that_only_the_program_knows(stream, tmp_path):
    class Doubled:  # has no name that a worker could import
        def __call__(self, x):
            return 2.0 * x["b"]

    def make_own():
        return ipdp.IncrementalPDP(Doubled(), ["b"], n_ice=0, n_past=0, dependence=False)

    curves = ipdp.spark.fleet(stream, make_own, key="device", time="seq")
    writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "spark"))
    writer.start(str(tmp_path / "curves")).awaitTermination()
    for key in ipdp.spark.keys(tmp_path / "curves"):
        curve = key.now["b"]
        assert key.n == 330
        np.testing.assert_allclose(curve.average[0], 2.0 * curve.grid_values[0], rtol=1e-12)
    before = Member(make_own)
    before.take([({"b": b}, None) for b in range(40)], learn=False)
    assert Member(make_own, before.kept()).pdp.n_seen == 40


def of_other_columns():
    return ipdp.IncrementalPDP(tree.HoeffdingTreeClassifier(), ["aa"])


def test_what_fails_in_a_worker_is_raised_as_it_was(stream, tmp_path):
    def make_failing():
        return ipdp.IncrementalPDP(lambda x: x["nothing"], ["a"])

    curves = ipdp.spark.fleet(stream, make_failing, key="device")
    writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "spark"))
    with pytest.raises(KeyError) as caught:
        ipdp.spark.wait(writer.start(str(tmp_path / "curves")))
    assert caught.value.args == ("'nothing'",)


def test_what_is_wrong_is_refused_at_the_start(spark, stream):
    lock = __import__("threading").Lock()
    for given, kind, message in (
        ({"key": "devise"}, ValueError, "key: 'devise'"),
        ({"df": stream.withColumnRenamed("device", "n"), "key": "n"}, ValueError, "called 'n'"),
        ({"make": lambda: 3}, TypeError, "make must give"),
        ({"make": lambda: bool(lock)}, TypeError, "cannot be sent"),
        ({"make": of_other_columns}, ValueError, "no feature 'aa' .did you mean 'a'"),
        ({"make": lambda: ipdp.IncrementalPDP(len), "label": "y"}, ValueError, "leave `label` out"),
        ({"df": spark.createDataFrame(TABLE[:3], SCHEMA)}, ValueError, "needs a stream"),
    ):
        arguments = {"df": stream, "make": make, "key": "device", **given}
        with pytest.raises(kind, match=message):
            ipdp.spark.fleet(**arguments)
