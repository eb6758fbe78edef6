"""`ipdp report`, `ipdp watch`: a run as a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ipdp.cli.errors import sentences
from ipdp.cli.options import Debug, Port, Quiet, RunPath, completing, examples, flag
from ipdp.cli.printing import console, line
from ipdp.core.words import shown


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("report", epilog=examples("ipdp report ipdp-run --out report.pdf"))(report)
    app.command("watch", epilog=examples("ipdp watch runs --port 8000"))(watch)


def report(
    run: RunPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The file to write; a directory for figures (png).",
            show_default="report.html, report.pdf or figures, in the run",
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="html|pdf|png",
            help="The report as a page or for paper, or its figures alone as pictures; by default "
            "from the suffix of --out, else html.",
            show_default=False,
            autocompletion=completing("html", "pdf", "png"),
        ),
    ] = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write what a run has come to as a document: to read, to mail, to print.

    A PDF needs a browser on this machine (Chromium, Chrome or Edge).
    """
    from ipdp.log import LogReader
    from ipdp.web import write_figures, write_report

    with sentences(debug=debug):
        format_ = format_ or ("pdf" if out and out.suffix.lower() == ".pdf" else "html")
        if format_ not in ("html", "png", "pdf"):
            raise ValueError(f"format must be html, pdf or png, got {shown(format_)}")
        with LogReader(run) as reader:
            name = "figures" if format_ == "png" else f"report.{format_}"
            path = out or reader.path.parent / name
            if format_ == "png":
                write_figures(reader, path)
            elif format_ == "pdf" and path.suffix.lower() != ".pdf":
                raise ValueError(f"--out of a PDF must end in .pdf, got {path}")
            else:
                write_report(reader, path)
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
        flag(
            "--token",
            help="Ask visitors for a token: that in the variable IPDP_TOKEN, else a new one. "
            "Needed for other hosts than this one.",
        ),
    ] = False,
    browser: Annotated[
        bool, flag("--browser/--no-browser", help="Open the page in a browser.")
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
