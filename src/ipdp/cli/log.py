"""`ipdp verify`, `ipdp export`: the log as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ipdp.cli.errors import REFUSED, sentences
from ipdp.cli.options import Debug, Json, Quiet, RunPath, completing, examples
from ipdp.cli.printing import as_json, console, line


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify", epilog=examples("ipdp verify ipdp-run"))(verify)
    app.command("export", epilog=examples("ipdp export ipdp-run curves.parquet"))(export)


def verify(run: RunPath, json_: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Check a log's integrity: checksums, gaps, SQLite's own check."""
    from ipdp.log import LogReader

    with sentences(debug=debug):
        with LogReader(run) as reader:
            problems = reader.verify()
        if json_:
            as_json({"problems": problems})
        elif not quiet:
            for problem in problems:
                line(console(stderr=True), problem)
            if not problems:
                sys.stdout.write("The log is sound.\n")
        if problems:
            raise typer.Exit(REFUSED)


def export(
    run: RunPath,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
    ],
    *,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="csv|jsonl|parquet|arrow",
            autocompletion=completing("csv", "jsonl", "parquet", "arrow"),
            help="Format of the file; by default from its suffix.",
        ),
    ] = None,
    what: Annotated[
        str,
        typer.Option(
            metavar="curves|importances|changes|metrics",
            help="Which table.",
            autocompletion=completing("curves", "importances", "changes", "metrics"),
        ),
    ] = "curves",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the log as one table: CSV, JSON Lines, Parquet or Arrow."""
    from ipdp.log import LogReader

    with sentences(debug=debug):
        with LogReader(run) as reader:
            reader.export(path, format_, what=what)  # type: ignore[arg-type]  # checked there
        if not quiet:
            line(console(), f"Written: {path}")
