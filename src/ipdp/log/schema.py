"""The tables of a log, as numbered steps from nothing to the newest version."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from typing import Any

APPLICATION = 0x69706470
"""Marks a SQLite file as a log of ipdp (its application_id: "ipdp")."""


FIRST = "pdp"
"""The explainer of what is logged without saying which; the only one in logs of version 1."""


def _version_1(connection: sqlite3.Connection) -> None:
    for statement in (
        # One row, there from the start. n_*: how many rows the tables below must have.
        """CREATE TABLE run (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            settings TEXT NOT NULL, retention TEXT NOT NULL,
            state TEXT NOT NULL, message TEXT,
            n INTEGER NOT NULL, started REAL, heartbeat REAL,
            n_snapshots INTEGER NOT NULL, n_changes INTEGER NOT NULL, n_metrics INTEGER NOT NULL,
            checksum INTEGER NOT NULL)""",
        """CREATE TABLE features (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL)""",
        """CREATE TABLE snapshots (
            n INTEGER PRIMARY KEY, time REAL NOT NULL, reasons INTEGER NOT NULL,
            expires INTEGER, n_curves INTEGER NOT NULL, checksum INTEGER NOT NULL)""",
        # Those that are there for no better reason than that it was time.
        "CREATE INDEX expiring ON snapshots (expires) WHERE reasons = 1",
        # With a rowid of its own, so that a snapshot's blobs lie side by side on the pages.
        """CREATE TABLE curves (
            n INTEGER NOT NULL REFERENCES snapshots ON DELETE CASCADE,
            feature INTEGER NOT NULL REFERENCES features,
            importance REAL, curve BLOB NOT NULL, checksum INTEGER NOT NULL)""",
        "CREATE UNIQUE INDEX curves_by_n ON curves (n, feature)",
        # Holds the importances too: they are read without touching a blob.
        "CREATE INDEX curves_by_feature ON curves (feature, n, importance)",
        """CREATE TABLE changes (
            id INTEGER PRIMARY KEY, n INTEGER NOT NULL, change TEXT NOT NULL,
            before BLOB NOT NULL, after BLOB NOT NULL, checksum INTEGER NOT NULL)""",
        """CREATE TABLE metrics (
            n INTEGER PRIMARY KEY, "values" TEXT NOT NULL, expires INTEGER,
            checksum INTEGER NOT NULL)""",
        "CREATE INDEX metrics_expiring ON metrics (expires)",
    ):
        connection.execute(statement)
    nothing = dict.fromkeys(("n", "n_snapshots", "n_changes", "n_metrics"), 0)
    times = {"message": None, "started": None, "heartbeat": None}
    run = {"id": 1, "settings": "{}", "retention": "null", "state": "empty", **nothing, **times}
    connection.execute(*insertion("run", run))


def _version_2(connection: sqlite3.Connection) -> None:
    """A feature as it is followed by an explainer; all that was there before came from the PDP."""
    # SQLite cannot take back that a column is unique: the table is made anew.
    connection.execute(
        """CREATE TABLE new_features (
            number INTEGER PRIMARY KEY, explainer TEXT NOT NULL, name TEXT NOT NULL,
            checksum INTEGER NOT NULL, UNIQUE (explainer, name))"""
    )
    for number, name in connection.execute("SELECT number, name FROM features").fetchall():
        row = {"number": number, "explainer": FIRST, "name": name}
        connection.execute(*insertion("new_features", row))
    connection.execute("DROP TABLE features")
    connection.execute("ALTER TABLE new_features RENAME TO features")


MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_version_1, _version_2]
"""Step k leads from version k to k + 1. A step that was released is never edited."""


def version(connection: sqlite3.Connection) -> int:
    """The version of the tables."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to the newest version: all steps or none."""
    # Else a table that is made anew could not let go of the rows that others refer to.
    connection.execute("PRAGMA foreign_keys = OFF")
    with connection:  # commits, or rolls back if a step fails
        connection.execute("BEGIN IMMEDIATE")
        for step in MIGRATIONS[version(connection) :]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def difference(connection: sqlite3.Connection) -> str | None:
    """What a file's tables have that those of its version do not, in a few words; None if nothing.

    A view in place of a table, or a trigger, would run somebody else's queries.
    """
    query = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    for (name,) in connection.execute(query):
        return f"it has a trigger, {name}"
    for table, columns in _columns_of_version(version(connection)).items():
        kind = connection.execute(_KIND, [table]).fetchone()
        if kind is None or kind[0] != "table" or kind[1].upper().startswith("CREATE VIRTUAL"):
            return f"{table} is not a table in it"
        if _columns(connection, table) != columns:
            return f"its table {table} has other columns"
    return None


_KIND = "SELECT type, sql FROM sqlite_schema WHERE name = ?"


@cache
def _columns_of_version(number: int) -> dict[str, list[Any]]:
    """For each table of a version its columns."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in MIGRATIONS[:number]:
            step(connection)
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {table: _columns(connection, table) for (table,) in tables.fetchall()}


def _columns(connection: sqlite3.Connection, table: str) -> list[Any]:
    # Name and type, and whether it is computed.
    found = connection.execute("SELECT name, type, hidden FROM pragma_table_xinfo(?)", [table])
    return sorted(found.fetchall())


def checksum(row: Mapping[str, Any]) -> int:
    """Checksum of a row's values in the order of their names."""
    names = sorted(row)
    values = [row[name] for name in names]
    plain = [len(value) if isinstance(value, bytes) else value for value in values]
    total = zlib.crc32(repr(plain).encode())
    for value in values:
        if isinstance(value, bytes):
            total = zlib.crc32(value, total)
    return total


def insertion(table: str, row: Mapping[str, Any], verb: str = "INSERT") -> tuple[str, list[Any]]:
    """The statement that writes a row with its checksum, and its values."""
    return _statement(verb, table, tuple(row)), [*row.values(), checksum(row)]


def as_dicts(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    """The rows that a query of all columns gives."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor]


@cache
def _statement(verb: str, table: str, names: tuple[str, ...]) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * len(names))
    return f"{verb} INTO {table} ({columns}, checksum) VALUES ({marks}, ?)"
