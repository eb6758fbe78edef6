"""The programs in docs/spark.md are short, and run as they are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ipdp
import ipdp.spark

PAGE = (Path(__file__).parents[1] / "docs" / "spark.md").read_text()
# Indented by four blanks, from the import to the next line that is not.
PROGRAMS = [
    re.sub(r"^ {4}", "", text, flags=re.MULTILINE)
    for text in re.findall(r"^ {4}import ipdp\.spark\n(?: {4}.*\n|\n(?= {4}))+", PAGE, re.MULTILINE)
]


def ran(program, directory):
    """What a program prints, in a process of its own."""
    (directory / "program.py").write_text(program)
    asked = [sys.executable, "program.py"]
    done = subprocess.run(asked, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_one_for_each_and_each_is_short():
    names = ("spark.partial_dependence", "spark.explain", "spark.Sink", "spark.fleet")
    assert [sum(name in program for program in PROGRAMS) for name in names] == [1, 1, 1, 1]
    assert all(len([*filter(str.strip, p.splitlines())]) <= 15 for p in PROGRAMS)
    assert all(len(line) <= 100 for program in PROGRAMS for line in program.splitlines())


@pytest.mark.parametrize("k", range(4), ids=["table", "history", "stream", "fleet"])
def test_it_runs(k, tmp_path):
    printed = ran(PROGRAMS[k], tmp_path)
    if k == 0:
        assert printed.startswith("temperature [")
    elif k == 1:
        assert printed == "20000 [5000, 10000, 15000, 20000]\n"
    elif k == 2:
        assert printed == "5000\n"
        with ipdp.LogReader(tmp_path / "runs" / "prod") as reader:
            assert reader.status.n == 5_000
    else:
        found = {key.name: key.n for key in ipdp.spark.keys(tmp_path / "fleet" / "curves")}
        assert found == {f"pump-{k}": 400 for k in range(5)}
