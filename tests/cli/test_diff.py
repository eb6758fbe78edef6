"""`ipdp diff`."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from starlette.testclient import TestClient

import ipdp as library
from ipdp.web import make_app


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose second feature matters from the middle on, as its third one moves."""
    path = tmp_path_factory.mktemp("runs") / "january"
    rng = np.random.default_rng(1)
    z = rng.normal(size=(2_000, 3))
    z[1_000:, 2] += 2
    rows = [dict(zip("abc", row.tolist(), strict=True)) for row in z]

    def model(x):
        return x["a"] + x["b"] * x["c"]

    pdp = library.IncrementalPDP(model, alpha=0.005, n_ice=0)
    library.run(rows, model, pdp, learn=False, log=path, snapshot_every=50)
    return path


def test_two_times(ipdp, run):
    answer = ipdp("diff", run, "--at", 1_000, "--against", 2_000)
    assert answer.code == 1
    assert answer.out.startswith("Comparison of january at 2,000 with january at 1,000, at 95%")
    (row,) = [line for line in answer.out.splitlines() if line.split()[:1] == ["b"]]
    assert "different" in row
    assert "data" in row


def test_two_periods_that_are_the_same(ipdp, run):
    answer = ipdp("diff", run, "--from", ":500", "--to", "500:1000")
    assert answer.code == 0
    assert "none of 3 features different" in answer.out


def test_json_and_a_page(ipdp, run, tmp_path):
    page = tmp_path / "diff.html"
    answer = ipdp("diff", run, run, "--at", 1_000, "--json", "--html", page, "--features", "b")
    assert answer.code == 1
    found = json.loads(answer.out)
    assert [each["feature"] for each in found["differences"]] == ["b"]
    text = page.read_text()
    assert "january at 2,000 against january at 1,000" in text
    assert "data:image/svg+xml" in text
    assert "<script" not in text


def test_the_page_says_the_same(ipdp, run):
    answer = ipdp("diff", run, "--at", 1_000, "--against", 2_000, "--json")
    found = json.loads(answer.out)
    with TestClient(make_app(run.parent), base_url="http://127.0.0.1:8321") as client:
        told = client.get("/runs/january/comparison.json?a=1000&b=2000").json()
    assert answer.code == (told["verdict"] == "different") == 1
    assert [(each["name"], each["verdict"], each["sentence"]) for each in told["differences"]] == [
        (each["feature"], each["verdict"], each["summary"]) for each in found["differences"]
    ]
    for drawn, each in zip(told["differences"], found["differences"], strict=True):
        np.testing.assert_allclose(drawn["shape"], each["shape"])
        np.testing.assert_allclose(drawn["half"], each["half"])


def test_quiet_says_it_by_the_exit_code(ipdp, run):
    answer = ipdp("diff", run, "--at", 1_000, "--quiet")
    assert (answer.code, answer.out, answer.err) == (1, "", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name two times"),
        (["--at", 5], "no snapshot at or before 5: the first of january is at 50"),
        (["--at", 9_000, "--against", 1_000], "january ends at 2,000: there is nothing at 9,000"),
        (["--at", 1_000, "--html", "/nowhere/page.html"], "/nowhere/page.html: No such file"),
        (["--from", "5"], "two numbers with a colon in between, got '5'"),
        (["--from", "0:900", "--at", 3], "give one of both"),
        (["--from", "0:900", "--to", "500:1500"], "the periods overlap"),
        (["--at", 1_000, "--features", ""], "--features needs names"),
        (["--at", 1_000, "--features", "x"], "there is no feature in both 'x'"),
        (["--at", 1_000, "--margin", -1], "margin must be"),
        (["--at", 1_000, "--explainer", "pfi"], "there is no explainer 'pfi'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(ipdp, run, options, message):
    answer = ipdp("diff", run, *options)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_baseline_instead_of_a_run(ipdp, run, tmp_path):
    with library.LogReader(run) as reader:
        base = library.comparison.Baseline(reader.at(1_000)).save(tmp_path / "base.ipdp")
    answer = ipdp("diff", base, run)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("Comparison of january at 2,000 with the baseline, at 95%")
    answer = ipdp("diff", base, run, "--at", 3)
    assert answer.code == 2
    assert "at and against are times of a log, and a is none" in answer.err
    base.write_bytes(base.read_bytes()[:100])
    answer = ipdp("diff", base, run)
    assert answer.code == 2
    assert "base.ipdp: " in answer.err
    assert answer.err.count("\n") == 1


def test_no_run(ipdp, tmp_path):
    assert ipdp("diff", tmp_path / "nowhere", "--at", 3).code == 2


def test_why_the_score_moved(ipdp, run, tmp_path):
    page = tmp_path / "diff.html"
    answer = ipdp("diff", run, "--from", ":1000", "--to", "1000:2000", "--score", "--html", page)
    assert "<h2>Why the mean prediction moved</h2>" in page.read_text()
    assert "The mean prediction moved from " in answer.out
    assert "features together" in answer.out or "(data)" in answer.out
    plain = ipdp("diff", run, "--at", 1_000, "--score", "--json")
    found = json.loads(plain.out)["score_move"]
    parts = sum(part["total"] for part in found["parts"]) + found["level"] + found["rest"]
    assert parts == pytest.approx(found["move"])


def test_groups_are_named_with_their_comma(ipdp, tmp_path):
    rows = [{"a": k % 10 / 10, "b": k % 7 / 7, "g": k % 2} for k in range(200)]

    def model(x):
        return x["a"] * x["b"]

    pdp = library.IncrementalPDP(model, ["a", ("a", "b")], by="g", seed=1)
    library.run(rows, model, pdp, learn=False, log=tmp_path / "run")
    named = "a, where g = 1, a*b, where g = 0,a"
    answer = ipdp(
        "diff", tmp_path / "run", "--at", 100, "--against", 200, "--json", "--features", named
    )
    found = [each["feature"] for each in json.loads(answer.out)["differences"]]
    assert found == ["a, where g = 1", ["a", "b, where g = 0"], "a"]


def test_a_terminal_without_the_letters(run):
    """Of ASCII only: there is no sign for plus or minus in it."""
    command = [sys.executable, "-m", "ipdp", "diff", str(run), "--at", "100", "--against", "300"]
    encoding = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=encoding, check=False)
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert "\\xb1" in done.stdout
