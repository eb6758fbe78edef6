from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ipdp import Change, Curve, Log
from ipdp.cli.app import app

MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"
COMMAND = [sys.executable, "-c", "from ipdp.cli import main; main()"]


@dataclass
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def ipdp():
    """Call a command; what it printed and its exit code come back."""

    def call(*arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def start():
    """Start the command in a process of its own."""
    started = []

    def popen(*arguments, **options):
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        return process

    yield popen
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def run_once(directory: Path) -> Path:
    """A small run with a change in it: what `show` and the others read."""
    out = directory / "run"
    arguments = ["run", "--data", "agrawal?n_samples=1500&position=800&stretch=1&seed=1"]
    arguments += ["--model", MODEL, "--features", "age,salary,age*elevel", "--alpha", "0.01"]
    arguments += ["--out", str(out), "--quiet", "--grid", "MinMax(5)"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    return run_once(tmp_path_factory.mktemp("finished"))


HOSTILE = "[red]a[/red]\x1b]0;title\x07\n\u202e"


def curve(name, values, outputs=(0, 1)):
    values = np.array([np.subtract(1, values), values])
    size = values.shape[1]
    return Curve(
        name, outputs, [np.linspace(0, 10, size)], values, values * 0.1, 100, np.full(size, 50.0)
    )


def changed(name, n):
    return Change(
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
