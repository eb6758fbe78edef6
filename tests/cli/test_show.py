"""`ipdp show`, `changes`, `check`: what comes out of a log."""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from rich.console import Console

import ipdp as library
from ipdp import Curve, Importance
from ipdp.cli.show import print_overview
from ipdp.log import Log, LogReader

from .conftest import HOSTILE, MODEL, curve

SENTENCE = "age: model changed since 160: effect on the chance of class 1 reversed"


def test_show(run, ipdp):
    answer = ipdp("show", run)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("run: ended, 300 observations, Accuracy 1, ")
    (age,) = [line for line in lines if line.lstrip().startswith("age ")]
    assert age.split() == [
        *["age", "▁▅█", "0..10", "chance", "of", "class", "1", "0..1", "▃▆█", "0.5"]
    ]
    assert "2 changes:" in lines
    assert any(f"210  {SENTENCE}" in line for line in lines)


def test_names_are_shown_as_they_are(run, ipdp):
    for command in ("show", "changes", "check"):
        out = ipdp(command, run).out
        assert "[red]a[/red]\\x1b]0;title\\x07" in out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_show_at_another_time(run, ipdp):
    answer = ipdp("show", run, "--at", "150")
    assert "After 100 observations:" in answer.out.splitlines()
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
    assert re.search(r"\d+ x \d+ points", out)


def test_show_before_the_first_curve(tmp_path, ipdp):
    with Log(tmp_path / "log.db") as log:
        log.begin({})
    answer = ipdp("show", tmp_path)
    assert answer.code == 0
    assert (
        answer.out.splitlines()[-1] == "The run stopped after 0 observations, too few for a curve."
    )


def test_show_before_the_model_has_said_anything(tmp_path, ipdp):
    out = tmp_path / "run"
    given = ["run", "--data", "agrawal?n_samples=400", "--model", MODEL, "--delay", "350"]
    assert ipdp(*given, "--out", out, "--features", "age", "--grid", "MinMax(3)", "-q").code == 0
    with LogReader(out) as reader:
        assert reader.at(200)["age"].outputs == ()
    answer = ipdp("show", out, "--at", "200")
    assert answer.code == 0, answer.err
    assert "age" in answer.out.split()
    shown = json.loads(ipdp("show", out, "--at", "200", "--json").out)
    assert shown["importance"] == {"age": 0.0}


def test_a_target_is_called_by_its_name(tmp_path, ipdp):
    values = np.array([[10.0, 30.0], [5.0, 4.0]])
    priced = Curve("a", ("price", "rent"), [np.array([0.0, 1.0])], values, values, 9, np.ones(2))
    with Log(tmp_path / "log.db") as log:
        log.begin({}, ["a"])
        log.snapshot({"a": priced}, 100)
        log.end(100)
    out = ipdp("show", tmp_path).out
    assert "price 10..30" in out
    assert "P(" not in out


def test_further_explainers_are_shown_below(tmp_path, ipdp):
    with Log(tmp_path / "log.db") as log:
        log.begin({}, {"pdp": ["age"], "loss": ["age", ("age", "salary")]})
        for n in (100, 200):
            both = {
                feature: Importance(feature, value * n / 200, 0.1, n, 50.0, n)
                for feature, value in (("age", 0.5), (("age", "salary"), -0.25))
            }
            log.snapshot({"pdp": {"age": curve("age", [0, 1.0])}, "loss": both}, n)
        log.end(200)
    lines = [line.split() for line in ipdp("show", tmp_path).out.splitlines()]
    place = lines.index(["loss:"])
    assert lines[place - 2][:2] == ["age", "▁█"]
    tables = [words for words in lines[place + 1 :] if words and words[0].startswith("age")]
    assert tables == [
        ["age", "▆█", "0.5", "(0.299..0.701)"],
        ["age*salary", "▂▁", "-0.25", "(-0.451..-0.049)"],
    ]
    shown = json.loads(ipdp("show", tmp_path, "--json").out)
    assert list(shown["explainers"]) == ["pdp", "loss"]
    assert shown["explainers"]["loss"]["age*salary"]["value"] == -0.25
    assert list(shown["curves"]) == ["age"]


def test_a_run_without_curves(tmp_path, ipdp):
    with Log(tmp_path / "log.db") as log:
        log.begin({}, {"loss": ["age"]})
        log.snapshot({"loss": {"age": Importance("age", 0.5, np.nan, 1, 1.0)}}, 100)
        log.end(100)
    (row,) = [line for line in ipdp("show", tmp_path).out.splitlines() if line.startswith(" age")]
    assert row.split() == ["age", "█", "0.5"]
    shown = json.loads(ipdp("show", tmp_path, "--json").out)
    assert (shown["curves"], shown["importance"]) == ({}, {"age": 0.5})


def test_changes(run, ipdp):
    lines = ipdp("changes", run).out.splitlines()
    assert lines[0] == f"      210  real     {SENTENCE}"
    assert len(lines) == 2
    assert len(ipdp("changes", run, "--feature", "age").out.splitlines()) == 1
    assert len(ipdp("changes", run, "--after", "210").out.splitlines()) == 1
    none = ipdp("changes", run, "--kind", "virtual").out
    assert none == "No changes of those asked for, of 2 changes; the last is real, at 250.\n"
    found = json.loads(ipdp("changes", run, "--json").out)
    assert [change["n"] for change in found] == [210, 250]
    assert library.Change.from_dict(found[0]).summary() == found[0]["summary"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 1, f"210  {SENTENCE}"),
        (["--feature", "age"], 1, "210  age: model changed"),
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
    assert answer.err.startswith(
        "ipdp: there is no feature 'agee' (did you mean 'age'?); there are: 'age', '[red]a"
    )
    answer = ipdp(command, run, "--kind", "imaginary")
    kinds = "'real', 'virtual', 'both', 'unclear'"
    assert answer.err == f"ipdp: --kind: there is no kind 'imaginary'; there are: {kinds}\n"


@pytest.mark.parametrize("command", ["show", "changes", "check", "verify", "report", "resume"])
def test_a_run_that_is_not_there(tmp_path, ipdp, command):
    answer = ipdp(command, tmp_path / "nowhere")
    assert answer.code == 2
    assert answer.err.startswith(f"ipdp: there is no log at {tmp_path / 'nowhere'}: ")
    (tmp_path / "log.db").write_text("not a log")
    assert ipdp(command, tmp_path).err == f"ipdp: {tmp_path / 'log.db'} is no log of ipdp\n"


def test_readers_leave_the_log_alone(run, ipdp):
    before = (run / "log.db").read_bytes()
    for command in ("show", "changes", "check", "verify", "report"):
        ipdp(command, run)
    assert (run / "log.db").read_bytes() == before
    with LogReader(run) as reader:
        assert reader.verify() == []


def test_a_narrow_terminal_shows_whole_words(finished):
    words = {}
    for width in (60, 200):
        out = Console(width=width, force_terminal=True, file=io.StringIO(), color_system=None)
        with LogReader(finished) as reader:
            print_overview(reader, None, out)
        lines = out.file.getvalue().splitlines()
        assert max(map(len, lines)) <= max(width, 60)
        words[width] = set(out.file.getvalue().split())
    assert words[60] - {"points"} <= words[200] | {"─" * k for k in range(70)}


@pytest.mark.parametrize(
    ("statement", "command"),
    [
        ("UPDATE run SET started = 1e300, heartbeat = -1e300", ["show"]),
        ("UPDATE run SET started = 1e300, heartbeat = -1e300", ["report"]),
        ("UPDATE run SET settings = '{\"explainers\": [1]}'", ["diff", "--at", "500"]),
        ('UPDATE run SET settings = \'{"explainers": {"pdp": 5}}\'', ["diff", "--at", "500"]),
        ("UPDATE run SET settings = '[1, 2]'", ["report"]),
        ("UPDATE run SET message = 7, state = 'failed'", ["show"]),
        ("UPDATE run SET message = hex(zeroblob(500000)), state = 'failed'", ["check"]),
    ],
)
def test_a_crafted_log_is_shown_or_refused_in_a_sentence(
    finished, ipdp, tmp_path, statement, command
):
    shutil.copytree(finished, tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "log.db")) as connection:
        connection.execute(statement)
        connection.commit()
    answer = ipdp(command[0], tmp_path / "run", *command[1:])
    assert answer.code in (0, 1, 2)  # 1: the two times differ
    assert len(answer.err.splitlines()) <= 1
    assert len(answer.err) < 3_000
    assert "--debug" not in answer.err  # which an error that nobody foresaw would propose
