"""Whether drifts are reported under models that never stand still.

    python benchmarks/forest_changes.py --runs 1 --first 30000 --out runs.jsonl
    python benchmarks/forest_changes.py --models "ARF(5)" HAT --streams "Agrawal 2 to 1"

The stream drifts after 3,000 observations, 2,000 follow; explainer and monitor have their defaults,
all features. What is true is found without the monitor: the model is copied at the drift and at the
end, and partial dependence is computed by brute force with both, over the same 100 rows from before
the drift. A feature has moved if its two centred curves differ by at least 0.2 standard
deviations of the predictions. It is found if a change of it is reported after the drift, or if one
that was reported before went on then. A drift is missed if nothing that moved is found.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from elec2_changes import centred_curve
from river import ensemble, forest, linear_model, preprocessing, tree
from river.datasets import synth

import ipdp
from ipdp.datasets import AgrawalDrift

BEFORE, AFTER = 3_000, 2_000
N_ROWS, N_PLACES, MOVED = 100, 8, 0.2

Example = tuple[dict[str, Any], Any]


def agrawal(first: int, second: int) -> Callable[[int], Iterable[Example]]:
    """From one of the rules of the generator to another; salaries stay."""
    return lambda seed: AgrawalDrift(
        BEFORE, functions=(first, second), stretch=1, seed=seed, n_samples=BEFORE + AFTER
    )


def hyperplane(seed: int) -> Iterator[Example]:
    """Two of six weights change their sign."""
    rng = np.random.default_rng(seed)
    weights = np.array([2.0, 1.0, 1.0, 1.0, 0.5, 0.0])
    for t in range(BEFORE + AFTER):
        own = weights * ((1, 1, 1, 1, 1, 1) if t < BEFORE else (-1, 1, 1, -1, 1, 1))
        x = rng.uniform(size=6)
        y = bool(own @ x + 0.1 * rng.normal() > own.sum() / 2)
        yield {f"x{k}": float(value) for k, value in enumerate(x)}, y


def sea(seed: int) -> Iterator[Example]:
    """The threshold of a sum of two features moves."""
    yield from synth.SEA(variant=0, noise=0.1, seed=seed).take(BEFORE)
    yield from synth.SEA(variant=2, noise=0.1, seed=seed + 1).take(AFTER)


def clusters(seed: int) -> Iterator[Example]:
    """Other clusters (river's RandomRBFDrift, which moves slowly all the time)."""
    for own, n in ((seed, BEFORE), (seed + 1, AFTER)):
        stream = synth.RandomRBFDrift(
            seed_model=own,
            seed_sample=own,
            n_features=6,
            n_centroids=12,
            change_speed=1e-4,
            n_drift_centroids=6,
        )
        for x, y in stream.take(n):
            yield {f"x{k}": value for k, value in x.items()}, y


STREAMS: dict[str, Callable[[int], Iterable[Example]]] = {
    "Agrawal 2 to 1": agrawal(2, 1),
    "Agrawal 0 to 1": agrawal(0, 1),
    "Agrawal 1 to 3": agrawal(1, 3),
    "Agrawal 2 to 7": agrawal(2, 7),
    "hyperplane": hyperplane,
    "SEA": sea,
    "RBF": clusters,
}
MODELS: dict[str, Callable[[int], Any]] = {
    "ARF(5)": lambda seed: forest.ARFClassifier(n_models=5, seed=seed),
    "ARF(10)": lambda seed: forest.ARFClassifier(n_models=10, seed=seed),
    "SRP(5)": lambda seed: ensemble.SRPClassifier(
        tree.HoeffdingTreeClassifier(), n_models=5, seed=seed
    ),
    "HAT": lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
    "logistic": lambda _: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
}


def moved(before: Any, after: Any, rows: list[dict[str, Any]]) -> dict[str, float]:
    """By how much the curve of each feature moved, in standard deviations of the predictions."""
    sizes = {}
    label = max(after.predict_proba_one(rows[0]))
    for name in rows[0]:
        values = np.array([x[name] for x in rows], dtype=float)
        places = np.unique(np.quantile(values, np.linspace(0.02, 0.98, N_PLACES)))
        if isinstance(rows[0][name], int):
            places = np.unique(places.round()).astype(int)
        then, spread = centred_curve(before, rows[:N_ROWS], name, places.tolist(), label)
        now, later = centred_curve(after, rows[:N_ROWS], name, places.tolist(), label)
        sizes[str(name)] = float(np.sqrt(((now - then) ** 2).mean())) / max(spread, later)
    return sizes


def run(stream: str, kind: str, seed: int) -> dict[str, Any]:
    """What was reported, and what moved."""
    model = MODELS[kind](seed)
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(model, seed=seed))
    rows: list[dict[str, Any]] = []
    before = model
    for t, (x, y) in enumerate(STREAMS[stream](seed)):
        if t == BEFORE:
            before = copy.deepcopy(model)
        rows.append(dict(x))
        monitor.explain_one(x)
        model.learn_one(x, y)
    changes = [
        (str(c.feature), c.t, c.ended or BEFORE + AFTER)
        for c in monitor.changes
        if c.kind != "virtual"
    ]
    every = rows[BEFORE - 8 * N_ROWS : BEFORE : 8]
    return {"changes": changes, "moved": moved(before, model, every)}


def cells(results: list[dict[str, Any]]) -> list[Any]:
    """The figures of some runs."""
    n_drifts = n_missed = n_moved = n_found = 0
    delays, early, late = [], 0, 0
    for result in results:
        true = {name for name, size in result["moved"].items() if size >= MOVED}
        found: dict[str, float] = {}
        for name, t, ended in result["changes"]:
            if ended > BEFORE:
                found.setdefault(name, max(t - BEFORE, 0))
        both = true & set(found)
        n_drifts, n_missed = n_drifts + bool(true), n_missed + (bool(true) and not both)
        n_moved, n_found = n_moved + len(true), n_found + len(both)
        delays += [min(found[name] for name in both)] if both else []
        early += sum(t <= BEFORE for _, t, _ in result["changes"])
        late += sum(t > BEFORE for _, t, _ in result["changes"])
    delay = f"{median(delays):,.0f}" if delays else ""
    return [len(results), n_drifts, n_missed, n_moved, n_found, delay, early, late]


def main() -> None:
    """Run what has not been run yet, and print the table."""
    parser = argparse.ArgumentParser(description="Drifts under models that never stand still.")
    parser.add_argument("--streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, default=Path("forest_changes.jsonl"))
    options = parser.parse_args()
    done = {}
    if options.out.exists():
        lines = map(json.loads, options.out.read_text().splitlines())
        done = {tuple(key): result for *key, result in lines}
    columns = "model, runs, drifts, missed, curves that moved, found, delay, alarms before, after"
    names = columns.split(", ")
    for seed in range(options.first, options.first + options.runs):
        for stream in options.streams:
            for kind in options.models:
                if (stream, kind, seed) not in done:
                    result = done[stream, kind, seed] = run(stream, kind, seed)
                    with options.out.open("a") as file:
                        file.write(json.dumps([stream, kind, seed, result]) + "\n")
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    for kind in options.models:
        own = [result for (_, by, _), result in done.items() if by == kind]
        print("| " + " | ".join(map(str, [kind, *cells(own)])) + " |")


if __name__ == "__main__":
    main()
