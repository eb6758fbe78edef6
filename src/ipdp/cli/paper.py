"""`ipdp paper`: the experiments of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipdp.cli.errors import REFUSED, sentences
from ipdp.cli.options import Debug, Json, Quiet, examples
from ipdp.cli.printing import as_json

if TYPE_CHECKING:
    from ipdp.paper import Results


def register(app: typer.Typer) -> None:
    """Add the command."""
    used = ("hyperplane --seeds 3", "california --network torch", "all")
    app.command("paper", epilog=examples(*(f"ipdp paper {rest}" for rest in used)))(paper)


def _names() -> list[str]:
    from ipdp.paper import EXPERIMENTS

    return [*EXPERIMENTS, "all"]


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The experiment, or all: illustration, storage, elec2, hyperplane, agrawal, "
        "california.",
        autocompletion=_names,
        show_default=False,
    ),
]
Seeds = Annotated[int, typer.Option(metavar="N", min=1, help="Number of seeds: 42, 43 and so on.")]
Out = Annotated[Path, typer.Option(metavar="DIRECTORY", help="Where to put figures and numbers.")]
Network = Annotated[
    str | None,
    typer.Option(
        metavar="LIBRARY",
        help="The library of california's network: sklearn (the default) or torch.",
        show_default=False,
    ),
]


def paper(
    *,
    name: Name,
    seeds: Seeds = 1,
    out: Out = Path("ipdp-paper"),
    network: Network = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper again and compare it with what the paper says."""
    from ipdp.paper import run_experiment
    from ipdp.paper.progress import aloud

    options: dict[str, Any] = {"out": out, "progress": None if quiet else aloud}
    with sentences(debug=debug):
        if network is not None:
            if name != "california":
                raise ValueError(f"--network is for california only, {name} has no network")
            options["options"] = {"network": network}
    refused = False
    for each in _names()[:-1] if name == "all" else [name]:
        try:
            with sentences(debug=debug):
                _show(run_experiment(each, seeds, **options), json_=json_, quiet=quiet)
        except typer.Exit as left:
            # One that lacks its data must not keep the others from being run.
            if left.exit_code != REFUSED:
                raise
            refused = True
    if refused:
        raise typer.Exit(REFUSED)


def _show(results: Results, *, json_: bool, quiet: bool) -> None:
    from ipdp.paper import table

    figures, path = [str(figure) for figure in results.figures], str(results.path)
    if json_:
        said = {"experiment": results.name, "seeds": results.seeds, "agrees": results.agrees}
        rows = [row._asdict() for row in results.rows]
        as_json({**said, "rows": rows, "figures": figures, "results": path})
    elif not quiet:
        known = any(row.known and row.agrees is False for row in results.rows)
        note = "\n'no, known': docs/paper.md says why.\n" * known
        files = ", ".join([*figures, path])
        sys.stdout.write(f"\n{results.title}\n\n{table(results.rows)}\n{note}\n{files}\n")
        sys.stdout.flush()
