from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

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
