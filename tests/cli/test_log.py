"""`ipdp verify`, `ipdp export`."""

from __future__ import annotations

import csv
import json
import sqlite3

import pyarrow.parquet
import pytest

from ipdp.log import files
from ipdp.runs.checkpointing import NAME


def test_verify(run, ipdp):
    assert ipdp("verify", run).out == "The log is sound.\n"
    connection = sqlite3.connect(run / "log.db")
    connection.execute("DELETE FROM curves WHERE n = 200")
    connection.commit()
    connection.close()
    answer = ipdp("verify", run)
    assert answer.code == 2
    assert answer.err
    assert json.loads(ipdp("verify", run, "--json").out)["problems"]


def test_export(run, ipdp, tmp_path):
    answer = ipdp("export", run, tmp_path / "curves.csv")
    assert (answer.code, answer.out) == (0, f"Written: {tmp_path / 'curves.csv'}\n")
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert {row["feature"] for row in rows if row["n"] == "300"} >= {"age"}
    path = tmp_path / "changes.parquet"
    assert ipdp("export", run, path, "--what", "changes", "-q").out == ""
    assert pyarrow.parquet.read_table(path).num_rows == 2
    assert ipdp("export", run, tmp_path / "table", "--format", "jsonl", "-q").code == 0
    assert json.loads((tmp_path / "table").read_text().splitlines()[0])
    answer = ipdp("export", run, tmp_path / "curves.xls")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ("export", "--format", "csv"),
        ("export", "--format", "parquet", "--what", "changes"),
        ("report", "--out"),
        ("diff", "--at", "500", "--against", "1000", "--html"),
    ],
    ids=" ".join,
)
def test_what_is_written_does_not_take_the_place_of_the_run(run, ipdp, command):
    name, *options = command
    (run / "link.csv").symlink_to("log.db")
    assert (files.NAME, files.CHECKPOINT) == ("log.db", NAME)
    for file in ("log.db", "log.db-wal", "log.db-lock", "checkpoint.ipdp", "link.csv"):
        (run / file).touch()
        before = (run / file).read_bytes()
        arguments = [run / file, *options] if name == "export" else [*options, run / file]
        answer = ipdp(name, run, *arguments)
        assert answer.code == 2, file
        assert "is read here, and would be lost: give another file" in answer.err
        assert (run / file).read_bytes() == before
    assert ipdp("verify", run).code == 0
