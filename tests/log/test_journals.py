"""What SQLite takes from a journal beside a log, as somebody else may have put it there."""

import os
import sqlite3
import struct
from contextlib import closing
from functools import partial

import pytest
from tests.log.test_files import written

from ipdp.log import Log, LogError, LogReader, files


def journal_of_several(page_size, n_pages, named):
    """What SQLite leaves of a change to several databases that was not finished."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(named)
    head = magic + struct.pack(">5I", 0, 1, n_pages, 512, page_size)
    rest = name + struct.pack(">2I", len(name), sum(name)) + magic
    return head.ljust(512, b"\0") + struct.pack(">I", 2**30 // page_size + 1) + rest


@pytest.mark.parametrize("of", ["log.db", "log.db-lock"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_journal_that_names_another_file_deletes_nothing(tmp_path, of, is_there):
    path = tmp_path / "log.db"
    if is_there:
        written(path)
    database = tmp_path / of
    if of != "log.db":
        database.unlink(missing_ok=True)
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE a(b)")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    n_pages = database.stat().st_size // 4096 if database.exists() else 1
    journal = journal_of_several(4096, n_pages, precious)
    (tmp_path / f"{of}-journal").write_bytes(journal)
    for use in (Log, LogReader, partial(files.lock, path)) if is_there else (Log,):
        with pytest.raises(LogError, match="journal names a file that SQLite would delete"):
            use() if isinstance(use, partial) else use(path)
        assert precious.read_text() == "mine"
    assert (tmp_path / f"{of}-journal").read_bytes() == journal
