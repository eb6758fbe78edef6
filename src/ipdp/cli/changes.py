"""`ipdp changes`, `ipdp check`: the changes that a log has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ipdp.cli.errors import CHANGED, sentences
from ipdp.cli.options import Debug, Json, Quiet, RunPath, completing, examples
from ipdp.cli.printing import as_json, console, line, when_text
from ipdp.cli.since import first_n
from ipdp.core.curve import feature_text
from ipdp.core.times import moment
from ipdp.core.validation import unknown
from ipdp.core.words import counted

if TYPE_CHECKING:
    from ipdp.log import LogReader
    from ipdp.log.records import LoggedChange

KINDS = ("real", "virtual", "both", "unclear")
_ALL = ",".join(KINDS)

Kinds = Annotated[
    str,
    typer.Option(
        metavar="KINDS",
        help="Only these kinds: real, virtual, both, unclear.",
        autocompletion=completing(*KINDS),
    ),
]
Feature = Annotated[
    str | None,
    typer.Option("--feature", metavar="FEATURE", help="Only this feature.", show_default=False),
]
After = Annotated[
    int, typer.Option("--after", metavar="N", help="Only changes after this many observations.")
]

Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only changes since a date (2024-06-01), or of the last 7d, 12h, 30min: by the clock "
        "of the data (--time), else by when they were processed.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "changes",
        epilog=examples(
            "ipdp changes ipdp-run --since 7d", "ipdp changes ipdp-run --kind real,both"
        ),
    )(changes)
    app.command("check", epilog=examples("ipdp check ipdp-run --after 50000 || notify"))(check)


def changes(
    run: RunPath,
    *,
    feature: Feature = None,
    kind: Kinds = _ALL,
    after: After = 0,
    since: Since = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """List the changes that were found, oldest first."""
    from ipdp.log import LogReader

    with sentences(debug=debug), LogReader(run) as reader:
        found = _changes(reader, feature, kind, after, since)
        if json_:
            as_json(_as_dicts(found))
            return
        out = console()
        for change in found:
            when = when_text(change.n, change.change.t)
            line(out, f"{when}  {change.change.kind:<8} {change.change.summary()}")
        if not found:
            line(out, _nothing(reader.changes()))


def _nothing(all_of_them: Sequence[LoggedChange]) -> str:
    """That there is no change, and the last one of those that were not asked for."""
    if not all_of_them:
        return "No changes."
    last = all_of_them[-1]
    when = when_text(last.n, last.change.t).strip()
    of = counted(len(all_of_them), "change")
    return f"No changes of those asked for, of {of}; the last is {last.change.kind}, at {when}."


def check(
    run: RunPath,
    *,
    feature: Feature = None,
    kind: Kinds = "real,both",
    after: After = 0,
    since: Since = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Exit with code 1 if an effect changed, for pipelines.

    A run that failed, died or has not begun gives exit code 2.
    """
    from ipdp.log import LogReader

    with sentences(debug=debug), LogReader(run) as reader:
        status = reader.status
        if status.state in _BAD_STATES:
            reason = f": {status.message}" if status.message else ""
            raise RuntimeError(f"the run in {run} {_BAD_STATES[status.state]}{reason}")
        found = _changes(reader, feature, kind, after, since)
        if json_:
            as_json({"changed": bool(found), "n": status.n, "changes": _as_dicts(found)})
        elif not quiet:
            out = console()
            print_summaries(found, out)
            if not found:
                line(out, f"No effect changed in {status.n:,} observations.")
        if found:
            raise typer.Exit(CHANGED)


_BAD_STATES = {"failed": "failed", "died": "died without an end", "empty": "has not begun"}


def _changes(
    reader: LogReader, feature: str | None, kinds: str, after: int, since: str | None
) -> list[LoggedChange]:
    """The changes of some kinds, given as a text with commas, after so many observations."""
    if since is not None:
        after = max(after, first_n(reader, since))
    names = [feature_text(known) for known in reader.features]
    if feature is not None and feature not in names:
        raise ValueError(unknown("feature", feature, names))
    wanted = [kind.strip() for kind in kinds.split(",")]
    for kind in wanted:
        if kind not in KINDS:
            raise ValueError(f"--kind: {unknown('kind', kind, KINDS)}")
    return [
        change
        for change in reader.changes()
        if change.n > after
        and change.change.kind in wanted
        and (feature is None or feature_text(change.change.feature) == feature)
    ]


def _as_dicts(changes: Sequence[LoggedChange]) -> list[dict[str, Any]]:
    return [{"n": change.n, **time_of(change), **change.change.to_dict()} for change in changes]


def time_of(logged: LoggedChange) -> dict[str, str]:
    """When a change was found, by a wall clock; nothing if there is none."""
    when = moment(logged.change.t)
    return {} if when is None else {"time": when.isoformat()}


def print_summaries(changes: Sequence[LoggedChange], out: Console) -> None:
    """A line for each change: when, and what."""
    for change in changes:
        line(out, f"{when_text(change.n, change.change.t)}  {change.change.summary()}")
