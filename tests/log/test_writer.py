"""Writing: order, reasons, ends, resuming, and a disk that is full."""

import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.log.making import make_change, make_curve, make_importance, same

from ipdp.log import Log, LogError, LogReader, Retention, batch


def curves_at(n):
    return {name: make_curve(name, n_samples=n, seed=k) for k, name in enumerate("ab")}


def content(path):
    """All that a log holds, but for the time on the wall."""
    with LogReader(path) as reader:
        return {
            table: reader._rows(query)
            for table, query in {
                "run": "SELECT settings, retention, state, n, n_snapshots, n_changes, n_metrics "
                "FROM run",
                "features": "SELECT number, name FROM features",
                "snapshots": "SELECT n, reasons, expires, n_curves FROM snapshots",
                "curves": "SELECT n, feature, importance, curve FROM curves ORDER BY n, feature",
                "changes": "SELECT id, n, change, before, after FROM changes",
                "metrics": 'SELECT n, "values", expires FROM metrics',
            }.items()
        }


# Snapshots


def test_features_are_numbered_by_explainer(tmp_path):
    with Log(tmp_path) as log:
        log.begin({}, {"pfi": ["a"], "pdp": ["b", "a"]})
        log.snapshot({"pfi": {"a": make_importance()}, "pdp": curves_at(1)}, 1)
        assert log._rows("SELECT number, explainer, name FROM features ORDER BY number") == [
            (0, "pfi", '"a"'),
            (1, "pdp", '"b"'),
            (2, "pdp", '"a"'),
        ]
        assert log.verify() == []


def test_an_importance_that_is_no_number_is_unknown(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot({"pfi": {"a": make_importance(value=np.nan)}}, 1)
        assert log._rows("SELECT importance FROM curves") == [(None,)]
        assert np.isnan(log.at(1)["a"].value)
        assert log.verify() == []


def test_results_by_feature_and_by_explainer_are_not_mixed(tmp_path):
    with Log(tmp_path) as log, pytest.raises(TypeError, match="by feature, or by explainer"):
        log.snapshot({"a": make_curve(), "pfi": {"a": make_importance()}}, 1)


def test_a_second_snapshot_at_the_same_n_only_strengthens_the_reason(tmp_path):
    with Log(tmp_path) as log:
        for reason in ("every", "end", "change", "every"):
            log.snapshot(curves_at(len(reason)), 10, reason)
        log.commit()
        assert [(info.n, info.reason) for info in log.snapshots()] == [(10, "change")]
        assert same(log.at(10)["a"], curves_at(5)["a"])
        assert log.verify() == []


def test_n_may_not_go_back(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot(curves_at(20), 20)
        log.metric({"MAE": 1}, 20)
        for write in (lambda: log.snapshot(curves_at(10), 10), lambda: log.metric({"MAE": 1}, 10)):
            with pytest.raises(ValueError, match=r"n = 10 comes after n = 20 .* rewind\(10\)"):
                write()
        with pytest.raises(ValueError, match="n must be a whole number of at least 0, got -1"):
            log.change(make_change(), -1)
        assert len(log.snapshots()) == 1
        assert log.verify() == []


def test_a_bad_reason_state_or_durability_is_named(tmp_path):
    with Log(tmp_path) as log:
        with pytest.raises(ValueError, match=r"reason must be one of .*, got 'because'"):
            log.snapshot(curves_at(1), 1, "because")
        with pytest.raises(ValueError, match=r"state must be one of .*, got 'asleep'"):
            log.end(1, "asleep")
        with pytest.raises(TypeError, match=r"settings cannot be logged: .*set"):
            log.begin({"a": {1}})
    with pytest.raises(ValueError, match="durability must be 'normal' or 'full', got 'none'"):
        Log(tmp_path, durability="none")


def test_a_curve_that_cannot_be_logged_leaves_the_log_as_it_was(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot(curves_at(1), 1)
        bad = {**curves_at(2), "c": make_curve(outputs=(b"bytes",))}
        with pytest.raises(TypeError, match="cannot be logged"):
            log.snapshot(bad, 2)
        log.snapshot(curves_at(2), 2)
        assert log.features == ["a", "b"]
        assert [info.n for info in log.snapshots()] == [1, 2]


def test_without_curves_nothing_is_written(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot({}, 0)
        log.snapshot({}, 5)
        assert log.snapshots() == []
        assert log.status.n == 5


def test_curves_that_are_infinite_or_empty_are_logged(tmp_path):
    infinite = make_curve(average=np.array([[0.0, np.inf, np.nan]]), size=3)
    with Log(tmp_path) as log:
        log.snapshot({"a": infinite, "b": make_curve("b", n_outputs=0)}, 1)
        assert same(log.at(1)["a"], infinite)
        assert [len(n) for n, _ in log.importances().values()] == [1, 1]
        assert log.verify() == []


def test_metrics_of_one_n_are_joined(tmp_path):
    with Log(tmp_path) as log:
        log.metric({"MAE": 1.0}, 5)
        log.metric({"R2": 0.5, "MAE": 2.0}, 5)
        assert {k: (n.tolist(), v.tolist()) for k, (n, v) in log.metrics().items()} == {
            "MAE": ([5], [2.0]),
            "R2": ([5], [0.5]),
        }
        assert log.verify() == []


# Commits


def test_commits_come_about_once_a_second(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(batch.time, "monotonic", lambda: now[0])
    with Log(tmp_path) as log, LogReader(tmp_path) as reader:
        log.begin({})
        for n in range(1, 25):
            now[0] += 0.125
            log.snapshot(curves_at(n), n)
            assert len(reader.snapshots()) == n - n % 8
        now[0] += 0.875
        log.beat(35)
        assert reader.status.n == 24
        now[0] += 0.125
        log.beat(36)
        assert reader.status.n == 36


def test_full_durability_commits_every_snapshot(tmp_path):
    with Log(tmp_path, durability="full") as log, LogReader(tmp_path) as reader:
        assert log._rows("PRAGMA synchronous") == [(2,)]
        for n in range(1, 4):
            log.snapshot(curves_at(n), n)
            assert len(reader.snapshots()) == n


def test_the_log_uses_a_write_ahead_file_and_normal_synchronisation(tmp_path):
    with Log(tmp_path) as log:
        assert log._rows("PRAGMA journal_mode") == [("wal",)]
        assert log._rows("PRAGMA synchronous") == [(1,)]


def test_a_finished_log_is_one_file(tmp_path):
    with Log(tmp_path) as log:
        log.snapshot(curves_at(1), 1)
    assert {file.name for file in tmp_path.iterdir()} == {"log.db", "log.db-lock"}
    assert (tmp_path / "log.db-lock").stat().st_size == 0


# How a run ends


def test_a_run_that_is_not_ended_is_stopped_when_the_log_is_closed(tmp_path):
    with Log(tmp_path) as log:
        log.begin({})
        log.beat(7)
    with LogReader(tmp_path) as reader:
        assert (reader.status.state, reader.status.n) == ("stopped", 7)
        assert reader.status.started <= reader.status.heartbeat <= time.time()


def test_an_error_within_the_block_is_noted(tmp_path):
    def run():
        with Log(tmp_path) as log:
            log.beat(3)
            log.beat(3 // 0)

    with pytest.raises(ZeroDivisionError):
        run()
    with LogReader(tmp_path) as reader:
        status = reader.status
        assert (status.state, status.message) == (
            "failed",
            "ZeroDivisionError: integer division or modulo by zero",
        )


def test_what_was_said_at_the_end_stays(tmp_path):
    with Log(tmp_path) as log:
        log.begin({})
        log.end(9, "failed", "the model raised \ud800")
    with LogReader(tmp_path) as reader:
        status = reader.status
        assert (status.state, status.n) == ("failed", 9)
        assert status.message == "the model raised \\ud800"


@pytest.mark.parametrize("clock", [-1e6, 0, 1e6])
def test_a_run_has_died_when_nobody_writes_whatever_the_clock_says(tmp_path, monkeypatch, clock):
    script = f"""
import os, signal
from ipdp.log import Log
log = Log({str(tmp_path)!r})
log.beat(5)
log.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    with LogReader(tmp_path) as reader:
        moved = time.time() + clock
        monkeypatch.setattr(time, "time", lambda: moved)
        assert reader.status.state == "died"
        with Log(tmp_path):  # somebody goes on, and waits for observations
            assert reader.status.state == "running"


def test_a_run_that_ends_while_its_state_is_read_has_not_died(tmp_path, monkeypatch):
    log = Log(tmp_path)
    log.begin({})

    def is_locked(path):
        log.close()
        return False

    with LogReader(tmp_path) as reader:
        monkeypatch.setattr("ipdp.log.files.is_locked", is_locked)
        assert reader.status.state == "stopped"


def test_closing_twice_is_no_error_and_a_closed_log_says_so(tmp_path):
    log = Log(tmp_path)
    log.close()
    log.close()
    with pytest.raises(LogError, match="closed"):
        log.snapshots()


def test_a_run_begins_once(tmp_path):
    with Log(tmp_path) as log:
        log.begin({"a": 1})
        with pytest.raises(LogError, match="already holds a run: resume it, or log to another"):
            log.begin({"a": 2})
        assert log.settings == {"a": 1}


# Going on after an interruption


def write(log, ns, until):
    for n in ns:
        if n % 10 == 0:
            log.snapshot(curves_at(n), n)
            log.metric({"MAE": n / 7}, n)
        if n in (33, 120, 200):
            log.change(make_change(t=n), n)
            log.snapshot(curves_at(n), n, "change")
        log.beat(n)
        if n == until:
            return


@pytest.mark.parametrize("retention", [None, Retention(recent=60, per_doubling=3)])
@pytest.mark.parametrize("end", [None, "stopped", "ended"])
@pytest.mark.parametrize(("checkpoint", "crash"), [(0, 90), (100, 100), (115, 180), (200, 255)])
def test_a_resumed_log_is_the_uninterrupted_one(tmp_path, retention, end, checkpoint, crash):
    settings = {"alpha": 0.5}
    with Log(tmp_path / "whole", retention=retention) as log:
        log.begin(settings, ["a", "b"])
        write(log, range(1, 301), 300)
        log.snapshot(curves_at(300), 300, "end")
        log.end(300)
    with Log(tmp_path / "parts", retention=retention) as log:
        log.begin(settings, ["a", "b"])
        write(log, range(1, 301), crash)
        if end:
            log.snapshot(curves_at(crash), crash, "end")
            log.end(crash, end, "by hand")
    with Log(tmp_path / "parts") as log:
        log.rewind(min(checkpoint, crash))
        assert log.status.state == "running"
        assert log.verify() == []
        log.begin(settings, ["a", "b"])
        write(log, range(min(checkpoint, crash) + 1, 301), 300)
        log.snapshot(curves_at(300), 300, "end")
        log.end(300)
        assert log.verify() == []
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_rewind_takes_back_what_is_not_committed_yet(tmp_path):
    with Log(tmp_path) as log:
        for n in (10, 20, 30):
            log.snapshot(curves_at(n), n)
        log.rewind(15)
        assert [info.n for info in log.snapshots()] == [10]
        log.snapshot(curves_at(20), 20)
        assert log.verify() == []


# A full disk


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(batch.time, "monotonic", lambda: now[0])
    with Log(tmp_path) as log, LogReader(tmp_path) as reader:
        for n in range(1, 101):
            log.snapshot(curves_at(n), n)
        log.commit()
        (pages,) = log._rows("PRAGMA page_count")[0]
        log._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        for n in range(101, 151):
            log.snapshot(curves_at(n), n)
        now[0] += 2
        with pytest.raises(LogError, match=r"log\.db is full: make room and go on"):
            log.snapshot(curves_at(151), 151)
        log.snapshot(curves_at(152), 152)  # not due: gathered
        with pytest.raises(LogError, match="is full"):
            log.commit()
        assert len(reader.snapshots()) == 100
        assert reader.verify() == []

        log._connection.execute("PRAGMA max_page_count = 1000000")
        log.snapshot(curves_at(153), 153)
        log.commit()
        assert [info.n for info in reader.snapshots()] == list(range(1, 154))
        assert reader.verify() == []


def written_until_full(log):
    """Write snapshots until there is no room, and give the n of the one that did not fit."""
    for n in range(1, 10_000):
        try:
            log.snapshot(curves_at(n), n)
        except LogError as error:
            return n, str(error)
    raise AssertionError("the disk was never full")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
def test_a_small_file_system_that_fills_up(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with Log(place / "run.db", durability="full") as log:
            n, said = written_until_full(log)
            assert said.endswith("run.db is full: make room and go on, what was logged is kept")
            with LogReader(place / "run.db") as reader:
                assert [info.n for info in reader.snapshots()] == list(range(1, n))
                assert reader.verify() == []
            subprocess.run(["mount", "-o", "remount,size=8m", str(place)], check=True)
            log.snapshot(curves_at(n + 1), n + 1)
            assert [info.n for info in log.snapshots()] == list(range(1, n + 2))
            assert log.verify() == []
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_failing_migration_or_open_frees_the_lock(tmp_path):
    (tmp_path / "log.db").write_bytes(b"SQLite format 3\0" + b"\1" * 200)
    for _ in range(2):
        with pytest.raises(LogError, match="is no log of ipdp"):
            Log(tmp_path)
    (tmp_path / "log.db").unlink()
    Log(tmp_path).close()


def test_the_error_of_sqlite_is_the_cause(tmp_path):
    log = Log(tmp_path)
    log.close()
    with pytest.raises(LogError) as caught:
        log.snapshots()
    assert isinstance(caught.value.__cause__, sqlite3.Error)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_log_that_is_deleted_under_its_writer_is_said(tmp_path, is_replaced):
    log = Log(tmp_path)
    log.begin({})
    log.snapshot({"a": make_curve()}, 1)
    log.commit()
    content = log.path.read_bytes()
    log.path.unlink()
    if is_replaced:
        log.path.write_bytes(content)
    log.snapshot({"a": make_curve()}, 2)
    with pytest.raises(LogError, match=r"log\.db was deleted or replaced while it was written"):
        log.commit()
    with pytest.raises(LogError, match="was deleted or replaced"):
        log.close()


def test_a_change_that_went_on_gets_its_final_words(tmp_path):
    with Log(tmp_path / "log.ipdp") as log:
        log.begin({}, ["a"])
        for t in (100, 200):
            log.change(make_change(t=t), t)
        log.change(make_change(feature="b", t=200), 200)
        before = [logged.change.summary() for logged in log.changes()]
        final = replace(make_change(t=200), ended=350.0, kind="both")
        log.revise(final)
        log.revise(make_change(feature="c", t=200))  # was never logged
        assert [(logged.id, logged.n) for logged in log.changes()] == [(1, 100), (2, 200), (3, 200)]
        after = [logged.change for logged in log.changes()]
        assert [change.ended for change in after] == [None, 350.0, None]
        assert [c.summary() for c in after] == [before[0], final.summary(), before[2]]
