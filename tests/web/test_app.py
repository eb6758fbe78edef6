"""Every view has a JSON twin, and it says what the log says."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.web.logs import FEATURES, change_at, curves_at, read_frames, write_explained, write_run

from ipdp.log import Log, LogReader
from ipdp.web import make_app, runs
from ipdp.web.app import PollInterval


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 0.0)


def client_of(directory, **options):
    return TestClient(make_app(directory, **options), base_url="http://127.0.0.1:8321")


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "loans")


def test_a_single_run_is_shown_at_once(run):
    with client_of(run) as client:
        answer = client.get("/", follow_redirects=False)
        assert answer.status_code == 307
        page = client.get(answer.headers["location"])
    assert page.status_code == 200
    assert "<title>loans · ipdp</title>" in page.text
    assert 'role="switch"' in page.text


def test_the_numbers_are_the_log_s(run):
    with LogReader(run) as reader, client_of(run) as client:
        told = client.get("/runs/loans.json").json()
        assert told["n"] == [info.n for info in reader.snapshots()]
        assert [change["sentence"] for change in told["changes"]] == [
            logged.change.summary() for logged in reader.changes()
        ]
        for k, feature in enumerate(FEATURES):
            frames = client.get(f"/runs/loans/features/{k}.json").json()
            for (n, _, _, average, _), (info, curve) in zip(
                read_frames(frames), reader.history(feature), strict=True
            ):
                assert n == info.n
                np.testing.assert_allclose(average, curve.average, rtol=1e-6)


def test_an_explainer_is_asked_for_by_its_name(tmp_path):
    write_explained(tmp_path / "run")
    with client_of(tmp_path) as client:
        curves = client.get("/runs/run/features/1.json").json()
        assert client.get("/runs/run/features/1.json?explainer=pdp").json() == curves
        assert client.get("/runs/run/features/1.json?explainer=ale").json() != curves
        assert "value" in client.get("/runs/run/features/1.json?explainer=gain").json()
        assert client.get("/runs/run/features/1.json?explainer=absent").status_code == 404


def test_a_page_that_follows_is_told_only_what_is_new(tmp_path):
    with Log(tmp_path / "run") as log, client_of(tmp_path) as client:
        log.begin({}, FEATURES)
        log.commit()
        first = client.get("/runs/run.json").json()
        assert (first["n"], first["status"]["state"]) == ([], "running")
        log.snapshot(curves_at(100), 100)
        log.commit()
        second = client.get(f"/runs/run.json?after={first['next']}").json()
        assert second["n"] == [100]
        assert client.get("/runs/run/features/0.json?after=100").json()["n"] == []
        log.snapshot(curves_at(200), 200)
        log.change(change_at(200), 200)
        log.commit()
        third = client.get(f"/runs/run.json?after={second['next']}").json()
        assert (third["n"], len(third["changes"])) == ([200], 1)
        assert client.get("/runs/run/features/0.json?after=100").json()["n"] == [200]


def test_many_pages_cost_one_reading(run, monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 60.0)
    with client_of(run) as client:
        first = client.get("/runs/loans.json")
        frames = client.get("/runs/loans/features/0.json")

        def refuse(*_args):
            raise AssertionError("the log was read again")

        monkeypatch.setattr(LogReader, "_rows", refuse)
        assert client.get("/runs/loans.json").content == first.content
        assert client.get("/runs/loans/features/0.json").content == frames.content


@pytest.fixture
def several(tmp_path):
    for state in ("ended", "running", "died", "failed", "stopped"):
        write_run(tmp_path / state, 300, changes=(), state=state)
    with Log(tmp_path / "empty"):
        pass
    (tmp_path / "broken.db").write_text("this is no database")
    (tmp_path / "notes").mkdir()
    return tmp_path


def test_several_runs_and_how_they_are_doing(several):
    with client_of(several) as client:
        assert "index.js" in client.get("/").text
        told = {run["name"]: run for run in client.get("/runs.json").json()["runs"]}
    states = {name: run["state"] for name, run in told.items()}
    names = ("ended", "running", "died", "failed", "stopped", "empty")
    assert states == {"broken.db": "unreadable", **{name: name for name in names}}
    assert "no log of ipdp" in told["broken.db"]["message"]
    assert told["failed"]["message"] == "KeyError: 'salary'"


def test_a_log_that_is_none_is_a_state_and_not_a_crash(several):
    with client_of(several) as client:
        assert client.get("/runs/broken.db").status_code == 200
        answer = client.get("/runs/broken.db.json")
        assert answer.status_code == 422
        assert "no log of ipdp" in answer.json()["error"]
        assert client.get("/runs/broken.db/features/0.json").status_code == 422
        # Nor does it keep others from being read.
        assert client.get("/runs/ended.json").status_code == 200


DAMAGE = {
    "heartbeat": "UPDATE run SET heartbeat = NULL",
    "start": "UPDATE run SET started = 'yesterday'",
    "number": "UPDATE run SET n = 'many'",
    "settings": f"UPDATE run SET settings = '{'[' * 100_000}'",
    "feature": "UPDATE features SET name = '{' WHERE number = 1",
    "no run": "DELETE FROM run",
    "no table": "DROP TABLE run",
    "curve": "UPDATE curves SET curve = x'00'",
}


@pytest.fixture
def damaged(tmp_path):
    """A directory of one good run and many that are not."""
    write_run(tmp_path / "good", 300, changes=())
    for name, statement in DAMAGE.items():
        write_run(tmp_path / name, 300, changes=(), state="running")
        with closing(sqlite3.connect(tmp_path / name / "log.db")) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute(statement)
            connection.commit()
    return tmp_path


def test_a_damaged_log_says_so_and_leaves_the_others_alone(damaged):
    with client_of(damaged) as client:
        told = {run["name"]: run for run in client.get("/runs.json").json()["runs"]}
        assert set(told) == {"good", *DAMAGE}
        assert told["good"]["state"] == "ended"
        for name in ("heartbeat", "start", "number", "no run", "no table"):
            assert told[name]["state"] == "unreadable", name
            assert told[name]["message"]
        for run in told.values():
            assert client.get(run["address"]).status_code == 200
            assert client.get(f"{run['address']}.json").status_code in (200, 422)
            answer = client.get(f"{run['address']}/features/0.json")
            assert answer.status_code in (200, 422)
            if answer.status_code == 422:
                assert answer.json()["error"]
        assert client.get("/runs/good/features/0.json").status_code == 200
        assert client.get("/runs/settings.json").status_code == 422


def test_a_log_that_takes_long_keeps_one_thread_busy(several, monkeypatch):
    listed = runs.Runs(several)
    first = listed.payload()
    started, go_on = threading.Event(), threading.Event()

    def slow(_reader):
        started.set()
        go_on.wait(120)
        raise OSError("at last")

    monkeypatch.setattr(runs, "status_of", slow)
    reading = threading.Thread(target=listed.payload)
    reading.start()
    started.wait(120)
    assert listed.payload() == first
    go_on.set()
    reading.join()
    assert b"at last" in listed.payload()


def test_a_directory_whose_name_is_not_utf_8(tmp_path):
    write_run(tmp_path / "good", 300, changes=())
    try:
        (tmp_path / "good").rename(tmp_path / os.fsdecode(b"l\xf6we"))
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    with client_of(tmp_path) as client:
        [run] = client.get("/runs.json").json()["runs"]
        assert client.get(f"{run['address']}.json").json()["n"] == [100, 200, 300]


def test_runs_come_and_go(tmp_path):
    with client_of(tmp_path) as client:
        assert client.get("/runs.json").json()["runs"] == []
        assert "No run here yet" in client.get("/").text
        write_run(tmp_path / "new", 300, changes=())
        assert client.get("/runs/new.json").status_code == 200
        (tmp_path / "new" / "log.db").unlink()
        assert client.get("/runs/new.json").status_code == 404


def test_a_log_that_is_replaced_is_read_anew(tmp_path):
    write_run(tmp_path / "run", 300, changes=())
    with client_of(tmp_path) as client:
        before = client.get("/runs/run.json").json()
        write_run(tmp_path / "other", 500, changes=())
        (tmp_path / "other" / "log.db").replace(tmp_path / "run" / "log.db")
        after = client.get("/runs/run.json").json()
    assert len(after["n"]) == 5
    assert after["revision"] != before["revision"]


def test_names_of_runs_are_found_whatever_is_in_them(tmp_path):
    name = "<b>50% ? # & é"
    write_run(tmp_path / name, 300, changes=())
    write_run(tmp_path / "b", 300, changes=())
    with client_of(tmp_path) as client:
        told = {run["name"]: run for run in client.get("/runs.json").json()["runs"]}
        address = told[name]["address"]
        assert client.get(f"{address}.json").json()["name"] == name
        page = client.get(address)
    assert "&lt;b&gt;50%" in page.text
    assert "<b>" not in page.text


def test_a_file_will_do(run):
    with client_of(run / "log.db") as client:
        assert client.get("/runs/log.json").status_code == 200


def test_where_there_is_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="a directory of runs"):
        make_app(tmp_path / "absent")


def test_nothing_is_written_to_the_run(run):
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    with client_of(run) as client:
        assert client.get("/runs/loans.json").status_code == 200
        assert client.get("/runs/loans/features/0.json").status_code == 200
    assert (run / "log.db").read_bytes() == before["log.db"]


def test_static_files_are_packed_and_kept(run):
    with client_of(run) as client:
        page = client.get("/runs/loans").text
        names = [part.split('"')[0] for part in page.split('src="')[1:]]
        assert len(names) == 10
        for name in names:
            answer = client.get(name)
            assert answer.status_code == 200
            assert answer.headers["content-encoding"] == "gzip"
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["content-type"].startswith("text/javascript")
        assert client.get(names[0], headers={"accept-encoding": "identity"}).text
    assert "http://" not in page
    assert "https://" not in page


@pytest.mark.parametrize(
    ("pages", "pause"), [(1, 1.0), (20, 1.0), (50, 2.5), (150, 7.5), (900, 10.0)]
)
def test_pages_that_listen_ask_as_often_as_they_may(pages, pause):
    now = [0.0]
    interval = PollInterval(most=20, window=2, clock=lambda: now[0])
    due = [k / pages for k in range(pages)]
    told = []
    while now[0] < 60:
        k = min(range(pages), key=due.__getitem__)
        now[0] = due[k]
        told.append(interval.next())
        due[k] = now[0] + told[-1]
    # Counted over a window that is no multiple of the pause, so not to the last digit.
    assert sum(told[len(told) // 2 :]) / len(told[len(told) // 2 :]) == pytest.approx(
        pause, rel=0.15
    )


def test_when_they_leave_the_others_are_served_faster():
    now = [0.0]
    interval = PollInterval(most=20, window=2, clock=lambda: now[0])
    for now[0] in (0.5, 1.0, 1.5, 2.0):
        for _ in range(50):
            interval.next()
    assert interval.next() > 1
    for now[0] in (10.0, 12.0, 20.0):
        last = interval.next()
    assert last == 1.0
