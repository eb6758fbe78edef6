"""A stream of Spark is the run of one process, whatever its micro-batches are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ipdp
import ipdp.spark
from ipdp.grid import Categories, Fixed, MinMax, QuantileRange, Quantiles
from ipdp.log import LogError
from ipdp.runs import checkpoint
from ipdp.spark import remote, sink

N = 1_800
SCHEMA = "seq long, a double, b double, c string"
NAMES = ["a", "b", "c"]


def rows():
    """The model's slope turns after 1,000 rows, as seen from the data."""
    rng = np.random.default_rng(2)
    a, noise = np.zeros(N), rng.normal(size=N)
    for i in range(1, N):
        a[i] = 0.5 * a[i - 1] + noise[i]
    a[1_000:] += 6.0
    return [
        {"seq": i, "a": float(a[i]), "b": float(b), "c": str(c)}
        for i, (b, c) in enumerate(
            zip(rng.gamma(2.0, size=N), rng.choice(["x", "y"], N), strict=True)
        )
    ]


ROWS = rows()


def model(x):
    p = 1 / (1 + math.exp(-(math.sin(x["a"]) + 0.3 * x["b"] * (x["c"] == "x"))))
    return {False: 1 - p, True: p}


def explainer(**setup):
    return ipdp.IncrementalPDP(model, NAMES, alpha=0.01, seed=1, **setup)


def watched(pdp):
    return ipdp.Monitor(pdp, warm_up=300, cool_down=300)


class Stream:
    """Files that become micro-batches, one each, and a query that reads them."""

    def __init__(self, spark, path):
        self.spark, self.path = spark, path
        self.n = 0

    def add(self, part):
        frame = self.spark.createDataFrame(part, SCHEMA).coalesce(1)
        frame.write.mode("append").json(str(self.path / "data"))

    def run(self, sink, checkpoint="checkpoint"):
        stream = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        query = (
            stream.json(str(self.path / "data"))
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(self.path / checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    made = Stream(spark, tmp_path_factory.mktemp("stream"))
    for start, stop in [(0, 50), (50, 700), (700, 1_300), (1_300, N)]:
        made.add(ROWS[start:stop])
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The log of one process."""
    pdp = explainer()
    path = tmp_path_factory.mktemp("one")
    plain = [({name: row[name] for name in NAMES}, None) for row in ROWS]
    ipdp.run(plain, model, pdp, monitor=watched(pdp), log=path, learn=False)
    return path


def logged(path):
    with ipdp.LogReader(path) as reader:
        snapshots = {s.n: s.curves for s in reader.between(0, N) if s.n % 100 == 0}
        changes = [(c.n, c.change.summary(), c.change.t) for c in reader.changes()]
    return snapshots, changes


def assert_same_log(ours, theirs):
    (snapshots, changes), (expected, found) = logged(ours), logged(theirs)
    assert changes == found
    assert list(snapshots) == list(expected)
    for n, curves in expected.items():
        for feature, want in curves.items():
            got = snapshots[n][feature]
            for name in ("average", "std_error", "importance"):
                ours, theirs = getattr(got, name), getattr(want, name)
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def crashed(own):
    """What is left of a sink whose process has died: nothing but its files."""
    own._log._connection.close()
    own._log._guard.close()


@pytest.mark.parametrize("way", ["WORKERS", "TOGETHER", "ALONE"])
def test_it_is_the_run_of_one_process(stream, whole, tmp_path, monkeypatch, way):
    monkeypatch.setattr(sink, "_BLOCK", 400)
    monkeypatch.setattr(remote, "_cheapest", lambda *given: remote._Way[way])
    pdp = explainer()
    asked = []
    parted = remote._parted
    monkeypatch.setattr(remote, "_parted", lambda *given: asked.append(1) or parted(*given))
    with ipdp.spark.Sink(pdp, monitor=watched(pdp), log=tmp_path, columns=NAMES) as own:
        stream.run(own, checkpoint=f"whole {way}")
    assert pdp.n_seen == N
    assert (len(asked) >= 3) == (way == "WORKERS")  # they were asked
    assert_same_log(tmp_path, whole)
    assert logged(whole)[1]  # and there was something to find


@pytest.mark.parametrize(
    "damaged",
    [
        {"pdp": {}},
        {"sink": {"batch": "first", "query": None, "late": 0}, "pdp": {}},
        {"sink": {"batch": 0, "query": 7, "late": 0}, "pdp": {}},
        {"sink": {"batch": 0, "query": None, "late": 0}, "pdp": [], "monitor": None},
    ],
)
def test_a_file_of_something_else_is_refused_in_a_sentence(tmp_path, damaged):
    with ipdp.spark.Sink(explainer(), log=tmp_path, columns=NAMES):
        pass
    checkpoint.write(tmp_path / sink.NAME, damaged)
    with pytest.raises(ValueError, match=r"is damaged|version"):
        ipdp.spark.Sink(explainer(), log=tmp_path, columns=NAMES)


class Crash(Exception):
    """What the process dies of."""


PLACES = ["in the middle", "before the log", "before the file", "after the file"]


def test_columns_may_have_names_of_ours(spark, tmp_path):
    columns = "time long, `_T` double, `_w` double, weight double"
    df = spark.createDataFrame([(k, float(k % 7), 1.0, 1.0) for k in range(60)], columns)
    pdp = ipdp.IncrementalPDP(lambda x: x["_T"] + x["_w"], ["_T"])
    with sink.Sink(pdp, log=tmp_path, time="time", weights="weight") as taken:
        taken(df, 0)
    assert pdp.n_seen == 60


def test_nothing_twice_and_nothing_missing_through_crashes(stream, whole, tmp_path, monkeypatch):
    place = iter(PLACES)
    for where in [*place, None]:
        pdp = explainer()
        own = ipdp.spark.Sink(pdp, monitor=watched(pdp), log=tmp_path / "run", columns=NAMES)
        batch_at_start = own._batch
        with monkeypatch.context() as patched:
            if where is not None:
                _crash_at(patched, own, where, batch_at_start + 1)
                with pytest.raises(Exception, match="Crash"):
                    stream.run(own, checkpoint="crashes")
                crashed(own)
            else:
                stream.run(own, checkpoint="crashes")
                own.close()
    assert pdp.n_seen == N
    assert_same_log(tmp_path / "run", whole)


def _crash_at(patched, own, where, batch):
    """Let it die in the first batch from this one on, at one of the places."""

    def dies(*args, **kwargs):
        raise Crash(where)

    if where == "in the middle":
        ahead, calls = own._engine.ahead, []
        patched.setattr(sink, "_BLOCK", 20)
        patched.setattr(
            own._engine,
            "ahead",
            lambda *a: dies() if len(calls) == 1 else (calls.append(1), ahead(*a)),
        )
    elif where == "before the log":
        patched.setattr(own._log, "commit", dies)
    elif where == "before the file":
        patched.setattr(checkpoint, "write", dies)
    else:
        keep = own._keep
        patched.setattr(own, "_keep", lambda: (keep(), dies()))


def test_a_sink_that_failed_goes_on_from_its_file(stream, whole, tmp_path, monkeypatch):
    pdp = explainer()
    with ipdp.spark.Sink(pdp, monitor=watched(pdp), log=tmp_path / "run", columns=NAMES) as own:
        with monkeypatch.context() as patched:
            _crash_at(patched, own, "before the file", 0)
            with pytest.raises(Exception, match="Crash"):
                stream.run(own, checkpoint="again")
        stream.run(own, checkpoint="again")
    assert_same_log(tmp_path / "run", whole)


@pytest.mark.parametrize("ends", [[N], [1, 2, 350, 351, 999, 1_001, 1_400, N]], ids=["one", "many"])
def test_any_split_into_micro_batches(spark, whole, tmp_path, monkeypatch, ends):
    monkeypatch.setattr(remote, "_WORTH", 0.0)
    own, start = Stream(spark, tmp_path), 0
    for stop in ends:
        own.add(ROWS[start:stop])
        start = stop
    pdp = explainer()
    with ipdp.spark.Sink(pdp, monitor=watched(pdp), log=tmp_path / "run", columns=NAMES) as sunk:
        own.run(sunk)
    assert_same_log(tmp_path / "run", whole)


GRIDS = {
    "MinMax": {"grid": {"a": MinMax(6, window=200), "b": MinMax(4)}},
    "QuantileRange": {"grid": {"a": QuantileRange(6, window=150, select="age"), "b": Quantiles(5)}},
    "Categories": {"grid": {"c": Categories(2, 50)}},
    "Fixed": {"grid": {"a": Fixed([-1.0, 0.0, 2.0]), "c": Fixed(["x", "y"])}},
    "pointwise": {"estimator": "pointwise", "grid": {"a": MinMax(6), "b": QuantileRange(5)}},
}


@pytest.mark.parametrize("name", GRIDS)
def test_every_grid(stream, tmp_path, monkeypatch, name):
    monkeypatch.setattr(remote, "_WORTH", 0.0)
    pdp, whole = explainer(**GRIDS[name]), explainer(**GRIDS[name])
    with ipdp.spark.Sink(pdp, monitor=watched(pdp), log=tmp_path / "run", columns=NAMES) as own:
        stream.run(own, checkpoint=f"grid {name}")
    plain = [({name: row[name] for name in NAMES}, None) for row in ROWS]
    ipdp.run(plain, model, whole, monitor=watched(whole), log=tmp_path / "one", learn=False)
    assert_same_log(tmp_path / "run", tmp_path / "one")
    for feature, curve in whole.results().items():
        got = pdp.results()[feature].grid_values[0]
        assert got.tolist() == curve.grid_values[0].tolist()


def test_a_batch_that_is_sent_again_counts_once(spark, tmp_path):
    batches, pdp = [], explainer()
    own = Stream(spark, tmp_path)
    for start in (0, 300):
        own.add(ROWS[start : start + 300])
    with ipdp.spark.Sink(pdp, log=tmp_path / "run", columns=NAMES) as sunk:

        def twice(df, batch):
            sunk(df, batch)
            batches.append((batch, pdp.n_seen))
            sunk(df, batch)
            assert pdp.n_seen == batches[-1][1]

        own.run(twice)
    assert batches == [(0, 300), (1, 600)]
    with ipdp.LogReader(tmp_path / "run") as reader:
        assert [snapshot.n for snapshot in reader.between(0, N)] == list(range(100, 601, 100))


def test_another_query_and_another_writer_are_refused(stream, tmp_path):
    with ipdp.spark.Sink(explainer(), log=tmp_path / "run", columns=NAMES) as own:
        stream.run(own, checkpoint="first")
        n = own.pdp.n_seen
        with pytest.raises(LogError, match="another"):
            ipdp.spark.Sink(explainer(), log=tmp_path / "run")
        with pytest.raises(Exception, match="belongs to the query"):
            stream.run(own, checkpoint="second")
        assert own.pdp.n_seen == n == N
    (tmp_path / "run" / "spark.ipdp").unlink()
    with pytest.raises(LogError, match=r"spark\.ipdp is not there to go on from"):
        ipdp.spark.Sink(explainer(), log=tmp_path / "run")


def test_a_file_of_no_query_does_not_say_that_batches_are_done(stream, tmp_path):
    # A crafted one would have let all batches up to its own go by without a word.
    with ipdp.spark.Sink(explainer(), log=tmp_path / "run", columns=NAMES):
        pass
    file = tmp_path / "run" / sink.NAME
    kept = checkpoint.read(file)
    checkpoint.write(file, {**kept, "sink": {**kept["sink"], "batch": 10**6}})
    with ipdp.spark.Sink(explainer(), log=tmp_path / "run", columns=NAMES) as own:
        with pytest.raises(Exception, match="belongs to no query and this is"):
            stream.run(own, checkpoint="none")
        assert own.pdp.n_seen == 0


def test_late_rows_have_the_weight_of_their_own_time(spark, tmp_path):
    def line(x):
        return 2.0 * x["a"] + x["b"]

    def made():
        return ipdp.IncrementalPDP(
            line, ["a"], half_life=40.0, grid=ipdp.grid.Fixed([0.0, 1.0]), n_past=0
        )

    late = [row for row in ROWS[:400] if row["seq"] % 5 == 2]
    early = [row for row in ROWS[:400] if row["seq"] % 5 != 2]
    own = Stream(spark, tmp_path)
    for part in (early, late):
        own.add(part)
    whole = made()
    for row in ROWS[:400]:
        whole.explain_one({name: row[name] for name in NAMES}, t=float(row["seq"]))
    with ipdp.spark.Sink(made(), log=tmp_path / "run", time="seq", columns=NAMES) as sunk:
        own.run(sunk)
        assert sunk.n_late == len(late)
        got, want = sunk.pdp.curve("a"), whole.curve("a")
    np.testing.assert_allclose(got.average, want.average, rtol=1e-12)
    np.testing.assert_allclose(got.n_effective_points, want.n_effective_points, rtol=1e-12)


def test_a_model_is_refreshed_between_batches(stream, tmp_path):
    class Refreshing(ipdp.spark.Sink):
        def __call__(self, df, batch):
            super().__call__(df, batch)
            self.refresh(lambda x, k=batch: float(k + 1))

    pdp = ipdp.IncrementalPDP(
        lambda x: 0.0, ["a"], alpha=None, grid=ipdp.grid.Fixed([0.0]), n_past=0
    )
    with Refreshing(pdp, log=tmp_path / "run", columns=NAMES) as own:
        stream.run(own, checkpoint="refreshed")
    want = (0 * 50 + 1 * 650 + 2 * 600 + 3 * 500) / N
    assert pdp.curve("a").average[0, 0] == pytest.approx(want, rel=1e-12)


def test_what_is_wrong_is_refused_at_the_start(stream, tmp_path):
    lock = __import__("threading").Lock()
    with pytest.raises(TypeError, match="cannot be sent to Spark's workers"):
        ipdp.spark.Sink(ipdp.IncrementalPDP(lambda x: bool(lock)), log=tmp_path / "a")
    with pytest.raises(ValueError, match="one of this explainer"):
        ipdp.spark.Sink(explainer(), monitor=watched(explainer()), log=tmp_path / "b")
    with (
        ipdp.spark.Sink(explainer(), log=tmp_path / "c", time="when") as own,
        pytest.raises(Exception, match="time: 'when'"),
    ):
        stream.run(own, checkpoint="wrong")


def test_what_fails_in_a_batch_is_raised_as_it_was(stream, tmp_path):
    pdp = ipdp.IncrementalPDP(lambda x: x["nothing"], ["a"])
    with (
        pytest.raises(KeyError) as caught,
        ipdp.spark.Sink(pdp, log=tmp_path / "run", columns=NAMES) as own,
    ):
        stream.run(own, checkpoint="failed")
    assert caught.value.args == ("nothing",)
    with pytest.raises(Exception, match="the sink is closed"):
        stream.run(own, checkpoint="closed")
