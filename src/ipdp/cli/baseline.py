"""`ipdp baseline`: the curves of training data in a small file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from ipdp.cli.errors import sentences, warned
from ipdp.cli.options import Debug, Quiet, examples, flag
from ipdp.cli.printing import console, line
from ipdp.cli.trust import trust_again

# So many rows are explained together: the model stays as it is.
_TOGETHER = 1_000


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "ipdp baseline model.skops train.csv --target price -o base.ipdp",
        "ipdp run --model model.skops --data live.csv --baseline base.ipdp",
    )
    app.command("baseline", epilog=shown)(baseline)


def baseline(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="As --model of 'ipdp run'.", show_default=False),
    ],
    data: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="As --data of 'ipdp run'.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")
    ] = Path("base.ipdp"),
    *,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column that the model predicts, and does not get."
        ),
    ] = None,
    drop: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Columns that the model does not get.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Take this many rows.", show_default="all")
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="logit|log", help="As --link of 'ipdp run'.")
    ] = None,
    allow_pickle: Annotated[
        bool, flag("--allow-pickle", help="Load a pickle, which can run any code.")
    ] = False,
    trust: Annotated[
        str,
        typer.Option(metavar="TYPES", help="Types that a .skops file may hold beside skops' own."),
    ] = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the curves of a model over its training data, to compare production with."""
    with sentences(debug=debug), trust_again(), warned(_worded, quiet=quiet):
        from ipdp.core.files import must_be_another
        from ipdp.core.link import checked_link
        from ipdp.explainers import IncrementalPDP
        from ipdp.models.load import load_model
        from ipdp.sources import open_source

        must_be_another(out, Path(model), Path(data))
        loaded = load_model(model, allow_pickle=allow_pickle, trusted=_names(trust))
        pdp = IncrementalPDP(loaded, alpha=None, n_ice=0, link=checked_link(link))
        with open_source(data, target=target, drop=_names(drop), limit=limit) as source:
            rows = (row[0] if isinstance(row, tuple) else row for row in source)
            while some := list(islice(rows, _TOGETHER)):
                pdp.explain_many(some)
        made = pdp.baseline()
        made.save(out)
        if not quiet:
            line(console(), f"Written: {out} ({len(made.curves)} features of {pdp.n_seen:,} rows)")


def _worded(warning: Warning | str) -> str:
    """A warning without what only a call in Python can do."""
    return str(warning).partition("; features=[...]")[0]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
