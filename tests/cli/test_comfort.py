"""What makes `ipdp run` forgiving: overwriting, suggestions, completion, commands to run again."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys

import pytest
import skops.io
from sklearn.tree import DecisionTreeClassifier
from typer.main import get_command

from ipdp.cli import run as commands
from ipdp.cli.app import app
from ipdp.cli.options import completing
from ipdp.log import LogReader
from ipdp.runs.understood import divergence
from ipdp.sources.profile import Profile

MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"
AGRAWAL = ["--data", "agrawal?n_samples=300", "--features", "age", "--model", MODEL]


def test_overwrite(tmp_path, ipdp):
    out = tmp_path / "run"
    assert ipdp("run", *AGRAWAL, "--out", out, "-q").code == 0
    refused = ipdp("run", *AGRAWAL, "--out", out, "-q")
    assert refused.code == 2
    assert "--overwrite" in refused.err
    # What cannot begin loses nothing.
    wrong = ["--data", "agrawal?n_samples=200", "--model", "river.tree.NoSuchTree()"]
    assert ipdp("run", *wrong, "--out", out, "--overwrite").code == 2
    with LogReader(out) as reader:
        assert reader.status.n == 300
    odd = ["--interactions", "70", "--snapshot-every", "50"]
    assert ipdp("run", *AGRAWAL, *odd, "--out", out, "--overwrite").code == 2
    with LogReader(out) as reader:
        assert reader.status.n == 300
    shorter = ["--data", "agrawal?n_samples=200", "--features", "salary", "--model", MODEL]
    assert ipdp("run", *shorter, "--out", out, "--overwrite", "-q").code == 0
    with LogReader(out) as reader:
        assert reader.status.n == 200
        assert list(reader.at(200)) == ["salary"]
        assert reader.verify() == []
    assert ipdp("resume", out, "-q").code == 0
    assert ipdp("run", *shorter, "--out", out, "--overwrite", "--resume").code == 2


def test_what_is_refused_leaves_no_log_behind(tmp_path, ipdp):
    out = tmp_path / "runs" / "odd"
    odd = ["--interactions", "70", "--snapshot-every", "50"]
    refused = ipdp("run", *AGRAWAL, *odd, "--out", out)
    assert refused.code == 2
    assert "give a multiple of snapshot_every (50), got 70" in refused.err
    assert not out.exists()
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert ipdp("run", *AGRAWAL, *odd, "--out", out).code == 2
    assert [file.name for file in out.iterdir()] == ["notes.txt"]


def test_rolling_metrics_stand_beside_the_total(tmp_path, ipdp):
    data = "agrawal?n_samples=1300"
    used = ["--data", data, "--features", "age", "--model", MODEL, "--out", tmp_path / "run"]
    scores = json.loads(ipdp("run", *used, "--json", "--limit", "1200").out)["scores"]
    assert list(scores) == ["Accuracy", "Accuracy_1000"]
    assert scores["Accuracy"] != scores["Accuracy_1000"]
    whole = ipdp("run", *used[:-1], tmp_path / "whole", "--json")
    part = ipdp("run", *used, "--resume", "--json")
    assert part.code == 0, part.err
    assert json.loads(part.out)["scores"] == json.loads(whole.out)["scores"]


def test_a_run_from_before_there_were_rolling_metrics_is_gone_on_with(tmp_path, ipdp, monkeypatch):
    from ipdp.runs import assemble

    monkeypatch.setattr(assemble, "_has_rolling", lambda _out: False)
    used = ["--data", "agrawal?n_samples=300", "--features", "age", "--model", MODEL]
    used += ["--out", tmp_path / "run"]
    with monkeypatch.context() as patch:
        plain = assemble._metric
        patch.setattr(assemble, "_metrics", lambda model, *_, **__: plain(model, "auto"))
        assert ipdp("run", *used, "--limit", "150", "-q").code == 0
    monkeypatch.undo()
    answer = ipdp("resume", tmp_path / "run", "--json")
    assert answer.code == 0, answer.err
    assert list(json.loads(answer.out)["scores"]) == ["Accuracy"]


def test_suggestions(tmp_path, ipdp, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loans.csv").write_text("age,granted\n1,0\n2,1\n")
    answer = ipdp("run", "--data", "loan.csv", "--model", MODEL)
    assert "did you mean 'loans.csv'?" in answer.err
    answer = ipdp("run", "--data", "loans.csv", "--target", "grantd", "--model", MODEL)
    assert "did you mean 'granted'?" in answer.err
    used = ["--data", "loans.csv", "--target", "granted", "--model", MODEL]
    assert "did you mean 'age'?" in ipdp("run", *used, "--time", "agee").err
    answer = ipdp("run", "--data", "loans.csv", "--model", MODEL)
    assert "name their column with --target" in answer.err
    assert not (tmp_path / "ipdp-run").exists()


@pytest.mark.parametrize(
    ("command", "option", "begun", "found"),
    [
        ("run", "encode", "o", ["onehot", "ordinal"]),
        ("run", "on_error", "", ["raise", "skip"]),
        ("run", "estimator", "r", ["regrid"]),
        ("run", "data", "elec", ["elec2"]),
        ("run", "kind", "real,vir", ["real,virtual"]),
        ("export", "what", "c", ["curves", "changes"]),
        ("report", "format_", "p", ["pdf", "png"]),
        ("changes", "kind", "real,", ["real,virtual", "real,both", "real,unclear"]),
    ],
)
def test_choices_are_completed(command, option, begun, found):
    made = get_command(app).commands[command]
    (parameter,) = [p for p in made.params if p.name == option]
    context = made.make_context(command, [], resilient_parsing=True)
    assert [item.value for item in parameter.shell_complete(context, begun)] == found


def test_completion_after_a_comma():
    assert completing("a", "b")("a,") == ["a,b"]
    assert completing("a", "b")("") == ["a", "b"]


class Own(DecisionTreeClassifier):
    pass


def test_types_that_are_not_trusted_come_as_the_command_to_run_again(tmp_path, ipdp, monkeypatch):
    path, data = tmp_path / "model file.skops", tmp_path / "rows.csv"
    skops.io.dump(Own().fit([[0.0], [1.0]], [0, 1]), path)
    data.write_text("a,y\n" + "0,0\n1,1\n" * 30)
    used = ["run", "--data", str(data), "--target", "y", "--model", str(path)]
    used += ["--out", str(tmp_path / "run"), "--no-learn"]
    secret = ["--webhook", "https://hooks.example.com/SECRET"]
    monkeypatch.setattr(sys, "argv", ["ipdp", *used, *secret])
    refused = ipdp(*used, *secret)
    assert refused.code == 2
    assert "SECRET" not in refused.err
    again = refused.err.strip().rpartition("If you trust them: ")[2]
    command = shlex.split(again)
    assert command[0] == "ipdp"
    assert command[command.index("--webhook") + 1] == "URL"
    del command[command.index("--webhook") : command.index("--webhook") + 2]
    assert ipdp(*command[1:], "-q").code == 0


def test_the_page_stays_when_the_run_ends(tmp_path, ipdp, monkeypatch):
    from contextlib import contextmanager

    from ipdp.runs import terminal

    seen = []

    @contextmanager
    def page(settings, quiet):
        seen.append("opened")
        yield
        seen.append("closed")

    monkeypatch.setattr(commands, "_page", page)
    monkeypatch.setattr(terminal, "wait_for_signal", lambda ready: (ready(), seen.append("waited")))
    answer = ipdp("run", *AGRAWAL, "--out", tmp_path / "run", "--watch")
    assert answer.code == 0
    assert "The run is over; the page stays until Ctrl-C." in answer.err
    assert seen == ["opened", "waited", "closed"]


def test_ctrl_c_ends_the_page_without_an_error(tmp_path, start):
    used = ["--out", tmp_path / "run", "--watch"]
    process = start("run", *AGRAWAL, *used, env={**os.environ, "BROWSER": "true"})
    for text in process.stderr:
        if "stays until Ctrl-C" in text:
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 0


def test_a_model_that_diverges_is_told(tmp_path, ipdp):
    data = tmp_path / "rows.csv"
    data.write_text("a,y\n" + "".join(f"{k % 50 * 1000},{k % 50 * 7.5}\n" for k in range(300)))
    used = ["--data", data, "--target", "y", "--out", tmp_path / "run"]
    answer = ipdp("run", *used, "--model", "river.linear_model.LinearRegression()")
    assert "the model diverges; scale the target" in answer.err
    scaled = "river.preprocessing.StandardScaler() | river.linear_model.LinearRegression()"
    answer = ipdp("run", *used, "--model", scaled, "--overwrite")
    assert answer.code == 0
    assert "diverges" not in answer.err


def test_a_model_that_has_come_back_is_not_told_to_be_scaled():
    profile = Profile([({"a": 1.0}, k + 0.5) for k in range(100)], "y")
    said = divergence(profile, {"MAE": 13_900.0, "MAE_1000": 75.3})
    assert said.startswith("Look: the average error over all is 13,900, over the last 1,000 75.3:")
    assert "diverges" in divergence(profile, {"MAE": 13_900.0, "MAE_1000": 9_000.0})
    assert divergence(profile, {"MAE": 75.3, "MAE_1000": 80.0}) is None


def test_a_report_in_the_same_command(tmp_path, ipdp):
    answer = ipdp("run", *AGRAWAL, "--out", tmp_path / "run", "--report")
    assert answer.code == 0
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    assert "report.html" in answer.out.replace("\n", "")
    (tmp_path / "run" / "report.html").unlink()
    assert ipdp("resume", tmp_path / "run", "--report").code == 0
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
