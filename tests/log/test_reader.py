"""What a reader gives back of what was written."""

import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.log.making import FEATURES, make_change, make_curve, make_importance, same

import ipdp
from ipdp import NotEnoughSamples
from ipdp.log import Log, LogError, LogReader


def curves_at(n, features=("a", "b")):
    return {name: make_curve(name, n_samples=n, seed=k) for k, name in enumerate(features)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Snapshots at 10, 20, ... 1000, a change at 400, metrics at every second snapshot."""
    directory = tmp_path_factory.mktemp("run")
    with Log(directory) as log:
        log.begin({"alpha": 0.01, "nested": {"list": [1, None]}}, ["b", "a"])
        for n in range(10, 1001, 10):
            log.snapshot(curves_at(n), n)
            if n % 20 == 0:
                log.metric({"Accuracy": n / 1000, "F1": float("nan")}, n)
            if n == 400:
                log.change(make_change(t=400), n)
                log.snapshot(curves_at(n), n, "change")
        log.end(1000)
    return directory


@pytest.fixture
def reader(run):
    with LogReader(run) as reader:
        yield reader


def test_the_directory_and_the_file_are_the_same_log(run):
    with LogReader(run) as one, LogReader(run / "log.db") as other, LogReader(str(run)) as third:
        assert one.path == other.path == third.path == run / "log.db"
        assert one.snapshots() == other.snapshots()


def test_settings_and_features_are_as_they_were_given(reader):
    assert reader.settings == {"alpha": 0.01, "nested": {"list": [1, None]}}
    assert reader.features == ["b", "a"]


def test_snapshots_come_in_order_with_their_reasons(reader):
    infos = reader.snapshots()
    assert [info.n for info in infos] == list(range(10, 1001, 10))
    assert [info.id for info in infos] == sorted(info.id for info in infos)
    assert {info.n: info.reason for info in infos if info.reason != "every"} == {400: "change"}
    assert all(info.time <= later.time for info, later in pairwise(infos))


@pytest.mark.parametrize(
    ("n", "expected"), [(10, 10), (19, 10), (20.5, 20), (10**30, 1000), (float("inf"), 1000)]
)
def test_at_is_the_last_snapshot_at_or_before(reader, n, expected):
    curves = reader.at(n)
    assert list(curves) == ["b", "a"]
    assert all(same(curves[name], curve) for name, curve in curves_at(expected).items())


def test_before_the_first_snapshot_there_is_nothing(reader):
    with pytest.raises(NotEnoughSamples, match="no snapshot at or before n = 9"):
        reader.at(9)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (0, float("inf"), range(10, 1001, 10)),
        (991, 10**30, [1000]),
        (100, 130, range(100, 131, 10)),
        (101, 109, []),
        (9, 5, []),
    ],
)
def test_between_has_both_ends(reader, first, last, expected):
    found = list(reader.between(first, last))
    assert [snapshot.n for snapshot in found] == list(expected)
    for snapshot in found:
        for name, curve in curves_at(snapshot.n).items():
            assert same(snapshot.curves[name], curve)


def test_history_is_one_feature_after_an_id(reader):
    infos = reader.snapshots()
    history = list(reader.history("a"))
    assert [info for info, _ in history] == infos
    assert all(same(curve, curves_at(info.n)["a"]) for info, curve in history)
    assert [info.n for info, _ in reader.history("a", after=infos[-3].id)] == [990, 1000]


def test_importances_are_the_largest_over_the_outputs(tmp_path):
    with Log(tmp_path) as log:
        curves = [make_curve(n_outputs=3, seed=seed) for seed in range(4)]
        for n, curve in enumerate(curves):
            log.snapshot({"a": curve}, n)
        log.snapshot({"a": make_curve(n_outputs=0)}, 9)
    with LogReader(tmp_path) as reader:
        n, importance = reader.importances()["a"]
        assert (n.tolist(), n.dtype, importance.dtype) == ([0, 1, 2, 3, 9], np.int64, np.float64)
        assert importance[:4].tolist() == [max(curve.importance) for curve in curves]
        assert np.isnan(importance[4])
        assert reader.importances(after=2)["a"][0].tolist() == [3, 9]


def test_changes_and_metrics(reader):
    (logged,) = reader.changes()
    assert (logged.n, same(logged.change, make_change(t=400))) == (400, True)
    assert reader.changes(after=logged.id) == []
    n, accuracy = reader.metrics()["Accuracy"]
    assert n.tolist() == list(range(20, 1001, 20))
    assert accuracy.tolist() == [value / 1000 for value in n.tolist()]
    assert np.isnan(reader.metrics()["F1"][1]).all()
    assert reader.metrics(after=980)["Accuracy"][0].tolist() == [1000]
    assert reader.metrics(after=1000) == {}


@pytest.mark.parametrize(
    ("settings", "own", "target"),
    [
        ({"target": "churned"}, None, "churned"),  # as in logs from before changes knew it
        ({"command": {"target": "churned"}}, None, "churned"),
        ({"target": "churned"}, "price", "price"),
        ({}, None, None),
    ],
)
def test_changes_know_the_target_of_the_run(tmp_path, settings, own, target):
    with Log(tmp_path) as log:
        log.begin(settings, ["a"])
        log.change(replace(make_change(t=400), target=own), 400)
        log.end(400)
    with LogReader(tmp_path) as reader:
        (logged,) = reader.changes()
    assert logged.change.target == target


def test_a_follower_gets_each_thing_once(tmp_path):
    with Log(tmp_path) as log, LogReader(tmp_path) as reader:
        seen, last = [], 0
        for n in range(1, 30):
            log.snapshot(curves_at(n), n)
            if n % 3 == 0:
                log.commit()
                new = reader.snapshots(after=last)
                assert [info.n for info in new] == reader.importances(after=last)["a"][0].tolist()
                assert new == [info for info, _ in reader.history("a", after=last)]
                last = new[-1].id
                seen += [info.n for info in new]
        assert seen == list(range(1, 28))


@pytest.mark.parametrize("feature", FEATURES, ids=repr)
def test_a_feature_of_any_name_comes_back_with_its_type(tmp_path, feature):
    curve = make_curve(feature)
    with Log(tmp_path) as log:
        log.snapshot({feature: curve}, 1)
        log.change(make_change(feature), 1)
    with LogReader(tmp_path) as reader:
        assert reader.features == [feature]
        assert type(reader.features[0]) is type(feature)
        assert same(reader.at(1)[feature], curve)
        assert same(next(reader.history(feature))[1], curve)
        assert list(reader.importances()) == [feature]
        assert same(reader.changes()[0].change, make_change(feature))


def test_an_unknown_feature_is_named(reader):
    with pytest.raises(ValueError, match=r"no feature 'c': the log has \['b', 'a'\]"):
        next(reader.history("c"))


def test_features_that_come_later_have_a_place(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot(curves_at(1, ["a"]), 1)
        log.snapshot(curves_at(2, ["c", "a"]), 2)
    with LogReader(tmp_path) as reader:
        assert reader.features == ["a", "c"]
        assert [list(snapshot.curves) for snapshot in reader.between(0, 9)] == [["a"], ["a", "c"]]
        assert reader.importances()["c"][0].tolist() == [2]


def test_a_new_log_is_empty(tmp_path):
    Log(tmp_path).close()
    with LogReader(tmp_path) as reader:
        assert (reader.status.state, reader.status.n) == ("empty", 0)
        assert reader.settings == {}
        assert reader.features == reader.snapshots() == reader.changes() == []
        assert reader.metrics() == reader.importances() == {}
        assert list(reader.between(0, 9)) == []
        assert reader.verify() == []
        with pytest.raises(NotEnoughSamples):
            reader.at(5)


def test_curves_of_an_explainer_come_back(tmp_path):
    pdp = ipdp.IncrementalPDP(
        lambda x: x["a"] + (x["colour"] == "red"), ["a", "colour", ("a", "colour")], alpha=0.05
    )
    rng = np.random.default_rng(1)
    with Log(tmp_path) as log:
        for _ in range(200):
            pdp.explain_one({"a": rng.normal(), "colour": rng.choice(["red", "blue"]).item()})
        curves = pdp.curves
        log.snapshot(curves, 200)
    with LogReader(tmp_path) as reader:
        for feature, curve in reader.at(200).items():
            assert curve.average.tobytes() == curves[feature].average.tobytes()
            assert curve.to_dict()["grid_values"] == curves[feature].to_dict()["grid_values"]
            assert curve.categorical == curves[feature].categorical


def test_threads_may_share_a_reader(reader):
    failures = []

    def read():
        try:
            for _ in range(20):
                assert len(list(reader.history("a"))) == 100
                assert len(reader.snapshots()) == 100
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda reader: reader.snapshots(after=500),
        lambda reader: reader.at(500),
        lambda reader: list(reader.between(100, 200)),
        lambda reader: list(reader.history("a", after=500)),
        lambda reader: reader.importances(after=500),
        lambda reader: reader.changes(after=0),
        lambda reader: reader.metrics(after=500),
    ],
)
def test_every_question_is_answered_by_an_index(reader, ask):
    queries = []
    reader._connection.set_trace_callback(queries.append)
    ask(reader)
    reader._connection.set_trace_callback(None)
    for query in queries:
        if "FROM features" in query:
            continue  # it is read whole, and small
        for *_, detail in reader._connection.execute(f"EXPLAIN QUERY PLAN {query}"):
            # What may be scanned is the page of snapshots that was found by an index.
            assert not detail.startswith("SCAN") or "subquery" in detail, (query, detail)
            if "importance" in query:
                assert "COVERING INDEX" in detail  # no blob is touched


def test_many_features_and_snapshots_are_read_fast(tmp_path):
    features = [f"f{k}" for k in range(100)]
    with Log(tmp_path) as log:
        log.snapshot({name: make_curve(name) for name in features}, 1)
        log.commit()
        with log._batch.transaction() as execute:  # the same snapshot 2,000 times
            later = "WITH RECURSIVE later(n) AS (SELECT 2 UNION SELECT n + 1 FROM later LIMIT 1999)"
            for table in ("snapshots", "curves"):
                cursor = execute(f"SELECT * FROM {table}")
                columns = ", ".join(column[0] for column in cursor.description)
                values = columns.replace("n,", "later.n,", 1).replace("curve,", "zeroblob(9),")
                execute(f"INSERT INTO {table} ({columns}) {later} SELECT {values} "
                        f"FROM later, {table} WHERE {table}.n = 1 ORDER BY later.n")  # fmt: skip
    with LogReader(tmp_path) as reader:
        found = reader.importances()
        new = reader.importances(after=1999)
    assert len(found) == 100
    assert all(len(n) == 2000 for n, _ in found.values())
    assert all(n.tolist() == [2000] for n, _ in new.values())


# Several explainers


@pytest.fixture
def two(tmp_path):
    """The log of a run with two explainers, one of which says something later and of a pair."""
    with Log(tmp_path) as log:
        log.begin({}, {"pdp": None, "pfi": ["b", ("a", "b")]})
        for n in (10, 20, 30):
            pair = ("a", "b")
            importances = {pair: make_importance(pair, n), "b": make_importance("b", n, n / 100)}
            log.snapshot({"pdp": curves_at(n), "pfi": importances if n > 10 else {}}, n)
    with LogReader(tmp_path) as reader:
        yield reader


def test_the_explainers_are_in_the_order_of_the_run(two):
    assert two.explainers == ["pdp", "pfi"]
    assert two.features == ["a", "b"]
    assert two.verify() == []


def test_results_of_each_explainer_are_read_by_its_name(two):
    assert same(two.at(30)["a"], curves_at(30)["a"])
    assert two.at(10, "pfi") == {}
    assert two.at(25, "pfi") == {
        ("a", "b"): make_importance(("a", "b"), 20),
        "b": make_importance("b", 20, 0.2),
    }
    n, values = two.importances(explainer="pfi")["b"]
    assert (n.tolist(), values.tolist()) == ([20, 30], [0.2, 0.3])
    history = two.history("b", explainer="pfi", after=20)
    assert [(info.n, result.value) for info, result in history] == [(30, 0.3)]


def test_a_snapshot_holds_the_results_of_all_explainers(two):
    first, *_, last = two.between(0, 100)
    assert first.results["pfi"] == {}
    assert list(last.results) == ["pdp", "pfi"]
    assert same(last.curves["b"], curves_at(30)["b"])
    assert last.results["pfi"]["b"].n_effective == 10.0


def test_an_explainer_or_a_feature_that_is_not_there_is_named(two):
    with pytest.raises(ValueError, match="there is no explainer 'ale'; there are: 'pdp', 'pfi'"):
        two.importances(explainer="ale")
    with pytest.raises(ValueError, match=r"no feature 'a': the log has \[\('a', 'b'\), 'b'\]"):
        list(two.history("a", explainer="pfi"))


def read_all(reader):
    list(reader.between(0, 1_000))
    reader.snapshots(), reader.importances(), reader.metrics(), reader.changes()
    for name in reader.explainers:
        reader.at(1_000, name)


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM features WHERE number = 1",
        "UPDATE features SET explainer = x'00ff' WHERE number = 1",
        "UPDATE snapshots SET time = '' WHERE n = 500",
        "UPDATE snapshots SET time = 1e300 WHERE n = 500",
        "UPDATE snapshots SET reasons = 0 WHERE n = 500",
        "UPDATE snapshots SET reasons = 'x' WHERE n = 500",
        "UPDATE curves SET n = 6e302 WHERE n = 500",
        "UPDATE curves SET importance = 'x' WHERE n = 500",
        "UPDATE changes SET n = 1e200",
        'UPDATE metrics SET "values" = \'{"Accuracy": "x"}\' WHERE n = 500',
    ],
)
def test_whatever_is_in_it_a_reader_says_that_a_log_is_damaged(run, tmp_path, edit):
    shutil.copy(run / "log.db", tmp_path)
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(edit)
    with LogReader(tmp_path) as reader, pytest.raises(LogError, match="damaged"):
        read_all(reader)
