from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from river.datasets import synth
from typer.testing import CliRunner

from ipdp.cli.app import app
from ipdp.demo import picture as pictures
from ipdp.demo import record as records
from ipdp.demo import show
from ipdp.log import Log, LogReader

matplotlib.use("Agg")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def record():
    return records.run(600)


@pytest.mark.parametrize(("rule", "number"), [(records.by_education, 2), (records.by_salary, 1)])
def test_rules_are_those_of_river(rule, number):
    for x, y in synth.Agrawal(classification_function=number, seed=1).take(500):
        assert rule(x) == y


def test_the_stream_drifts_twice():
    rows = list(records.stream(records.Record(900)))
    assert len(rows) == 900
    assert all(y == records.by_education(x) for x, y in rows[:300])
    assert all(y == records.by_salary(x) for x, y in rows[300:])
    highest = [max(x["salary"] for x, _ in rows[k : k + 300]) for k in (0, 300, 600)]
    assert max(highest[:2]) <= 150_000 < highest[2]


def test_the_truth_of_the_rules():
    # 20 of 61 ages are below 40, 20 from 40 to 59, 21 from 60 on.
    np.testing.assert_allclose(
        pictures.truth(records.by_salary, np.array([20e3, 30e3, 60e3, 90e3, 110e3, 130e3])),
        np.array([0, 21, 20 + 21, 20 + 20, 20, 0]) / 61,
    )
    flat = (20 * 2 + 20 * 3 + 21 * 3) / (61 * 5)
    np.testing.assert_allclose(pictures.truth(records.by_education, np.array([1.0, 1e6])), flat)


def test_the_record_holds_what_happened(record):
    assert record.drifts == (200, 400)
    assert record.t[0] > 20
    assert record.t[-1] == 600
    assert len(record.t) == len(record.curves) == len(record.accuracy)
    assert set(record.curves[-1]) == set(records.FEATURES)
    assert record.salary(205).t <= 205
    assert record.salary(600).outputs == (1,)
    assert record.salary(600).ice.shape[1] == 20
    assert all(0 <= value <= 1 for value in record.accuracy)


def test_the_picture_shows_the_record(record):
    axes = pictures.picture(record).axes
    panels = axes[:4]
    for ax, t in zip(panels, record.moments, strict=True):
        curve = record.salary(t)
        drawn = ax.lines[0].get_ydata()  # where there are few data the line is another, faint one
        in_full = ~np.isnan(drawn)
        assert in_full.sum() > len(drawn) / 2
        np.testing.assert_array_equal(drawn[in_full], curve.average[0][in_full])
        assert f"t = {curve.t:,}" in [text.get_text() for text in ax.texts]
    accuracy = next(ax for ax in axes if ax.get_ylabel() == "accuracy")
    np.testing.assert_array_equal(accuracy.lines[0].get_ydata(), record.accuracy)
    assert [line.get_xdata()[0] for line in accuracy.lines[1:]] == [200, 400]
    importance = next(ax for ax in axes if ax.get_ylabel() == "importance")
    assert [line.get_label() for line in importance.lines[:3]] == list(records.FEATURES)


def demo(*arguments):
    result = CliRunner().invoke(app, ["demo", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_the_command_leaves_log_report_and_picture(tmp_path):
    out = tmp_path / "a [new]" / "directory"
    result = demo("--out", out, "--n", 300)
    assert result.exit_code == 0
    assert {"demo.png", "log.db", "report.html"} <= {path.name for path in out.iterdir()}
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")
    lines = result.stdout.splitlines()
    assert lines[0] == "300 loan decisions: the rule changes after 100, salaries rise after 200."
    assert lines[-2:] == [
        f"The picture is {out / 'demo.png'}, the report {out / 'report.html'}",
        f"The live page: ipdp watch {out}",
    ]
    with LogReader(out) as reader:
        assert (reader.status.state, reader.status.n) == ("ended", 300)
        assert reader.features == list(records.FEATURES)


def test_a_second_demo_takes_the_place_of_the_first(tmp_path):
    for n in (330, 300):
        assert demo("--out", tmp_path, "--n", n, "--quiet").stdout == ""
    with LogReader(tmp_path) as reader:
        assert reader.status.n == 300
        assert reader.snapshots()[-1].n == 300
        assert reader.verify() == []


def test_it_leaves_other_runs_alone(tmp_path):
    with Log(tmp_path / "log.db") as log:
        log.begin({"mine": 1})
        log.end(7)
    before = (tmp_path / "log.db").read_bytes()
    result = demo("--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == (
        f"ipdp: {tmp_path} holds another run: choose another directory (--out)\n"
    )
    assert (tmp_path / "log.db").read_bytes() == before


@pytest.mark.parametrize(("options", "n"), [([], 15_000), (["--quick"], 3_000)])
def test_how_long_it_is(options, n, tmp_path, monkeypatch, record):
    asked = []
    monkeypatch.setattr(show, "run", lambda n, **_: asked.append(n) or record)
    monkeypatch.setattr(show, "save", lambda *_: None)
    assert demo("--out", tmp_path, *options).exit_code == 0
    assert asked == [n]


def test_watching_while_it_runs(tmp_path, monkeypatch, record):
    opened, waited = [], []
    monkeypatch.setattr(show.webbrowser, "open", opened.append)
    monkeypatch.setattr(show, "run", lambda *_, **__: record)
    monkeypatch.setattr(show, "_wait", lambda: waited.append(True))
    result = demo("--out", tmp_path, "--watch")
    assert result.exit_code == 0, result.stderr
    assert len(opened) == len(waited) == 1
    assert opened[0].startswith("http://127.0.0.1:")
    assert f"Watch it at {opened[0]}" in result.stdout.splitlines()


@pytest.mark.parametrize("n", ["299", "-1"])
def test_a_wrong_number_is_refused(n, tmp_path):
    result = demo("--out", tmp_path, f"--n={n}")
    assert result.exit_code == 2
    assert result.stderr == f"ipdp: the demo needs at least 300 observations, got {n}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_directory_that_cannot_be_written_is_one_sentence(name, tmp_path):
    (tmp_path / "file").write_text("not a directory")
    result = demo("--out", tmp_path / name)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"ipdp: {tmp_path / name}: ")


def test_a_picture_that_cannot_be_finished_leaves_nothing(tmp_path, monkeypatch, record):
    figure = pictures.picture(record)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        pictures.save(figure, tmp_path / "demo.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["plotly", "matplotlib"])
def test_a_missing_library_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.setattr(show, "import_module", Missing(name))
    result = demo("--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"ipdp: the demo needs {name}: pip install 'ipdp[all]'\n"
    assert list(tmp_path.iterdir()) == []


class Missing:
    """An import that fails for one library."""

    def __init__(self, name):
        self.name = name

    def __call__(self, name):
        if name == self.name:
            raise ImportError(name)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert len(path.read_text().splitlines()) < 40
