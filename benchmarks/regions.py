"""Whether the split that explains a feature's effect is found, and none where there is none.

    python benchmarks/regions.py [--first 40000] [--runs 5] [found none moved learnt cost]

Six features, default settings. The feature `x0` has an effect that depends on one other feature: on
which side of a threshold it is (`xor`), on its category out of five (`category`), or the effect of
the hour depends on whether it is a working day, hour by hour (`weekly`). Each kind with independent
observations and with AR(.9), or persistent categories.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from river import forest, tree

import ipdp

N, STEP = 3_000, 500
KINDS, MEMORIES = ("xor", "category", "weekly"), (0.0, 0.9)
Model = Callable[[dict[str, Any]], float]
Pair = tuple[str, str]


def numbers(rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
    """Six normal series with an autocorrelation, of shape (n, 6)."""
    z = rng.normal(size=(n, 6))
    for t in range(1, n):
        z[t] = memory * z[t - 1] + np.sqrt(1 - memory**2) * z[t]
    return z


def rows(kind: str, rng: np.random.Generator, n: int, memory: float) -> Iterator[dict[str, Any]]:
    """Observations of a stream."""
    z = numbers(rng, n, memory)
    category = str(rng.choice(list("pqrst")))
    start = int(rng.integers(168))
    for t, row in enumerate(z.tolist()):
        x: dict[str, Any] = {f"x{k}": value for k, value in enumerate(row)}
        if kind == "category":
            if rng.random() >= memory:
                category = str(rng.choice(list("pqrst")))
            x["x1"] = category
        elif kind == "weekly":
            hour = start + t
            x["x0"], x["x1"] = hour % 24, "yes" if hour // 24 % 7 < 5 else "no"
        yield x


def true_model(kind: str, rng: np.random.Generator, by: str = "x1") -> Model:
    """A function in which the effect of x0 depends on one feature, and others add something."""
    cut, size = float(rng.uniform(-0.4, 0.4)), rng.uniform(0.1, 0.3, size=2).tolist()
    up = set(rng.choice(list("pqrst"), size=int(rng.integers(1, 5)), replace=False).tolist())

    def model(x: dict[str, Any]) -> float:
        others = size[0] * x["x2"] + size[1] * abs(x["x3"])
        if kind == "weekly":
            peaks = np.cos((x["x0"] - 8) * np.pi / 5)
            return float((peaks if x[by] == "yes" else -peaks) + others)
        is_up = x[by] in up if kind == "category" and by == "x1" else x[by] > cut
        return float((x["x0"] if is_up else -x["x0"]) + others)

    return model


def additive(rng: np.random.Generator) -> Model:
    """A function without interactions."""
    a, b, c = rng.uniform(0.5, 2, size=3).tolist()
    return lambda x: a * np.sin(2 * x["x0"]) + b * abs(x["x3"]) + c * x["x4"]


def streams(first: int, runs: int) -> Iterator[tuple[str, float, int]]:
    """Kind, memory and seed of each stream."""
    for kind in KINDS:
        for memory in MEMORIES:
            for seed in range(first, first + runs):
                yield kind, memory, seed


def pairs_of(regions: ipdp.IncrementalRegions) -> set[Pair]:
    """What is split by what."""
    return {(str(f), str(split.by)) for f, split in regions.splits.items()}


def follow(
    regions: ipdp.IncrementalRegions, xs: Iterator[dict[str, Any]], n: int, wanted: Pair
) -> tuple[int | None, set[Pair]]:
    """After how many observations the split is there to stay, and all others that were told."""
    since, others = None, set[Pair]()
    for t in range(STEP, n + 1, STEP):
        for x in islice(xs, STEP):
            regions.explain_one(x)
        pairs = pairs_of(regions)
        since = (since or t) if wanted in pairs else None
        others |= pairs - {wanted, wanted[::-1]}
    return since, others


def found(first: int, runs: int) -> None:
    """One true split."""
    for kind, memory, seed in streams(first, runs):
        rng = np.random.default_rng(seed)
        model = true_model(kind, rng)
        regions = ipdp.IncrementalRegions(model)
        since, others = follow(regions, rows(kind, rng, N, memory), N, ("x0", "x1"))
        plain = ipdp.IncrementalPDP.explained.fget(regions).value  # type: ignore[attr-defined]
        split = regions.splits.get("x0")
        words = "none" if split is None else " / ".join(split.conditions)
        print(
            f"{kind:9} {memory} {seed} since {since} explained {plain:.2f} -> "
            f"{regions.explained.value:.2f} {words} others {sorted(others)}",
            flush=True,
        )


def none(first: int, runs: int) -> None:
    """No interaction: a function."""
    for kind, memory, seed in streams(first, runs):
        rng = np.random.default_rng(seed)
        model = additive(rng)
        if kind == "weekly":
            own = model
            model = lambda x, own=own: own({**x, "x0": x["x0"] / 8})  # noqa: E731
        regions = ipdp.IncrementalRegions(model)
        _, others = follow(regions, rows(kind, rng, N, memory), N, ("", ""))
        print(f"additive {kind:9} {memory} {seed} splits {sorted(others)}", flush=True)


def moved(first: int, runs: int) -> None:
    """The effect depends on x1, and then on x4."""
    for kind, memory, seed in streams(first, runs):
        if kind == "weekly":
            continue
        rng = np.random.default_rng(seed)
        models = [true_model(kind, rng), true_model(kind, rng, by="x4")]
        now = {"model": models[0]}
        regions = ipdp.IncrementalRegions(lambda x, now=now: now["model"](x))
        xs = rows(kind, rng, 2 * N, memory)
        before, _ = follow(regions, xs, N, ("x0", "x1"))
        now["model"] = models[1]
        after, _ = follow(regions, xs, N, ("x0", "x4"))
        print(f"moved {kind:9} {memory} {seed} before {before} after {after}", flush=True)


def learnt(first: int, runs: int) -> None:
    """Models that learn, from labels with noise: with a split, and without interactions."""
    for name in ("tree", "forest"):
        for is_split in (True, False):
            for memory in MEMORIES:
                for seed in range(first, first + runs):
                    rng = np.random.default_rng(seed)
                    truth = true_model("xor", rng) if is_split else additive(rng)
                    learner: Any = (
                        tree.HoeffdingTreeRegressor(grace_period=100)
                        if name == "tree"
                        else forest.ARFRegressor(n_models=5, seed=seed)
                    )
                    regions = ipdp.IncrementalRegions(learner)
                    for x in rows("xor", rng, N, memory):
                        regions.explain_one(x)
                        learner.learn_one(x, truth(x) + 0.3 * rng.normal())
                    print(
                        f"{name} {'split' if is_split else 'additive'} {memory} {seed} "
                        f"{sorted(pairs_of(regions))} {regions.explained.value:.2f}",
                        flush=True,
                    )


def cost(first: int, runs: int) -> None:  # noqa: ARG001
    """Time an observation against that of the curves alone, for some numbers of features."""
    for p in (5, 10, 20):
        rng = np.random.default_rng(first)
        names = [f"x{k}" for k in range(p)]
        xs = [dict(zip(names, row, strict=True)) for row in rng.normal(size=(1500, p)).tolist()]
        spent = {}
        for kind in (ipdp.IncrementalPDP, ipdp.IncrementalRegions):
            explainer = kind(_Quick(p))
            for x in xs[:500]:
                explainer.explain_one(x)
            start = time.thread_time()
            for x in xs[500:]:
                explainer.explain_one(x)
            spent[kind.name] = 1e3 * (time.thread_time() - start)
        start = time.thread_time()
        explainer.results()
        read = 1e3 * (time.thread_time() - start)
        size = len(explainer.state_bytes()) / 1e6
        print(f"{p} features: us an observation {spent}, reading {read:.0f} ms, {size:.1f} MB")


class _Quick:
    """A linear model of river, which is asked quickly."""

    def __new__(cls, p: int) -> Any:
        from river import linear_model

        model = linear_model.LinearRegression()
        for k in range(50):
            model.learn_one({f"x{j}": float((j + k) % 3) for j in range(p)}, float(k % 5))
        return model


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=40_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("what", nargs="*", default=["found", "none", "moved", "cost"])
    given = parser.parse_args()
    for name in given.what:
        globals()[name](given.first, given.runs)


if __name__ == "__main__":
    main()
