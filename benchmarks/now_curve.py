"""How far from the model as it is now are the smoothed curve and that of `now=True`.

    python benchmarks/now_curve.py --seeds 10

A model meets a drift after 5,000 observations: sudden, gradual (over 2,000 observations) or
recurring (back after 1,500). At some times the curves are compared with the batch partial
dependence of the model at that moment, over rows of the same distribution that the stream did not
have. The table has, for each, the root mean square error of the smoothed curve and of the curve of
the model as it is now, their ratio, and how often the 95 % band of the latter covers the batch
curve, over all features, points and seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from river import forest, linear_model, optim, preprocessing, tree
from river.datasets import synth

import ipdp

DRIFT_AT = 5_000
LOOKS = (4_000, 4_900, 5_100, 5_200, 5_500, 6_000, 7_000, 9_000)
DRIFTS = ("none", "sudden", "gradual", "recurring")
_N_HELD_OUT = 4_000


class Stream(NamedTuple):
    """What is learnt, and by whom; a concept of 0 is before the drift, of 1 after it."""

    model: Callable[[int], Any]
    rows: Callable[[int, int], Iterator[tuple[dict[str, Any], Any]]]  # of a concept and a seed
    features: list[str]
    learns: bool = True


def _linear(concept: int, seed: int, *, classes: bool = False) -> Iterator[Any]:
    """Y = 2 a + b + a c, where a and its product change their sign."""
    rng = np.random.default_rng(seed)
    while True:
        a, b, c = rng.normal(size=3)
        sign = -1 if concept else 1
        y = sign * (2 * a + a * c) + b + 0.3 * rng.normal()
        yield {"a": a, "b": b, "c": c, "ac": a * c}, bool(y > 0) if classes else y


def _agrawal(concept: int, seed: int) -> Iterator[Any]:
    function = 4 if concept else 2
    return iter(synth.Agrawal(classification_function=function, seed=seed, perturbation=0.1))


class Switch:
    """A function that turns round with the concept: nothing is learnt, and all changes at once."""

    concept = 0

    def __call__(self, x: dict[str, float]) -> float:
        sign = -1 if self.concept else 1
        return sign * (2 * x["a"] + x["a"] * x["c"]) + x["b"]


STREAMS = {
    "function": Stream(lambda _: Switch(), _linear, ["a", "b"], learns=False),
    "SGD": Stream(
        lambda _: preprocessing.StandardScaler() | linear_model.LinearRegression(optim.SGD(0.02)),
        _linear,
        ["a", "b"],
    ),
    "logistic": Stream(
        lambda _: preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.SGD(0.05)),
        lambda concept, seed: _linear(concept, seed, classes=True),
        ["a", "b"],
    ),
    "HAT": Stream(
        lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed), _agrawal, ["salary", "age"]
    ),
    "ARF": Stream(
        lambda seed: forest.ARFClassifier(n_models=10, seed=seed), _agrawal, ["salary", "age"]
    ),
}


def concept_at(drift: str, t: int, rng: np.random.Generator) -> int:
    """Which concept holds at time t."""
    if drift == "none" or t < DRIFT_AT:
        return 0
    if drift == "gradual":
        return int(rng.random() < (t - DRIFT_AT) / 2_000)
    return int(drift == "sudden" or t < DRIFT_AT + 1_500)


class Look(NamedTuple):
    """Mean squares of the distance from the batch curve, and how much of it the band covers."""

    smoothed: float
    now: float
    covered: float


def follow(stream: Stream, drift: str, seed: int, alpha: float) -> dict[int, Look]:
    """Explain the stream, learn from it, and compare at the given times."""
    rng = np.random.default_rng([seed, 1])
    sources = [stream.rows(concept, 10 * seed + concept) for concept in (0, 1)]
    held_out = [x for x, _ in islice(stream.rows(0, 10 * seed + 5), _N_HELD_OUT)]
    model = stream.model(seed)
    pdp = ipdp.IncrementalPDP(model, stream.features, alpha=alpha, n_ice=0, seed=seed)
    looks = {}
    for t in range(1, LOOKS[-1] + 1):
        concept = concept_at(drift, t, rng)
        x, y = next(sources[concept])
        if not stream.learns:
            model.concept = concept
        pdp.explain_one(x)
        if t in LOOKS:
            looks[t] = compare(pdp, held_out)
        if stream.learns:
            model.learn_one(x, y)
    return looks


def compare(pdp: ipdp.IncrementalPDP, rows: list[dict[str, Any]]) -> Look:
    """All curves of an explainer against the batch curves of its model."""
    squares, old_squares, covered = [], [], []
    for feature, curve in pdp.snapshot(with_ice=False, now=True).items():
        grid = ipdp.grid.Fixed(curve.grid_values[0].tolist())
        [truth] = ipdp.partial_dependence(pdp.engine, rows, [feature], grid=grid, ice=False)
        for k, output in enumerate(curve.outputs):
            if curve.are_probabilities and len(curve.outputs) == 2 and not k:
                continue  # the other one says the same
            batch = truth.average[truth.outputs.index(output)]
            low, high = (end[k] for end in curve.band())
            # The batch curve is that of a sample, too.
            error = 1.96 * truth.std_error[truth.outputs.index(output)]
            half = np.hypot((high - low) / 2, error)
            squares.append((curve.average[k] - batch) ** 2)
            old_squares.append((curve.smoothed[k] - batch) ** 2)
            covered.append(np.abs(curve.average[k] - batch) <= half)
    return Look(*(float(np.concatenate(v).mean()) for v in (old_squares, squares, covered)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--models", nargs="*", default=list(STREAMS))
    parser.add_argument("--drifts", nargs="*", default=list(DRIFTS))
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for name in arguments.models:
        for drift in arguments.drifts:
            began = time.process_time()
            found = [follow(STREAMS[name], drift, seed, arguments.alpha) for seed in seeds]
            print(f"\n{name}, {drift} ({time.process_time() - began:.0f} s)")
            print(f"  {'observation':<12}" + "".join(f"{t:>8,}" for t in LOOKS))
            table = np.array([[run[t] for t in LOOKS] for run in found])
            smoothed, now = np.sqrt(table[:, :, :2].mean(axis=0)).T
            rows = {"smoothed": smoothed, "now": now, "ratio": now / smoothed}
            for title, values in {**rows, "covered": table[:, :, 2].mean(axis=0)}.items():
                print(f"  {title:<12}" + "".join(f"{value:8.3f}" for value in values), flush=True)


if __name__ == "__main__":
    main()
