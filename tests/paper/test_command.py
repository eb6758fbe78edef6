"""`ipdp paper` as a user calls it."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from ipdp import paper
from ipdp.cli.app import app


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call `ipdp paper`, in a directory of its own and without data; its exit code and output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IPDP_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "160")  # so that sentences of the table stand in one line

    def invoke(*arguments):
        answer = CliRunner().invoke(app, ["paper", *arguments])
        return answer.exit_code, answer.stdout, answer.stderr

    return invoke


@pytest.fixture
def experiments(monkeypatch):
    """Experiments that only say their names; where one is to fail, an error is put in."""
    errors = {}

    def run_experiment(name, _seeds, **_settings):
        if name in errors:
            raise errors[name]
        return paper.Results(name, f"Table of {name}")

    monkeypatch.setattr("ipdp.paper.run_experiment", run_experiment)
    return errors


def test_an_experiment_writes_its_files_and_prints_its_table(call, tmp_path):
    code, out, err = call("storage", "--out", "here", "--seeds", "2")
    assert code == 0
    assert "steps at which the maximum is" in out
    assert "storage, seed 43: done" in err
    written = json.loads((tmp_path / "here" / "storage" / "results.json").read_text())
    assert written["seeds"] == [42, 43]
    assert {path.suffix for path in (tmp_path / "here" / "storage").iterdir()} == {
        ".json",
        ".pdf",
        ".png",
    }


def test_one_that_fails_does_not_keep_the_others_from_being_run(call, experiments):
    experiments["elec2"] = FileNotFoundError("no data of elec2")
    code, out, err = call("all")
    assert code == 2
    assert err == "ipdp: no data of elec2\n"
    assert [line for line in out.splitlines() if line.startswith("Table")] == [
        f"Table of {name}" for name in paper.EXPERIMENTS if name != "elec2"
    ]


def test_ctrl_c_ends_it_all_and_keeps_the_tables_that_are_there(call, experiments):
    experiments["storage"] = KeyboardInterrupt()
    code, out, err = call("all")
    assert (code, err) == (130, "Stopped.\n")
    assert "Table of illustration" in out
    assert "elec2" not in out


def test_the_network_of_california_may_be_that_of_torch(call, monkeypatch):
    asked = []

    def run_experiment(name, _seeds, *, options=None, **_settings):
        asked.append((name, options))
        return paper.Results(name, "")

    monkeypatch.setattr("ipdp.paper.run_experiment", run_experiment)
    assert call("california", "--network", "torch")[0] == 0
    assert asked == [("california", {"network": "torch"})]


@pytest.mark.parametrize("name", ["elec2", "california"])
def test_without_its_data_it_says_in_one_sentence_how_to_get_them(
    call, monkeypatch, tmp_path, name
):
    def unreachable(*_arguments, **_settings):
        raise OSError("no network")

    monkeypatch.setattr("river.datasets.Elec2.download", unreachable)
    monkeypatch.setattr("sklearn.datasets._california_housing._fetch_remote", unreachable)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    code, out, err = call(name, "--out", "here")
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert last.startswith(f"ipdp: The data of {name} are not here")
    assert "https://" in last
    assert "IPDP_DATA" in last


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ("torch", "ipdp: this network needs torch: pip install torch"),
        ("jax", "ipdp: network must be sklearn or torch, got 'jax'"),
    ],
)
def test_a_network_that_cannot_be_had_is_refused_in_a_sentence(
    call, monkeypatch, network, sentence
):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = call("california", "--network", network)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nosuch",), "it is one of illustration, storage"),
        (("storage", "--seeds", "0"), "greater than or equal to 1"),
        (("storage", "--out", "file"), "Not a directory"),
        (("hyperplane", "--network", "torch"), "--network is for california only"),
        (("all", "--network", "torch"), "--network is for california only"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(call, tmp_path, arguments, words):
    (tmp_path / "file").write_text("something")
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
