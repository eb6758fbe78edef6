"""Files that are no logs, or cannot be written, locks, and logs of other versions."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.log.making import make_curve, make_importance, same

from ipdp.log import Log, LogError, LogReader, files, schema

SCHEMAS = Path(__file__).parent / "schemas"
NOBODY = 65534


def written(path):
    with Log(path) as log:
        log.begin({"alpha": 0.1})
        for n in (1, 2, 3):
            log.snapshot({"a": make_curve(n_samples=n)}, n)
        log.end(3)
        return log.path


def in_another_process(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# What is no log


@pytest.mark.parametrize("kind", [Log, LogReader])
@pytest.mark.parametrize(
    "content", [b"n,average\n1,2\n", b"x", b"SQLite format 3\0", b"\0" * 4096, "database"]
)
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path, kind, content):
    path = tmp_path / "data.db"
    if content == "database":
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("CREATE TABLE t (x)")
        other.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(LogError, match=r"data\.db is no log of ipdp$"):
        kind(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no log in .*: a run's directory holds"):
        LogReader(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no log at .*missing"):
        LogReader(tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["run.db", "deep/er/run.sqlite", "runs/today", "", "a b#?%.db"])
def test_a_log_is_made_where_it_is_asked_for(tmp_path, name):
    path = written(tmp_path / name)
    assert path == (tmp_path / name if "." in name else tmp_path / name / "log.db")
    with LogReader(tmp_path / name) as reader:
        assert len(reader.snapshots()) == 3


def test_an_empty_file_becomes_a_log(tmp_path):
    (tmp_path / "run.db").touch()
    written(tmp_path / "run.db")


def test_a_directory_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LogError, match="cannot be made: "):
        Log(tmp_path / "file" / "run.db")


# Read-only places


@pytest.fixture
def readable(tmp_path):
    """A directory that everybody may read: those above it as well."""
    for directory in (tmp_path, *tmp_path.parents[:3]):
        if os.stat(directory).st_uid == os.geteuid():
            directory.chmod(0o755)
    return tmp_path


BEGIN = f"""
import os, sys
from ipdp.log import Log, LogError, LogReader, verify
if os.geteuid() == 0:  # nothing is read-only for root
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
"""

READ = f"""{BEGIN}
try:
    with LogReader(sys.argv[1]) as reader:
        print([info.n for info in reader.snapshots()], reader.status.state, reader.verify())
except LogError as error:
    print(error)
"""

WRITE = f"""{BEGIN}
try:
    Log(sys.argv[1])
except LogError as error:
    print(error)
"""


def test_a_finished_log_in_a_read_only_directory_is_read(readable):
    written(readable)
    readable.chmod(0o555)
    result = in_another_process(READ, readable)
    assert (result.stdout, result.stderr) == ("[1, 2, 3] ended []\n", "")


def test_a_running_log_in_a_read_only_directory_is_read(readable):
    with Log(readable) as log:
        log.snapshot({"a": make_curve()}, 1)
        log.commit()
        readable.chmod(0o555)
        assert in_another_process(READ, readable).stdout == "[1] running []\n"
        readable.chmod(0o755)


def test_what_is_only_in_the_write_ahead_file_is_not_passed_over(readable):
    with Log(readable) as log:
        log.snapshot({"a": make_curve()}, 1)
        log.commit()
        copy = readable / "copy"
        copy.mkdir()
        for name in ("log.db", "log.db-wal"):  # as after a crash, without the index
            (copy / name).write_bytes((readable / name).read_bytes())
    copy.chmod(0o555)
    answer = in_another_process(READ, copy).stdout
    copy.chmod(0o755)
    assert answer.endswith("its directory is read-only or not accessible\n")


def test_a_directory_that_may_not_be_looked_into_is_said(readable):
    written(readable)
    readable.chmod(0o600)
    for script in (READ, WRITE):
        result = in_another_process(script, readable / "log.db")
        assert result.stderr == ""
        assert "log.db cannot be opened: its directory is read-only or not" in result.stdout
    readable.chmod(0o755)


@pytest.mark.parametrize("there", [False, True])
def test_a_read_only_directory_cannot_be_written(readable, there):
    if there:
        written(readable)
    readable.chmod(0o555)
    result = in_another_process(WRITE, readable)
    readable.chmod(0o755)
    assert result.stderr == ""
    assert "read-only" in result.stdout
    assert result.stdout.count("\n") == 1


# One writer


def test_a_second_writer_is_refused_also_in_the_same_process(tmp_path):
    with Log(tmp_path) as log:
        with pytest.raises(LogError, match="is being written by another run: wait until it ends"):
            Log(tmp_path)
        result = in_another_process(WRITE.replace("== 0", "== -1"), tmp_path)
        assert "is being written by another run" in result.stdout
        with LogReader(tmp_path) as reader:
            log.snapshot({"a": make_curve()}, 1)
            log.commit()
            assert len(reader.snapshots()) == 1
    Log(tmp_path).close()


def test_after_a_kill_the_next_writer_goes_on_at_once(tmp_path):
    script = """
import sys, time
from ipdp.log import Log
from tests.log.making import make_curve
log = Log(sys.argv[1])
for n in range(1, 10**9):
    log.snapshot({"a": make_curve(n_samples=n)}, n)
    if n % 10 == 0:
        log.commit()
        print(n, flush=True)
"""
    last = 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", script.replace("range(1,", f"range({last + 1},"), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5):
            committed = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with Log(tmp_path) as log:
            found = [info.n for info in log.snapshots()]
            assert found == list(range(1, len(found) + 1))
            assert len(found) >= committed
            assert log.verify() == []
            last = found[-1]
            assert same(log.at(last)["a"], make_curve(n_samples=last))


def test_a_lock_is_not_inherited_by_a_child(tmp_path):
    """Workers that outlive a killed run must not keep the next one out."""
    with Log(tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        Log(tmp_path).close()
    finally:
        child.communicate(b"\n")


# Versions


def test_a_log_of_a_newer_version_is_refused_and_left_as_it_was(tmp_path):
    path = written(tmp_path)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 3}")
    other.close()
    before = path.read_bytes()
    for kind in (Log, LogReader):
        with pytest.raises(LogError, match=r"by a newer ipdp \(log version 5, .*: update"):
            kind(tmp_path)
    assert path.read_bytes() == before


def older_log(path, version):
    """The log of an older version, as the text of its tables."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript((SCHEMAS / f"{version}.sql").read_text())
        database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        database.execute(f"PRAGMA user_version = {version}")
        database.execute("PRAGMA journal_mode = WAL")
    database.close()


EXPLAINERS = {1: ["pdp"], 2: ["pdp", "pfi"]}


def must_hold_what_it_held(log, version):
    assert log.verify() == []
    assert log.settings == {"alpha": 0.01}
    assert log.explainers == EXPLAINERS[version]
    assert log.features == ["a", ("a", "b"), 7]
    infos = [(info.n, info.reason) for info in log.snapshots()]
    assert infos == [(100, "every"), (150, "change"), (200, "end")]
    assert same(log.at(100)["a"], make_curve("a", n_samples=100))
    assert same(log.at(100, "pdp")["a"], make_curve("a", n_samples=100))
    assert [curve.n_samples for _, curve in log.history(7)] == [100, 150, 200]
    assert log.importances(explainer="pdp")["a"][0].tolist() == [100, 150, 200]
    assert log.changes()[0].change.feature == "a"
    assert log.metrics()["MAE"][1].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("version", EXPLAINERS)
def test_a_log_of_every_version_is_opened(tmp_path, version):
    path = tmp_path / "old.db"
    older_log(path, version)
    with Log(path) as log:
        must_hold_what_it_held(log, version)
        log.snapshot({"pdp": log.at(100), "ale": {"a": make_curve("a")}}, 300)
        assert log.verify() == []
    with LogReader(path) as reader:
        assert len(reader.snapshots()) == 4
        assert reader.explainers == [*EXPLAINERS[version], "ale"]


@pytest.mark.parametrize("version", EXPLAINERS)
def test_a_log_of_every_version_is_read_as_it_is(tmp_path, version):
    path = tmp_path / "old.db"
    older_log(path, version)
    before = path.read_bytes()
    with LogReader(path) as reader:
        must_hold_what_it_held(reader, version)
        reader.export(tmp_path / "curves.csv")
        reader.export(tmp_path / "importances.csv", what="importances")
        with pytest.raises(ValueError, match="there is no explainer 'pdx'"):
            reader.at(100, "pdx")
    assert path.read_bytes() == before


def test_a_reader_stays_open_while_its_log_is_brought_up_to_date(tmp_path):
    path = tmp_path / "old.db"
    older_log(path, 1)
    with LogReader(path) as reader:
        assert reader.explainers == ["pdp"]
        with Log(path) as log:
            log.snapshot({"pfi": {"a": make_importance()}}, 300)
            log.commit()
            assert reader.explainers == ["pdp", "pfi"]
            assert reader.at(300, "pfi")["a"].value == 0.25
            assert reader.at(300) == {}
            assert reader.verify() == []


def test_a_step_brings_an_older_log_up_to_date(tmp_path, monkeypatch):
    path = written(tmp_path)

    def version_3(connection):
        connection.execute("CREATE TABLE notes (n INTEGER PRIMARY KEY, note TEXT)")

    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, version_3])
    with LogReader(path) as reader:
        assert len(reader.snapshots()) == 3
    with Log(path) as log:
        assert schema.version(log._connection) == 3
        assert log._rows("SELECT * FROM notes") == []
        assert len(log.snapshots()) == 3
    with LogReader(path) as reader:
        assert len(reader.snapshots()) == 3


def test_a_step_that_fails_leaves_the_log_as_it_was(tmp_path, monkeypatch):
    path = written(tmp_path)

    def version_3(connection):
        connection.execute("DROP TABLE metrics")
        connection.execute("DROP TABLE nonsense")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, version_3])
        with pytest.raises(LogError, match="could not be used: no such table: nonsense"):
            Log(path)
    with Log(path) as log:
        assert log.verify() == []


def test_a_half_made_log_is_made_anew(tmp_path):
    (tmp_path / "log.db-new").write_bytes(b"half")
    written(tmp_path)
    assert not (tmp_path / "log.db-new").exists()


def test_nobody_holds_a_lock_that_is_not_there(tmp_path):
    assert not files.is_locked(tmp_path / "log.db")
    path = written(tmp_path)
    assert not files.is_locked(path)
    with Log(path):
        assert files.is_locked(path)


# A reader in the process that writes


LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT n FROM run").fetchall()
connection.close()
"""


def test_a_reader_in_the_process_that_writes_does_not_take_its_lock(readable):
    # A closed handle drops every lock that the process holds on the file; another program that
    # then closes the log as the last of its users removes the write-ahead file under the writer.
    with Log(readable) as log:
        log.begin({})
        log.snapshot({"a": make_curve(n_samples=1)}, 1)
        log.commit()
        LogReader(readable).close()
        assert in_another_process(LOOK, log.path).returncode == 0
        log.snapshot({"a": make_curve(n_samples=2)}, 2)
        log.commit()
        assert Path(f"{log.path}-wal").exists()
        assert in_another_process(READ, log.path).stdout.startswith("[1, 2] running")


# What a log never holds


@pytest.mark.parametrize("kind", [Log, LogReader])
@pytest.mark.parametrize(
    "statements",
    [
        [
            "ALTER TABLE run RENAME TO other",
            "CREATE VIEW run AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
            "SELECT other.*, n FROM other, c",
        ],
        ["CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM curves; END"],
        ["DROP TABLE metrics"],
        ["ALTER TABLE run DROP COLUMN heartbeat"],
    ],
    ids=["view", "trigger", "table", "column"],
)
def test_a_log_with_other_tables_than_ours_is_refused(tmp_path, kind, statements):
    path = written(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(LogError, match=r"log\.db is no log that ipdp has written: "):
        kind(path)


@pytest.mark.parametrize("kind", [Log, LogReader])
def test_a_log_that_is_refused_is_closed(tmp_path, kind, monkeypatch):
    path, made = written(tmp_path), []
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE metrics")

    class Watched(sqlite3.Connection):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)

    connect = partial(sqlite3.connect, factory=Watched)
    monkeypatch.setattr(files.sqlite3, "connect", connect)
    with pytest.raises(LogError, match="no log that ipdp has written"):
        kind(path)
    assert made
    for each in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            each.execute("SELECT 1")


def test_tables_of_somebody_else_in_a_log_are_left_alone(tmp_path):
    path = written(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE remarks (text)")
        connection.execute("CREATE VIEW latest AS SELECT max(n) FROM snapshots")
        connection.execute("ANALYZE")
    with LogReader(path) as reader:
        assert len(reader.snapshots()) == 3
        assert reader.verify() == []


def test_a_query_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PATIENCE", 0.2)
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
    with LogReader(written(tmp_path)) as reader:
        with pytest.raises(LogError, match="took too long"):
            reader._rows(endless)
        assert len(reader.snapshots()) == 3


def test_a_value_that_is_too_large_is_not_read(tmp_path):
    path = written(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE run SET settings = zeroblob(200000000)")
    with LogReader(path) as reader, pytest.raises(LogError, match="too big"):
        reader.settings  # noqa: B018


# What lies where a log should, or beside it

BESIDE = ["-wal", "-shm", "-journal", "-lock"]


def opened(path):
    """Whatever a stranger's directory is opened for."""
    for use in (LogReader, Log, files.is_locked, files.lock):
        with pytest.raises(LogError, match="no plain file"):
            use(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("end", ["", *BESIDE])
def test_a_pipe_is_not_waited_for(tmp_path, end):
    path = written(tmp_path)
    path.with_name(path.name + end).unlink(missing_ok=True)
    os.mkfifo(path.with_name(path.name + end))
    opened(path)


@pytest.mark.parametrize("end", BESIDE)
def test_links_beside_a_log_are_not_written_through(tmp_path, end):
    path = written(tmp_path)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    path.with_name(path.name + end).unlink(missing_ok=True)
    path.with_name(path.name + end).symlink_to(precious)
    opened(path)
    assert precious.read_text() == "mine"


def test_a_lock_that_is_none(tmp_path):
    path = written(tmp_path)
    path.with_name("log.db-lock").write_text("this is no lock" * 100)
    with LogReader(path) as reader:
        assert reader.status.n > 0
    assert not files.is_locked(path)
    with pytest.raises(LogError, match=r"log\.db-lock is no lock of ipdp: remove it"):
        Log(path)


def test_a_log_has_one_writer_by_whatever_name(tmp_path):
    path = written(tmp_path)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with Log(path):
        assert files.is_locked(link)
        with pytest.raises(LogError, match="being written by another run"):
            Log(link)
