"""How far from the model as it is now are the smoothed curve and that of `now=True`.

    python benchmarks/now_curve.py --first-seed 20000 --seeds 10

A model meets a drift after 5,000 observations: sudden, gradual (over 2,000 observations) or
recurring (back after 1,500). The curves are read every 100 observations, as `ipdp run` does at
first, or `--every` so many. At some times, when they are read in any case, they are compared with
the batch partial dependence of the model at that moment, over rows of the same distribution that
the stream did not have. For each time there are the root mean square error of the smoothed curve
and of the curve of the model as it is now, their ratio, and how often the 95 % band of the latter
covers the batch curve, over all features, points and seeds. Runs are kept in a file (`--out`) and
not done again.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from river import compose, forest, linear_model, optim, preprocessing, tree
from river.datasets import synth

import ipdp
from ipdp.core.typing import Feature

DRIFT_AT = 5_000
EVERY = 100
LOOKS = (4_000, 4_900, 5_100, 5_200, 5_500, 6_000, 7_000)
AFTER = slice(2, 6)  # 100 to 1,000 observations after the drift
DRIFTS = ("none", "sudden", "gradual", "recurring")
_N_HELD_OUT = 4_000

Rows = Iterator[tuple[dict[str, Any], Any]]


class Stream(NamedTuple):
    """What is learnt, and by whom; a concept of 0 is before the drift, of 1 after it."""

    model: Callable[[int], Any]
    rows: Callable[[int, int], Rows]  # of a concept and a seed
    features: list[Feature]
    learns: bool = True
    held_out: Callable[[int, int], Rows] | None = None  # where not as the rows of a stream
    start: int = 0  # observations before all others: bands need more of them if there is memory


def _linear(concept: int, seed: int, *, kind: str = "iid", classes: bool = False) -> Rows:
    """Y = 2 a + b + a c, where a and its product change their sign."""
    rng = np.random.default_rng(seed)
    values, phase = rng.normal(size=3), np.array([0.0, 0.3, 0.55])
    for t in count():
        values = _next(values, kind, rng)
        x = values
        if kind in ("weekly", "any week"):
            # Half of the variance comes and goes in 2,016 steps: a week of five minutes each.
            when = t / 2016 if kind == "weekly" else rng.random()
            x = values / math.sqrt(2) + np.sin(2 * np.pi * (when + phase))
        a, b, c = x
        sign = -1 if concept else 1
        y = sign * (2 * a + a * c) + b + 0.3 * rng.normal()
        yield {"a": a, "b": b, "c": c, "ac": a * c}, bool(y > 0) if classes else y


def _next(values: Any, kind: str, rng: np.random.Generator) -> Any:
    noise = rng.normal(size=3)
    return 0.9 * values + math.sqrt(1 - 0.81) * noise if kind == "AR(.9)" else noise


def _agrawal(concept: int, seed: int) -> Rows:
    function = 4 if concept else 2
    return iter(synth.Agrawal(classification_function=function, seed=seed, perturbation=0.1))


def _messy(concept: int, seed: int) -> Rows:
    """Categories, missing values, and three classes, the third of which comes late."""
    rng = np.random.default_rng(seed)
    for t in count():
        v, n, c = rng.normal(), int(rng.poisson(3)), str(rng.choice(list("pqrs")))
        effect = {"p": -1.0, "q": 0.0, "r": 0.5, "s": 1.5}[c]
        odds = np.array([1.5 * v, 0.4 * n - 1, effect])
        odds = odds[::-1] if concept else odds
        odds += rng.gumbel(size=3)
        late = t < 1_000 and not concept
        y = ("low", "middle", "late")[int(np.argmax(odds[:2] if late else odds))]
        yield {"v": None if rng.random() < 0.15 else float(v), "n": n, "c": c}, y


def _for_messy(_seed: int) -> Any:
    numbers = compose.Discard("c") | preprocessing.StandardScaler()
    encoded = compose.Select("c") | preprocessing.OneHotEncoder()
    return (numbers + encoded) | linear_model.SoftmaxRegression(optim.SGD(0.05))


class Switch:
    """A function that turns round with the concept: nothing is learnt, and all changes at once."""

    concept = 0

    def __call__(self, x: dict[str, float]) -> float:
        sign = -1 if self.concept else 1
        return sign * (2 * x["a"] + x["a"] * x["c"]) + x["b"]


def _sgd(_seed: int) -> Any:
    return preprocessing.StandardScaler() | linear_model.LinearRegression(optim.SGD(0.02))


def _logistic(_seed: int) -> Any:
    return preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.SGD(0.05))


def _hat(seed: int) -> Any:
    return tree.HoeffdingAdaptiveTreeClassifier(seed=seed)


def _of(kind: str, *, classes: bool = False) -> Callable[[int, int], Rows]:
    return lambda concept, seed: _linear(concept, seed, kind=kind, classes=classes)


_classes = _of("iid", classes=True)


STREAMS = {
    "function": Stream(lambda _: Switch(), _linear, ["a", "b"], learns=False),
    "SGD": Stream(_sgd, _linear, ["a", "b"]),
    "logistic": Stream(_logistic, _classes, ["a", "b"]),
    "HAT": Stream(_hat, _agrawal, ["salary", "age"]),
    "ARF": Stream(
        lambda seed: forest.ARFClassifier(n_models=10, seed=seed), _agrawal, ["salary", "age"]
    ),
    "AR(.9)": Stream(_sgd, _of("AR(.9)"), ["a", "b"], held_out=_linear, start=4_000),
    "weekly": Stream(_sgd, _of("weekly"), ["a", "b"], held_out=_of("any week"), start=4_000),
    "AR(.9), HAT": Stream(
        _hat, _of("AR(.9)", classes=True), ["a", "b"], held_out=_classes, start=4_000
    ),
    "weekly, HAT": Stream(
        _hat,
        _of("weekly", classes=True),
        ["a", "b"],
        held_out=_of("any week", classes=True),
        start=4_000,
    ),
    "messy": Stream(_for_messy, _messy, ["v", "n", "c"]),
    "pair": Stream(_hat, _agrawal, [("salary", "age")]),
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


class Run:
    """A model that learns from a stream and is explained."""

    def __init__(self, stream: Stream, seed: int, alpha: float, every: int) -> None:
        self.stream, self.model, self.every = stream, stream.model(seed), every
        self.rng = np.random.default_rng([seed, 1])
        # The same values in both, so that nothing but the model changes.
        self.sources = [stream.rows(concept, 10 * seed) for concept in (0, 1)]
        others = (stream.held_out or stream.rows)(0, 10 * seed + 5)
        self.held_out = [x for x, _ in islice(others, _N_HELD_OUT)]
        self.pdp = ipdp.IncrementalPDP(self.model, stream.features, alpha=alpha, n_ice=0, seed=seed)

    def go(self, drift: str, times: range) -> list[Look]:
        """Explain the observations of these times, learn from them, and compare now and then."""
        looks = []
        for t in times:
            concept = concept_at(drift, t, self.rng)
            x, y = [next(source) for source in self.sources][concept]
            if not self.stream.learns:
                self.model.concept = concept
            self.pdp.explain_one(x)
            if t % self.every == 0 or t in LOOKS:
                curves = self.pdp.snapshot(with_ice=False, now=True)
                if t in LOOKS:
                    looks.append(compare(self.pdp, curves, self.held_out))
            if self.stream.learns:
                known = {name: value for name, value in x.items() if value is not None}
                self.model.learn_one(known, y)
        return looks


def follow(
    stream: Stream, drifts: Sequence[str], seed: int, alpha: float, every: int
) -> list[list[Look]]:
    """What is found with each drift; the time before it is the same for all."""
    run = Run(stream, seed, alpha, every)
    before = run.go("none", range(1 - stream.start, DRIFT_AT))
    after = range(DRIFT_AT, LOOKS[-1] + 1)
    return [before + _in_a_copy(partial(run.go, drift, after)) for drift in drifts]


def _in_a_copy(call: Callable[[], list[Look]]) -> list[Look]:
    """The answer of a copy of this process, which leaves this one as it is."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=lambda: there.send(call()))
    process.start()
    there.close()
    found = list(here.recv())
    process.join()
    return found


def compare(pdp: ipdp.IncrementalPDP, curves: Any, rows: list[dict[str, Any]]) -> Look:
    """All curves of an explainer against the batch curves of its model."""
    squares, old_squares, covered = [], [], []
    for feature, curve in curves.items():
        own = [ipdp.grid.Fixed(values.tolist()) for values in curve.grid_values]
        grid = dict(zip(feature, own, strict=True)) if len(own) == 2 else own[0]
        part = rows[:1_000] if len(own) == 2 else rows
        [truth] = ipdp.partial_dependence(pdp.engine, part, [feature], grid=grid, ice=False)
        for k, output in enumerate(curve.outputs):
            if curve.are_probabilities and len(curve.outputs) == 2 and not k:
                continue  # the other one says the same
            at = truth.outputs.index(output)
            low, high = (end[k] for end in curve.band())
            # The batch curve is that of a sample, too.
            half = np.hypot((high - low) / 2, 1.96 * truth.std_error[at])
            error = curve.average[k] - truth.average[at]
            squares.append(error.ravel() ** 2)
            old_squares.append((curve.smoothed[k] - truth.average[at]).ravel() ** 2)
            covered.append((np.abs(error) <= half + 1e-12).ravel())
    return Look(*(float(np.concatenate(v).mean()) for v in (old_squares, squares, covered)))


def report(name: str, drift: str, found: Sequence[Sequence[Look]]) -> None:
    """Print what was found in all runs of a kind."""
    if not found:
        return
    table = np.array(found)
    smoothed, now = np.sqrt(table[:, :, :2].mean(axis=0)).T
    both = np.sqrt(table[:, AFTER, :2].mean(axis=(0, 1)))
    print(f"\n{name}, {drift} ({len(found)} runs)")
    print(f"  {'observation':<12}" + "".join(f"{t:>8,}" for t in LOOKS))
    rows = {"smoothed": smoothed, "now": now, "ratio": now / smoothed}
    for title, values in {**rows, "covered": table[:, :, 2].mean(axis=0)}.items():
        print(f"  {title:<12}" + "".join(f"{value:8.3f}" for value in values))
    print(f"  from +100 to +1,000: ratio {both[1] / both[0]:.3f}", end="")
    print(f", covered {table[:, AFTER, 2].mean():.3f}; before", end=" ")
    print(f"{table[:, : AFTER.start, 2].mean():.3f}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--models", nargs="*", default=list(STREAMS))
    parser.add_argument("--drifts", nargs="*", default=list(DRIFTS))
    parser.add_argument("--out", type=Path, default=Path("now_curve.jsonl"))
    given = parser.parse_args()
    done = {
        (run["model"], run["seed"], drift) for run in _lines(given.out) for drift in run["found"]
    }
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.models:
            drifts = [drift for drift in given.drifts if (name, seed, drift) not in done]
            if drifts:
                found = follow(STREAMS[name], drifts, seed, given.alpha, given.every)
                own = {"model": name, "seed": seed, "found": dict(zip(drifts, found, strict=True))}
                with given.out.open("a") as file:
                    file.write(json.dumps(own) + "\n")
    for name in given.models:
        for drift in given.drifts:
            runs = [run["found"] for run in _lines(given.out) if run["model"] == name]
            report(name, drift, [run[drift] for run in runs if drift in run])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
