"""`ipdp paper`: the experiments of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ipdp.cli.errors import sentences
from ipdp.cli.options import Debug, Json, Quiet, examples
from ipdp.cli.printing import as_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("paper", epilog=examples("ipdp paper hyperplane --seeds 3"))(paper)


def _names() -> list[str]:
    from ipdp.paper import EXPERIMENTS

    return [*EXPERIMENTS, "all"]


def paper(
    *,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The experiment, or all: illustration, storage, elec2, hyperplane, agrawal, "
            "california.",
            autocompletion=_names,
            show_default=False,
        ),
    ],
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of seeds: 42, 43 and so on.")
    ] = 1,
    out: Annotated[Path, typer.Option(metavar="DIRECTORY", help="Where to put figures.")] = Path(
        "ipdp-paper"
    ),
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper again and compare it with what the paper says."""
    with sentences(debug=debug):
        from ipdp.paper import EXPERIMENTS, run_experiment, table
        from ipdp.paper.progress import aloud

        names = list(EXPERIMENTS) if name == "all" else [name]
        came = [
            run_experiment(each, seeds, out=out, progress=None if quiet else aloud)
            for each in names
        ]
        for results in came:
            if json_:
                as_json(_plain(results))
            elif not quiet:
                files = ", ".join(map(str, [*results.figures, results.path]))
                sys.stdout.write(f"\n{results.title}\n\n{table(results.rows)}\n\n{files}\n")


def _plain(results: Any) -> dict[str, Any]:
    return {
        "experiment": results.name,
        "seeds": results.seeds,
        "agrees": results.agrees,
        "rows": [row._asdict() for row in results.rows],
        "figures": list(map(str, results.figures)),
        "results": str(results.path),
    }
