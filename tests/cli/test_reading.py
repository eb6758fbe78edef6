"""`ipdp show`, `changes`, `check`, `verify`, `export`, `report`: what comes out of a log."""

from __future__ import annotations

import csv
import json
import sqlite3

import numpy as np
import pyarrow.parquet
import pytest

import ipdp as library
from ipdp import Curve
from ipdp.cli.sparklines import sparkline, thinned
from ipdp.log import Log, LogReader

HOSTILE = "[red]a[/red]\x1b]0;title\x07\n\u202e"


def curve(name, values, outputs=(0, 1)):
    values = np.array([np.subtract(1, values), values])
    size = values.shape[1]
    return Curve(
        name, outputs, [np.linspace(0, 10, size)], values, values * 0.1, 100, np.full(size, 50.0)
    )


def changed(name, n):
    return library.Change(
        name, 1, t=n, began=n - 50, before=curve(name, [0, 1.0]), after=curve(name, [1.0, 0]),
        size=1.0, kind="real",
    )  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """A log with everything in it, names of the hostile kind too."""
    with Log(tmp_path / "run" / "log.db") as log:
        log.begin({"command": {}}, ["age", HOSTILE])
        for n in (100, 200, 300):
            share = n / 300
            curves = {
                "age": curve("age", [0, share / 2, share]),
                HOSTILE: curve(HOSTILE, [0.2, 0.1, 0.2]),
            }
            log.snapshot(curves, n)
            log.metric({"Accuracy": share}, n)
        log.change(changed("age", 210), 210)
        log.change(changed(HOSTILE, 250), 250)
        log.end(300)
    return tmp_path / "run"


def test_show(run, ipdp):
    answer = ipdp("show", run)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("run: ended, 300 observations, Accuracy 1, ")
    (age,) = [line for line in lines if line.lstrip().startswith("age ")]
    assert age.split()[:5] == ["age", "▁▅█", "0..10", "P(1)", "0..1"]
    assert age.split()[5:] == ["▃▆█", "0.5"]
    assert "2 changes:" in lines
    assert any("210  age: effect on P(1) reversed" in line for line in lines)


def test_names_are_shown_as_they_are(run, ipdp):
    for command in ("show", "changes", "check"):
        out = ipdp(command, run).out
        assert "[red]a[/red]\\x1b]0;title\\x07" in out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_show_at_another_time(run, ipdp):
    answer = ipdp("show", run, "--at", "150")
    assert "Curves after 100 observations:" in answer.out.splitlines()
    answer = ipdp("show", run, "--at", "50")
    assert answer.code == 2
    assert answer.err == "ipdp: no snapshot at or before n = 50\n"


def test_show_as_json(run, ipdp):
    shown = json.loads(ipdp("show", run, "--json").out)
    assert (shown["state"], shown["n"], shown["metrics"]) == ("ended", 300, {"Accuracy": 1.0})
    assert shown["importance"]["age"] == pytest.approx(0.5)
    assert shown["curves"]["age"]["average"][1] == [0.0, 0.5, 1.0]
    assert [change["n"] for change in shown["changes"]] == [210, 250]


def test_show_a_real_run(finished, ipdp):
    out = ipdp("show", finished).out
    assert "age*elevel" in out
    assert "5 x 5 points" in out


def test_show_before_the_first_curve(tmp_path, ipdp):
    with Log(tmp_path / "log.db") as log:
        log.begin({})
    answer = ipdp("show", tmp_path)
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "No curves yet."


def test_changes(run, ipdp):
    lines = ipdp("changes", run).out.splitlines()
    assert lines[0] == (
        "      210  real     age: effect on P(1) reversed, 50 observations ago; range unchanged"
    )
    assert len(lines) == 2
    assert len(ipdp("changes", run, "--feature", "age").out.splitlines()) == 1
    assert len(ipdp("changes", run, "--after", "210").out.splitlines()) == 1
    assert ipdp("changes", run, "--kind", "virtual").out == "No changes.\n"
    found = json.loads(ipdp("changes", run, "--json").out)
    assert [change["n"] for change in found] == [210, 250]
    assert library.Change.from_dict(found[0]).summary() == found[0]["summary"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 1, "210  age: effect on P(1) reversed"),
        (["--feature", "age"], 1, "210  age: effect"),
        (["--kind", "virtual,both"], 0, "No effect changed in 300 observations."),
        (["--after", "250"], 0, "No effect changed in 300 observations."),
        (["--quiet"], 1, ""),
    ],
)
def test_check(run, ipdp, options, code, said):
    answer = ipdp("check", run, *options)
    assert answer.code == code
    assert said in answer.out
    assert bool(answer.out) == bool(said)


def test_check_as_json(run, ipdp):
    answer = ipdp("check", run, "--json")
    assert answer.code == 1
    checked = json.loads(answer.out)
    assert checked["changed"] is True
    assert [change["feature"] for change in checked["changes"]] == ["age", HOSTILE]


def test_a_run_that_failed_cannot_be_vouched_for(tmp_path, ipdp):
    with Log(tmp_path / "log.db") as log:
        log.begin({})
        log.end(5, "failed", "the model is gone")
    answer = ipdp("check", tmp_path)
    assert answer.code == 2
    assert answer.err == f"ipdp: the run in {tmp_path} failed: the model is gone\n"


@pytest.mark.parametrize("command", ["changes", "check"])
def test_what_is_refused(run, ipdp, command):
    answer = ipdp(command, run, "--feature", "agee")
    assert answer.code == 2
    assert answer.err.startswith("ipdp: there is no feature 'agee': the run has age, [red]a")
    answer = ipdp(command, run, "--kind", "imaginary")
    assert answer.err == (
        "ipdp: --kind: there is no kind 'imaginary'; they are real, virtual, both, unclear\n"
    )


@pytest.mark.parametrize("command", ["show", "changes", "check", "verify", "report", "resume"])
def test_a_run_that_is_not_there(tmp_path, ipdp, command):
    answer = ipdp(command, tmp_path / "nowhere")
    assert answer.code == 2
    assert answer.err.startswith(f"ipdp: there is no log at {tmp_path / 'nowhere'}: ")
    (tmp_path / "log.db").write_text("not a log")
    assert ipdp(command, tmp_path).err == f"ipdp: {tmp_path / 'log.db'} is no log of ipdp\n"


def test_verify(run, ipdp):
    assert ipdp("verify", run).out == "The log is sound.\n"
    connection = sqlite3.connect(run / "log.db")
    connection.execute("DELETE FROM curves WHERE n = 200")
    connection.commit()
    connection.close()
    answer = ipdp("verify", run)
    assert answer.code == 2
    assert answer.err
    assert json.loads(ipdp("verify", run, "--json").out)["problems"]


def test_export(run, ipdp, tmp_path):
    answer = ipdp("export", run, tmp_path / "curves.csv")
    assert (answer.code, answer.out) == (0, f"Written: {tmp_path / 'curves.csv'}\n")
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert {row["feature"] for row in rows if row["n"] == "300"} >= {"age"}
    path = tmp_path / "changes.parquet"
    assert ipdp("export", run, path, "--what", "changes", "-q").out == ""
    assert pyarrow.parquet.read_table(path).num_rows == 2
    assert ipdp("export", run, tmp_path / "table", "--format", "jsonl", "-q").code == 0
    assert json.loads((tmp_path / "table").read_text().splitlines()[0])
    answer = ipdp("export", run, tmp_path / "curves.xls")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1


def test_report(run, ipdp, tmp_path):
    answer = ipdp("report", run)
    assert (answer.code, answer.out) == (0, f"Written: {run / 'report.html'}\n")
    assert (run / "report.html").read_text().lower().startswith("<!doctype html>")
    assert ipdp("report", run, "--out", tmp_path / "mine.html", "--quiet").out == ""
    answer = ipdp("report", run, "--format", "pdf", "-o", tmp_path / "figures")
    assert (answer.code, answer.out) == (0, f"Written: {tmp_path / 'figures'}\n")
    assert {file.suffix for file in (tmp_path / "figures").iterdir()} == {".pdf"}
    assert ipdp("report", run, "--format", "gif").code == 2
    assert (tmp_path / "mine.html").exists()


def test_readers_leave_the_log_alone(run, ipdp):
    before = (run / "log.db").read_bytes()
    for command in ("show", "changes", "check", "verify", "report"):
        ipdp(command, run)
    assert (run / "log.db").read_bytes() == before
    with LogReader(run) as reader:
        assert reader.verify() == []


def test_sparklines():
    assert sparkline([1, 1, 1]) == "▁▁▁"
    assert sparkline([]) == ""
    assert sparkline([float("nan")] * 2) == "  "
    assert sparkline([0, 1], plain=True) == "_@"
    assert sparkline([-5, 0.5, 99], 0, 1) == "▁▅█"
    assert thinned(list(range(100)), 5) == [0, 25, 50, 74, 99]
