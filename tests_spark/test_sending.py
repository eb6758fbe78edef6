"""A Java that Spark cannot use is refused in one sentence, before Spark starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = "import ipdp.spark\nipdp.spark.session('local[1]')\n"
GET = "install Java 17 or newer (Debian: apt install default-jre-headless), or set JAVA_HOME to one"
OLD = "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2"
BROKEN = "echo 'Error: could not find libjava.so' >&2; exit 2"
CASES = {
    "old": (OLD, "the Java {} is Java 11, too old for Spark"),
    "broken": (BROKEN, "the Java {} does not run (Error: could not find libjava.so)"),
    "missing": (None, "there is no Java {}, which Spark needs"),
}


@pytest.mark.parametrize("place", ["JAVA_HOME", "PATH"])
@pytest.mark.parametrize(("java", "sentence"), CASES.values(), ids=CASES)
def test_one_sentence(tmp_path, java, sentence, place):
    folder = tmp_path / "bin"
    folder.mkdir()
    if java is not None:
        (folder / "java").write_text(f"#!/bin/sh\n{java}\n")
        (folder / "java").chmod(0o755)
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    where = "on the PATH" if place == "PATH" else f"at JAVA_HOME={tmp_path}"
    env |= {"PATH": str(folder)} if place == "PATH" else {"JAVA_HOME": str(tmp_path)}
    asked = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    first, *between, last = ended.stderr.splitlines()
    # The lines of the program and of ipdp, and the sentence: no other error, nothing of Java.
    assert first == "Traceback (most recent call last):"
    assert all(line.startswith("  ") for line in between)
    assert last == f"RuntimeError: {sentence.format(where)}: {GET}"
