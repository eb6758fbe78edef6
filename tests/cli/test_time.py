"""`--time` and `--since`."""

from __future__ import annotations

import datetime as dt
import json
import random

import pytest
from typer.testing import CliRunner

from ipdp.cli.app import app
from ipdp.log import LogReader

START, N = dt.datetime(2024, 5, 1), 2000
MODEL = "river.linear_model.LogisticRegression(optimizer=river.optim.SGD(0.1))"


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """A run of a file with dates, in which the rule changes."""
    directory = tmp_path_factory.mktemp("timed")
    rng = random.Random(1)
    lines = ["when,a,b,y"]
    for k in range(N):
        a, b = rng.random(), rng.gauss(0, 1)
        y = "yes" if a + (-b if k > 1300 else b) > 0.5 else "no"
        lines.append(f"{START + k * dt.timedelta(hours=1)},{a:.4f},{b:.4f},{y}")
    path = directory / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    used = ["run", "--data", str(path), "--target", "y", "--time", "when", "--model", MODEL]
    used += ["--out", str(directory / "run"), "--columns", "a,b"]
    result = CliRunner().invoke(app, used)
    assert result.exit_code == 0, result.stderr
    assert "target y with 2 classes (no and yes), time from when" in result.stderr
    return directory / "run"


def test_the_model_does_not_get_it(timed):
    with LogReader(timed) as reader:
        assert reader.features == ["a", "b"]
        end = START + (N - 1) * dt.timedelta(hours=1)
        assert reader.snapshots()[-1].time == end.replace(tzinfo=dt.UTC).timestamp()


def test_changes_are_dated(timed, ipdp):
    answer = ipdp("changes", timed)
    assert answer.code == 0
    assert answer.out.count("2024-0") >= 2  # when it was found, and since when
    found = json.loads(ipdp("changes", timed, "--json").out)
    for change in found:
        when = START + (change["n"] - 1) * dt.timedelta(hours=1)
        assert change["time"] == when.replace(tzinfo=dt.UTC).isoformat()
    shown = json.loads(ipdp("show", timed, "--json").out)
    assert [c["time"] for c in shown["changes"]] == [c["time"] for c in found]


def test_since(timed, ipdp):
    everything = json.loads(ipdp("changes", timed, "--json").out)
    assert everything
    day = dt.datetime.fromisoformat(everything[0]["time"]).date()
    assert json.loads(ipdp("changes", timed, "--since", day, "--json").out) == everything
    exactly = everything[0]["time"]  # what is of that very moment is not before it
    assert json.loads(ipdp("changes", timed, "--since", exactly, "--json").out) == everything
    later = day + dt.timedelta(days=1)
    expected = [c for c in everything if c["time"] >= str(later)]
    assert json.loads(ipdp("changes", timed, "--since", later, "--json").out) == expected
    assert json.loads(ipdp("changes", timed, "--since", "9999h", "--json").out) == everything
    assert ipdp("check", timed, "--since", "1min").code == 0
    answer = ipdp("changes", timed, "--since", "yesterday")
    assert answer.code == 2
    assert "--since must be a date (2024-06-01), or so long ago" in answer.err


def test_since_without_a_clock_is_when_it_was_processed(run, ipdp):
    everything = json.loads(ipdp("changes", run, "--json").out)
    assert len(everything) == 2
    assert json.loads(ipdp("changes", run, "--since", "2d", "--json").out) == everything
    later = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=2)
    assert json.loads(ipdp("changes", run, "--since", later, "--json").out) == []


def test_no_time(tmp_path, ipdp):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    used = ["run", "--data", path, "--target", "y", "--out", tmp_path / "run"]
    used += ["--model", "river.tree.HoeffdingTreeClassifier()"]
    answer = ipdp(*used, "--time", "a")
    assert answer.code == 2
    assert "a of observation 1 is 1, which is no time" in answer.err
    assert ipdp(*used, "--time", "b").code == 2


@pytest.mark.parametrize("url", ["https://me:pw@host/", "https://host/?token=1", "host"])
def test_the_link_holds_no_secret(url, tmp_path, ipdp):
    answer = ipdp("run", "--data", "agrawal", "--model", "m", "--page-url", url)
    assert answer.code == 2
    assert "page_url" in answer.err or "page-url" in answer.err
