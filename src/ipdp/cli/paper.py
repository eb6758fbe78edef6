"""`ipdp paper`: the experiments of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ipdp.cli.errors import REFUSED, sentences
from ipdp.cli.options import Debug, Json, Quiet, examples
from ipdp.cli.printing import as_json


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
    with sentences(debug=debug):
        options = _options(name, network)
    names = _names()[:-1] if name == "all" else [name]
    refused = False
    for each in names:
        try:
            with sentences(debug=debug):
                _show(_run(each, seeds, out, quiet=quiet, **options), json_=json_, quiet=quiet)
        except typer.Exit as left:
            # One that lacks its data must not keep the others from being run.
            if left.exit_code != REFUSED:
                raise
            refused = True
    if refused:
        raise typer.Exit(REFUSED)


def _options(name: str, network: str | None) -> dict[str, Any]:
    """What is passed on to the experiment beside its name, seeds and place."""
    if network is None:
        return {}
    if name != "california":
        raise ValueError(f"--network is for california only, {name} has no network to choose")
    return {"options": {"network": network}}


def _run(name: str, seeds: int, out: Path, *, quiet: bool, **options: Any) -> Any:
    from ipdp.paper import run_experiment
    from ipdp.paper.progress import aloud

    return run_experiment(name, seeds, out=out, progress=None if quiet else aloud, **options)


def _show(results: Any, *, json_: bool, quiet: bool) -> None:
    from ipdp.paper import table

    if json_:
        as_json(_plain(results))
    elif not quiet:
        known = any(row.known and row.agrees is False for row in results.rows)
        note = "\n'no, known': docs/paper.md says why.\n" * known
        files = ", ".join(map(str, [*results.figures, results.path]))
        sys.stdout.write(f"\n{results.title}\n\n{table(results.rows)}\n{note}\n{files}\n")
        sys.stdout.flush()


def _plain(results: Any) -> dict[str, Any]:
    return {
        "experiment": results.name,
        "seeds": results.seeds,
        "agrees": results.agrees,
        "rows": [row._asdict() for row in results.rows],
        "figures": list(map(str, results.figures)),
        "results": str(results.path),
    }
