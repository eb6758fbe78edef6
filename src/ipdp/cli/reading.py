"""`ipdp show`, `ipdp changes`, `ipdp check`, `ipdp verify`: what a log says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ipdp.cli.errors import CHANGED, REFUSED, sentences
from ipdp.cli.options import Debug, Json, Quiet, RunPath, examples
from ipdp.cli.printing import as_json, console, line, name

KINDS = ("real", "virtual", "both", "unclear")

Feature = Annotated[
    str | None,
    typer.Option("--feature", metavar="FEATURE", help="Only this feature.", show_default=False),
]
After = Annotated[
    int, typer.Option("--after", metavar="N", help="Only changes after so many observations.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("show", epilog=examples("ipdp show ipdp-run --at 20000"))(show)
    app.command("changes", epilog=examples("ipdp changes ipdp-run --kind real,both"))(changes)
    app.command("check", epilog=examples("ipdp check ipdp-run --after 50000 || notify"))(check)
    app.command("verify", epilog=examples("ipdp verify ipdp-run"))(verify)


def show(
    run: RunPath,
    at: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The curves after so many observations.", show_default="the last"
        ),
    ] = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """Show curves, importance and changes in the terminal.

    One line for each feature, the most important first: its curve over its range, and how its
    importance went.
    """
    from ipdp.cli.showing import overview, print_overview
    from ipdp.log import LogReader

    with sentences(debug=debug), LogReader(run) as reader:
        if json_:
            as_json(overview(reader, at))
        else:
            print_overview(reader, at, console())


def changes(
    run: RunPath,
    *,
    feature: Feature = None,
    kind: Annotated[
        str, typer.Option(metavar="KINDS", help="Only these kinds: real, virtual, both, unclear.")
    ] = ",".join(KINDS),
    after: After = 0,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """List the changes that were found, oldest first."""
    with sentences(debug=debug):
        found = _changes(run, feature, _kinds(kind), after)
        if json_:
            as_json([{"n": change.n, **change.change.to_dict()} for change in found])
            return
        out = console()
        for change in found:
            line(out, f"{change.n:>9,}  {change.change.kind:<8} {change.change.summary()}")
        if not found:
            line(out, "No changes.")


def check(
    run: RunPath,
    *,
    feature: Feature = None,
    kind: Annotated[
        str, typer.Option(metavar="KINDS", help="Kinds that count: real, virtual, both, unclear.")
    ] = "real,both",
    after: After = 0,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Leave with exit code 1 if an effect changed, for pipelines.

    A run that failed or died cannot be vouched for: exit code 2.
    """
    from ipdp.log import LogReader

    with sentences(debug=debug):
        with LogReader(run) as reader:
            status = reader.status
        if status.state in ("failed", "died", "empty"):
            reason = f": {status.message}" if status.message else ""
            raise RuntimeError(f"the run in {run} {_STATES[status.state]}{reason}")
        found = _changes(run, feature, _kinds(kind), after)
        if json_:
            as_json(
                {
                    "changed": bool(found),
                    "n": status.n,
                    "changes": [{"n": change.n, **change.change.to_dict()} for change in found],
                }
            )
        elif not quiet:
            out = console()
            for change in found:
                line(out, f"{change.n:>9,}  {change.change.summary()}")
            if not found:
                line(out, f"No effect changed in {status.n:,} observations.")
        if found:
            raise typer.Exit(CHANGED)


_STATES = {
    "failed": "failed",
    "died": "died without an end",
    "empty": "has not begun",
}


def verify(run: RunPath, json_: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Look whether a log is whole: checksums, gaps, SQLite's own check."""
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


def _changes(run: Any, feature: str | None, kinds: Sequence[str], after: int) -> list[Any]:
    from ipdp.log import LogReader

    with LogReader(run) as reader:
        names = [name(known) for known in reader.features]
        if feature is not None and feature not in names:
            raise ValueError(f"there is no feature {feature!r}: the run has {', '.join(names)}")
        return [
            change
            for change in reader.changes()
            if change.n > after
            and change.change.kind in kinds
            and (feature is None or name(change.change.feature) == feature)
        ]


def _kinds(text: str) -> list[str]:
    kinds = [kind.strip() for kind in text.split(",")]
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"--kind: there is no kind {kind!r}; they are {', '.join(KINDS)}")
    return kinds
