"""`ipdp keys`: the models of a fleet on Spark, those that changed most first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ipdp.cli.errors import sentences
from ipdp.cli.options import Debug, Json, examples
from ipdp.cli.printing import (
    as_json,
    console,
    cut,
    is_plain_terminal,
    line,
    plain,
    short,
    sparkline,
    table,
    thinned,
)
from ipdp.core.validation import unknown

if TYPE_CHECKING:
    from ipdp.spark.keys import Key

_TOP, _WIDTH, _WIDE, _SENTENCE = 20, 12, 48, 500


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "keys", epilog=examples("ipdp keys fleet/curves", "ipdp keys fleet/curves --out keys.html")
    )(keys)


def keys(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="The Parquet files that a fleet on Spark wrote.",
            show_default=False,
        ),
    ],
    *,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only this key.", show_default=False)
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many keys to list at most.")
    ] = _TOP,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write all keys, and the curves of the first, as an HTML page.",
            show_default=False,
        ),
    ] = None,
    json_: Json = False,
    debug: Debug = False,
) -> None:
    """List the keys of a fleet (ipdp.spark.fleet), those whose curves moved most first."""
    from ipdp.core.files import must_be_another
    from ipdp.spark.keys import keys as read

    with sentences(debug=debug):
        if out is not None:
            must_be_another(out, path, *path.rglob("*.parquet"))
        found = read(path)
        if key is not None:
            found = [_named(found, key)]
        if out is not None:
            from ipdp.spark.keys_page import write_keys

            line(console(), f"Written: {write_keys(found, out, path.name)}")
        elif json_:
            as_json([each.to_dict() for each in found[:top]])
        else:
            print_keys(found, console(), top)


def print_keys(found: list[Key], out: Console, top: int = _TOP) -> None:
    """The keys in a terminal; of a single one its features and changes."""
    if not out.is_terminal:
        out.width = max(out.width, 160)
    if len(found) == 1:
        _print_key(found[0], out)
        return
    line(out, f"{len(found):,} keys, those whose curves moved most first:", "bold")
    shown = table(
        "key", "rows", "moved", "most in", "changes", "last change", plain=is_plain_terminal(out)
    )
    for each in found[:top]:
        newest = each.changes[-1].sentence if each.changes else ""
        cells = [
            cut(str(each.name), 28),
            f"{each.n:,}",
            short(each.moved),
            cut(next(iter(each.moves), ""), _WIDE),
        ]
        shown.add_row(*map(plain, [*cells, len(each.changes), cut(newest, _WIDE)]))
    out.print(shown)
    if len(found) > top:
        line(out, f"{len(found) - top:,} more: --top {len(found)} lists them.")


def _print_key(key: Key, out: Console) -> None:
    name, moves = cut(str(key.name), _WIDE), key.moves
    line(out, f"{name}: {key.n:,} rows; moved since row {key.since:,}:", "bold")
    shown = table("feature", "effect", "on", "moved", plain=is_plain_terminal(out))
    for feature in [*moves, *(name for name in key.now if name not in moves)]:
        curve = key.now[feature]
        output: Any = curve.main_output
        values = curve.select(output).average[0].tolist()
        drawn = sparkline(thinned(values, _WIDTH), plain=is_plain_terminal(out))
        moved = short(moves[feature]) if feature in moves else ""
        cells = [cut(feature, _WIDE), drawn, cut(curve.output_text(output), _WIDE), moved]
        shown.add_row(*map(plain, cells))
    out.print(shown)
    for change in key.changes:
        line(out, f"{change.n:>9,}  {cut(change.sentence, _SENTENCE)}")
    if not key.changes:
        line(out, "No changes.")


def _named(found: list[Key], name: str) -> Key:
    for each in found:
        if str(each.name) == name:
            return each
    raise ValueError(unknown("key", name, [str(each.name) for each in found]))
