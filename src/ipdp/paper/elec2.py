"""Section 4.1, Fig. 4: changes of an explanation, found and drawn along the elec2 stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ipdp
from ipdp import datasets
from ipdp.paper.checks import Row, spread, within
from ipdp.paper.elec2_figures import figures
from ipdp.paper.elec2_watched import FEATURE, NEAR, PAPER_CHANGES, Run, Watched
from ipdp.paper.experiment import Experiment, Say
from ipdp.paper.following import follow

N = 45_312
CONSTANT_UNTIL = 17_424
"""Number of rows in which vicprice has one and the same value."""
CONSTANT = 0.003467
LOOKS = (28_597, 43_957)
"""When the authors' code and the paper show a rising curve."""


def run(
    seed: int,
    say: Say,
    *,
    n: int = N,
    n_models: int = 10,
    bagging: bool = True,
    features: Sequence[str] | None = None,
) -> Run:
    """Follow the forest, and the bagging if it is wanted, along the stream."""
    from river import ensemble, forest, tree

    least = max(_moments())
    if n < least:
        raise ValueError(f"the table needs the first {least:,} observations of elec2, got n = {n}")
    stream = datasets.elec2()
    say("adaptive random forest")
    model = forest.ARFClassifier(n_models=n_models, seed=seed)
    watched = _watch(stream, model, features, seed=seed, n=n, say=say)
    if not bagging:
        return Run(seed, watched, None)
    say("bagging of Hoeffding adaptive trees")
    trees = ensemble.BaggingClassifier(
        tree.HoeffdingAdaptiveTreeClassifier(seed=seed), n_models=n_models, seed=seed
    )
    return Run(seed, watched, _watch(stream, trees, [FEATURE], seed=seed, n=n, say=say))


def _watch(
    stream: Any, model: Any, features: Sequence[str] | None, *, seed: int, n: int, say: Say
) -> Watched:
    # A reservoir of 500 that values enter with a probability of 0.05 stands for 10,000 of them.
    grid = ipdp.grid.QuantileRange(10, 0.05, 0.95, window=10_000, storage_size=500)
    pdp = ipdp.IncrementalPDP(
        model, features, alpha=0.001, grid=grid, seed=seed, estimator="pointwise"
    )
    theirs, ours = ipdp.Monitor(pdp, statistic="importance"), ipdp.Monitor(pdp)
    watched = Watched()

    def look(t: int, x: dict[str, Any]) -> None:
        for change in theirs.update(x):
            watched.paper.setdefault(change.feature, []).append(t)
            if change.feature == FEATURE:
                watched.at_change[t] = pdp.curve(FEATURE).select(True)
        for change in ours.update(x):
            watched.own.setdefault(change.feature, []).append((t, change.kind))
            watched.sentences.append(f"{t:,}: {change.summary()}")

    watched.recording = follow(
        stream, model, {"iPDP": pdp}, n=n, say=say, moments=_moments(), look=look, between=500
    )
    return watched


def _moments() -> set[int]:
    """When the curves are kept."""
    return {CONSTANT_UNTIL, *PAPER_CHANGES, *LOOKS}


def numbers(run: Run) -> Mapping[str, Any]:
    """What is kept of a run."""
    return {
        "seed": run.seed,
        **{
            name: {
                "accuracy": watched.recording.prequential_accuracy,
                "changes": watched.paper,
                "own_changes": watched.own,
                "own_sentences": watched.sentences,
                "remaining": watched.remaining(),
                "curves": {
                    str(t): {
                        "x": watched.curve(t).grid_values[0].tolist(),
                        "y": watched.curve(t).average[0].tolist(),
                    }
                    for t in watched.recording.curves["iPDP"]
                },
            }
            for name, watched in run.models.items()
        },
    }


def rows(runs: Sequence[Run]) -> list[Row]:
    """The table."""
    return [
        row for name in runs[0].models for row in _rows(name, [run.models[name] for run in runs])
    ]


def _rows(name: str, runs: Sequence[Watched]) -> list[Row]:
    changes = [run.paper.get(FEATURE, []) for run in runs]
    first = [float(times[0]) if times else float("inf") for times in changes]
    return [
        *_rows_before(name, runs),
        within(
            f"{name}: first change",
            f"{PAPER_CHANGES[0]:,}",
            first,
            low=18_000,
            high=24_500,
            digits=0,
        ),
        *(
            within(
                f"{name}: last point of the curve minus first at {t:,}",
                "an effect that rises on the whole",
                [run.rise(t) for run in runs],
                low=0.05,
            )
            for t in LOOKS
        ),
        within(
            f"{name}: prequential accuracy",
            "-",
            [run.recording.prequential_accuracy for run in runs],
            low=0.84,
            high=0.91,
        ),
        Row(
            f"{name}: depth of the U at {PAPER_CHANGES[1]:,} and at {PAPER_CHANGES[2]:,}",
            "U-shaped, then more linear",
            " and ".join(spread([run.dip(t) for run in runs]) for t in PAPER_CHANGES[1:]),
            None,
        ),
        *_rows_of_alarms(name, runs),
    ]


def _rows_before(name: str, runs: Sequence[Watched]) -> list[Row]:
    """While vicprice has one value only."""
    grids = [run.curve(CONSTANT_UNTIL).grid_values[0] for run in runs]
    early = [
        sum(t <= CONSTANT_UNTIL for t in run.paper.get(FEATURE, []))
        + sum(t <= CONSTANT_UNTIL for t, _ in run.own.get(FEATURE, []))
        for run in runs
    ]
    return [
        within(
            f"{name}: importance until row {CONSTANT_UNTIL:,}",
            "no effect until about 22,000",
            [run.importance_until(CONSTANT_UNTIL) for run in runs],
            low=0,
            high=0,
        ),
        within(
            f"{name}: its grid until then",
            "constantly zero (it is constant, not zero)",
            [float(end) for grid in grids for end in (grid[0], grid[-1])],
            low=CONSTANT - 1e-12,
            high=CONSTANT + 1e-12,
            digits=6,
        ),
        within(f"{name}: changes until then", "none", early, low=0, high=0, digits=0),
    ]


def _rows_of_alarms(name: str, runs: Sequence[Watched]) -> list[Row]:
    """The paper's detector beside our own: nothing to hold them to, but something to see."""
    changes = [run.paper.get(FEATURE, []) for run in runs]
    own = [run.own.get(FEATURE, []) for run in runs]
    total, remaining = sum(map(len, changes)), sum((run.remaining() for run in runs), Counter())
    by_chance = float(np.mean([near for run in runs for near in run.by_chance()] or [False]))
    return [
        Row(
            f"{name}: changes of vicprice found by the paper's detector",
            "six, of which it shows " + ", ".join(f"{t:,}" for t in PAPER_CHANGES),
            f"{spread([len(times) for times in changes], 0)}; first seed at "
            + ", ".join(f"{t:,}" for t in changes[0]),
            None,
        ),
        Row(
            f"{name}: of these, right after the grace period of the one before",
            "-",
            f"{sum(run.at_once() for run in runs)} of {total}",
            None,
        ),
        Row(
            f"{name}: of these, within {NEAR:,} of a change that our detector reports",
            "-",
            f"{remaining['effect']} of the effect, {remaining['range']} of the range only, "
            f"{remaining['nothing']} of none; by chance {by_chance:.0%} of the effect",
            None,
        ),
        Row(
            f"{name}: changes of vicprice reported by our detector",
            "-",
            f"{spread([len(found) for found in own], 0)}, of the effect "
            + spread([sum(kind in ("real", "both") for _, kind in found) for found in own], 0),
            None,
        ),
    ]


EXPERIMENT = Experiment(
    name="elec2",
    title="elec2: changes of the effect of vicprice (Sec. 4.1, Fig. 4)",
    run=run,
    numbers=numbers,
    rows=rows,
    figures=figures,
)
