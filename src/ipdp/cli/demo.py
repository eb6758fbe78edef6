"""`ipdp demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipdp.cli.errors import sentences
from ipdp.cli.options import Debug, Quiet, examples, flag


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog=examples("ipdp demo --watch"))(demo)


def demo(
    *,
    out: Annotated[
        Path, typer.Option(metavar="DIRECTORY", help="Where to put log, report and picture.")
    ] = Path("ipdp-demo"),
    n: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="Number of observations.", show_default="15000"),
    ] = None,
    quick: Annotated[bool, flag("--quick", help="Take 3000 observations.")] = False,
    watch: Annotated[bool, flag("--watch", help="Open the live page while it runs.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Explain a model on a stream that drifts twice, offline, in under a minute.

    Loan decisions: first the rule changes, then salaries rise. It leaves a log, a report and a
    picture of what the model believed.
    """
    from ipdp import demo as demonstration

    with sentences(debug=debug):
        demonstration.demonstrate(
            out,
            (demonstration.N_QUICK if quick else demonstration.N) if n is None else n,
            watch=watch,
            quiet=quiet,
        )
