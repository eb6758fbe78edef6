from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from river.datasets import synth

from ipdp import demo

matplotlib.use("Agg")
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def record():
    return demo.run(600)


@pytest.mark.parametrize(("rule", "number"), [(demo.by_education, 2), (demo.by_salary, 1)])
def test_rules_are_those_of_river(rule, number):
    for x, y in synth.Agrawal(classification_function=number, seed=1).take(500):
        assert rule(x) == y


def test_the_stream_drifts_twice():
    rows = list(demo.stream(900))
    assert len(rows) == 900
    assert all(y == demo.by_education(x) for x, y in rows[:300])
    assert all(y == demo.by_salary(x) for x, y in rows[300:])
    highest = [max(x["salary"] for x, _ in rows[k : k + 300]) for k in (0, 300, 600)]
    assert max(highest[:2]) <= 150_000 < highest[2]
    # Only salaries are changed, and the stream is the same every time.
    plain = islice(synth.Agrawal(seed=42), 900)
    assert [x["age"] for x, _ in plain] == [x["age"] for x, _ in rows]
    assert list(demo.stream(900)) == rows


def test_the_truth_of_the_rules():
    # 20 of 61 ages are below 40, 20 from 40 to 59, 21 from 60 on.
    np.testing.assert_allclose(
        demo.truth(demo.by_salary, np.array([20e3, 30e3, 60e3, 90e3, 110e3, 130e3])),
        np.array([0, 21, 20 + 21, 20 + 20, 20, 0]) / 61,
    )
    flat = (20 * 2 + 20 * 3 + 21 * 3) / (61 * 5)
    np.testing.assert_allclose(demo.truth(demo.by_education, np.array([1.0, 1e6])), flat)


def test_the_record_holds_what_happened(record):
    assert record.drifts == (200, 400)
    assert record.t[0] > 20
    assert record.t[-1] == 600
    assert len(record.t) == len(record.curves) == len(record.accuracy)
    assert set(record.curves[-1]) == set(demo.FEATURES)
    assert record.salary(205).t <= 205
    assert record.salary(600).outputs == (1,)
    assert all(0 <= value <= 1 for value in record.accuracy)


def test_the_picture_shows_the_record(record):
    axes = demo.picture(record).axes
    panels = axes[:4]
    for ax, t in zip(panels, record.moments, strict=True):
        curve = record.salary(t)
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.average[0])
        assert f"t = {curve.t:,}" in [text.get_text() for text in ax.texts]
    accuracy = next(ax for ax in axes if ax.get_ylabel() == "accuracy")
    np.testing.assert_array_equal(accuracy.lines[0].get_ydata(), record.accuracy)
    assert [line.get_xdata()[0] for line in accuracy.lines[1:]] == [200, 400]
    importance = next(ax for ax in axes if ax.get_ylabel() == "importance")
    assert [line.get_label() for line in importance.lines[:3]] == list(demo.FEATURES)


def test_the_command_leaves_a_picture(tmp_path, capsys):
    out = tmp_path / "a [new]" / "directory"
    assert demo.main(["--out", str(out), "--n", "300"]) == 0
    assert [path.name for path in out.iterdir()] == ["demo.png"]
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "300 loan decisions: the rule changes after 100, salaries rise after 200."
    assert lines[-1] == f"The picture is {out / 'demo.png'}"
    assert len(lines) <= 6


@pytest.mark.parametrize(("options", "n"), [([], 15_000), (["--quick"], 3_000)])
def test_how_long_it_is(options, n, tmp_path, monkeypatch, record):
    asked = []
    monkeypatch.setattr(demo, "run_with_progress", lambda n, _: asked.append(n) or record)
    monkeypatch.setattr(demo, "save", lambda *_: None)
    assert demo.main(["--out", str(tmp_path), *options]) == 0
    assert asked == [n]


@pytest.mark.parametrize("n", ["299", "-1", "many"])
def test_a_wrong_number_is_refused(n, capsys):
    with pytest.raises(SystemExit, match="2"):
        demo.main([f"--n={n}"])
    assert n in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_directory_that_cannot_be_written_is_one_sentence(name, tmp_path, capsys):
    (tmp_path / "file").write_text("not a directory")
    assert demo.main(["--out", str(tmp_path / name)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Cannot write to {tmp_path / name}: ")


def test_a_picture_that_cannot_be_finished_leaves_nothing(tmp_path, monkeypatch, record):
    figure = demo.picture(record)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        demo.save(figure, tmp_path / "demo.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "needed"), [("rich.console", "rich"), ("matplotlib.figure", "matplotlib")]
)
def test_a_missing_library_is_one_sentence(name, needed, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    assert demo.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"The demo needs {needed}: pip install 'ipdp[demo]'\n"


def test_ctrl_c_ends_it_with_one_line(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "ipdp.demo", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    ) as process:
        assert "loan decisions" in process.stdout.readline()  # it is running now
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "Stopped."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert len(path.read_text().splitlines()) < 40
