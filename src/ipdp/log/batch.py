"""What is gathered between two commits, and how it gets into the file as a whole."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ipdp.log.errors import sentences
from ipdp.log.schema import insertion

COMMIT_EVERY = 1.0
"""Seconds between two commits."""

COUNTS = {"snapshots": "n_snapshots", "changes": "n_changes", "metrics": "n_metrics"}
"""Tables whose rows are counted, and the column of `run` that says how many there are."""

Row = dict[str, Any]


class Batch:
    """The statements of the next commit, kept until they are in the file.

    Were they executed at once, a full disk would make SQLite take back all since the last commit.
    Here they stay, and are written when there is room again.

    Attributes
    ----------
    run
        The row of the run as it will be after the next commit.
    newest, newest_metrics
        The newest snapshot and the newest metrics, as rows; None before the first.
    features
        Numbers of the features by explainer and by their names as text.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._statements: list[tuple[str, list[Any]]] = []
        self._pending = False
        self._committed = time.monotonic()
        self.load()

    def load(self) -> None:
        """Read from the file how things stand."""
        self.run = self._last("run", "id") or {}
        self.newest = self._last("snapshots", "n")
        self.newest_metrics = self._last("metrics", "n")
        rows = self._connection.execute("SELECT explainer, name, number FROM features").fetchall()
        self.features: dict[tuple[str, str], int] = {(by, name): k for by, name, k in rows}

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
        self.add(*insertion(table, row, verb))

    def add(self, statement: str, values: list[Any]) -> None:
        """Add a statement to the next commit."""
        self._statements.append((statement, values))
        self._pending = True

    def commit_if_due(self) -> None:
        """Commit, if the last time is long enough ago."""
        if time.monotonic() - self._committed >= COMMIT_EVERY:
            self.commit()

    def commit(self) -> None:
        """Write what was gathered; if that fails it is kept for the next time."""
        if not self._pending:
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

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Statements that take effect together or not at all."""
        with sentences(self._path):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _thin(self, execute: Any, run: Row) -> None:
        """Delete what has expired; `reasons = 1`: what is there only because it was time."""
        if self.newest is not None:
            gone = execute(
                "DELETE FROM snapshots WHERE reasons = 1 AND expires <= ?", [self.newest["n"]]
            )
            run["n_snapshots"] -= gone.rowcount
        if self.newest_metrics is not None:
            gone = execute("DELETE FROM metrics WHERE expires <= ?", [self.newest_metrics["n"]])
            run["n_metrics"] -= gone.rowcount

    def _last(self, table: str, key: str) -> Row | None:
        cursor = self._connection.execute(f"SELECT * FROM {table} ORDER BY {key} DESC LIMIT 1")
        names = [column[0] for column in cursor.description]
        row = cursor.fetchone()
        if row is None:
            return None
        values = dict(zip(names, row, strict=True))
        del values["checksum"]
        return values
