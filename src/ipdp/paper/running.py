"""Run an experiment on some seeds and keep what came of it."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ipdp.core.files import write_whole
from ipdp.paper import figures as drawing
from ipdp.paper.checks import Row
from ipdp.paper.experiment import Experiment, Say
from ipdp.paper.progress import aloud

EXPERIMENTS = ("illustration", "storage", "elec2", "hyperplane", "agrawal", "california")
"""Their names, in the order of the paper."""

FIRST_SEED = 42
"""A number of seeds stands for this one and those that follow."""


@dataclass(frozen=True)
class Results:
    """What came of an experiment.

    Attributes
    ----------
    name, title
        Which experiment, by name and in words.
    seeds
        Those that were run.
    rows
        The table over all seeds.
    figures
        The files that were drawn, for the first seed.
    path
        results.json, which has all this and the numbers of each run.

    Examples
    --------
    >>> from ipdp import paper
    >>> failed = paper.Row("error, at most 0.1", "small", "0.120", agrees=False)
    >>> paper.Results("storage", "Storages", rows=[failed]).agrees
    False
    """

    name: str
    title: str
    seeds: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    path: Path = Path("results.json")

    @property
    def agrees(self) -> bool:
        """Whether all is as expected: no row disagrees, but those that are known to."""
        return all(row.agrees is not False or row.known for row in self.rows)


def run_experiment(
    name: str,
    seeds: int | Sequence[int] = 1,
    *,
    out: str | Path = "ipdp-paper",
    progress: Say | None = aloud,
    options: Mapping[str, Any] | None = None,
) -> Results:
    """Run an experiment of the paper, write its figures and numbers, give its table.

    Files are written as soon as they are known: the figures after the first seed, results.json
    after each one. Whoever interrupts it keeps the seeds that are finished.

    Parameters
    ----------
    name
        "illustration", "storage", "elec2", "hyperplane", "agrawal" or "california".
    seeds
        The seeds, or their number: 42, 43 and so on.
    out
        Directory, in which one of the experiment's name is made.
    progress
        Takes lines about how far it is; None for silence.
    options
        Settings of the experiment that differ from the paper's, such as `{"network": "torch"}` for
        california, or sizes for a short run; see the `run` of its module.

    Returns
    -------
    The table and where the files are.

    Examples
    --------
    >>> import tempfile
    >>> from ipdp import paper
    >>> results = paper.run_experiment("storage", out=tempfile.mkdtemp(), progress=None)
    >>> results.agrees, results.path.name
    (True, 'results.json')
    """
    experiment = find(name)
    given = _known(experiment, options or {})
    listed = _listed(seeds)
    directory = Path(out) / name
    directory.mkdir(parents=True, exist_ok=True)
    say = progress or (lambda _line: None)
    runs: list[Any] = []
    drawn: list[Path] = []
    results = Results(name, experiment.title, path=directory / "results.json")
    for seed in listed:
        tell = partial(_tell, say, f"{name}, seed {seed}")
        tell("started")
        runs.append(experiment.run(seed, tell, **given))
        if not drawn:
            drawn = drawing.save(experiment.figures(runs[0]), directory)
        results = Results(
            name,
            experiment.title,
            listed[: len(runs)],
            experiment.rows(runs),
            drawn,
            directory / "results.json",
        )
        _write(results, [dict(experiment.numbers(run)) for run in runs])
        tell(f"done, {results.path} written")
    return results


def find(name: str) -> Experiment:
    """The experiment of this name; what it needs is imported now."""
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}: it is one of {', '.join(EXPERIMENTS)}")
    found = importlib.import_module(f"ipdp.paper.{name}").EXPERIMENT
    assert isinstance(found, Experiment)
    return found


def _known(experiment: Experiment, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, if the experiment has them all."""
    names = list(inspect.signature(experiment.run).parameters)[2:]
    for name in options:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise ValueError(f"{experiment.name} has no option {name!r}: it has {listed}")
    return options


def _tell(say: Say, who: str, line: str) -> None:
    say(f"{who}: {line}")


def _listed(seeds: int | Sequence[int]) -> list[int]:
    if isinstance(seeds, int):
        seeds = range(FIRST_SEED, FIRST_SEED + seeds)
    listed = list(seeds)
    if not listed:
        raise ValueError("seeds must be at least one seed, or the number of them")
    return listed


def _write(results: Results, runs: list[dict[str, Any]]) -> None:
    """Write results.json whole or not at all."""
    content = {
        "experiment": results.name,
        "seeds": results.seeds,
        "agrees": results.agrees,
        "rows": [row._asdict() for row in results.rows],
        "figures": [path.name for path in results.figures],
        "runs": runs,
    }
    write_whole(results.path, json.dumps(content, indent=1) + "\n")
