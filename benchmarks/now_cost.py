"""What the curves of the model as it is now cost, and whether to ask for them in turn.

    python benchmarks/now_cost.py

Two ways to ask a model again about past observations: some of them whenever the curves are read
(every 100 observations here), which is what `now=True` does, or one or two of them with every
observation, whether somebody reads or not, each as often as the others. The first table has the CPU
time of the thread under ARF(10) with nine features, against explaining and reading smoothed curves
alone. The second one has the error of both ways after a sudden drift.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from now_curve import DRIFT_AT, EVERY, LOOKS, STREAMS, Run, compare
from river import forest
from river.datasets import synth

import ipdp
from ipdp.explainers.state.asking import Asked
from ipdp.explainers.state.correction import _Answers

FEATURES = ["salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan"]


class InTurn:
    """An explainer that asks about some past observations with each new one: a trial."""

    def __init__(self, pdp: ipdp.IncrementalPDP, n: int) -> None:
        self.pdp, self.n, self.at = pdp, n, 0

    def explain_one(self, x: Any) -> None:
        """Explain an observation, and ask again about the next of those that are kept."""
        self.pdp.explain_one(x)
        memory = self.pdp.memory
        pool = memory.pool
        for _ in range(self.n if pool.kept else 0):
            self.at = (self.at + 1) % len(pool.kept)
            record = pool.kept[self.at].record
            answer = self.pdp.engine.ice_again(
                [record.x], record.layout.probes, record.positions[None]
            )
            pool.said(self.at, memory.means.aligned(answer)[1][0])
            pool._adopt_answers()

    def snapshot(self) -> dict[Any, ipdp.Curve]:
        """The smoothed curves, corrected by the answers that are there."""
        memory = self.pdp.memory
        answers = _Answers(memory, self.pdp.engine, memory.pool.weights(memory.t or 0.0))
        everybody = list(range(len(answers.kept)))
        found = answers.estimate(Asked(everybody, everybody, everybody), memory.means.shown)
        curves = self.pdp.snapshot(with_ice=False)
        columns = {f: memory.means.layout.columns_of(k) for k, f in enumerate(curves)}
        added = {}
        for feature, curve in curves.items():
            own = np.array(list(columns[feature]))
            place = memory.means.shown[0, own]
            near = np.abs(place[:, None] - curve.grid_values[0][None]).argmin(axis=0)
            labels = [memory.means.outputs.index(label) for label in curve.outputs]
            added[feature] = curve.average + found.difference[np.ix_(labels, own[near])]
        return {
            f: ipdp.Curve(
                feature=f,
                outputs=c.outputs,
                grid_values=c.grid_values,
                average=added[f],
                smoothed=c.average,
                std_error=c.std_error,
                n_samples=c.n_samples,
                n_effective_points=c.n_effective_points,
                t=c.t,
            )
            for f, c in curves.items()
        }


def cost(n: int) -> None:
    """Print the times of explaining and reading; each way has a forest of its own, all the same.

    Who asks first after the model has learned reads what is new in its trees: with one forest for
    all, the others would get that for nothing.
    """

    def new(**settings: Any) -> ipdp.IncrementalPDP:
        model = forest.ARFClassifier(n_models=10, seed=1)
        return ipdp.IncrementalPDP(model, FEATURES, alpha=0.001, n_ice=0, **settings)

    plain, asked = new(n_past=0), new()
    turns = [InTurn(new(), k) for k in (1, 2)]
    ways = {
        "smoothed curves only": (plain, plain, lambda: plain.snapshot(with_ice=False)),
        "asked when read": (asked, asked, lambda: asked.snapshot(with_ice=False, now=True)),
        "one in turn": (turns[0].pdp, turns[0], turns[0].snapshot),
        "two in turn": (turns[1].pdp, turns[1], turns[1].snapshot),
    }
    seconds = {name: np.zeros(2) for name in ways}
    names = list(ways)
    stream = synth.Agrawal(classification_function=2, seed=1, perturbation=0.1)
    for t, (x, y) in enumerate(stream.take(n), start=1):
        first = t // 16 % len(names)  # nobody is always first; answers are compared at each 16th
        for name in names[first:] + names[:first]:
            pdp, way, read = ways[name]
            began = time.thread_time()
            way.explain_one(x)
            explained = time.thread_time()
            if t % EVERY == 0:
                read()
            seconds[name] += explained - began, time.thread_time() - explained
            pdp.model.learn_one(x, y if t < n / 2 else not y)
    total = seconds["smoothed curves only"].sum()
    print(f"ARF(10), nine features, {n:,} observations, read every {EVERY}")
    for name, (explaining, reading) in seconds.items():
        times = (
            f"{1e3 * explaining / n:6.2f} ms an observation, {1e3 * reading * EVERY / n:6.1f} ms"
        )
        print(f"  {name:<22}{times} a reading, {(explaining + reading) / total:.2f} in all")


def errors(name: str, seeds: range) -> None:
    """Print the errors of both ways after a sudden drift."""
    looks = [t for t in LOOKS if t >= DRIFT_AT - EVERY]
    squares = np.zeros((4, len(looks), len(seeds)))
    for s, seed in enumerate(seeds):
        run = Run(STREAMS[name], seed, 0.001, EVERY)
        given = {"alpha": 0.001, "n_ice": 0, "seed": seed}
        features = STREAMS[name].features
        turns = [InTurn(ipdp.IncrementalPDP(run.model, features, **given), k) for k in (1, 2)]
        for t in range(1, LOOKS[-1] + 1):
            x, y = [next(source) for source in run.sources][int(t >= DRIFT_AT)]
            for way in (run.pdp, *turns):
                way.explain_one(x)
            if t % EVERY == 0:
                curves = run.pdp.snapshot(with_ice=False, now=True)
                if t in looks:
                    found = [compare(run.pdp, curves, run.held_out)]
                    found += [compare(w.pdp, w.snapshot(), run.held_out) for w in turns]
                    squares[:, looks.index(t), s] = [found[0].smoothed, *(f.now for f in found)]
            run.model.learn_one(x, y)
    print(f"{name}, sudden, {len(seeds)} runs" + "".join(f"{t - DRIFT_AT:>+8,}" for t in looks))
    ways = ("smoothed", "asked when read", "one in turn", "two in turn")
    for way, found in zip(ways, np.sqrt(squares.mean(axis=2)), strict=True):
        print(f"  {way:<22}" + "".join(f"{value:8.3f}" for value in found), flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=3_000)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    cost(arguments.n)
    for name in ("SGD", "logistic", "HAT") if arguments.seeds else ():
        errors(name, range(arguments.seeds))


if __name__ == "__main__":
    main()
