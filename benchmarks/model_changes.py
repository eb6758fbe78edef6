"""Changes of a model on streams with memory.

    python benchmarks/model_changes.py --runs 16 --first 5000
    python benchmarks/model_changes.py reversal --runs 2
    python benchmarks/model_changes.py --booster --runs 8 --first 5000

The model is a function that is exchanged after 4,000 observations; 8,000 of the same sort follow.
Constants were settled on seeds below 100. With `--booster` it is a gradient booster, which is
replaced by one that was fitted to data of another slope and another bend, and 4,000 follow: a
feature has moved if the batch partial dependence of the two, centred, differs by at least 0.2
standard deviations.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy.signal import lfilter
from sklearn.ensemble import GradientBoostingRegressor

import ipdp
from ipdp import Change, models

Model = Callable[[Any], Any]


def stream(kind: str, n: int, n_features: int, rng: Any) -> Any:
    """Rows of some columns that depend on their past."""
    t = np.arange(n)[:, None]
    if kind.startswith("AR"):
        rho = float(kind[2:])
        noise = rng.normal(size=(n, n_features)) * np.sqrt(1 - rho**2)
        noise[0] = rng.normal(size=n_features)
        return lfilter([1.0], [1.0, -rho], noise, axis=0)
    if kind in PERIODS:
        cycle = np.sin(2 * np.pi * t / PERIODS[kind] + np.arange(n_features))
        return 1.2 * cycle + 0.5 * rng.normal(size=(n, n_features))
    if kind == "regimes":
        places, rows = 2 * rng.normal(size=(3, n_features)), []
        while sum(map(len, rows)) < n:
            noise = 0.5 * rng.normal(size=(int(rng.exponential(500)) + 50, n_features))
            rows.append(places[rng.integers(3)] + noise)
        return np.concatenate(rows)[:n]
    return {
        "i.i.d.": lambda: rng.normal(size=(n, n_features)),
        "t3": lambda: rng.standard_t(3, size=(n, n_features)),
        "lognormal": lambda: np.exp(rng.normal(size=(n, n_features))),
        "random walk": lambda: 0.05 * rng.normal(size=(n, n_features)).cumsum(axis=0),
    }[kind]()


NAMES = ["a", "b", "c"]
PERIODS = {"daily": 48, "weekly": 336, "yearly": 8760}
DEPENDENT = ("AR.9", "AR.99", "weekly", "regimes")

# From what to what a model changes, and whose effects that changes.
CHANGES: dict[str, tuple[Model, Model, set[str]]] = {
    "reversal": (
        lambda X: X[:, 0] + X[:, 0] * X[:, 1] + np.sin(X[:, 2]),
        lambda X: -X[:, 0] + X[:, 0] * X[:, 1] + np.sin(X[:, 2]),
        {"a"},
    ),
    "slope +.6, sd 1": (
        lambda X: X[:, 0] + X[:, 1],
        lambda X: X[:, 0] + X[:, 1] + X[:, 0] * (0.6 + X[:, 2]),
        {"a"},
    ),
    "roles swapped": (
        lambda X: X[:, 0] * X[:, 2] + 0.5 * X[:, 0],
        lambda X: X[:, 1] * X[:, 2] + 0.5 * X[:, 1],
        {"a", "b"},
    ),
    "uv to -uv": (
        lambda X: X[:, 2] + X[:, 0] * X[:, 1],
        lambda X: X[:, 2] - X[:, 0] * X[:, 1],
        {"a", "b"},
    ),
    "0 to 2uv": (
        lambda X: X[:, 2],
        lambda X: X[:, 2] + 2 * X[:, 0] * X[:, 1],
        {"a", "b"},
    ),
}


def run(kind: str, name: str, seed: int, before: int, after: int) -> tuple[int, list[Change]]:
    """Alarms about the model before it changes, and the changes found afterwards."""
    old, new, _ = CHANGES[name]
    X = stream(kind, before + after, len(NAMES), np.random.default_rng(seed))
    return exchanged(old, new, X, before)


def exchanged(old: Model, new: Model, X: Any, before: int) -> tuple[int, list[Change]]:
    """The same of two models, of which one takes the place of the other."""
    now, names = {"model": old}, NAMES

    def model(rows: Any) -> Any:
        return now["model"](rows)

    engine = models.engine(model, takes="array")
    monitor = ipdp.Monitor(ipdp.IncrementalPDP(engine, names, n_ice=32))
    monitor.explain_many(X[:before], names=names)
    n_early = len(_real(monitor.changes))
    now["model"] = new
    monitor.explain_many(X[before:], names=names)
    return n_early, _real(monitor.changes)[n_early:]


def _real(changes: list[Change]) -> list[Change]:
    return [change for change in changes if change.kind != "virtual"]


def row(kind: str, name: str, seeds: range) -> list[Any]:
    """One row of the table."""
    wanted, early, delays, kinds, n_others = CHANGES[name][2], 0, [], Counter(), 0
    for seed in seeds:
        n_early, found = run(kind, name, seed, 4_000, 8_000)
        early += n_early
        n_others += len([c for c in found if c.feature not in wanted and not c.is_interaction])
        if wanted <= {change.feature for change in found}:
            delays.append(max(c.t for c in found if c.feature in wanted) - 4_000)
            kinds[next(c for c in found if c.feature in wanted).kind] += 1
    delay = f"{median(delays):.0f}" if delays else ""
    return [name, kind, len(seeds), early, len(delays), kinds["real"], delay, n_others]


# A booster that is fitted again.

MOVED = 0.2


def booster(slope: float, bend: float, seed: int) -> GradientBoostingRegressor:
    """A booster of a function, fitted to 2,000 noisy observations of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2_000, 3))
    y = slope * X[:, 0] + X[:, 0] * X[:, 1] + np.sin(bend * X[:, 2]) + 0.5 * rng.normal(size=2_000)
    return GradientBoostingRegressor(random_state=seed).fit(X, y)


def moved(old: Model, new: Model, X: Any) -> dict[str, float]:
    """By how much the batch curve of each feature moved, in standard deviations of the output."""
    sizes = {}
    for k, name in enumerate(NAMES):
        curves = []
        for model in (old, new):
            values = np.quantile(X[:, k], np.linspace(0.02, 0.98, 12))
            rows = np.repeat(X[None], len(values), axis=0)
            rows[:, :, k] = values[:, None]
            curve = model(rows.reshape(-1, len(NAMES))).reshape(len(values), -1).mean(axis=1)
            curves.append(curve - curve.mean())
        sizes[name] = float(np.sqrt(((curves[1] - curves[0]) ** 2).mean()) / old(X).std())
    return sizes


def print_boosters(seeds: range) -> None:
    """Which features of a booster that is replaced moved, and which are reported."""
    print("| seed | curves that moved, sd | found | real before | others |\n|---|---|---|---|---|")
    for seed in seeds:
        rng = np.random.default_rng(seed)
        slopes, bends = rng.uniform(-1, 1, size=2), rng.uniform(0.5, 2, size=2)
        old, new = (
            booster(slope, bend, seed + k).predict
            for k, (slope, bend) in enumerate(zip(slopes, bends, strict=True))
        )
        X = stream("AR.9", 8_000, len(NAMES), rng)
        sizes = moved(old, new, X[:500])
        n_early, found = exchanged(old, new, X, 4_000)
        named = {change.feature for change in found}
        true = {name: size for name, size in sizes.items() if size >= MOVED}
        told = ", ".join(f"{name} {size:.2f}" for name, size in true.items())
        both = sorted(named & set(true))
        others = sorted(named - set(true))
        cells = seed, told, f"{', '.join(both)} ({len(both)} of {len(true)})", n_early, others
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Changes of a model on dependent streams.")
    parser.add_argument("names", nargs="*", metavar="CHANGE", help=", ".join(CHANGES))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first", type=int, default=5000, help="first seed")
    parser.add_argument("--booster", action="store_true", help="a booster that is replaced")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.runs)
    if options.booster:
        print_boosters(seeds)
        return
    columns = ("change", "stream", "runs", "real before", "found", "called real", "delay", "others")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for name in options.names or CHANGES:
        for kind in DEPENDENT if name == "reversal" else ("i.i.d.",):
            print("| " + " | ".join(map(str, row(kind, name, seeds))) + " |", flush=True)


if __name__ == "__main__":
    main()
