"""`ipdp report`, `ipdp watch`: a run as a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ipdp.cli.errors import sentences
from ipdp.cli.options import Debug, Port, Quiet, RunPath, examples
from ipdp.cli.printing import console, line


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("report", epilog=examples("ipdp report ipdp-run --out report.html"))(report)
    app.command("watch", epilog=examples("ipdp watch runs --port 8000"))(watch)


def report(
    run: RunPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The file to write; a directory for figures.",
            show_default="report.html, or figures, in the run",
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="html|png|pdf", help="The page, or the figures alone as pictures."
        ),
    ] = "html",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write one HTML page that opens without a network: to keep, or to mail."""
    from ipdp.log import LogReader
    from ipdp.web import write_figures, write_report

    with sentences(debug=debug):
        if format_ not in ("html", "png", "pdf"):
            raise ValueError(f"format must be html, png or pdf, got {format_!r}")
        with LogReader(run) as reader:
            path = out or reader.path.parent / ("report.html" if format_ == "html" else "figures")
            if format_ == "html":
                write_report(reader, path)
            else:
                write_figures(reader, path, format_)  # type: ignore[arg-type]  # checked above
        if not quiet:
            line(console(), f"Written: {path}")


def watch(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run's directory, its log, or a directory with several runs.",
            show_default=False,
        ),
    ],
    *,
    port: Port = 8321,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen at.")] = (
        "127.0.0.1"
    ),
    token: Annotated[
        bool,
        typer.Option(
            "--token",
            help="Ask visitors for a token: that in the variable IPDP_TOKEN, else a new one. "
            "Needed for other hosts than this one.",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve the live page of a run, or of several, until Ctrl-C."""
    with sentences(debug=debug):
        from ipdp.web import new_token, serve

        secret = os.environ.get("IPDP_TOKEN") or (new_token() if token else None)

        def say(address: str) -> None:
            if not quiet:
                line(console(), f"Watching {run} at {address} (Ctrl-C ends it)")

        serve(run, host, port, secret, open_browser=browser, ready=say)
