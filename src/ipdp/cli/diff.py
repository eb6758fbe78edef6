"""`ipdp diff`: two times, periods or runs, and where they differ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipdp.cli.errors import CHANGED, sentences
from ipdp.cli.options import Debug, Json, Quiet, examples, flag
from ipdp.cli.printing import (
    as_json,
    console,
    cut,
    cut_name,
    is_plain_terminal,
    line,
    plain,
    table,
)
from ipdp.core.words import shown

if TYPE_CHECKING:
    from rich.console import Console

    from ipdp.comparison import Comparison, Difference, ScoreMove

_TITLES = ("feature", "on", "effect", "by", "errors", "at most", "where", "level")
_NARROW = 100
_STYLES = {"different": "bold red", "alike": "green", "cannot say": ""}

Run = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run's directory, its log, or a file of 'ipdp baseline'.",
        show_default=False,
    ),
]
Other = Annotated[
    Path | None,
    typer.Argument(metavar="OTHER", help="Another one to compare it with.", show_default=False),
]
At = Annotated[
    int | None,
    typer.Option(metavar="N", help="RUN after N observations.", show_default="the last"),
]
Against = Annotated[
    int | None,
    typer.Option(metavar="N", help="The same of OTHER, or of RUN itself.", show_default="the last"),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="N:N", help="RUN over a period instead: 0:10000."),
]
To = Annotated[
    str | None,
    typer.Option(metavar="N:N", help="The same of OTHER, or of RUN itself: 10000:20000."),
]
Features = Annotated[
    str | None,
    typer.Option(metavar="FEATURES", help="Only these, with commas.", show_default="all"),
]
Margin = Annotated[
    float | None,
    typer.Option(
        metavar="SIZE",
        help="What counts as no difference, in units of the output.",
        show_default="a tenth of the standard deviation of the predictions",
    ),
]
Level = Annotated[
    float,
    typer.Option(metavar="P", help="Probability that nothing is called different by chance."),
]
WhichExplainer = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Whose curves to compare.", show_default="the first"),
]
Score = Annotated[
    bool,
    flag("--score", help="Say why the mean prediction moved, too, feature by feature."),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page with the picture, too."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "ipdp diff ipdp-run --at 10000 --against 20000",
        "ipdp diff ipdp-run --from 0:10000 --to 10000:20000 --html diff.html",
        "ipdp diff ipdp-run --from 0:10000 --to 10000:20000 --score",
        "ipdp diff january february || notify",
    )
    app.command("diff", epilog=shown)(diff)


def diff(
    run: Run,
    other: Other = None,
    *,
    at: At = None,
    against: Against = None,
    from_: From = None,
    to: To = None,
    features: Features = None,
    margin: Margin = None,
    level: Level = 0.95,
    explainer: WhichExplainer = None,
    score: Score = False,
    html: Html = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say which effects differ between two times, periods or runs.

    Exit code 1 if an effect or the level is different, else 0.
    """
    with sentences(debug=debug):
        from ipdp.comparison import compare, score_move

        first, second = _when(at, from_, "--at", "--from"), _when(against, to, "--against", "--to")
        _must_be_two(other, first, second)
        both = run, run if other is None else other
        if html is not None:
            _must_be_kept(html, *both)
        when: dict[str, Any] = {"at": first, "against": second, "explainer": explainer}
        chosen = None if features is None else _features(features)
        found = compare(*both, features=chosen, margin=margin, level=level, **when)
        move = score_move(*both, **when) if score else None
        _tell(found, move, html, json_=json_, quiet=quiet)
        if found.verdict == "different":
            raise typer.Exit(CHANGED)


def _must_be_kept(html: Path, *sides: Path) -> None:
    """Refuse to write the page in the place of what is compared."""
    from ipdp.log.files import NAME, must_not_replace

    for side in sides:
        must_not_replace(html, side / NAME if side.is_dir() else side)


def _must_be_two(other: Path | None, first: Any, second: Any) -> None:
    if other is None and first == second:
        raise ValueError(
            "name two times (--at N --against N), two periods (--from N:N --to N:N) or two runs"
        )


def _tell(
    found: Comparison, move: ScoreMove | None, html: Path | None, *, json_: bool, quiet: bool
) -> None:
    """Write the page, if there is to be one, and print what came of it."""
    if html is not None:
        from ipdp.web.comparison import write_comparison

        write_comparison(found, html, move)
    if json_:
        more = {} if move is None else {"score_move": move.to_dict()}
        as_json({**found.to_dict(), **more})
    elif not quiet:
        print_comparison(found, console())
        for text in [] if move is None else move.summary().splitlines():
            line(console(), text)
        if html is not None:
            line(console(), f"Written: {html}")


def _when(time: int | None, period: str | None, *names: str) -> Any:
    """A time, a period, or None for the end."""
    if time is not None and period is not None:
        raise ValueError(f"{names[0]} is a time and {names[1]} a period: give one of both")
    if period is None:
        return time
    first, colon, last = period.partition(":")
    try:
        if not colon:
            raise ValueError
        return int(first or 0), int(last)
    except ValueError:
        raise ValueError(
            f"{names[1]} is a period, two numbers with a colon in between, got {shown(period)}"
        ) from None


def _features(text: str) -> list[Any]:
    # The comma in "age, where country = AT" is a part of the name.
    names = [name.strip() for name in re.split(r",(?!\s*where )", text) if name.strip()]
    if not names:
        raise ValueError("--features needs names, such as --features age,salary")
    return [tuple(name.split("*")) if "*" in name else name for name in names]


def print_comparison(found: Comparison, out: Console) -> None:
    """A table with a row for each feature and output, and what is to be said of all."""
    from ipdp.comparison.result import rank

    line(out, found.heading, "bold")
    several = len({each.output for each in found.differences}) > 1
    # In a terminal with few columns what may be read off the others is left out.
    left_out = {"at most"} if out.is_terminal and out.width < _NARROW else set()
    left_out |= set() if several else {"on"}
    if not out.is_terminal:
        out.width = max(out.width, 200)  # a file takes it all
    titles = [title for title in _TITLES if title not in left_out]
    shown = table(*titles, plain=is_plain_terminal(out))
    for each in sorted(found.differences, key=rank):
        cells = zip(_TITLES, _cells(each), strict=True)
        shown.add_row(*(plain(*cell) for title, cell in cells if title not in left_out))
    out.print(shown)
    for remark in found.remarks:
        line(out, remark)


def _cells(each: Difference) -> list[tuple[str, str]]:
    sizes = each.size_texts()
    cause = f" ({each.kind})" if each.kind else ""
    return [
        (cut_name(each.feature, 20), "bold"),
        (cut(each.output_text, 12), ""),
        (f"{each.verdict}{cause}", _STYLES[each.verdict]),
        *((size, "") for size in sizes),
        (cut(each.place_text(), 24), ""),
        (each.level_text(), _STYLES["different"] if each.level_verdict == "different" else ""),
    ]
