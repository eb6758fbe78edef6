"""Looking for what is wrong in a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ipdp.log.batch import COUNTS
from ipdp.log.files import LogError, following, sentences
from ipdp.log.schema import as_dicts, checksum

if TYPE_CHECKING:
    from ipdp.log.reader import LogReader

_TABLES = ("run", "features", "snapshots", "curves", "changes", "metrics")
_PAGE = 256


def problems(log: LogReader) -> list[str]:
    """What is wrong with a log, a sentence each."""
    found: list[str] = []
    for look in (_structure, _contents, _gaps):
        try:
            found.extend(look(log))
        except LogError as error:
            found.append(str(error))
        except LookupError as error:
            found.append(f"{log.path} is damaged: a table has no column {error}")
    return list(dict.fromkeys(found))


def _structure(log: LogReader) -> Iterator[str]:
    """SQLite's own check of pages, indexes and references."""
    with log._lock, sentences(log.path):  # however long it takes: it visits each page once
        messages = log._connection.execute("PRAGMA integrity_check(5)").fetchall()
    for (message,) in messages:
        if message != "ok":
            # One damaged page may bring a line for each of its cells: the first says enough.
            said = [line for line in message.splitlines() if not line.startswith("***")]
            yield f"{log.path} is damaged: {said[0] if said else message}"
    for table, _, parent, _ in log._rows("PRAGMA foreign_key_check"):
        yield f"a row of {table} has lost what it belongs to in {parent}"


def _contents(log: LogReader) -> Iterator[str]:
    """Every row against its checksum."""
    for table in _TABLES:
        for row in _rows(log, table):
            if row.pop("checksum") != checksum(row):
                yield f"{_called(log, table, row)} is not what was written"


def _gaps(log: LogReader) -> Iterator[str]:
    """Rows that must be there and are not."""
    for table, count in COUNTS.items():
        query = f"SELECT {count}, (SELECT count(*) FROM {table}) FROM run"
        for expected, there in log._rows(query):
            if expected != there:
                yield f"there should be {expected} {table}, but {there} are there"
    for n, expected, there in log._rows(
        "SELECT snapshots.n, n_curves, count(curves.n) AS there FROM snapshots "
        "LEFT JOIN curves USING (n) GROUP BY snapshots.n HAVING n_curves != there"
    ):
        yield f"the snapshot at n = {n} should have {expected} curves, but {there} are there"


def _rows(log: LogReader, table: str) -> Iterator[dict[str, Any]]:
    query = f"SELECT rowid AS place, * FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}"
    last = -1
    while True:
        with log._lock, sentences(log.path):
            rows = as_dicts(log._connection.execute(query, [last]))
        if not rows:
            return
        last = following(log.path, last, rows[-1]["place"])
        for row in rows:
            del row["place"]
            yield row


def _called(log: LogReader, table: str, row: dict[str, Any]) -> str:
    if table == "curves":
        names = {k: name for named in log._followed().values() for k, name in named.items()}
        return f"the curve of {names.get(row['feature'])!r} at n = {row['n']}"
    if table in ("snapshots", "metrics"):
        return f"what {table} say of n = {row['n']}"
    if table == "changes":
        return f"change {row['id']}"
    return "what is said of the run" if table == "run" else f"the name {row['name']!r} of a feature"
