"""A million rows in constant memory."""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np
import pytest

CODE = """
import resource, sys
from ipdp.cli import main
try:
    main()
finally:
    sys.stderr.write(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
"""


def peak(path, out):
    """Peak memory of a run over a file, in kB."""
    given = ["--target", "y", "--model", "river.linear_model.LogisticRegression()"]
    given += ["--grid", "MinMax(3)", "--every", "20", "--retention", "10000", "--quiet"]
    answer = subprocess.run(
        [sys.executable, "-c", CODE, "run", "--data", str(path), *given, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return int(answer.stderr.rpartition("peak ")[2])


def write(path, n):
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("a,b,c,y\n")
        for _ in range(n // 1000):
            rows = rng.normal(size=(1000, 3))
            file.writelines(f"{a:.6f},{b:.6f},{c:.6f},{a > b}\n" for a, b, c in rows.tolist())
    return path


@pytest.mark.slow
def test_a_million_rows_take_no_more_memory_than_some_thousand(tmp_path):
    few = peak(write(tmp_path / "few.csv", 20_000), tmp_path / "few")
    many = peak(write(tmp_path / "many.csv", 1_000_000), tmp_path / "many")
    # The log's cache and the allocator's slack may still grow a little after 20,000 rows; the rows
    # themselves would take over 300 MB.
    assert many - few < 20_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >= many
