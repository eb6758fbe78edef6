"""Alarms about models that go on learning where nothing drifts.

    python benchmarks/settled.py --runs 2 --first 40000 --out settled.jsonl
    python benchmarks/settled.py --models HAT "ARF(5)" --streams "AR(.9)"

15,000 observations, of Agrawal's rule 1 (nine features, i.i.d.) and of a hyperplane with an
interaction over six features of which each is AR(.9). Explainer and monitor have their defaults.
What is counted are changes of the model that are reported, all and those after 5,000 observations.
What was run is kept in the file of `--out`, and not run again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from river import forest, linear_model, preprocessing, tree
from river.datasets import synth
from scipy.signal import lfilter

import ipdp

N, SETTLED = 15_000, 5_000

Example = tuple[dict[str, Any], Any]


def agrawal(seed: int) -> Iterator[Example]:
    """Loans by age and salary."""
    yield from synth.Agrawal(classification_function=1, seed=seed).take(N)


def hyperplane(seed: int) -> Iterator[Example]:
    """A plane with an interaction, over features that depend on their past."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(N, 6)) * np.sqrt(1 - 0.9**2)
    steps[0] = rng.normal(size=6)
    X, noise = lfilter([1.0], [1.0, -0.9], steps, axis=0), 0.5 * rng.normal(size=N)
    y = X @ [2.0, 1.0, 1.0, 1.0, 0.5, 0.0] + X[:, 1] * X[:, 2] + noise > 0
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        yield {f"x{k}": value for k, value in enumerate(row)}, label


STREAMS: dict[str, Callable[[int], Iterator[Example]]] = {"i.i.d.": agrawal, "AR(.9)": hyperplane}
MODELS: dict[str, Callable[[int], Any]] = {
    "HT": lambda _: tree.HoeffdingTreeClassifier(),
    "HAT": lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed),
    "ARF(5)": lambda seed: forest.ARFClassifier(n_models=5, seed=seed),
    "logistic": lambda _: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
}


def run(stream: str, kind: str, seed: int) -> list[tuple[str, float]]:
    """Features and times of the changes of the model that are reported."""
    model = MODELS[kind](seed)
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(model, seed=seed))
    for x, y in STREAMS[stream](seed):
        monitor.explain_one(x)
        model.learn_one(x, y)
    return [(str(c.feature), c.t) for c in monitor.changes if c.kind != "virtual"]


def main() -> None:
    """Run what has not been run yet, and print the table."""
    parser = argparse.ArgumentParser(description="Alarms where nothing drifts.")
    parser.add_argument("--streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, default=Path("settled.jsonl"))
    options = parser.parse_args()
    done: dict[tuple[str, str, int], list[tuple[str, float]]] = {}
    if options.out.exists():
        lines = map(json.loads, options.out.read_text().splitlines())
        done = {tuple(key): alarms for *key, alarms in lines}
    for seed in range(options.first, options.first + options.runs):
        for stream in options.streams:
            for kind in options.models:
                if (stream, kind, seed) not in done:
                    alarms = done[stream, kind, seed] = run(stream, kind, seed)
                    with options.out.open("a") as file:
                        file.write(json.dumps([stream, kind, seed, alarms]) + "\n")
    print(f"| model | stream | runs | alarms | after {SETTLED:,} |\n|---|---|---|---|---|")
    for kind in options.models:
        for stream in options.streams:
            own = [alarms for (by, of, _), alarms in done.items() if (by, of) == (stream, kind)]
            times = [t for alarms in own for _, t in alarms]
            late = sum(t > SETTLED for t in times)
            print(f"| {kind} | {stream} | {len(own)} | {len(times)} | {late} |")


if __name__ == "__main__":
    main()
