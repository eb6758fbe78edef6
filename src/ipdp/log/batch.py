"""What is gathered between two commits, and how it gets into the file as a whole."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ipdp.core.redaction import without_secrets
from ipdp.log.files import LogError, identity, sentences
from ipdp.log.records import REASONS
from ipdp.log.schema import as_dicts, checksum, insertion

COMMIT_EVERY = 1.0
"""Seconds between two commits."""

COUNTS = {"snapshots": "n_snapshots", "changes": "n_changes", "metrics": "n_metrics"}
"""Tables whose rows are counted, and the column of `run` that says how many there are."""

_END = REASONS["end"]

Row = dict[str, Any]


class Batch:
    """The statements of the next commit, kept until they are in the file.

    Were they executed at once, a full disk would make SQLite take back all since the last commit.
    Here they stay, and are written when there is room again. `run` is the row of the run as it will
    be then, `newest` and `newest_metrics` are the newest rows of their tables, None before the
    first, and `features` are their numbers by explainer and by their names as text.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._identity = identity(path)
        self._statements: list[tuple[str, list[Any]]] = []
        self._pending = False
        self._committed = time.monotonic()
        self.load()

    def load(self) -> None:
        """Read from the file how things stand."""
        self.run = self._last("run") or {}
        self.newest, self.newest_metrics = self._last("snapshots"), self._last("metrics")
        self.features: dict[tuple[str, str], int] = {
            (row["explainer"], row["name"]): row["number"]
            for row in self._rows("SELECT * FROM features")
        }

    def note(self, n: int) -> None:
        """The run is running and has seen n observations."""
        run = self.run
        run["n"] = n
        if run["state"] != "running":
            run["state"], run["message"] = "running", None
            run["started"] = run["started"] or time.time()
        self._pending = True

    def insert(self, table: str, row: Row, verb: str = "INSERT") -> None:
        """Add a row to the next commit."""
        self._statements.append(insertion(table, row, verb))
        self._pending = True

    def add_reason(self, reason: int) -> None:
        """The newest snapshot was taken for this reason too."""
        assert self.newest is not None
        self.newest["reasons"] |= reason
        self._statements.append(_new_reasons(self.newest, self.newest["reasons"]))
        self._pending = True

    def number_of(self, explainer: str, name: str) -> int:
        """The number of a feature, which it gets when it comes for the first time."""
        features, key = self.features, (explainer, name)
        if key not in features:
            features[key] = len(features)
            row = {"number": features[key], "explainer": explainer, "name": name}
            self.insert("features", row)
        return features[key]

    def commit(self, *, if_due: bool = False) -> None:
        """Write what was gathered; if that fails it is kept for the next time."""
        is_early = time.monotonic() - self._committed < COMMIT_EVERY
        if not self._pending or (if_due and is_early):
            return
        self._committed = time.monotonic()  # also if it fails: to try at every call would be slow
        with self.transaction() as execute:
            for statement, values in self._statements:
                execute(statement, values)
            run = {**self.run, "heartbeat": time.time()}
            self._thin(execute, run)
            execute(*insertion("run", run, "INSERT OR REPLACE"))
        self.run = run
        self._statements.clear()
        self._pending = False

    def sync(self) -> None:
        """Wait until what was committed is on the disk.

        SQLite itself waits only now and then, unless `synchronous` is FULL.
        """
        with suppress(FileNotFoundError):
            wal = os.open(f"{self._path}-wal", os.O_RDWR)
            try:
                os.fsync(wal)
            finally:
                os.close(wal)

    def rewind(self, n: int) -> None:
        """Forget all that came after n, and that the run had ended."""
        self.commit()
        with self.transaction() as execute:
            run = {**self.run, "state": "running", "message": None, "n": n}
            for table, count in COUNTS.items():
                run[count] -= execute(f"DELETE FROM {table} WHERE n > ?", [n]).rowcount
            gone = execute("DELETE FROM snapshots WHERE reasons = ?", [_END])
            run["n_snapshots"] -= gone.rowcount
            for row in self._rows("SELECT * FROM snapshots WHERE reasons & ?", _END):
                execute(*_new_reasons(row, row["reasons"] & ~_END))
            execute(*insertion("run", run, "INSERT OR REPLACE"))
        self.load()
        self.sync()

    def redact(self) -> None:
        """Overwrite what an earlier version has logged of passwords."""
        run = self.run
        settings, message = run["settings"], run["message"]
        if settings and "://" in f"{settings}{message}":
            clean = json.dumps(without_secrets(json.loads(settings)))
            self.run = {**run, "settings": clean, "message": without_secrets(message)}
        if self.run != run:
            self._connection.execute("PRAGMA secure_delete = ON")
            with self.transaction() as execute:
                execute(*insertion("run", self.run, "INSERT OR REPLACE"))

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Statements that take effect together or not at all."""
        self._must_be_there()
        with sentences(self._path):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _must_be_there(self) -> None:
        """Refuse to write a file that nobody can open any more, which SQLite would do."""
        if identity(self._path) != self._identity:
            raise LogError(
                f"{self._path} was deleted or replaced while it was written: what comes now would "
                "be lost; begin a new run"
            )

    def _thin(self, execute: Any, run: Row) -> None:
        """Delete what has expired; `reasons = 1`: what is there only because it was time."""
        if self.newest is not None:
            expired = "DELETE FROM snapshots WHERE reasons = 1 AND expires <= ?"
            run["n_snapshots"] -= execute(expired, [self.newest["n"]]).rowcount
        if self.newest_metrics is not None:
            expired = "DELETE FROM metrics WHERE expires <= ?"
            run["n_metrics"] -= execute(expired, [self.newest_metrics["n"]]).rowcount

    def _last(self, table: str) -> Row | None:
        return next(iter(self._rows(f"SELECT * FROM {table} ORDER BY n DESC LIMIT 1")), None)

    def _rows(self, query: str, *values: Any) -> list[Row]:
        """Rows as they are in the file, without their checksums."""
        rows = as_dicts(self._connection.execute(query, values))
        for row in rows:
            del row["checksum"]
        return rows


def _new_reasons(snapshot: Row, reasons: int) -> tuple[str, list[Any]]:
    statement = "UPDATE snapshots SET reasons = ?, checksum = ? WHERE n = ?"
    return statement, [reasons, checksum({**snapshot, "reasons": reasons}), snapshot["n"]]
